"""A column of a table: its cells as texts, numbers and moments, and those that can't be read as what is asked of it."""

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Literal

from drive_server.knowledge.tables.dates import Order, is_open, order_of, read_date
from drive_server.knowledge.tables.grid import Cell, shown
from drive_server.knowledge.tables.numbers import Mark, Number, is_ambiguous, is_blank, is_dash, mark_of, readings
from drive_server.knowledge.tables.request import Kind, TableQuery
from drive_server.knowledge.tables.table import Table

MAX_DECIMALS = 18
SAMPLED_CELLS = 4_000
MAX_DIGITS = 18
"""Digits of the integral part: 200,000 such numbers can be added up within the 38 digits of DuckDB's decimals."""


class Column:
    """The cells of a column, row by row of the data; None where a cell is empty."""

    def __init__(self, table: Table, index: int, query: TableQuery, usual_mark: Mark | Literal["both"] | None) -> None:
        self.index = index
        self.name = table.names[index]
        written = [row[index] if index < len(row) else None for _, row in table.rows]
        self.repeats = [False] * len(written)
        """True for the cells below the first of a merged area, which count in filters and groups and not in results."""
        if table.grid.covered:
            covered = [table.grid.covered.get((number, index)) for number, _ in table.rows]
            self.repeats = [cell is not None for cell in covered]
            written = [cell if above is None else above for cell, above in zip(written, covered, strict=True)]
        self.cells: list[Cell] = [None if isinstance(cell, str) and is_blank(cell) else cell for cell in written]
        self._asked_mark: Mark | None = query.decimal_mark
        self._usual_mark: Mark | Literal["both"] | None = usual_mark
        self._order: Order | None = query.date_order
        if self.kind == "text":  # where it may be a name: NA, for North America
            self.cells = [None if isinstance(cell, str) and is_dash(cell) else cell for cell in written]

    @cached_property
    def texts(self) -> list[str | None]:
        """The cells as they are shown."""
        return [None if cell is None else shown(cell) for cell in self.cells]

    @cached_property
    def keys(self) -> list[str | None]:
        """The texts as they are compared: without differences of case, width and blanks."""
        return [None if text is None else folded(text) for text in self.texts]

    @cached_property
    def mark(self) -> Mark | Literal["both"] | None:
        """The decimal mark: as asked, as this column's numbers show, else as those of the whole table do."""
        if self._asked_mark is not None:
            return self._asked_mark
        own = mark_of(self._written)
        return self._usual_mark if own is None else own

    @cached_property
    def order(self) -> Order | None:
        """The order of day and month: as asked, else as this column's dates show."""
        return order_of(self._written) if self._order is None else self._order

    @cached_property
    def numbers(self) -> list[Number | None]:
        """The cells as numbers; None where a cell is none, is empty, or can be read in two ways."""
        return [self._number(cell) for cell in self.cells]

    @cached_property
    def moments(self) -> list[datetime | None]:
        """The cells as moments; of a day, its beginning."""
        return [self._moment(cell) for cell in self.cells]

    @cached_property
    def kind(self) -> Kind:
        """The kind of most of its cells; of a long column, of some thousand cells all over it."""
        sample = [cell for cell in self.cells[:: 1 + len(self.cells) // SAMPLED_CELLS] if cell is not None]
        dates = sum(
            isinstance(cell, datetime) or (isinstance(cell, str) and self._looks_dated(cell)) for cell in sample
        )
        if sample and dates * 2 >= len(sample):
            return "date"
        numeric = sum(isinstance(cell, Decimal) or (isinstance(cell, str) and _looks_numeric(cell)) for cell in sample)
        return "number" if sample and numeric * 2 >= len(sample) else "text"

    def parsed(self, kind: Kind) -> Sequence[object]:
        """Return the cells as values of a kind."""
        return {"number": self.numbers, "date": self.moments, "text": self.texts}[kind]

    @property
    def _written(self) -> list[str]:
        return [cell for cell in self.cells if isinstance(cell, str)]

    def _number(self, cell: Cell) -> Number | None:
        if isinstance(cell, str):
            found = self._written_number(cell)
        else:
            found = Number(cell) if isinstance(cell, Decimal) else None
        return found if found and is_exact(found.value) else None

    def _written_number(self, text: str) -> Number | None:
        point, comma = readings(text)
        if self._asked_mark:
            return point if self._asked_mark == "." else comma
        if not is_ambiguous(text):
            return point or comma
        if self.mark is None and "," in text:  # as English and Chinese write thousands
            return point
        return {".": point, ",": comma}.get(self.mark or "")

    def _moment(self, cell: Cell) -> datetime | None:
        if isinstance(cell, str):
            found = read_date(cell, self.order)
            return found.start if found else None
        return cell if isinstance(cell, datetime) else None

    def _looks_dated(self, cell: str) -> bool:
        return read_date(cell, self.order) is not None or is_open(cell)


def folded(text: str) -> str:
    """Return a text as texts are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_exact(value: Decimal) -> bool:
    """Say whether sums of such numbers are exact."""
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -MAX_DECIMALS and value.adjusted() < MAX_DIGITS


def _looks_numeric(text: str) -> bool:
    return readings(text) != (None, None)
