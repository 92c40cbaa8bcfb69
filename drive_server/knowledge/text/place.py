"""Places in a file as a person finds them: pages, a slide, cells of a sheet, lines, a part."""

import re
from dataclasses import dataclass, replace
from typing import Literal, cast

PlaceKind = Literal["page", "slide", "sheet", "part", "line"]
_RANGE = re.compile(r"(page|slide|part|line)=(\d{1,9})(?:-(\d{1,9}))?")
_CELLS = re.compile(r"sheet=(.+)!([A-Z]{1,3})(\d{1,9}):([A-Z]{1,3})(\d{1,9})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SourceRange:
    """A range of pages, slides, rows of a sheet, parts of a book or lines, counted from 1, `last` included."""

    kind: PlaceKind
    first: int
    last: int
    name: str = ""
    columns: tuple[str, str] | None = None

    def __str__(self) -> str:
        """Return the place as `kind=value`: `slide=3`, `line=10-20`, `sheet=Budget!A2:D15`; in every language."""
        if self.columns:
            return f"{self.kind}={self.name}!{self.columns[0]}{self.first}:{self.columns[1]}{self.last}"
        return f"{self.kind}={self.first}" if self.first == self.last else f"{self.kind}={self.first}-{self.last}"

    def until(self, end: "SourceRange") -> "SourceRange":
        """Return the range from here to the end of another place; this place if there is no such range."""
        if (end.kind, end.name) != (self.kind, self.name):
            return self
        columns = self.columns
        if columns and end.columns:
            columns = (min(columns[0], end.columns[0], key=_order), max(columns[1], end.columns[1], key=_order))
        return replace(self, last=max(self.last, end.last), columns=columns)


def parse_place(written: str) -> SourceRange | None:
    """Parse a place as `str` writes it; None if it is malformed."""
    if cells := _CELLS.fullmatch(written):
        name, left, first, right, last = cells.groups()
        return SourceRange("sheet", int(first), int(last), name, (left, right)) if int(first) <= int(last) else None
    if stretch := _RANGE.fullmatch(written):
        kind, first, last = stretch.groups()
        found = SourceRange(cast("PlaceKind", kind), int(first), int(last or first))
        return found if found.first <= found.last else None
    return None


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
