"""The rows of a sheet of xlsx (ECMA-376 part 1, section 18.3), read one after the other."""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from drive_server.knowledge.readers.workbook.cells import Area, Cell, Row, SheetFacts, number_of, with_comments
from drive_server.knowledge.readers.workbook.formats.number_format import NumberFormat
from drive_server.knowledge.readers.workbook.formulas import Formulas, adds_up
from drive_server.knowledge.readers.workbook.package import Package
from drive_server.knowledge.readers.workbook.values import Content, moment_content, number_content, text_content
from drive_server.knowledge.readers.workbook.xlsx_objects import comments_of, head_and_foot
from drive_server.knowledge.readers.workbook.xlsx_styles import rich_text, unescaped
from drive_server.knowledge.text.omissions import Omissions

_CELL: Final = re.compile(r"\$?([A-Za-z]{0,3})\$?(\d{0,7})")
_DIGITS: Final = "0123456789"
_TRUE: Final = ("1", "true", "on")
_CACHED_CONTENTS: Final = 50_000
_EXACT_DIGITS: Final = 15
_LAST_COLUMN: Final = 16_384


@dataclass(frozen=True, slots=True)
class Book:
    """The facts of the workbook that its sheets need. `is_stale`: noughts of formulas may be no results."""

    package: Package
    formats: Sequence[NumberFormat | None]
    texts: Sequence[str]
    is_1904: bool
    is_stale: bool


class XlsxSheet(SheetFacts):
    """A sheet of xlsx."""

    def __init__(self, book: Book, part: str, name: str, omissions: Omissions, *, is_hidden: bool) -> None:
        super().__init__(name, is_hidden)
        self._book, self._part, self._omissions = book, part, omissions
        self._formulas = Formulas()
        self._unknown: list[tuple[Area, str]] = []
        """The areas of array formulas that nobody has calculated, and these."""
        self._columns: dict[str, int] = {}
        self._names: dict[Any, str] = {}
        self._contents: dict[tuple[str | None, str | None, str], Content] = {}

    def rows(self) -> Iterator[Row]:
        """Yield the rows with content, comments included."""
        comments = comments_of(self._book.package, self._part)
        last = 0
        for element in self._book.package.elements(self._part, "row", "cols", "mergeCell", "headerFooter"):
            name = element.tag.rpartition("}")[2]
            if name == "row":
                row = self._row(element, last + 1)
                last = row.number
                for number in sorted(one for one in comments if one < last) if comments else ():
                    yield with_comments(Row(number, []), comments.pop(number))
                if comments:
                    row = with_comments(row, comments.pop(last, {}))
                if row.cells:
                    yield row
            elif name == "cols":
                self.hidden_columns.update(_hidden_columns(element))
            elif name == "mergeCell":
                self.merged += _areas(element.get("ref") or "")
            else:
                self.texts += head_and_foot(element)
        for number in sorted(comments):
            yield with_comments(Row(number, []), comments[number])

    def _row(self, element: Any, following: int) -> Row:
        """Return a row. One without a number stands below the one before, a cell without a place behind it."""
        number = _row_number(element) or following
        is_hidden = element.get("hidden") in _TRUE or element.get("ht") == "0"
        cells: list[Cell] = []
        column = -1
        for child in element:
            place = child.get("r", "")
            index = self._columns.get(place.rstrip(_DIGITS), -1)
            column = index if index >= 0 else self._column(place, column + 1)
            if len(child) and (cell := self._cell(child, column, place)) is not None:
                cells.append(cell)
        return Row(number, cells, is_hidden)

    def _column(self, place: str, following: int) -> int:
        letters = place.rstrip(_DIGITS)
        match = _CELL.fullmatch(letters)
        if match is None or not match[1] or (index := column_index(match[1])) < 0:
            return following
        self._columns[letters] = index
        return index

    def _cell(self, element: Any, column: int, place: str) -> Cell | None:
        formula = written = None
        for child in element:
            name = self._names.get(child.tag) or self._name(child.tag)
            if name == "v":
                written = child.text
            elif name == "is":
                written = rich_text(child)
            elif name == "f":
                formula = child
        style, kind = element.get("s"), element.get("t")
        if formula is not None:
            return self._formula(formula, column, place, style, kind, written)
        if self._unknown and written == "0" and (text := self._array_over(place)):
            self._omissions.add("formula")
            return Cell(column, text, kind="formula")
        if not written:
            return Cell(column, "#N/A", kind="error") if kind == "e" else None
        found = self._contents.get((style, kind, written))
        text, value, shown_kind = found or self._content(style, kind, written)
        return Cell(column, text, value, shown_kind) if text or value is not None else None

    def _name(self, tag: Any) -> str:
        """Return the local name of an element; a processing instruction has a function in its place."""
        name = tag.rpartition("}")[2] if isinstance(tag, str) else ""
        self._names[tag] = name
        return name

    def _formula(
        self, element: Any, column: int, place: str, style: str | None, kind: str | None, written: str | None
    ) -> Cell | None:
        text = self._formulas.text(element, place)
        content = self._content(style, kind, written) if written else None
        is_total = adds_up(text, column)
        if content is None and kind == "e":
            content = Content("#N/A", None, "error")
        if content is None and kind == "str":
            return None  # calculated to an empty text
        if content is None or (self._book.is_stale and content.value == 0):
            self._omissions.add("formula")
            if element.get("t") == "array":
                self._unknown += [(area, text) for area in _areas(element.get("ref") or "")]
            return Cell(column, text, kind="formula", is_total=is_total)
        cell = _cell_of(column, content)
        if cell is not None:
            cell.is_total = is_total
        return cell

    def _array_over(self, place: str) -> str:
        """Return the array formula, not calculated, that a cell is a part of; empty if there is none."""
        for (row, column), _ in _areas(f"{place}:{place}"):
            for ((top, left), (bottom, right)), text in self._unknown:
                if top <= row <= bottom and left <= column <= right:
                    return text
        return ""

    def _content(self, style: str | None, kind: str | None, written: str) -> Content:
        if len(self._contents) >= _CACHED_CONTENTS:
            self._contents.clear()
        found = self._contents[style, kind, written] = self._read(self._format(style), kind, written)
        return found

    def _read(self, shown_by: NumberFormat | None, kind: str | None, written: str) -> Content:
        if kind == "s":
            index = int(written) if written.strip().isdecimal() else -1
            return text_content(self._book.texts[index] if 0 <= index < len(self._book.texts) else "", shown_by)
        if kind in ("str", "inlineStr"):
            return text_content(unescaped(written) if kind == "str" else written, shown_by)
        if kind == "b":
            return Content("TRUE" if written.strip() in _TRUE else "FALSE")
        if kind == "e":
            return Content(written.strip() or "#N/A", None, "error")
        if kind == "d":
            return _dated(written.strip(), shown_by)
        number = read_number(written.strip())
        return Content(written.strip()) if number is None else self._number(number, shown_by)

    def _number(self, number: Decimal, shown_by: NumberFormat | None) -> Content:
        return number_content(number, shown_by, is_1904=self._book.is_1904)

    def _format(self, style: str | None) -> NumberFormat | None:
        index = int(style) if style and style.isdecimal() else 0
        return self._book.formats[index] if index < len(self._book.formats) else None


