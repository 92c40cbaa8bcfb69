"""Words in pictures. Whether the machine that runs these tests has Tesseract or not, they bring one of their own."""

from __future__ import annotations

import io
import os
import shutil
from typing import TYPE_CHECKING

import pypdfium2
import pytest
from reportlab.pdfgen import canvas

from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.readers.pages import scans
from tests.drive_server.knowledge import documents, samples

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

# A stand-in takes no other command line than Tesseract does: `--list-langs`, or `PICTURE stdout -l LANGUAGES`.
COMMAND_LINE = """\
if [ "$1" = --list-langs ]; then echo eng; echo chi_sim; exit; fi
if [ $# != 4 ] || [ "$2 $3" != "stdout -l" ] || ! { [ "$1" = stdin ] || [ -s "$1" ]; }; then exit 2; fi
"""


def read(folder: Path, name: str, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, name, "")
    assert str(folder) not in extraction.reason
    return extraction


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Make a shell script the Tesseract that is found first."""
    program = folder / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{COMMAND_LINE}{script}")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def scanned(pages: str, *, scale: float = 2.5) -> bytes:
    """A PDF with a page for each letter: `e` English, `c` Chinese, both as pictures, `t` text, `b` blank."""
    source = pypdfium2.PdfDocument(samples.pdf())
    drawn = (source[number].render(scale=scale) for number in (0, 1))  # pyright: ignore[reportArgumentType] - any number
    pictures = {letter: one.to_pil() for letter, one in zip("ec", drawn, strict=True)}
    source.close()
    file = io.BytesIO()
    drawing = canvas.Canvas(file, invariant=1)
    for letter in pages:
        if letter in pictures:
            drawing.drawInlineImage(pictures[letter], 0, 0, 595, 842)
        elif letter == "t":
            drawing.drawString(72, 700, "This page has text of its own.")
        drawing.showPage()
    drawing.save()
    return file.getvalue()


def pages(extraction: Extraction) -> list[tuple[int | None, str]]:
    return [(element.page, element.text) for element in extraction.elements]


@pytest.mark.parametrize("program", ["a stand-in", *(["the machine's"] if shutil.which("tesseract") else [])])
def test_a_scanned_pdf_is_read_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    if program == "a stand-in":
        install(tmp_path, monkeypatch, 'cat > /dev/null; echo "twelve weeks after their child is born"\n')
    extraction = read(tmp_path, "scan.pdf", scanned("ete"))
    assert (extraction.state, extraction.reason) == ("ready", "")
    assert [page for page, _ in pages(extraction)] == sorted(page or 0 for page, _ in pages(extraction))
    assert {page for page, text in pages(extraction) if "twelve weeks after their child is born" in text} == {1, 3}
    assert (2, "This page has text of its own.") in pages(extraction)


def test_an_image_without_words_is_ready_and_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, 'printf "\\f"\n')
    extraction = read(tmp_path, "blank.png", documents.picture(300, 200))
    assert (extraction.state, extraction.text) == ("ready", "")


def test_pages_without_text_are_read_in_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, 'cat > /dev/null; echo "育 儿 假 leave of ab-"; echo "sence $2 $4"; printf "\\f"\n')
    extraction = read(tmp_path, "scan.pdf", scanned("tebe", scale=0.2))
    found = "育儿假 leave of absence stdout eng+chi_sim"
    assert pages(extraction) == [(1, "This page has text of its own."), (2, found), (4, found)]
    assert (extraction.state, extraction.reason) == ("ready", "")


def test_what_was_read_is_kept_when_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "OCR_SECONDS", 3.0)
    script = f"cat > /dev/null; if [ -e {tmp_path}/done ]; then exec sleep 60; fi; touch {tmp_path}/done; echo words\n"
    install(tmp_path, monkeypatch, script)
    extraction = read(tmp_path, "scan.pdf", scanned("eee", scale=0.2))
    assert (extraction.state, pages(extraction)) == ("ready", [(1, "words")])
    assert "2 of 3 pages" in extraction.reason


def test_a_page_that_ocr_gives_up_on_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "exit 1\n")
    extraction = read(tmp_path, "scan.pdf", scanned("te", scale=0.2))
    assert (extraction.state, extraction.text) == ("ready", "This page has text of its own.")
    assert "1 of 1 pages" in extraction.reason


def test_a_huge_page_is_drawn_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, f"cat > {tmp_path}/picture.png; echo words\n")
    file = io.BytesIO()
    drawing = canvas.Canvas(file, pagesize=(14_000, 14_000))
    drawing.rect(0, 0, 5000, 5000, fill=1)
    drawing.save()
    assert read(tmp_path, "poster.pdf", file.getvalue()).text == "words"
    width, height = _size(tmp_path / "picture.png")
    assert width * height <= 12_100_000


def _size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[16:24]
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")


def test_an_image_needs_ocr_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    extraction = read(tmp_path, "scan.png", documents.picture(100, 50))
    assert (extraction.state, extraction.text) == ("needs_ocr", "")
    assert "tesseract" in extraction.reason


def test_an_image_is_read_by_tesseract_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, 'echo "育儿假 $4"; echo; echo leave\n')
    extraction = read(tmp_path, "scan.jpg", documents.picture(100, 50))
    assert [element.text for element in extraction.elements] == ["育儿假 eng+chi_sim", "leave"]


def test_an_image_that_tesseract_gives_up_on_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "exit 1\n")
    assert read(tmp_path, "scan.png", documents.picture(100, 50)).state == "failed"
