"""The table in a grid: its header, its columns, and its rows of data without totals."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from drive_server.knowledge.tables.cells import Cell, shown, value_of
from drive_server.knowledge.tables.dates import read_date
from drive_server.knowledge.tables.grid import Grid
from drive_server.knowledge.tables.numbers import readings
from drive_server.knowledge.tables.request import CellText, TableError, TableQuery
from drive_server.knowledge.text.place import SourceRange, column_name

MAX_HEADER_ROWS: Final = 30
_TYPICAL_ROWS: Final = 100
_LEAST_SHARE: Final = 0.6
_TOTAL: Final = re.compile(
    r"(?:(?:grand|overall|sub|running)[\s-]*)?totals?(?:\s+(?:amounts?|costs?|sums?|due|general|\d{4}))?\s*[:：]?"
    r"|sum\s*[:：]?|(?:总|合|小|共|累)计\s*[:：]?|[合總]計\s*[:：]?|总和|总额|汇总|总共",
    re.IGNORECASE,
)
_TOTAL_BEGINS: Final = frozenset("gGoOsSrRtT总合小共累總汇")
"""The beginnings of labels of totals: there are millions of other cells."""
_MAX_LABEL: Final = 30
_LEAST_ADDED: Final = 2
_YEAR: Final = re.compile(r"(?:19|20|21)\d\d")


@dataclass(slots=True)
class Table:
    """The names of the columns, with the index of each in the cells, and the rows of data with their numbers.

    `ragged` are the places among `rows` of those that have cells beyond the header, as `9,1,200` has with its `1,200`.
    """

    grid: Grid
    names: tuple[str, ...]
    header_row: int | None
    rows: list[tuple[int, list[Cell]]]
    left_out: tuple[CellText, ...]
    left_out_rows: tuple[int, ...] = ()
    ragged: frozenset[int] = frozenset()

    def index_of(self, name: str) -> int:
        """Return the index of a column by its name, or else its letters. Raises `TableError`, which names them all."""
        exact = {own: index for index, own in reversed(list(enumerate(self.names)))}
        folded = {_folded(own): index for own, index in reversed(list(exact.items()))}
        found = exact.get(name, folded.get(_folded(name)))
        if found is None:
            columns = ", ".join(self.names)
            raise TableError("table_no_column", {"columns": list(self.names)}, name=name, columns=columns)
        return found

    def letters(self, index: int) -> str:
        """Return the letters of a column in its sheet."""
        return column_name(self.grid.first_column + index)

    def cell(self, row: int, index: int) -> str:
        """Return the place of one cell of the row with this number."""
        return self.place(row, row, (index, index))

    def place(self, first: int, last: int, columns: tuple[int, int]) -> str:
        """Return the place of rows as `read_file` takes it: lines of a text file, cells of a sheet."""
        if not self.grid.name:
            return str(SourceRange("line", first, last))
        letters = self.letters(columns[0]), self.letters(columns[1])
        return str(SourceRange("sheet", first, last, self.grid.name, letters))


def table_in(grid: Grid, query: TableQuery) -> Table:
    """Return the table of a grid. Raises `TableError` if there is none."""
    position = _header(grid, query.header_row)
    header = grid.rows[position] if position is not None else None
    data = grid.rows[0 if position is None else position + 1 :]
    width = max((len(cells) for _, cells in (grid.rows if position is None else grid.rows[position:])), default=0)
    names = _names(grid, header[1] if header else [], width)
    rows: list[tuple[int, list[Cell]]] = []
    left_out: list[tuple[int, list[Cell]]] = []
    labels = _total_labels(data)
    for number, cells in data:
        is_repeated = header is not None and cells == header[1]
        is_total = not query.keep_totals and (number in grid.totals or not labels.isdisjoint(cells))
        (left_out if is_total or is_repeated else rows).append((number, cells))
    if not query.keep_totals and _is_unlabelled_total(rows):
        left_out.append(rows.pop())
    table = Table(grid, names, header[0] if header else None, rows, (), ragged=_ragged(grid, header, rows))
    last = max(0, width - 1)
    table.left_out = tuple(
        CellText(table.place(number, number, (0, last)), line_of(cells)) for number, cells in left_out
    )
    table.left_out += tuple(
        CellText(table.place(number, number, (column - grid.first_column, column - grid.first_column)), text[:200])
        for number, column, text in grid.far
    )
    table.left_out_rows = tuple(number for number, _ in left_out)
    return table


def _header(grid: Grid, wanted: int | None) -> int | None:
    """Return where the row is that names the columns; None if no row does."""
    if wanted == 0:
        return None
    if wanted is not None:
        found = next((index for index, (number, _) in enumerate(grid.rows) if number == wanted), None)
        if found is None:
            raise TableError("table_no_header", row=wanted)
        return found
    widths = Counter(width for _, cells in grid.rows[:_TYPICAL_ROWS] if (width := _filled(cells)) > 1)
    typical = max(widths, key=lambda width: (widths[width], width), default=1)
    for index, (_, cells) in enumerate(grid.rows[:MAX_HEADER_ROWS]):
        if _filled(cells) < max(min(2, typical), _LEAST_SHARE * typical):
            continue
        following = grid.rows[index + 1][1] if index + 1 < len(grid.rows) else []
        return index if _names_columns(cells, following) else None
    return None


def _names_columns(cells: Sequence[Cell], following: Sequence[Cell]) -> bool:
    """Say whether a row names columns: words, years and dates, each once, unlike the row after it."""
    filled = [(index, cell) for index, cell in enumerate(cells) if cell is not None]
    texts = [shown(cell) for _, cell in filled]
    if len(set(texts)) < len(texts) or not any(isinstance(cell, str) and not _is_value(cell) for _, cell in filled):
        return False
    for index, cell in filled:
        if not _is_value(cell):
            continue
        below = following[index] if index < len(following) else None
        is_label = isinstance(value_of(cell), datetime) or _YEAR.fullmatch(shown(cell)) or _is_date(cell)
        if not is_label or _YEAR.fullmatch(shown(below)) or _is_date(below):
            return False
    return True


def _names(grid: Grid, header: Sequence[Cell], width: int) -> tuple[str, ...]:
    """Return a name for each column; the second of a name gets a number, a column without one its letters."""
    names: list[str] = []
    for index in range(width):
        cell = header[index] if index < len(header) else None
        name = " ".join(shown(cell).split()) or f"column {column_name(grid.first_column + index)}"
        free, number = name, 2
        while free in names:
            free, number = f"{name} ({number})", number + 1
        names.append(free)
    return tuple(names)


def _total_labels(rows: Sequence[tuple[int, list[Cell]]]) -> set[Cell]:
    """Return the cells that name a row of totals; of many rows, each different cell is looked at once."""
    different: set[Cell] = set()
    for _, cells in rows:
        different.update(cells)
    texts = (cell for cell in different if isinstance(cell, str) and len(cell) <= _MAX_LABEL)
    return {text for text in texts if text[:1] in _TOTAL_BEGINS and _TOTAL.fullmatch(text)}


def _is_unlabelled_total(rows: Sequence[tuple[int, list[Cell]]]) -> bool:
    """Say whether the last row has only sums of the rows above, in fewer cells than the row before."""
    if len(rows) <= _LEAST_ADDED:
        return False
    *above, (_, last) = rows
    filled = [(index, cell) for index, cell in enumerate(last) if cell is not None]
    if len(filled) >= _filled(above[-1][1]):
        return False
    return all(_value(cell) is not None and _value(cell) == _sum(above, index) for index, cell in filled)


def _sum(rows: Sequence[tuple[int, list[Cell]]], index: int) -> Decimal | None:
    values = [_value(cells[index]) for _, cells in rows if index < len(cells) and cells[index] is not None]
    return None if None in values else sum((value for value in values if value is not None), Decimal(0))


def _value(cell: Cell) -> Decimal | None:
    if not isinstance(cell, str):
        value = value_of(cell)
        return value if isinstance(value, Decimal) else None
    point, comma = readings(cell)
    found = point or comma
    return found.value if found else None


def _is_value(cell: Cell) -> bool:
    if not isinstance(cell, str):
        return cell is not None
    return _is_date(cell) or readings(cell) != (None, None)


def _is_date(cell: Cell) -> bool:
    if isinstance(cell, str):
        return read_date(cell, "dmy") is not None or read_date(cell, "mdy") is not None
    return isinstance(value_of(cell), datetime)


def _filled(cells: Sequence[Cell]) -> int:
    return sum(cell is not None for cell in cells)


def _ragged(
    grid: Grid, header: tuple[int, list[Cell]] | None, rows: Sequence[tuple[int, list[Cell]]]
) -> frozenset[int]:
    if header is None or grid.name:
        return frozenset()
    width = len(header[1])
    return frozenset(place for place, (_, cells) in enumerate(rows) if _filled(cells[width:]))


def line_of(cells: Sequence[Cell]) -> str:
    """Return the cells of a row in one line, cut."""
    return " | ".join(shown(cell) for cell in cells if cell is not None)[:200]


def _folded(name: str) -> str:
    return "".join(name.casefold().split())
