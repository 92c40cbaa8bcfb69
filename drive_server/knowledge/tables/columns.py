"""A column of a table: its cells as texts, numbers and moments, and those that can't be read as the wanted kind."""

import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Literal, TypeVar

from drive_server.knowledge.tables.cells import Cell, NotCalculated, Shown, shown, value_of
from drive_server.knowledge.tables.dates import Order, order_of, read_date
from drive_server.knowledge.tables.numbers import Mark, Number, Readings, is_blank, is_dash, mark_of, readings
from drive_server.knowledge.tables.request import Kind, TableQuery
from drive_server.knowledge.tables.table import Table

T = TypeVar("T")

MAX_DECIMALS = 18
SAMPLED_CELLS = 1_000
MAX_DIGITS = 18
"""Digits of the integral part: 200,000 such numbers can be added up within the 38 digits of DuckDB's decimals."""

UsualMark = Callable[[], Mark | Literal["both"] | None]
"""Works out the decimal mark that the numbers of the whole table show."""


class Column:
    """The cells of a column, row by row of the data; None where a cell is empty."""

    def __init__(self, table: Table, index: int, query: TableQuery, usual_mark: UsualMark) -> None:
        self.index = index
        self.name = table.names[index]
        self._rows = table.rows
        self._covered = table.grid.covered
        self._asked_mark: Mark | None = query.decimal_mark
        self._usual_mark = usual_mark
        self._order: Order | None = query.date_order

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells, row by row of the data."""
        return self._cells_of(self._rows, self._is_empty)

    @cached_property
    def repeats(self) -> list[bool]:
        """True for the cells below the first of a merged area, which count in filters and groups and not in results."""
        return [(number, self.index) in self._covered for number, _ in self._rows]

    @cached_property
    def texts(self) -> list[str | None]:
        """The cells as they are shown."""
        return self._each(shown)

    def text(self, position: int) -> str | None:
        """Return one cell as it is shown."""
        (cell,) = self._cells_of(self._rows[position : position + 1], self._is_empty)
        return None if cell is None else shown(cell)

    @cached_property
    def keys(self) -> list[str | None]:
        """The texts as they are compared: without differences of case, width and blanks.

        None for formulas that nobody has calculated, too: they may be anything.
        """
        return self._each(lambda cell: None if isinstance(cell, NotCalculated) else folded(shown(cell)))

    @cached_property
    def is_percent(self) -> bool:
        """True if the sheet shows fractions of one as percentages."""
        return any(isinstance(cell, Shown) and cell.text.endswith("%") for cell in self._different)

    @cached_property
    def mark(self) -> Mark | Literal["both"] | None:
        """The decimal mark: as asked, as this column's numbers show, else as those of the whole table do."""
        if self._asked_mark is not None:
            return self._asked_mark
        own = mark_of(self._readings.values())
        return self._usual_mark() if own is None else own

    @cached_property
    def order(self) -> Order | None:
        """The order of day and month: as asked, else as this column's dates show."""
        return order_of(self._written) if self._order is None else self._order

    @cached_property
    def numbers(self) -> list[Number | None]:
        """The cells as numbers; None where a cell is none, is empty, or can be read in two ways."""
        return self._each(self._number)

    @cached_property
    def moments(self) -> list[datetime | None]:
        """The cells as moments; of a day, its beginning."""
        return self._each(self._moment)

    @cached_property
    def kind(self) -> Kind:
        """The kind of most of its cells; of a long column, of some hundred cells all over it."""
        sampled = self._cells_of(self._rows[:: 1 + len(self._rows) // SAMPLED_CELLS], is_blank)
        sample = [cell for cell in sampled if cell is not None]
        dates = sum(
            isinstance(value_of(cell), datetime) or (isinstance(cell, str) and _looks_dated(cell)) for cell in sample
        )
        if sample and dates * 2 >= len(sample):
            return "date"
        numeric = sum(
            isinstance(value_of(cell), Decimal) or (isinstance(cell, str) and _looks_numeric(cell)) for cell in sample
        )
        return "number" if sample and numeric * 2 >= len(sample) else "text"

    def parsed(self, kind: Kind) -> Sequence[object]:
        """Return the cells as values of a kind."""
        if kind == "text":
            return self.keys
        return self.numbers if kind == "number" else self.moments

    def _is_empty(self, text: str) -> bool:
        return is_dash(text) if self.kind == "text" else is_blank(text)  # NA may be a name: North America

    def _cells_of(self, rows: Sequence[tuple[int, list[Cell]]], is_empty: Callable[[str], bool]) -> list[Cell]:
        index = self.index
        cells = [row[index] if index < len(row) else None for _, row in rows]
        if covered := self._covered:
            cells = [covered.get((number, index), cell) for (number, _), cell in zip(rows, cells, strict=True)]
        return [None if isinstance(cell, str) and is_empty(cell) else cell for cell in cells]

    def _each(self, read: Callable[[Cell], T]) -> list[T | None]:
        """Read each different cell once."""
        values: dict[Cell, T | None] = {cell: read(cell) for cell in self._different}
        values[None] = None
        return list(map(values.__getitem__, self.cells))

    @cached_property
    def _different(self) -> list[Cell]:
        return [cell for cell in dict.fromkeys(self.cells) if cell is not None]

    @cached_property
    def _readings(self) -> dict[str, Readings]:
        return {text: readings(text) for text in self._written}

    @property
    def _written(self) -> list[str]:
        return [cell for cell in self._different if isinstance(cell, str)]

    def _number(self, cell: Cell) -> Number | None:
        if isinstance(cell, str):
            found = self._written_number(cell)
        else:
            value = value_of(cell)
            unit = cell.unit if isinstance(cell, Shown) else ""
            found = Number(value, unit) if isinstance(value, Decimal) else None
        return found if found and is_exact(found.value) else None

    def _written_number(self, text: str) -> Number | None:
        point, comma = self._readings[text]
        if self._asked_mark:
            return point if self._asked_mark == "." else comma
        if point is None or comma is None or point == comma:
            return point or comma
        if self.mark is None and "," in text:  # as English and Chinese write thousands
            return point
        return {".": point, ",": comma}.get(self.mark or "")

    def _moment(self, cell: Cell) -> datetime | None:
        if isinstance(cell, str):
            found = read_date(cell, self.order)
            return found.start if found else None
        value = value_of(cell)
        return value if isinstance(value, datetime) else None


def folded(text: str) -> str:
    """Return a text as texts are compared."""
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_exact(value: Decimal) -> bool:
    """Say whether sums of such numbers are exact."""
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -MAX_DECIMALS and value.adjusted() < MAX_DIGITS


def _looks_numeric(text: str) -> bool:
    return readings(text) != (None, None)


def _looks_dated(text: str) -> bool:
    return read_date(text, "dmy") is not None or read_date(text, "mdy") is not None
