from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.readers import extract as extract_module
from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge import compound_file, documents, samples

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction


def read(folder: Path, name: str, data: bytes, media_type: str = "") -> Extraction:
    """Extract a file whose name on disk is not its name in the drive."""
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, name, media_type)
    assert str(folder) not in extraction.reason
    for element in extraction.elements:
        assert 0 <= element.start < element.end <= len(extraction.text)
        assert extraction.exact or extraction.text[element.start : element.end] == element.text
    return extraction


def kinds(extraction: Extraction) -> list[str]:
    return [element.kind for element in extraction.elements]


@pytest.mark.parametrize("name", ["leave.txt", "leave.md", "leave.csv", "leave.py", "README", "log.2024"])
def test_the_text_of_text_files_is_the_file_character_by_character(tmp_path: Path, name: str) -> None:
    text = f"# Leave\r\n\r\n{samples.LEAVE}\r\n\r\n* {samples.LEAVE_ZH}\t \n\n\n😀"
    extraction = read(tmp_path, name, text.encode())
    assert (extraction.state, extraction.reason, extraction.text) == ("ready", "", text)
    assert (extraction.exact, extraction.encoding) == (True, "utf-8")


def test_gb18030_text_is_read(tmp_path: Path) -> None:
    extraction = read(tmp_path, "政策.txt", samples.LEAVE_ZH.encode("gb18030"))
    assert (extraction.text, extraction.encoding, extraction.exact) == (samples.LEAVE_ZH, "gb18030", True)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.pdf", "a.docx", "a.csv", "a.png", "a"])
def test_an_empty_file_is_ready_and_has_no_text(tmp_path: Path, name: str) -> None:
    extraction = read(tmp_path, name, b"")
    assert (extraction.state, extraction.text, extraction.elements) == ("ready", "", ())


def test_a_pdf_has_headings_paragraphs_and_pages_in_both_languages(tmp_path: Path) -> None:
    extraction = read(tmp_path, "leave.pdf", samples.pdf())
    assert extraction.state == "ready"
    assert [(element.kind, element.page, element.text) for element in extraction.elements] == [
        ("title", 1, "Leave of absence"),
        ("list_item", 1, f"1. {samples.LEAVE}"),
        ("list_item", 1, f"2. {samples.LEAVE}"),
        ("title", 2, "第二章 育儿假"),
        ("text", 2, samples.LEAVE_ZH),
        ("text", 2, samples.TRAVEL_ZH),
    ]


def test_running_heads_and_page_numbers_of_a_pdf_are_dropped_but_for_the_first(tmp_path: Path) -> None:
    extraction = read(tmp_path, "report.pdf", samples.numbered_pdf(5))
    assert extraction.text.count("The annual report") == 1
    assert extraction.text.count("Paragraph of page") == 5
    assert not any(element.text.isdigit() for element in extraction.elements)


def test_a_pdf_under_a_password_needs_it(tmp_path: Path) -> None:
    extraction = read(tmp_path, "secret.pdf", samples.pdf(password="open sesame"))
    assert (extraction.state, extraction.text) == ("needs_password", "")
    assert "password" in extraction.reason


def test_a_scanned_pdf_needs_ocr_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    extraction = read(tmp_path, "scan.pdf", samples.scanned_pdf())
    assert (extraction.state, extraction.text) == ("needs_ocr", "")


def test_a_pdf_with_some_scanned_pages_is_read_and_says_what_is_missing(tmp_path: Path) -> None:
    extraction = read(tmp_path, "scan.pdf", samples.scanned_pdf(with_text_page=True))
    assert (extraction.state, extraction.text) == ("ready", "This page has text of its own.")
    assert extraction.reason == "Not read: 1 page waiting for OCR."


def test_a_blank_pdf_is_ready_and_has_no_text(tmp_path: Path) -> None:
    extraction = read(tmp_path, "blank.pdf", samples.blank_pdf())
    assert (extraction.state, extraction.text) == ("ready", "")


def test_a_pdf_is_told_by_its_content_not_by_its_name(tmp_path: Path) -> None:
    extraction = read(tmp_path, "leave.txt", samples.pdf())
    assert samples.LEAVE in extraction.text


def test_a_word_document_has_headings_lists_and_tables(tmp_path: Path) -> None:
    extraction = read(tmp_path, "leave.docx", samples.word_document())
    assert kinds(extraction) == ["title", "text", "title", "text", "list_item", "table"]
    assert [element.level for element in extraction.elements if element.kind == "title"] == [1, 2]
    assert extraction.elements[3].text == samples.LEAVE_ZH
    assert extraction.elements[-1].text == "weeks | pay\n12 | full"


