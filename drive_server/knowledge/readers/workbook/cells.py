"""The cells of a workbook: the text that a cell shows, the value behind it, and hidden cells."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, Protocol

CellKind = Literal["text", "number", "date", "duration", "error", "formula"]
"""`formula` is one that no program has calculated: `text` is the formula itself. A duration is a number of days."""

HIDDEN: Final = "(hidden)"
_EXACT_INTEGERS: Final = 2**53


@dataclass(slots=True)
class Cell:
    """A cell with content. `column` counts from 0; `value` is a number or a moment, None for texts.

    `text` is the value by the cell's number format, `comment` the notes of people to it.
    """

    column: int
    text: str
    value: Decimal | datetime.datetime | None = None
    kind: CellKind = "text"
    comment: str = ""
    is_total: bool = False


@dataclass(slots=True)
class Row:
    """The cells of a row that have content, from left to right; `number` counts from 1."""

    number: int
    cells: list[Cell]
    is_hidden: bool = False


Area = tuple[tuple[int, int], tuple[int, int]]
"""The first and the last row and column of merged cells, counted from 0."""


class Sheet(Protocol):
    """A sheet of a workbook, read row by row; the other facts are whole when the last row was read."""

    name: str
    is_hidden: bool
    hidden_columns: set[int]
    merged: list[Area]
    texts: list[str]
    has_unknown_errors: bool

    def rows(self) -> Iterator[Row]:
        """Yield the rows with content."""
        ...


@dataclass(slots=True)
class SheetFacts:
    """The facts of a sheet. `texts` stand beside the cells: text boxes, titles of charts, heads and feet of pages.

    `has_unknown_errors`: some blank cells are errors, and nobody knows which.
    """

    name: str
    is_hidden: bool = False
    hidden_columns: set[int] = field(default_factory=set[int])
    merged: list[Area] = field(default_factory=list[Area])
    texts: list[str] = field(default_factory=list[str])
    has_unknown_errors: bool = False


def number_of(value: float) -> Decimal:
    """Return a number as spreadsheets know it, by 15 digits; whole numbers exactly. Raises `ValueError` for NaN."""
    if value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return Decimal(int(value))
    number = Decimal(format(value, ".15g"))
    if not number.is_finite():
        raise ValueError(value)
    return number


def with_comments(row: Row, comments: dict[int, str]) -> Row:
    """Return the row with the comments of its columns; a comment to a blank cell makes a cell without text."""
    for cell in row.cells:
        if found := comments.pop(cell.column, ""):
            cell.comment = found
    if comments:
        row.cells += [Cell(column, "", comment=comment) for column, comment in comments.items()]
        row.cells.sort(key=lambda cell: cell.column)
    return row
