"""Documents of Office before 2007, made here byte by byte by their specifications."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.readers.extract import extract
from tests.drive_server.knowledge.compound_file import compound_file
from tests.drive_server.knowledge.samples import LEAVE, LEAVE_ZH

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction

TEXT = f"Leave\r{LEAVE}\rname\x07pay\x07\x07张三\x07\x07\x07a \x13 HYPERLINK x\x14link\x15\r{LEAVE_ZH}\r"


def old_word(text: str = TEXT, *, flags: int = 0x0200, version: int = 0x00C1) -> bytes:
    """A document of two pieces: the first 14 characters in one byte each, the others in two."""
    first, second = text[:14], text[14:]
    head = bytearray(2048)
    struct.pack_into("<HH", head, 0, 0xA5EC, version)
    struct.pack_into("<H", head, 0x0A, flags)
    places = (len(head) * 2 | 1 << 30, len(head) + len(first))
    pieces = struct.pack("<III", 0, len(first), len(text)) + b"".join(struct.pack("<HIH", 0, at, 0) for at in places)
    clx = b"\x01\x02\x00ab\x02" + struct.pack("<I", len(pieces)) + pieces
    struct.pack_into("<II", head, 0x01A2, 7, len(clx))
    document = bytes(head) + first.encode("cp1252") + second.encode("utf-16-le")
    return compound_file({"WordDocument": document.ljust(5000, b"\0"), "1Table": (b"\0" * 7 + clx).ljust(5000, b"\0")})


def record(kind: int, data: bytes, *, container: bool = False, instance: int = 0) -> bytes:
    return struct.pack("<HHI", (instance << 4) | (0xF if container else 0), kind, len(data)) + data


def old_slides() -> bytes:
    def words(kind: int, text: str) -> bytes:
        return record(0x0F9F, struct.pack("<I", kind)) + record(0x0FA0, text.encode("utf-16-le"))

    entries = b"".join(record(0x03F3, struct.pack("<IIIII", 1, 0, 0, number, 0)) for number in (256, 257))
    listed = record(0x0FF0, entries[:28] + words(0, "Leave") + entries[28:] + words(0, "育儿假"), container=True)
    masters = record(0x0FF0, entries + words(0, "Click to edit"), container=True, instance=1)
    master = record(0x03F8, words(0, "Click to edit the title"), container=True)
    slides = (
        record(0x03EE, record(0x040C, words(1, text), container=True), container=True)
        for text in (f"{LEAVE}\rsecond line", f"{LEAVE_ZH}\r*")
    )
    notes = record(0x03F0, record(0x03F1, struct.pack("<II", 256, 0)) + words(2, "讲稿"), container=True)
    stream = record(0x03E8, masters + listed, container=True) + master + b"".join(slides) + notes
    return compound_file({"PowerPoint Document": stream.ljust(5000, b"\0")})


def read(folder: Path, name: str, data: bytes) -> Extraction:
    path = folder / "blob"
    path.write_bytes(data)
    return extract(path, name, "")


def test_an_old_word_document_has_paragraphs_and_tables_and_no_field_codes(tmp_path: Path) -> None:
    assert [(one.kind, one.text) for one in read(tmp_path, "a.doc", old_word()).elements] == [
        ("text", "Leave"),
        ("text", LEAVE),
        ("table", "name | pay\n张三"),
        ("text", "a link"),
        ("text", LEAVE_ZH),
    ]


def test_an_old_presentation_has_slides_with_titles_and_notes_but_no_masters(tmp_path: Path) -> None:
    found = read(tmp_path, "a.ppt", old_slides()).elements
    assert [(one.kind, str(one.place), one.text) for one in found] == [
        ("title", "slide=1", "Leave"),
        ("text", "slide=1", LEAVE),
        ("text", "slide=1", "second line"),
        ("text", "slide=1", "讲稿"),
        ("title", "slide=2", "育儿假"),
        ("text", "slide=2", LEAVE_ZH),
    ]


def test_an_encrypted_document_needs_its_password_and_a_very_old_one_is_not_read(tmp_path: Path) -> None:
    assert read(tmp_path, "a.doc", old_word(flags=0x0300)).state == "needs_password"
    assert read(tmp_path, "a.doc", old_word(version=0x0065)).state == "unsupported"


@pytest.mark.parametrize("make", [old_word, old_slides])
def test_a_damaged_document_ends_in_a_state(tmp_path: Path, make: type[bytes]) -> None:
    chance = random.Random(4)
    whole = make()
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 20, 200))):
            data[chance.randrange(512, len(data))] = chance.randrange(256)
        extraction = read(tmp_path, "a.doc", bytes(data))
        assert extraction.state in ("ready", "failed", "unsupported", "needs_password")
        assert len(extraction.text) < 100_000