def test_a_page_of_html_is_what_its_reader_sees(tmp_path: Path) -> None:
    extraction = read(tmp_path, "leave.html", samples.page())
    assert kinds(extraction) == ["title", "title", "text", "title", "text", "list_item", "table"]
    assert "hidden" not in extraction.text
    assert "color" not in extraction.text
    assert extraction.elements[4].text == samples.LEAVE_ZH
    assert not extraction.exact


def test_html_in_gb18030_is_read(tmp_path: Path) -> None:
    extraction = read(tmp_path, "leave.html", samples.page().decode().encode("gb18030"))
    assert samples.LEAVE_ZH in extraction.text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("broken.docx", b"PK\x03\x04 and then nothing"),
        ("noise.docx", bytes(range(256)) * 8),
        ("broken.pdf", b"%PDF-1.7 and then nothing"),
        ("noise.pdf", bytes(range(256)) * 8),
        ("cut.pdf", samples.pdf()[:900]),
        ("cut.docx", samples.word_document()[:5000]),
    ],
)
def test_a_damaged_file_has_failed_and_says_so(tmp_path: Path, name: str, data: bytes) -> None:
    extraction = read(tmp_path, name, data)
    assert (extraction.state, extraction.text) == ("failed", "")
    assert "damaged" in extraction.reason


def test_a_word_document_under_a_password_needs_it(tmp_path: Path) -> None:
    data = compound_file.compound_file({"EncryptedPackage": b"x" * 5000, "EncryptionInfo": b"y"})
    assert read(tmp_path, "secret.docx", data).state == "needs_password"


def test_a_word_document_of_the_old_kind_is_unsupported(tmp_path: Path) -> None:
    data = compound_file.compound_file({"WordDocument": b"x" * 5000})
    assert read(tmp_path, "old.docx", data).state == "unsupported"


def test_a_document_that_unpacks_to_too_much_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as entry:
        for _ in range(310):
            entry.write(b"\0" * 1_000_000)
    extraction = extract(path, "bomb.docx", "")
    assert extraction.state == "failed"
    assert "unpacks" in extraction.reason


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cat.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("things.zip", samples.zip_of({"a.txt": b"text"})),
        ("program", b"\x7fELF\x02\x01\x01" + b"\0" * 50),
        ("notes.txt", bytes(range(256))),
    ],
)
def test_images_and_binaries_are_unsupported(tmp_path: Path, name: str, data: bytes) -> None:
    extraction = read(tmp_path, name, data)
    assert (extraction.state, extraction.text) == ("unsupported", "")
    assert extraction.reason


def test_the_media_type_counts_where_the_name_says_nothing(tmp_path: Path) -> None:
    assert kinds(read(tmp_path, "download", samples.page(), "text/html; charset=utf-8"))[0] == "title"


def test_a_huge_text_is_kept_and_says_how_much_of_it_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_module, "MAX_INDEXED_CHARACTERS", 100)
    text = "one line\n" * 100
    extraction = read(tmp_path, "huge.txt", text.encode())
    assert (extraction.state, extraction.text) == ("ready", text)
    assert extraction.reason == "Not searched: the text after the first 100 characters."
    assert extraction.elements[-1].end <= 100


def test_damaged_text_is_read_but_is_not_said_to_be_exact(tmp_path: Path) -> None:
    extraction = read(tmp_path, "cut.txt", samples.LEAVE_ZH.encode()[:-1])
    assert (extraction.state, extraction.exact) == ("ready", False)
    assert extraction.reason == "Not read: 1 character that could not be decoded."


def test_reading_needs_no_network_and_no_language_model(tmp_path: Path) -> None:
    """unstructured downloads a spaCy model unless its tokenizer is replaced, and reports home unless told not to."""
    program = """
import socket, sys
def refuse(*arguments, **options): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refuse
from pathlib import Path
from drive_server.knowledge.readers.extract import extract
assert "unstructured" not in sys.modules
for path in Path(sys.argv[1]).iterdir():
    extraction = extract(path, path.name, "")
    assert extraction.state == "ready" and extraction.text, (path.name, extraction.reason)
assert "unstructured" in sys.modules and "spacy" not in sys.modules
"""
    made = {
        "leave.docx": samples.word_document(),
        "leave.html": samples.page(),
        "leave.pdf": samples.pdf(),
        "leave.pptx": documents.presentation(),
        "leave.xlsx": documents.workbook(),
        "leave.odt": documents.text_document(),
        "leave.epub": documents.book(),
        "leave.rtf": documents.rich_text(),
        "leave.eml": documents.mail(),
        "leave.msg": compound_file.message({"001A": "IPM.Note", "0037": "育儿假", "1000": samples.LEAVE_ZH}),
    }
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
