"""The cells of spreadsheets (xlsx, xlsm, xlsb, xls, ods), row by row, as values: formulas are not computed."""

import datetime
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError

from drive_server.knowledge.readers.archive import open_archive
from drive_server.knowledge.text.elements import MAX_CHARACTERS, Extraction, Part, UnreadableError, join, needs_password
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.place import Place, column_name

_READ_ENTRIES = (".xml", ".rels", ".bin")
_BLOCK_CHARACTERS = 800  # rows that are indexed as one passage, so that its cells are exact
_LONGEST_HEADER = 500
_PANIC = "PanicException"  # how Rust's failed assertions arrive here: no Exception, and of no module to import
_MIDNIGHT = datetime.time()
_Row = tuple[int, int, int, str]


def sheets_extraction(path: Path, omissions: Omissions) -> Extraction:
    """Return the text of a spreadsheet. Blocks. Raises `CalamineError` for a file that it can't read."""
    if zipfile.is_zipfile(path):
        with open_archive(path) as archive:
            if "META-INF/manifest.xml" in archive.names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise needs_password()
            archive.verify(_READ_ENTRIES)
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            return join(_workbook(workbook))
    except PasswordError as error:
        raise needs_password() from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise UnreadableError("failed", "The spreadsheet is damaged.") from None


def _workbook(workbook: CalamineWorkbook) -> Iterator[Part]:
    for number, name in enumerate(workbook.sheet_names):
        sheet = workbook.get_sheet_by_index(number)
        rows = _rows(sheet)
        first = next(rows, None)
        if first is None:
            continue
        title = " ".join(name.split())
        yield Part("title", title, level=1, place=_place(title, [first]))
        yield from _sheet(title, first, rows)


def _sheet(name: str, first: _Row, rows: Iterator[_Row]) -> Iterator[Part]:
    """Yield the header, which is a title so that every passage of rows is found under it, and blocks of rows."""
    block: list[_Row] = []
    size = 0
    if _is_header(first[3]):
        yield Part("title", first[3], level=2, place=_place(name, [first]))
    else:
        block, size = [first], len(first[3])
    for row in rows:
        if block and size + len(row[3]) > _BLOCK_CHARACTERS:
            yield _block(name, block)
            block, size = [], 0
        block.append(row)
        size += len(row[3])
    if block:
        yield _block(name, block)


def _block(name: str, rows: Sequence[_Row]) -> Part:
    return Part("table", "\n".join(row[3] for row in rows), place=_place(name, rows))


def _place(name: str, rows: Sequence[_Row]) -> Place:
    columns = column_name(min(row[1] for row in rows)), column_name(max(row[2] for row in rows))
    return Place("sheet", rows[0][0], rows[-1][0], name, columns)


def _rows(sheet: CalamineSheet) -> Iterator[_Row]:
    """Yield the rows with anything in them: number, first and last column with a value (from 0), text."""
    start = sheet.start
    if start is None:
        return
    characters = 0
    for number, values in enumerate(sheet.iter_rows(), start=1):
        filled = [index for index, value in enumerate(values) if value != ""]
        if not filled:
            continue
        text = " | ".join(_cell(value) for value in values[filled[0] : filled[-1] + 1])
        characters += len(text)
        yield number, start[1] + filled[0], start[1] + filled[-1], text
        if characters > MAX_CHARACTERS:
            return


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == _MIDNIGHT else value.isoformat(" ")
    return str(value)


def _is_header(text: str) -> bool:
    """Return whether a first row names the columns: several words, no number among them."""
    cells = text.split(" | ")
    return len(cells) > 1 and len(text) <= _LONGEST_HEADER and all(any(map(str.isalpha, cell)) for cell in cells)
