"""The text of spreadsheets (xlsx, xlsm, xlsb, xls, ods), row by row, as the cells show it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drive_server.knowledge.readers.workbook.book import open_workbook
from drive_server.knowledge.readers.workbook.cells import HIDDEN, Cell, Row, Sheet
from drive_server.knowledge.text.elements import MAX_CHARACTERS, Extraction, Part, join
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import SourceRange, column_name

_BLOCK_CHARACTERS: Final = 800
"""Characters of rows that are indexed as one passage, so that its cells are exact."""
_MAX_HEADER: Final = 500
_MAX_GAP: Final = 50
"""Blank cells that are told one by one; behind more of them, a cell says its place."""
_BETWEEN: Final = " | "


@dataclass(slots=True)
class _Line:
    """A row as text, from its first cell with content on; columns count from 0."""

    number: int
    first: int
    last: int
    text: str


def sheets_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a spreadsheet. Blocks. Raises as `open_workbook` does for a file that it can't read."""
    with open_workbook(path, omissions) as sheets:
        return join(_parts(sheets))


def _parts(sheets: Iterator[Sheet]) -> Iterator[Part]:
    for sheet in sheets:
        lines = _lines(sheet)
        if not lines and not sheet.texts:
            continue
        title = f"{sheet.name} {HIDDEN}" if sheet.is_hidden else sheet.name
        yield Part("title", title, level=1, place=_place(sheet.name, lines[:1]) if lines else None)
        yield from _blocks(sheet.name, lines)
        yield from (Part("text", text) for text in dict.fromkeys(sheet.texts))


def _lines(sheet: Sheet) -> list[_Line]:
    """Return the rows, each with a blank cell for every column before it that another row has."""
    lines: list[_Line] = []
    hidden: set[int] | None = None
    characters = 0
    for row in sheet.rows():
        hidden = set(sheet.hidden_columns) if hidden is None else hidden
        line = _line(row, hidden)
        lines.append(line)
        characters += len(line.text)
        if characters > MAX_CHARACTERS:
            break
    left = min((line.first for line in lines), default=0)
    for line in lines:
        is_far = line.first - left > _MAX_GAP
        lead = _far(line.first, line.number) if is_far else _BETWEEN * (line.first - left)
        line.text = f"{lead}{line.text}"
    return lines


def _line(row: Row, hidden: set[int]) -> _Line:
    """Return the text of a row. The first cell of each hidden column is marked, and so is a hidden row."""
    pieces: list[str] = []
    column = first = row.cells[0].column
    for cell in row.cells:
        text = _text(cell)
        if hidden and cell.column in hidden:
            hidden.discard(cell.column)
            text = f"{text} {HIDDEN}"
        gap = cell.column - column
        if gap > _MAX_GAP:
            text = f"{_far(cell.column, row.number)}{text}"
        elif gap:
            pieces += [""] * gap
        pieces.append(text)
        column = cell.column + 1
    if row.is_hidden:
        pieces[-1] = f"{pieces[-1]} {HIDDEN}"
    return _Line(row.number, first, column - 1, _BETWEEN.join(pieces))


def _text(cell: Cell) -> str:
    return f"{cell.text} [comment: {cell.comment}]".lstrip() if cell.comment else cell.text


def _far(column: int, row: int) -> str:
    return f"{column_name(column)}{row}: "


def _blocks(name: str, lines: Sequence[_Line]) -> Iterator[Part]:
    """Yield the header, which is a title so that every passage of rows is found under it, and blocks of rows."""
    block: list[_Line] = []
    size = 0
    for place, line in enumerate(lines):
        if place == 0 and _is_header(line.text):
            yield Part("title", line.text, level=2, place=_place(name, [line]))
            continue
        if block and size + len(line.text) > _BLOCK_CHARACTERS:
            yield _block(name, block)
            block, size = [], 0
        block.append(line)
        size += len(line.text)
    if block:
        yield _block(name, block)


def _block(name: str, lines: Sequence[_Line]) -> Part:
    return Part("table", "\n".join(line.text for line in lines), place=_place(name, lines))


def _place(name: str, lines: Sequence[_Line]) -> SourceRange:
    columns = column_name(min(line.first for line in lines)), column_name(max(line.last for line in lines))
    return SourceRange("sheet", lines[0].number, lines[-1].number, name, columns)


def _is_header(text: str) -> bool:
    """Return whether a first row names the columns: several words, no number among them."""
    cells = [cell for cell in text.split(_BETWEEN) if cell.strip()]
    return len(cells) > 1 and len(text) <= _MAX_HEADER and all(any(map(str.isalpha, cell)) for cell in cells)
