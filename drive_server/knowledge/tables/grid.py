"""The cells of a file: rows of a comma-separated file with their lines, rows of sheets with their numbers."""

import csv
import datetime
import io
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError

from drive_server.knowledge.readers.archive import Archive, open_archive, parse_xml
from drive_server.knowledge.tables.errors import archive_has_errors, xls_has_errors
from drive_server.knowledge.tables.numbers import readings
from drive_server.knowledge.tables.request import TableError
from drive_server.knowledge.text.decode import decode_file
from drive_server.knowledge.text.place import column_name

MAX_ROWS: Final = 200_000
MAX_CELLS: Final = 2_000_000
MAX_COLUMNS: Final = 1_000
_READ_ENTRIES: Final = (".xml", ".rels", ".bin")
_SNIFFED_CHARACTERS: Final = 64_000
_SNIFFED_ROWS: Final = 100
_RELATIONS: Final = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}id",
)
"""The attribute with a sheet's entry, in transitional and in strict workbooks (ISO/IEC 29500)."""
_CELL: Final = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_UNUSUAL: Final = re.compile(rb"<(?:\w+:)?f[ >/]|\bt=[\"']e[\"']|<(?:\w+:)?row\s[^>]*\bhidden\s*=")
"""Formulas, errors and hidden rows of a sheet."""
_END: Final = "\x1e end of the rows"
_SUM: Final = re.compile(r"\b(?:SUM|SUBTOTAL)\((?:\d+,)?\$?([A-Z]{1,3})\$?(\d+):\$?([A-Z]{1,3})\$?(\d+)", re.IGNORECASE)

Cell = str | Decimal | datetime.datetime | None


@dataclass(slots=True)
class Grid:
    """The cells of a sheet (`name` is empty for a comma-separated file), each row with its number in the file.

    `totals` are the rows with a formula that adds up cells of its own column, `hidden` those that the sheet hides;
    `covered` has numbers and dates of merged areas for the other rows of the area, by row number and index.
    `has_errors`: some cells, nobody knows which, are errors.
    """

    name: str
    rows: list[tuple[int, list[Cell]]]
    first_column: int = 0
    delimiter: str = ""
    totals: frozenset[int] = field(default_factory=frozenset[int])
    hidden: frozenset[int] = field(default_factory=frozenset[int])
    covered: dict[tuple[int, int], Cell] = field(default_factory=dict[tuple[int, int], Cell])
    has_errors: bool = False


@dataclass(slots=True)
class _Facts:
    """The facts that calamine does not tell of a sheet: rows of totals, hidden rows, and what stands for a value.

    `shown` has, by row (from 1) and column (from 0), errors and formulas without a value: workbooks that no program
    has computed, as scripts write them, have none, or 0 for each. calamine reads these as empty cells.
    """

    shown: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    totals: set[int] = field(default_factory=set[int])
    hidden: set[int] = field(default_factory=set[int])


def read_text_grid(path: Path) -> Grid:
    """Return the table of a comma-, semicolon- or tab-separated file. Blocks. Raises `TableError`."""
    decoded = decode_file(path)
    if decoded is None or decoded.lossy:
        raise TableError("table_damaged")
    if decoded.truncated:
        raise _too_large()
    text = f"{decoded.text}\n{_END}"
    # The limit is the whole process's: others may need more.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    delimiter = _delimiter(decoded.text[:_SNIFFED_CHARACTERS])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[tuple[int, list[Cell]]] = []
    values: list[str] = []
    size = last = 0
    for values in reader:
        number, last = last + 1, reader.line_num
        if values == [_END]:
            break
        cells: list[Cell] = [value.strip() or None for value in values]
        if not any(cells) or (number == 1 and values[0].lower().startswith("sep=")):
            continue
        rows.append((number, cells))
        size += len(values)
        _require_fits(len(rows), size, len(values))
    if values != [_END]:  # a quotation mark that nothing closes has made one cell of the rows after it
        raise TableError("table_damaged")
    return Grid("", rows, delimiter=delimiter)


def read_workbook(path: Path) -> list[Grid]:
    """Return the sheets of a workbook that hold anything. Blocks. Raises `TableError`, or what calamine raises."""
    facts: dict[str, _Facts] = {}
    has_errors = False
    if is_zip := zipfile.is_zipfile(path):
        with open_archive(path) as archive:
            archive.verify(_READ_ENTRIES)
        with open_archive(path) as archive:
            facts = dict(_facts(archive))
            has_errors = archive_has_errors(archive)
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            sheets = enumerate(workbook.sheet_names)
            grids = [
                _sheet(workbook.get_sheet_by_index(number), " ".join(name.split()), facts.get(name, _Facts()))
                for number, name in sheets
            ]
    except PasswordError as error:
        raise TableError("table_locked") from error
    has_errors = has_errors or (not is_zip and xls_has_errors(path))
    return [replace(grid, has_errors=has_errors) for grid in grids if grid.rows]


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


