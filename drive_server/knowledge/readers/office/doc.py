"""The text of Word documents of before 2007 (.doc; MS-DOC): paragraphs and tables, but no headings."""

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import olefile

from drive_server.knowledge.readers.compound import read_stream
from drive_server.knowledge.text.elements import MAX_CHARACTERS, Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

_MAGIC, _OLDEST = 0xA5EC, 0x00C1
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
_PIECES_AT = 0x01A2
_FORMATTING, _PIECES = 1, 2
_COMPRESSED = 1 << 30
_DRAWINGS_AT = 0x022A
_PICTURE_SHAPE = struct.pack("<HHI", 75 << 4 | 2, 0xF00A, 8)  # OfficeArtFSP of a picture frame (MS-ODRAW 2.2.40)
_PICTURE = "\x01"
_EMBEDDED = re.compile(r"\x13\s*EMBED\s+(\S+)[^\x13\x15]*\x15")
_DRAWN_EQUATION = re.compile(r"\x13\s*EQ\s")
_FORM_FIELD = re.compile(r"\x13\s*FORM(?:CHECKBOX|DROPDOWN)\b")
_FIELD_CODE = re.compile(r"\x13[^\x13-\x15]*+\x14?")
_BREAKS = str.maketrans({"\x0b": "\n", "\x1e": "-", "\xa0": " ", **dict.fromkeys("\x01\x02\x05\x08\x14\x15\x1f")})
_PARAGRAPH_END = re.compile(r"[\r\x0c\x0e]")


def doc_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a document. Raises `UnreadableError`, or `struct.error` and `OSError` for a damaged file."""
    with olefile.OleFileIO(str(path)) as file:
        return join(_parts(file, omissions))


def _parts(file: "olefile.OleFileIO[str]", omissions: Omissions) -> Iterator[Part]:
    stored = _text(file, omissions)
    _count_objects(stored, omissions)
    text = _FIELD_CODE.sub("", stored).translate(_BREAKS)
    cells: list[str] = []
    for paragraph in _PARAGRAPH_END.split(text):
        *before, last = paragraph.split("\x07")
        cells += before
        if before and (table := _table(cells)) and last.strip():
            yield Part("table", table)
            cells = []
        elif cells and not before:
            yield Part("table", _table(cells))
            cells = []
        yield Part("text", last.strip())
    yield Part("table", _table(cells))


def _count_objects(text: str, omissions: Omissions) -> None:
    """Count embedded objects, equations, boxes of forms and pictures by the characters that stand for them."""
    programs = [match[1] for match in _EMBEDDED.finditer(text)]
    equations = sum(program.startswith(("Equation", "MathType")) for program in programs)
    omissions.add("embedded", len(programs) - equations)
    omissions.add("equation", equations + len(_DRAWN_EQUATION.findall(text)))
    omissions.add("form_field", len(_FORM_FIELD.findall(text)))
    omissions.add("picture", _FIELD_CODE.sub("", _EMBEDDED.sub("", text)).count(_PICTURE))


def _table(cells: list[str]) -> str:
    """Return the rows of a table: each ends with a cell mark of its own after that of its last cell."""
    rows: list[list[str]] = [[]]
    for cell in cells:
        words = " ".join(cell.split())
        if words or not rows[-1]:
            rows[-1].append(words)
        else:
            rows.append([])
    return "\n".join(" | ".join(row) for row in rows if any(row))


def _text(file: "olefile.OleFileIO[str]", omissions: Omissions) -> str:
    document = read_stream(file, "WordDocument")
    magic, version = struct.unpack_from("<HH", document)
    (flags,) = struct.unpack_from("<H", document, 0x0A)
    if magic != _MAGIC or version < _OLDEST:
        raise UnreadableError("old_word")
    if flags & _ENCRYPTED:
        raise UnreadableError("password")
    table = read_stream(file, "1Table" if flags & _SECOND_TABLE else "0Table")
    drawings, size = struct.unpack_from("<II", document, _DRAWINGS_AT)
    omissions.add("picture", table[drawings : drawings + size].count(_PICTURE_SHAPE))
    start, length = struct.unpack_from("<II", document, _PIECES_AT)
    return "".join(_pieces(document, table[start : start + length]))


def _pieces(document: bytes, clx: bytes) -> Iterator[str]:
    """Yield the pieces of the text by their table (sections 2.9.38 and 2.8.35)."""
    position = 0
    while clx[position] == _FORMATTING:
        position += 3 + struct.unpack_from("<H", clx, position + 1)[0]
    if clx[position] != _PIECES:
        raise UnreadableError("no_text_part")
    (length,) = struct.unpack_from("<I", clx, position + 1)
    count = (length - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", clx, position + 5)
    characters = 0
    for number in range(count):
        (place,) = struct.unpack_from("<I", clx, position + 5 + 4 * (count + 1) + 8 * number + 2)
        size = max(0, min(ends[number + 1] - ends[number], MAX_CHARACTERS - characters))
        characters += size
        start = place & ~_COMPRESSED
        if place & _COMPRESSED:
            yield document[start // 2 : start // 2 + size].decode("cp1252", errors="replace")
        else:
            yield document[start : start + 2 * size].decode("utf-16-le", errors="replace")
