"""Workbooks of Excel 97 to 2003: cells, formats and comments by xlrd, or by calamine where that fails."""

import io
import struct
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import xlrd
from xlrd.biffh import XLRDError
from xlrd.compdoc import CompDocError

from drive_server.knowledge.readers.workbook.binary import calamine_sheets
from drive_server.knowledge.readers.workbook.cells import Cell, Row, Sheet, SheetFacts, number_of, with_comments
from drive_server.knowledge.readers.workbook.errors import xls_errors
from drive_server.knowledge.readers.workbook.formats.number_format import NumberFormat
from drive_server.knowledge.readers.workbook.records import (
    SheetRecords,
    chart_sheets,
    count_objects,
    is_calculated,
    records_of,
    sheet_records,
    workbook_stream,
)
from drive_server.knowledge.readers.workbook.values import Content, number_content, text_content
from drive_server.knowledge.readers.workbook.xlsx_styles import format_of
from drive_server.knowledge.text.omissions import Omissions

UNKNOWN_FORMULA: Final = "=?"
_FAULTS: Final = (
    XLRDError,
    CompDocError,
    struct.error,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    AssertionError,
    NotImplementedError,
)
"""Errors of xlrd for workbooks that are damaged, encrypted or of other programs."""


def xls_sheets(path: Path, omissions: Omissions) -> Iterator[Sheet]:
    """Yield the sheets in their order. Raises `UnreadableError`, `OSError`, and calamine's errors."""
    stream = workbook_stream(path)
    try:
        book = _open(path)
    except _FAULTS:
        yield from calamine_sheets(path, xls_errors(records_of(stream)), omissions)
        return
    known = sheet_records(records_of(stream))
    omissions.add("chart", chart_sheets(records_of(stream)))
    is_stale = not is_calculated(known)
    formats = _formats(book)
    for number, sheet in enumerate(book.sheets()):
        records = known[number] if number < len(known) else SheetRecords()
        count_objects(records, omissions)
        blank = records.blank_formulas if is_stale else set[tuple[int, int]]()
        omissions.add("formula", len(blank))
        yield _XlsSheet(sheet, formats, blank, is_1904=book.datemode == 1)


class _XlsSheet(SheetFacts):
    """A sheet of xlrd."""

    def __init__(
        self,
        sheet: Any,
        formats: Sequence[NumberFormat | None],
        not_calculated: set[tuple[int, int]],
        *,
        is_1904: bool,
    ) -> None:
        super().__init__(" ".join(sheet.name.split()), sheet.visibility != 0)
        self._sheet, self._formats, self._is_1904 = sheet, formats, is_1904
        self._not_calculated = not_calculated
        self.hidden_columns.update(column for column, one in sheet.colinfo_map.items() if one.hidden)
        for top, below, left, behind in sheet.merged_cells:
            self.merged.append(((top, left), (below - 1, behind - 1)))

    def rows(self) -> Iterator[Row]:
        """Yield the rows with content, comments included."""
        comments: dict[int, dict[int, str]] = {}
        for (row, column), note in self._sheet.cell_note_map.items():
            if text := " ".join((note.text or "").split()):
                comments.setdefault(row, {})[column] = text
        for index in range(max([self._sheet.nrows, *(row + 1 for row in comments)])):
            info = self._sheet.rowinfo_map.get(index)
            row = Row(index + 1, self._cells(index), bool(info and info.hidden))
            row = with_comments(row, comments.get(index, {}))
            if row.cells:
                yield row

    def _cells(self, row: int) -> list[Cell]:
        if row >= self._sheet.nrows:
            return []
        cells: list[Cell] = []
        pairs = zip(self._sheet.row_types(row), self._sheet.row_values(row), strict=True)
        for column, (kind, value) in enumerate(pairs):
            if (row, column) in self._not_calculated:
                cells.append(Cell(column, UNKNOWN_FORMULA, kind="formula"))
            elif kind not in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
                content = self._content(kind, value, self._sheet.cell_xf_index(row, column))
                if content.text or content.value is not None:
                    cells.append(Cell(column, content.text, content.value, content.kind))
        return cells

    def _content(self, kind: int, value: Any, style: int) -> Content:
        if kind == xlrd.XL_CELL_ERROR:
            return Content(xlrd.error_text_from_code.get(value, "#N/A"), None, "error")
        if kind == xlrd.XL_CELL_BOOLEAN:
            return Content("TRUE" if value else "FALSE")
        shown_by = self._formats[style] if 0 <= style < len(self._formats) else None
        if kind == xlrd.XL_CELL_TEXT:
            return text_content(value, shown_by)
        try:
            number = number_of(value)
        except ValueError:
            number = Decimal(0)
        return number_content(number, shown_by, is_1904=self._is_1904)


def _open(path: Path) -> Any:
    return xlrd.open_workbook(str(path), logfile=io.StringIO(), formatting_info=True, ragged_rows=True)


def _formats(book: Any) -> list[NumberFormat | None]:
    codes = {str(key): one.format_str for key, one in book.format_map.items()}
    return [format_of(str(one.format_key), codes) for one in book.xf_list]
