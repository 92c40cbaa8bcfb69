"""Makes binary workbooks (MS-XLSB, MS-XLS) of single records, as no package writes them."""

from __future__ import annotations

import struct

from tests.drive_server.knowledge.compound_file import compound_file
from tests.drive_server.knowledge.samples import zip_of

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_COMMENTS = 0xF4
"""The first byte of BrtBeginComments, whose second one is 4; those of a sheet end before it."""
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def xlsb_of(cells: dict[tuple[int, int], float | None], name: str = "Sheet", *, comments: int = 0) -> bytes:
    """Return a workbook of one sheet; cells are by row and column from 0, errors are None."""
    last = struct.pack("<IIII", 0, max(row for row, _ in cells), 0, max(column for _, column in cells))
    rows = [_record(0x81), _record(0x94, last), _record(0x91)]
    for (row, column), value in sorted(cells.items()):
        rows.append(_record(0x00, struct.pack("<IIHHBI", row, 0, 0, 0, 0, 0)))
        place = struct.pack("<II", column, 0)
        rows.append(_record(0x03, place, b"\x07") if value is None else _record(0x05, place, struct.pack("<d", value)))
    sheet = b"".join([*rows, _record(0x92), _record(0x82)])
    bundle = struct.pack("<II", 0, 1) + _text("rId1") + _text(name)
    book = b"".join([_record(0x83), _record(0x8F), _record(0x9C, bundle), _record(0x90), _record(0x84)])
    return zip_of(
        {
            "_rels/.rels": _related("officeDocument", "xl/workbook.bin"),
            "xl/workbook.bin": book,
            "xl/_rels/workbook.bin.rels": _related("worksheet", "worksheets/sheet1.bin"),
            "xl/worksheets/sheet1.bin": sheet,
            "xl/worksheets/_rels/sheet1.bin.rels": _related("comments", "../comments1.bin"),
            "xl/comments1.bin": b"".join([_record(0xF4), *[_record(0xFB)] * comments, _record(0xF5)]),
        }
    )


def xls_of(*records: tuple[int, bytes]) -> bytes:
    """Return a workbook of Excel 97 with the header `Item, Amount`, a row `a, 5`, and these records after it."""

    def label(row: int, column: int, text: str) -> tuple[int, bytes]:
        return 0x204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode()

    first, sheet = (_old(0x809, struct.pack("<HHIII", 0x600, kind, 0, 0, 6)) for kind in (5, 0x10))
    end = _old(0x0A, b"")
    head = len(first) + 4 + 6 + 2 + 5 + len(end)
    book = first + _old(0x85, struct.pack("<IHBB", head, 0, 5, 0) + b"Costs") + end
    cells = [label(0, 0, "Item"), label(0, 1, "Amount"), label(1, 0, "a"), (0x203, struct.pack("<HHHd", 1, 1, 0, 5.0))]
    data = book + sheet + b"".join(_old(*one) for one in (*cells, *records)) + end
    return compound_file({"Workbook": data.ljust(4096, b"\0")})


def _old(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _related(kind: str, target: str) -> bytes:
    one = f'<Relationship Id="rId1" Type="{_TYPES}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{_RELATIONS}">{one}</Relationships>'.encode()


def _record(kind: int, *parts: bytes) -> bytes:
    data = b"".join(parts)
    number = bytes((kind,)) if kind < 0x80 else bytes((kind, 4 if kind >= _COMMENTS else 1))
    return number + bytes((len(data),)) + data


def _text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")
