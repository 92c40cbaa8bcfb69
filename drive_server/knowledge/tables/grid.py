"""The cells of a file: rows of a comma-separated file with their lines, rows of sheets with their numbers."""

import csv
import datetime
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError

from drive_server.knowledge.readers.archive import Archive, open_archive, parse_xml
from drive_server.knowledge.tables.request import TableError
from drive_server.knowledge.text.decode import decode_file
from drive_server.knowledge.text.place import column_name

MAX_ROWS: Final = 200_000
MAX_CELLS: Final = 2_000_000
MAX_COLUMNS: Final = 1_000
_READ_ENTRIES: Final = (".xml", ".rels", ".bin")
_SNIFFED_CHARACTERS: Final = 64_000
_SNIFFED_ROWS: Final = 100
_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_CELL: Final = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_HAS_FORMULA: Final = re.compile(rb"<(?:\w+:)?f[ >/]")
_SUM: Final = re.compile(r"\b(?:SUM|SUBTOTAL)\((?:\d+,)?\$?([A-Z]{1,3})\$?(\d+):\$?([A-Z]{1,3})\$?(\d+)", re.IGNORECASE)

Cell = str | Decimal | datetime.datetime | None


@dataclass(slots=True)
class Grid:
    """The cells of a sheet (`name` is empty for a comma-separated file), each row with its number in the file.

    `totals` are the rows with a formula that adds up cells of its own column.
    """

    name: str
    rows: list[tuple[int, list[Cell]]]
    first_column: int = 0
    delimiter: str = ""
    totals: frozenset[int] = field(default_factory=frozenset[int])


def read_text_grid(path: Path) -> Grid:
    """Return the table of a comma-, semicolon- or tab-separated file. Blocks. Raises `TableError`."""
    decoded = decode_file(path)
    if decoded is None or decoded.lossy:
        raise TableError("table_damaged")
    if decoded.truncated:
        raise _too_large()
    csv.field_size_limit(len(decoded.text) + 1)
    delimiter = _delimiter(decoded.text[:_SNIFFED_CHARACTERS])
    reader = csv.reader(io.StringIO(decoded.text, newline=""), delimiter=delimiter)
    rows: list[tuple[int, list[Cell]]] = []
    size = last = 0
    for values in reader:
        number, last = last + 1, reader.line_num
        cells: list[Cell] = [value.strip() or None for value in values]
        if not any(cells) or (number == 1 and values[0].lower().startswith("sep=")):
            continue
        rows.append((number, cells))
        size += len(values)
        _require_fits(len(rows), size, len(values))
    return Grid("", rows, delimiter=delimiter)


def read_workbook(path: Path) -> list[Grid]:
    """Return the sheets of a workbook that hold anything. Blocks. Raises `TableError`, or what calamine raises."""
    uncomputed: dict[str, dict[tuple[int, int], str]] = {}
    totals: dict[str, frozenset[int]] = {}
    if zipfile.is_zipfile(path):
        with open_archive(path) as archive:
            archive.verify(_READ_ENTRIES)
        with open_archive(path) as archive:
            for name, formulas in _formulas(archive):
                uncomputed[name] = {cell: f"={text}" for cell, (text, has_value) in formulas.items() if not has_value}
                totals[name] = frozenset(row for (row, column), (text, _) in formulas.items() if _adds_up(text, column))
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            names = workbook.sheet_names
            grids = [
                _sheet(
                    workbook.get_sheet_by_index(number),
                    " ".join(name.split()),
                    uncomputed.get(name, {}),
                    totals.get(name, frozenset()),
                )
                for number, name in enumerate(names)
            ]
    except PasswordError as error:
        raise TableError("table_locked") from error
    return [grid for grid in grids if grid.rows]


def shown(cell: Cell) -> str:
    """Return the text of a cell."""
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    return cell or ""


