"""Binary workbooks (xlsb), and those of Excel 97 that xlrd can't read, by calamine: values without their formats."""

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from python_calamine import CalamineWorkbook, PasswordError, SheetVisibleEnum

from drive_server.knowledge.readers.workbook.cells import Cell, Row, SheetFacts, number_of
from drive_server.knowledge.readers.workbook.values import Content, moment_content
from drive_server.knowledge.text.omissions import Omissions
from drive_server.knowledge.text.unreadable import UnreadableError

_PANIC: Final = "PanicException"
"""How Rust's failed assertions arrive here: no `Exception`, and of no module to import."""
_DAY_SECONDS: Final = 86_400


class CalamineRows(SheetFacts):
    """The rows of a sheet of calamine."""

    def __init__(self, name: str, rows: Iterator[Any], first_column: int, *, is_hidden: bool) -> None:
        super().__init__(" ".join(name.split()), is_hidden)
        self._rows, self._first_column = rows, first_column

    def rows(self) -> Iterator[Row]:
        """Yield the rows with content."""
        for number, values in enumerate(self._rows, start=1):
            contents = ((index, _content(value)) for index, value in enumerate(values) if value != "")
            cells = [Cell(self._first_column + index, *content) for index, content in contents if content.text]
            if cells:
                yield Row(number, cells)


def calamine_sheets(path: Path, errors: int, omissions: Omissions) -> Iterator[CalamineRows]:
    """Yield the sheets in their order. `errors` of its cells are errors, which calamine reads as blank cells.

    Raises `UnreadableError` for one under a password or that makes calamine panic, and `CalamineError`.
    """
    omissions.add("error", errors)
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            for number, facts in enumerate(workbook.sheets_metadata):
                sheet = workbook.get_sheet_by_index(number)
                is_hidden = facts.visible != SheetVisibleEnum.Visible
                start = sheet.start
                rows = iter(()) if start is None else sheet.iter_rows()
                found = CalamineRows(facts.name, rows, start[1] if start else 0, is_hidden=is_hidden)
                found.merged += sheet.merged_cell_ranges or []
                found.has_unknown_errors = errors > 0
                yield found
    except PasswordError as error:
        raise UnreadableError("password") from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise UnreadableError("damaged") from None


def _content(value: Any) -> Content:
    if isinstance(value, bool):
        return Content(str(value).upper())
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, datetime.datetime):
        return moment_content(value, None)
    if isinstance(value, datetime.date):
        return moment_content(datetime.datetime.combine(value, datetime.time()), None)
    if isinstance(value, datetime.time):
        passed = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
        return _duration(passed)
    return _duration(value) if isinstance(value, datetime.timedelta) else Content(" ".join(str(value).split()))


def _number(value: float) -> Content:
    try:
        number = number_of(float(value))
    except (ValueError, OverflowError):
        return Content(str(value))
    return Content(f"{number:f}", number, "number")


def _duration(value: datetime.timedelta) -> Content:
    """Return an elapsed time as `27:15:00`."""
    seconds = round(value.total_seconds())
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    text = f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return Content(text, number_of(value.total_seconds() / _DAY_SECONDS) + Decimal(0), "duration")
