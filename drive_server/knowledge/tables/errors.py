"""Errors among the cells (`#DIV/0!`) of workbooks other than xlsx. calamine reads them as empty cells.

Sources: MS-XLS, records BoolErr and Formula; MS-XLSB, records BrtCellError and BrtFmlaError; LibreOffice's `calcext`.
"""

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import olefile

from drive_server.knowledge.readers.archive import Archive
from drive_server.knowledge.readers.compound import read_stream

_BOOL_ERR, _FORMULA = 0x0205, 0x0006
_STREAMS: Final = ("Workbook", "Book")
_CONTENT: Final = "content.xml"
_OPENDOCUMENT_ERROR: Final = re.compile(rb"""value-type=["']error["']""")
_CELL_ERROR, _FORMULA_ERROR = 3, 11


def xls_has_errors(path: Path) -> bool:
    """Say whether a workbook of Excel before 2007 has cells with errors. Raises what `read_stream` does."""
    if not olefile.isOleFile(str(path)):
        return False
    with olefile.OleFileIO(str(path)) as file:
        name = next((name for name in _STREAMS if file.exists(name)), None)
        return name is not None and any(_is_error(*record) for record in _records(read_stream(file, name)))


def archive_has_errors(archive: Archive) -> bool:
    """Say whether an OpenDocument or a binary workbook has cells with errors. Raises what `Archive.read` does."""
    if _CONTENT in archive.names:
        return _OPENDOCUMENT_ERROR.search(archive.read(_CONTENT)) is not None
    sheets = (name for name in archive.names if name.startswith("xl/worksheets/") and name.endswith(".bin"))
    return any(kind in (_CELL_ERROR, _FORMULA_ERROR) for name in sheets for kind in _kinds(archive.read(name)))


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, place)
        yield kind, data[place + 4 : place + 4 + min(size, 20)]
        place += 4 + size


def _is_error(kind: int, data: bytes) -> bool:
    if kind == _BOOL_ERR:
        return data[7:8] == b"\x01"
    return kind == _FORMULA and data[6:7] == b"\x02" and data[12:14] == b"\xff\xff"


def _kinds(data: bytes) -> Iterator[int]:
    """Yield the kinds of the records: each a number of two bytes at most, before the size, of four at most."""
    place = 0
    while place < len(data):
        kind, place = _number(data, place, 2)
        size, place = _number(data, place, 4)
        yield kind
        place += size


def _number(data: bytes, place: int, longest: int) -> tuple[int, int]:
    number = 0
    for shift, byte in enumerate(data[place : place + longest]):
        number |= (byte & 0x7F) << 7 * shift
        place += 1
        if byte < 0x80:
            break
    return number, place