def read_number(written: str) -> Decimal | None:
    """Return a stored number; whole ones exactly, others with the 15 digits that spreadsheets know of them."""
    try:
        if len(written) <= _EXACT_DIGITS and written.isdecimal():
            return Decimal(written)
        return number_of(float(written))
    except (ValueError, OverflowError, InvalidOperation):
        return None


def column_index(letters: str) -> int:
    """Return the index of a column, from 0; -1 if no sheet has it."""
    index = 0
    for letter in letters.upper():
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1 if index <= _LAST_COLUMN else -1


def _cell_of(column: int, content: Content) -> Cell | None:
    text, value, kind = content
    return Cell(column, text, value, kind) if text or value is not None else None


def _dated(written: str, shown_by: NumberFormat | None) -> Content:
    try:
        moment = datetime.datetime.fromisoformat(written)
    except ValueError:
        return Content(written)
    return moment_content(moment.replace(tzinfo=None), shown_by)


def _row_number(row: Any) -> int | None:
    """Return the number of a row, None if neither it nor its first cell says it."""
    written = row.get("r") or ""
    if written.isdecimal():
        return int(written)
    first = next(iter(row), None)
    match = None if first is None else _CELL.fullmatch(first.get("r") or "")
    return int(match[2]) if match and match[2] else None


def _hidden_columns(element: Any) -> Iterator[int]:
    for one in element:
        first, last = one.get("min") or "", one.get("max") or ""
        is_hidden = one.get("hidden") in _TRUE or one.get("width") == "0"
        if is_hidden and first.isdecimal() and last.isdecimal():
            yield from range(int(first) - 1, min(int(last), _LAST_COLUMN))


def _areas(reference: str) -> list[Area]:
    first, _, last = reference.partition(":")
    upper, lower = _CELL.fullmatch(first), _CELL.fullmatch(last)
    if not (upper and lower and upper[1] and upper[2] and lower[1] and lower[2]):
        return []
    return [((int(upper[2]) - 1, column_index(upper[1])), (int(lower[2]) - 1, column_index(lower[1])))]
