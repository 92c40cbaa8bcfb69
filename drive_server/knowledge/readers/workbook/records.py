"""The records of workbooks of Excel 97 that xlrd does not tell of: formulas and drawn objects (MS-XLS, section 2.4)."""

import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import olefile

from drive_server.knowledge.readers.compound import read_stream
from drive_server.knowledge.text.omissions import OmissionKind, Omissions

FORMULA: Final = 0x0006
_BOUND_SHEET, _OBJECT = 0x0085, 0x005D
_STREAMS: Final = ("Workbook", "Book")
_KEPT_BYTES: Final = 32
_SPECIAL: Final = b"\xff\xff"
_EMPTY_TEXT: Final = 3
_CHART: Final = b"\x02"
_OBJECTS: Final[dict[int, OmissionKind]] = {2: "drawing", 5: "chart", 6: "drawing", 8: "picture", 30: "drawing"}
"""Types of objects that may carry content; 25 is a comment, which xlrd reads."""

Record = tuple[int, int, bytes]
"""The place of a record in the stream, its kind, and the beginning of its data."""


@dataclass(slots=True)
class SheetRecords:
    """The formulas of a sheet without a result, by row and column from 0, and its objects by kind."""

    blank_formulas: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    other_formulas: int = 0
    objects: Counter[OmissionKind] = field(default_factory=Counter[OmissionKind])


def workbook_stream(path: Path) -> bytes:
    """Return the stream of a workbook; empty if there is none. Raises as `read_stream` does."""
    if not olefile.isOleFile(str(path)):
        return b""
    with olefile.OleFileIO(str(path)) as file:
        name = next((name for name in _STREAMS if file.exists(name)), None)
        return b"" if name is None else read_stream(file, name)


def records_of(stream: bytes) -> Iterator[Record]:
    """Yield the records."""
    place = 0
    while place + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, place)
        yield place, kind, stream[place + 4 : place + 4 + min(size, _KEPT_BYTES)]
        place += 4 + size


def sheet_records(records: Iterable[Record]) -> list[SheetRecords]:
    """Return the facts of each worksheet in its order."""
    starts: dict[int, SheetRecords] = {}
    current = SheetRecords()
    for place, kind, data in records:
        if kind == _BOUND_SHEET and len(data) > 5 and data[5] == 0:
            starts[int.from_bytes(data[:4], "little")] = SheetRecords()
        current = starts.get(place, current)
        if kind == FORMULA and len(data) >= 16:
            _note_formula(current, data)
        elif kind == _OBJECT and (found := _OBJECTS.get(int.from_bytes(data[4:6], "little"))):
            current.objects[found] += 1
    return list(starts.values())


def chart_sheets(records: Iterable[Record]) -> int:
    """Return the number of sheets that are one chart."""
    return sum(kind == _BOUND_SHEET and data[5:6] == _CHART for _, kind, data in records)


def is_calculated(sheets: Iterable[SheetRecords]) -> bool:
    """Say whether some program has calculated the formulas: those that write all of them as empty texts have not."""
    return any(one.other_formulas for one in sheets)


def count_objects(one: SheetRecords, omissions: Omissions) -> None:
    """Count the objects of a sheet."""
    for kind, count in one.objects.items():
        omissions.add(kind, count)


def _note_formula(sheet: SheetRecords, data: bytes) -> None:
    row, column = struct.unpack_from("<HH", data)
    if data[12:14] == _SPECIAL and data[6] == _EMPTY_TEXT:
        sheet.blank_formulas.add((row, column))
    else:
        sheet.other_formulas += 1
