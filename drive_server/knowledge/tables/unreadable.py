"""Cells that can't be read as the wanted kind: an answer is refused, or leaves out their rows and says so."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from drive_server.knowledge.tables.cells import NotCalculated
from drive_server.knowledge.tables.columns import Column
from drive_server.knowledge.tables.dates import is_open
from drive_server.knowledge.tables.numbers import is_ambiguous
from drive_server.knowledge.tables.request import CellText, Kind, TableError
from drive_server.knowledge.tables.table import Table, line_of

MAX_LISTED: Final = 20
_SHOWN: Final = 5

Reading = tuple[Column, Kind]
"""A column, and the kind that its cells are read as."""


class Unreadable:
    """The unreadable cells of the rows that a question is about."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._cells: dict[int, list[Reading]] = {}

    def __len__(self) -> int:
        return len(self._cells)

    def note(self, position: int, readings: Iterable[Reading]) -> None:
        """Note of a row the cells that can't be read."""
        if bad := [reading for reading in readings if _is_unreadable(reading, position)]:
            self._cells[position] = bad

    def note_ragged(self) -> None:
        """Note the rows with cells beyond the header: one of their cells was divided, so that others are elsewhere."""
        self._cells.update((position, []) for position in self._table.ragged)

    def readable(self, positions: Sequence[int], readings: Sequence[Reading], *, skip: bool) -> list[int]:
        """Return the rows that can be read. Raises `TableError` if there are others, unless they are to be skipped."""
        bad = {place for column, kind in readings for place in _unreadable_places(column, kind)}
        for position in positions if bad else ():
            if position in bad:
                self.note(position, readings)
        if self._cells and not skip:
            raise self._refusal()
        return [position for position in positions if position not in self._cells]

    def listed(self) -> tuple[CellText, ...]:
        """Return the first of the cells."""
        texts = (text for position in sorted(self._cells) for text in self._texts(position))
        return tuple(islice(texts, MAX_LISTED))

    def _texts(self, position: int) -> Iterator[CellText]:
        row, cells = self._table.rows[position]
        if position in self._table.ragged:
            yield CellText(self._table.cell(row, 0), line_of(cells)[:100])
            return
        for column, _ in self._cells[position]:
            yield CellText(self._table.cell(row, column.index), (column.text(position) or "")[:100])

    def _is_not_calculated(self, position: int) -> bool:
        return any(isinstance(column.cells[position], NotCalculated) for column, _ in self._cells[position])

    def _refusal(self) -> TableError:
        cells = self.listed()
        details = {"unreadable": [{"cell": one.cell, "text": one.text} for one in cells], "rows": len(self)}
        shown = "; ".join(f"{one.cell} '{one.text}'" for one in cells[:_SHOWN])
        if self._cells.keys() & self._table.ragged:
            return TableError("table_ragged", details, count=len(self), cells=shown)
        if all(self._is_not_calculated(position) for position in self._cells):
            return TableError("table_not_calculated", details, count=len(self), cells=shown)
        has_dates = any(kind == "date" for readings in self._cells.values() for _, kind in readings)
        doubtful = all(is_open(one.text) if has_dates else is_ambiguous(one.text) for one in cells)
        if has_dates:
            return TableError(
                "table_open_dates" if doubtful else "table_unreadable_dates", details, count=len(self), cells=shown
            )
        return TableError("table_ambiguous" if doubtful else "table_unreadable", details, count=len(self), cells=shown)


def _is_unreadable(reading: Reading, position: int) -> bool:
    column, kind = reading
    return column.cells[position] is not None and column.parsed(kind)[position] is None


def _unreadable_places(column: Column, kind: Kind) -> list[int]:
    pairs = zip(column.cells, column.parsed(kind), strict=True)
    return [place for place, (cell, value) in enumerate(pairs) if value is None and cell is not None]
