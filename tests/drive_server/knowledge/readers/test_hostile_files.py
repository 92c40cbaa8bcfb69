"""Files that are made, or have come, to do harm: each ends in a state with a reason, in bounded time and memory."""

from __future__ import annotations

import io
import itertools
import random
import resource
import zipfile
from typing import TYPE_CHECKING

import openpyxl
import pytest

from drive_server.knowledge.readers import archive as archive_module
from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge import documents, samples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

CONTENT = "content.xml"
PASSWORD_MANIFEST = b"<manifest><encryption-data/></manifest>"
MAKERS: dict[str, Callable[[], bytes]] = {
    "a.docx": samples.word_document,
    "a.pptx": documents.presentation,
    "a.xlsx": documents.workbook,
    "a.xls": documents.old_workbook,
    "a.odt": documents.text_document,
    "a.epub": documents.book,
    "a.eml": documents.mail,
    "a.rtf": documents.rich_text,
    "a.pdf": samples.pdf,
    "a.html": samples.page,
}


def read(folder: Path, name: str, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    extraction = extract(path, name, "")
    assert str(folder) not in extraction.reason
    assert extraction.state == "ready" or extraction.reason
    return extraction


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return {name: make() for name, make in MAKERS.items()}


@pytest.mark.parametrize(
    ("name", "claimed"), list(itertools.permutations(["a.docx", "a.xlsx", "a.odt", "a.pdf", "a.rtf"], 2))
)
def test_contents_win_over_names(tmp_path: Path, made: dict[str, bytes], name: str, claimed: str) -> None:
    assert read(tmp_path, claimed, made[name]).text == read(tmp_path, name, made[name]).text != ""


@pytest.mark.parametrize("name", MAKERS)
def test_a_document_is_read_under_a_name_that_says_nothing(tmp_path: Path, made: dict[str, bytes], name: str) -> None:
    extraction = read(tmp_path, "download", made[name])
    assert (extraction.state, bool(extraction.text)) == ("ready", True)


def test_plain_text_and_html_under_the_name_of_a_document_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, "a.docx", "只是文字".encode()).text == "只是文字"
    assert read(tmp_path, "a.xls", b"<html><table><tr><td>1</td><td>2</td></tr></table></html>").text == "1 | 2"


