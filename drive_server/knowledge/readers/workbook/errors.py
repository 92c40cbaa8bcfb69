"""Errors among the cells (`#DIV/0!`), which calamine reads as empty cells, and comments, in binary workbooks.

Sources: MS-XLS, records BoolErr and Formula; MS-XLSB, records BrtCellError, BrtFmlaError and BrtBeginComment.
"""

from collections.abc import Iterator
from typing import Final

from drive_server.knowledge.readers.workbook.records import FORMULA, Record

_BOOL_ERR: Final = 0x0205
_CELL_ERROR, _FORMULA_ERROR = 3, 11
_BEGIN_COMMENT: Final = 635


def xls_errors(records: Iterator[Record]) -> int:
    """Return the number of cells with errors among the records of a workbook of Excel 97."""
    return sum(_is_error(*record) for record in records)


def xlsb_errors(data: bytes) -> int:
    """Return the number of cells with errors in a sheet of a binary workbook."""
    return sum(kind in (_CELL_ERROR, _FORMULA_ERROR) for kind in _kinds(data))


def xlsb_comments(data: bytes) -> int:
    """Return the number of comments in a part of a binary workbook."""
    return sum(kind == _BEGIN_COMMENT for kind in _kinds(data))


def _is_error(_: int, kind: int, data: bytes) -> bool:
    if kind == _BOOL_ERR:
        return data[7:8] == b"\x01"
    return kind == FORMULA and data[6:7] == b"\x02" and data[12:14] == b"\xff\xff"


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