def _delimiter(sample: str) -> str:
    """Return the delimiter that gives most of the first rows the same number of cells."""
    first = sample.split("\n", 1)[0].strip().lower()
    if first.startswith("sep=") and len(first) == 5:
        return first[-1]
    best, score = ",", 0.0
    for delimiter in (",", "\t", ";", "|"):
        widths = Counter(
            len(row) for row, _ in zip(_rows(sample, delimiter), range(_SNIFFED_ROWS), strict=False) if row
        )
        width, count = max(widths.items(), key=lambda entry: (entry[0] > 1, entry[1], entry[0]), default=(1, 0))
        share = count / max(1, widths.total())
        if width > 1 and share * (1 + width / 100) > score:
            best, score = delimiter, share * (1 + width / 100)
    return best


def _rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    except csv.Error:
        return


def _sheet(sheet: CalamineSheet, name: str, uncomputed: dict[tuple[int, int], str], totals: frozenset[int]) -> Grid:
    start = sheet.start
    if start is None:
        return Grid(name, [])
    waiting: dict[int, dict[int, str]] = {}
    for (number, column), text in uncomputed.items():
        waiting.setdefault(number, {})[column - start[1]] = text
    rows: list[tuple[int, list[Cell]]] = []
    size = 0
    for number, values in enumerate(sheet.iter_rows(), start=1):
        cells = [_cell(value) for value in values]
        for index, text in waiting.get(number, {}).items():
            if 0 <= index < len(cells):
                cells[index] = text
        if any(cell is not None for cell in cells):
            rows.append((number, cells))
            size += len(cells)
            _require_fits(len(rows), size, len(cells))
    _fill_merged(sheet, rows, start[1])
    return Grid(name, rows, start[1], totals=totals)


def _fill_merged(sheet: CalamineSheet, rows: Sequence[tuple[int, list[Cell]]], first_column: int) -> None:
    """Give words that stand in cells merged over several rows to each of these rows; numbers count once."""
    by_number = dict(rows)
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or []:
        index, upper = left - first_column, by_number.get(top + 1)
        if bottom == top or upper is None or not 0 <= index < len(upper) or not isinstance(upper[index], str):
            continue
        for number in range(top + 2, bottom + 2):
            cells = by_number.get(number)
            if cells is not None and index < len(cells) and cells[index] is None:
                cells[index] = upper[index]


def _cell(value: Any) -> Cell:
    """Return the cell: numbers as the sheet shows them, which has 15 digits of them."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        number = Decimal(format(value, ".15g"))
        return number if number.is_finite() else str(value)
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    return " ".join(str(value).split()) or None


def _formulas(archive: Archive) -> Iterator[tuple[str, dict[tuple[int, int], tuple[str, bool]]]]:
    """Yield the name of each sheet with its formulas, by row (from 1) and column (from 0), and if they have values.

    Workbooks that no program has computed, as scripts write them, have formulas without values.
    """
    if "xl/workbook.xml" not in archive.names:
        return
    entries = archive.relations("xl/workbook.xml")
    for sheet in archive.xml("xl/workbook.xml").iter(f"{_MAIN}sheet"):
        entry = entries.get(sheet.get(_RELATION, ""))
        if entry is None or not entry.endswith(".xml"):
            continue
        data = archive.read(entry)
        if not _HAS_FORMULA.search(data):
            continue
        found: dict[tuple[int, int], tuple[str, bool]] = {}
        for formula in parse_xml(data).iter(f"{_MAIN}f"):
            cell = formula.getparent()
            place, value = _CELL.fullmatch(cell.get("r", "")), cell.find(f"{_MAIN}v")
            if place:
                has_value = value is not None and bool(value.text)
                found[int(place[2]), _column_index(place[1])] = (formula.text or "", has_value)
        yield sheet.get("name", ""), found


def _adds_up(formula: str, column: int) -> bool:
    match = _SUM.search(formula)
    return match is not None and match[1] == match[3] == column_name(column) and match[2] != match[4]


def _column_index(letters: str) -> int:
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1


def _require_fits(rows: int, cells: int, width: int) -> None:
    if rows > MAX_ROWS or cells > MAX_CELLS or width > MAX_COLUMNS:
        raise _too_large()


def _too_large() -> TableError:
    return TableError("table_too_large", rows=MAX_ROWS, cells=MAX_CELLS)