@pytest.mark.parametrize("name", MAKERS)
def test_a_file_that_is_cut_off_or_overwritten_ends_in_a_state(
    tmp_path: Path, made: dict[str, bytes], name: str
) -> None:
    chance = random.Random(name)
    for _ in range(25):
        data = bytearray(made[name][: chance.randint(1, len(made[name]))] if chance.random() < 0.4 else made[name])
        for _ in range(chance.choice((0, 1, 20))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        assert read(tmp_path, name, bytes(data)).state in ("ready", "failed", "unsupported", "needs_password")


@pytest.mark.parametrize(("name", "data"), [("a.odt", "text"), ("a.ods", "spreadsheet")])
def test_an_opendocument_under_a_password_needs_it(tmp_path: Path, name: str, data: str) -> None:
    extraction = read(tmp_path, name, documents.opendocument("", data, manifest=PASSWORD_MANIFEST))
    assert extraction.state == "needs_password"


def test_a_zip_whose_entries_are_encrypted_needs_a_password(tmp_path: Path) -> None:
    data = bytearray(documents.presentation())
    for position in (at for at in range(len(data) - 4) if data.startswith(b"PK\x01\x02", at)):
        data[position + 8] |= 1
    assert read(tmp_path, "a.pptx", bytes(data)).state == "needs_password"


def test_a_protected_book_needs_a_password_and_one_with_protected_fonts_does_not(tmp_path: Path) -> None:
    drm = b'<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>'
    fonts = b'<encryption><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></encryption>'
    assert read(tmp_path, "a.epub", documents.book(encryption=drm)).state == "needs_password"
    assert read(tmp_path, "a.epub", documents.book(encryption=fonts)).state == "ready"


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("a.docx", "word/document.xml"),
        ("a.pptx", "ppt/presentation.xml"),
        ("a.xlsx", "xl/workbook.xml"),
        ("a.odt", CONTENT),
    ],
)
def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, name: str, entry: str) -> None:
    path = tmp_path / "bomb"
    mimetype = b"application/vnd.oasis.opendocument.text"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", mimetype)
        with archive.open(entry, "w") as file:
            for _ in range(40):
                file.write(b" " * 1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    extraction = extract(path, name, "")
    assert extraction.state == "failed"
    assert "unpacks" in extraction.reason
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


@pytest.mark.parametrize("name", ["a.xlsx", "a.docx", "a.pptx"])
def test_a_zip_that_lies_about_its_sizes_has_failed(tmp_path: Path, made: dict[str, bytes], name: str) -> None:
    data = bytearray(made[name])
    for position in (at for at in range(len(data) - 4) if data.startswith(b"PK\x01\x02", at)):
        size = int.from_bytes(data[position + 24 : position + 28], "little")
        data[position + 24 : position + 28] = (size // 2).to_bytes(4, "little")
    extraction = read(tmp_path, name, bytes(data))
    assert (extraction.state, extraction.text) == ("failed", "")


def test_a_zip_of_very_many_entries_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_ENTRIES", 100)
    data = samples.zip_of({"ppt/presentation.xml": b"<p/>", **{f"{number}": b"" for number in range(100)}})
    extraction = read(tmp_path, "a.pptx", data)
    assert extraction.state == "failed"
    assert "parts" in extraction.reason


@pytest.mark.parametrize("name", ["a.odt", "a.pptx", "a.docx"])
def test_entities_are_not_expanded_and_no_file_is_read_through_them(
    tmp_path: Path, made: dict[str, bytes], name: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret of this machine")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    doctype = f'<!DOCTYPE x [{laughs}<!ENTITY file SYSTEM "{secret.as_uri()}">]>'.encode()
    entries = dict(_entries(made[name]))
    for entry, data in entries.items():
        if entry.endswith(("content.xml", "document.xml", "slide1.xml")):
            body = data.split(b"?>", 1)[-1]
            for words in (b"Leave of absence",):
                body = body.replace(words, b"Leave &l9; &file;", 1)
            entries[entry] = doctype + body
    extraction = read(tmp_path, name, samples.zip_of(entries))
    assert "lollol" not in extraction.text
    assert "secret" not in extraction.text
    assert len(extraction.text) < 10_000


def test_deeply_nested_xml_has_failed(tmp_path: Path) -> None:
    deep = "<text:section>" * 100_000 + "</text:section>" * 100_000
    extraction = read(tmp_path, "a.odt", documents.opendocument(f"<office:text>{deep}</office:text>"))
    assert extraction.state == "failed"


def test_deeply_nested_html_is_read_all_the_same(tmp_path: Path) -> None:
    page = b"<div><table><tr><td><b>" * 50_000 + b"words"
    assert read(tmp_path, "a.html", page).text == "words"


def test_deeply_nested_rich_text_has_failed(tmp_path: Path) -> None:
    extraction = read(tmp_path, "a.rtf", b"{\\rtf1" + b"{" * 1_000_000)
    assert extraction.state == "failed"
    assert "nested" in extraction.reason


def test_deeply_nested_json_is_text(tmp_path: Path) -> None:
    extraction = read(tmp_path, "a.json", b"[" * 1_000_000)
    assert (extraction.state, len(extraction.text)) == ("ready", 1_000_000)


def test_a_huge_json_of_one_line_is_cut_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    with path.open("wb") as file:
        file.write(b'{"items": [')
        for _ in range(300):
            file.write(b'{"name": "x", "text": "' + b"y" * 999_974 + b'"},')
    extraction = extract(path, "a.json", "")
    assert extraction.state == "ready"
    assert "Not read: the text after the first 20,000,000 characters." in extraction.reason
    assert len(extraction.elements) < 10_000


def test_an_image_of_twenty_thousand_pixels_a_side_is_refused_by_its_header(tmp_path: Path) -> None:
    extraction = read(tmp_path, "a.png", documents.picture(20_000, 20_000))
    assert extraction.state == "failed"
    assert "pixels" in extraction.reason


def test_formulas_and_macros_are_not_run_and_a_formula_without_a_value_is_shown(
    tmp_path: Path,
) -> None:
    book = openpyxl.load_workbook(io.BytesIO(documents.workbook([["=cmd|'/c calc'!A1", "safe"]])))
    file = io.BytesIO()
    book.save(file)
    entries = {**_entries(file.getvalue()), "xl/vbaProject.bin": b"Attribute VB_Name = evil"}
    extraction = read(tmp_path, "a.xlsm", samples.zip_of(entries))
    assert extraction.state == "ready"
    assert "=cmd|'/c calc'!A1 | safe" in extraction.text
    assert extraction.omissions == {"formula": 2}
    assert "evil" not in extraction.text


def _entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
