"""Where something stands in a file, as a person would look for it there: a slide, cells of a sheet, lines, a part."""

from dataclasses import dataclass, replace
from typing import Literal

PlaceKind = Literal["page", "slide", "sheet", "part", "line"]


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of pages, slides, rows of a sheet, parts of a book or lines, counted from 1, `last` included.

    `name` is the sheet's; `columns` its first and last column, as in ("A", "D").
    """

    kind: PlaceKind
    first: int
    last: int
    name: str = ""
    columns: tuple[str, str] | None = None

    def __str__(self) -> str:
        """Return it as `kind=value`: `slide=3`, `line=10-20`, `sheet=Budget!A2:D15`; the same in every language."""
        if self.columns:
            return f"{self.kind}={self.name}!{self.columns[0]}{self.first}:{self.columns[1]}{self.last}"
        return f"{self.kind}={self.first}" if self.first == self.last else f"{self.kind}={self.first}-{self.last}"

    def until(self, end: "Place") -> "Place":
        """Return the stretch from here to the end of another place; where there is no such stretch, this place."""
        if (end.kind, end.name) != (self.kind, self.name):
            return self
        columns = self.columns
        if columns and end.columns:
            columns = (min(columns[0], end.columns[0], key=_order), max(columns[1], end.columns[1], key=_order))
        return replace(self, last=max(self.last, end.last), columns=columns)


def column_name(index: int) -> str:
    """Return the letters of a sheet's column; `index` counts from 0."""
    letters = ""
    index += 1
    while index:
        index, letter = divmod(index - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def _order(column: str) -> tuple[int, str]:
    return len(column), column
