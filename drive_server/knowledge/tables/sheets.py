"""The tables in a workbook, made of the same cells as its text."""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final

from drive_server.knowledge.readers.workbook.book import open_workbook
from drive_server.knowledge.readers.workbook.cells import Area, Sheet
from drive_server.knowledge.readers.workbook.cells import Cell as SheetCell
from drive_server.knowledge.tables.cells import Cell, NotCalculated, Shown, shown, shown_number, value_of
from drive_server.knowledge.tables.grid import MAX_COLUMNS, Grid, require_fits
from drive_server.knowledge.tables.numbers import readings
from drive_server.knowledge.text.omissions import Omissions

_WIDE_GAP: Final = 100
"""Columns without cells that part a table from cells that are none of it, in a sheet too wide for a table."""

_Rows = list[tuple[int, list[SheetCell]]]


def read_workbook(path: Path) -> list[Grid]:
    """Return the sheets of a workbook that hold anything. Blocks. Raises `TableError`, or as `open_workbook` does."""
    with open_workbook(path, Omissions()) as sheets:
        return [grid for sheet in sheets if (grid := _grid(sheet)).rows]


def _grid(sheet: Sheet) -> Grid:
    rows: _Rows = []
    totals: set[int] = set()
    hidden: set[int] = set()
    size = 0
    for row in sheet.rows():
        cells = [cell for cell in row.cells if cell.text or cell.value is not None]
        if not cells:
            continue
        rows.append((row.number, cells))
        size += len(cells)
        require_fits(len(rows), size, 0)
        if any(cell.is_total for cell in cells):
            totals.add(row.number)
        if row.is_hidden:
            hidden.add(row.number)
    first, last, far = _span(rows)
    dense = [(number, filled) for number, cells in rows if (filled := _dense(cells, first, last))]
    require_fits(len(dense), sum(len(cells) for _, cells in dense), last - first + 1)
    covered = _fill_merged(sheet.merged, dense, first)
    return Grid(
        sheet.name,
        dense,
        first,
        totals=frozenset(totals),
        hidden=frozenset(hidden),
        covered=covered,
        has_errors=sheet.has_unknown_errors,
        far=far,
    )


def _span(rows: _Rows) -> tuple[int, int, tuple[tuple[int, int, str], ...]]:
    """Return the first and the last column of the table, and the cells that lie far from it."""
    used = Counter(cell.column for _, cells in rows for cell in cells)
    columns = sorted(used)
    if not columns or columns[-1] - columns[0] < MAX_COLUMNS:
        return (columns[0], columns[-1], ()) if columns else (0, 0, ())
    parts = [[columns[0]]]
    for column in columns[1:]:
        if column - parts[-1][-1] > _WIDE_GAP:
            parts.append([])
        parts[-1].append(column)
    table = max(parts, key=lambda part: sum(used[column] for column in part))
    first, last = table[0], table[-1]
    outside = ((number, cell) for number, cells in rows for cell in cells if not first <= cell.column <= last)
    return first, last, tuple((number, cell.column, cell.text) for number, cell in outside)


def _dense(cells: Sequence[SheetCell], first: int, last: int) -> list[Cell]:
    """Return the cells of a row by their index in the table; empty if it has none there."""
    inside = [cell for cell in cells if first <= cell.column <= last]
    filled: list[Cell] = [None] * (inside[-1].column - first + 1 if inside else 0)
    for cell in inside:
        filled[cell.column - first] = _cell(cell)
    return filled


def _cell(cell: SheetCell) -> Cell:
    if cell.kind == "formula":
        return NotCalculated(cell.text)
    if isinstance(cell.value, Decimal):
        return Shown(cell.value, cell.text, "days") if cell.kind == "duration" else shown_number(cell.value, cell.text)
    if isinstance(cell.value, datetime.datetime):
        return cell.value if cell.text == shown(cell.value) else Shown(cell.value, cell.text)
    return cell.text or None


def _fill_merged(
    merged: Iterable[Area], rows: Sequence[tuple[int, list[Cell]]], first_column: int
) -> dict[tuple[int, int], Cell]:
    """Give words that stand in cells merged over several rows to each of these rows; return the numbers and dates."""
    by_number = dict(rows)
    covered: dict[tuple[int, int], Cell] = {}
    for (top, left), (bottom, _) in merged:
        index, upper = left - first_column, by_number.get(top + 1)
        if bottom == top or upper is None or not 0 <= index < len(upper) or (value := upper[index]) is None:
            continue
        for number in range(top + 2, bottom + 2):
            cells = by_number.get(number)
            if cells is None or index >= len(cells) or cells[index] is not None:
                continue
            if isinstance(value_of(value), str) and readings(shown(value)) == (None, None):
                cells[index] = value
            else:
                covered[number, index] = value
    return covered