def _sheet(sheet: CalamineSheet, name: str, facts: _Facts) -> Grid:
    start = sheet.start
    columns = [column for _, column in facts.shown] + ([start[1]] if start else [])
    if not columns:
        return Grid(name, [])
    waiting: dict[int, dict[int, str]] = {}
    for (number, column), text in facts.shown.items():
        waiting.setdefault(number, {})[column - min(columns)] = text
    lead: list[Cell] = [None] * (start[1] - min(columns) if start else 0)
    rows: list[tuple[int, list[Cell]]] = []
    size = 0
    for number, values in _numbered(sheet, waiting):
        cells = [*lead, *map(_cell, values)]
        for index, text in waiting.get(number, {}).items():
            cells += [None] * (index + 1 - len(cells))
            cells[index] = text
        if any(cell is not None for cell in cells):
            rows.append((number, cells))
            size += len(cells)
            _require_fits(len(rows), size, len(cells))
    covered = _fill_merged(sheet, rows, min(columns))
    return Grid(name, rows, min(columns), "", frozenset(facts.totals), frozenset(facts.hidden), covered)


def _numbered(sheet: CalamineSheet, more: Collection[int]) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the rows with their numbers, and those of `more` that come after: calamine ends where values do."""
    number = 0
    if sheet.start is not None:
        for number, values in enumerate(sheet.iter_rows(), start=1):
            yield number, values
    yield from ((missing, ()) for missing in sorted(more) if missing > number)


def _fill_merged(
    sheet: CalamineSheet, rows: Sequence[tuple[int, list[Cell]]], first_column: int
) -> dict[tuple[int, int], Cell]:
    """Give words that stand in cells merged over several rows to each of these rows; return the numbers and dates."""
    by_number = dict(rows)
    covered: dict[tuple[int, int], Cell] = {}
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or []:
        index, upper = left - first_column, by_number.get(top + 1)
        if bottom == top or upper is None or not 0 <= index < len(upper) or (value := upper[index]) is None:
            continue
        for number in range(top + 2, bottom + 2):
            cells = by_number.get(number)
            if cells is None or index >= len(cells) or cells[index] is not None:
                continue
            if isinstance(value, str) and readings(value) == (None, None):
                cells[index] = value
            else:
                covered[number, index] = value
    return covered


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


def _facts(archive: Archive) -> Iterator[tuple[str, _Facts]]:
    """Yield the name of each sheet with its facts."""
    if "xl/workbook.xml" not in archive.names:
        return
    entries = archive.relations("xl/workbook.xml")
    workbook = archive.xml("xl/workbook.xml")
    is_stale = any(one.get("fullCalcOnLoad") in ("1", "true") for one in workbook.iter("{*}calcPr"))
    for sheet in workbook.iter("{*}sheet"):
        relation = next((sheet.get(name) for name in _RELATIONS if sheet.get(name)), "")
        entry = entries.get(relation)
        if entry is None or not entry.endswith(".xml"):
            continue
        data = archive.read(entry)
        if _UNUSUAL.search(data):
            yield sheet.get("name", ""), _facts_of(parse_xml(data), is_stale=is_stale)


def _facts_of(root: Any, *, is_stale: bool) -> _Facts:
    facts = _Facts()
    number = 0
    for row in root.iter("{*}row"):
        number = _row_number(row) or number + 1
        if row.get("hidden") in ("1", "true"):
            facts.hidden.add(number)
        _note_cells(facts, number, row, is_stale=is_stale)
    return facts


def _row_number(row: Any) -> int | None:
    """Return the number of a row, None if neither it nor its first cell says it."""
    written = row.get("r") or ""
    if written.isdecimal():
        return int(written)
    first = row.find("{*}c")
    place = None if first is None else _CELL.fullmatch(first.get("r") or "")
    return int(place[2]) if place else None


def _note_cells(facts: _Facts, number: int, row: Any, *, is_stale: bool) -> None:
    """Note the formulas and errors of a row. A cell without a place stands behind the one before."""
    column = -1
    for cell in row.iterfind("{*}c"):
        place = _CELL.fullmatch(cell.get("r") or "")
        column = _column_index(place[1]) if place else column + 1
        if text := _shown_instead(cell, is_stale=is_stale):
            facts.shown[int(place[2]) if place else number, column] = text
        if _adds_up(cell.findtext("{*}f") or "", column):
            facts.totals.add(number)


def _shown_instead(cell: Any, *, is_stale: bool) -> str:
    """Return what stands for a value that the file does not have; empty if it has one, or the cell is empty."""
    formula, text = cell.find("{*}f"), cell.findtext("{*}v") or ""
    if cell.get("t") == "e":
        return text or "#N/A"
    if formula is None:
        return ""
    is_computed = cell.get("t") == "str" if text == "" else not (is_stale and text == "0")
    return "" if is_computed else f"={formula.text or ''}"


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
