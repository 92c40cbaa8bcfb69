"""Office documents are recognised and read by their relationships, whatever their parts are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.formats import packed_format
from drive_server.knowledge.readers.archive import open_archive
from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge.packages import SLIDES, SPACES, WORD, package, paragraph, relationships
from tests.drive_server.knowledge.samples import zip_of

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

DOCUMENT = f"<w:document {SPACES}><w:body>{paragraph('Found')}</w:body></w:document>"
STRICT = DOCUMENT.replace(
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main"
)


def read(folder: Path, data: bytes, name: str = "a.docx") -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    return extract(path, name, "")


@pytest.mark.parametrize("name", ["a.docx", "a.bin", "a.xlsx", "a.zip"])
@pytest.mark.parametrize(
    ("entry", "target"),
    [
        ("word/document2.xml", "word/document2.xml"),
        ("word/document2.xml", "/word/document2.xml"),
        ("Word/Document2.xml", "word/document2.XML"),
        ("word/my doc.xml", "word/my%20doc.xml"),
        ("word/my%20doc.xml", "word/my%20doc.xml"),
        ("word/document2.xml", r"word\\document2.xml".replace("\\\\", "\\")),
        ("main.xml", "main.xml"),
    ],
)
def test_the_main_part_is_found_by_the_relationships(tmp_path: Path, name: str, entry: str, target: str) -> None:
    assert read(tmp_path, package(entry, WORD, {entry: DOCUMENT}, target), name).text == "Found"


@pytest.mark.parametrize(
    "content_type",
    [
        WORD.replace("document.main", "template.main"),
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
        "application/octet-stream",
    ],
)
def test_templates_documents_with_macros_and_unknown_types_are_word_too(tmp_path: Path, content_type: str) -> None:
    assert read(tmp_path, package("word/x.xml", content_type, {"word/x.xml": DOCUMENT})).text == "Found"


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        (SLIDES.replace("presentation.main", "slideshow.main"), "pptx"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml", "sheets"),
        ("application/vnd.ms-excel.sheet.binary.macroEnabled.main", "sheets"),
    ],
)
def test_slides_and_workbooks_are_told_by_the_type_of_their_main_part(
    tmp_path: Path, content_type: str, name: str
) -> None:
    path = tmp_path / "blob"
    path.write_bytes(package("any/name.bin", content_type, {"any/name.bin": b"<x/>"}))
    with open_archive(path) as archive:
        found = packed_format(rb"PK\x03\x04", archive.names, main_type=next(archive.main_types()))
    assert found is not None
    assert found.name == name


def test_strict_documents_and_entries_with_backslashes_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, package("word/document.xml", WORD, {"word/document.xml": STRICT})).text == "Found"
    links = relationships(("m", "officeDocument", "word/document2.xml"))
    entries = {"_rels\\.rels": links, "word\\document2.xml": DOCUMENT.encode()}
    assert read(tmp_path, zip_of(entries)).text == "Found"


@pytest.mark.parametrize(
    "entries",
    [
        {"letter/word.txt": b"x"},
        {"_rels/.rels": b"no XML", "[Content_Types].xml": b"<"},
        {"_rels/.rels": relationships(("m", "officeDocument", "gone.xml")), "a.txt": b"x"},
        {"copy/word/document.xml": DOCUMENT.encode()},
    ],
)
def test_an_archive_stays_an_archive(tmp_path: Path, entries: dict[str, bytes]) -> None:
    extraction = read(tmp_path, zip_of(entries), "a.zip")
    assert (extraction.state, extraction.reason) == (
        "unsupported",
        "The file is an archive; what is packed in it is not read.",
    )


def test_notes_styles_and_heads_are_found_by_the_relationships_of_the_main_part(tmp_path: Path) -> None:
    note = f"<w:footnotes {SPACES}><w:footnote>{paragraph('A note')}</w:footnote></w:footnotes>"
    head = f"<w:hdr {SPACES}>{paragraph('Draft')}</w:hdr>"
    links = relationships(("n", "footnotes", "/notes/n1.xml"), ("h", "header", "../heads/h.xml"))
    entries: dict[str, str | bytes] = {
        "word/document2.xml": DOCUMENT,
        "word/_rels/document2.xml.rels": links,
        "notes/n1.xml": note,
        "heads/h.xml": head,
        "word/footnotes.xml": note.replace("A note", "Of nobody"),
    }
    assert read(tmp_path, package("word/document2.xml", WORD, entries)).text == "Found\n\nA note\n\nDraft"
