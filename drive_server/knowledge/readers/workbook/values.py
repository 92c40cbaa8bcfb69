"""From a stored number and its format to the text, the value and the kind of a cell."""

import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from drive_server.knowledge.readers.workbook.cells import HIDDEN, CellKind
from drive_server.knowledge.readers.workbook.formats.dates import FIRST_1904, moment_of
from drive_server.knowledge.readers.workbook.formats.digits import general
from drive_server.knowledge.readers.workbook.formats.number_format import NumberFormat

FIRST_DAY: Final = datetime.datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no zone


class Content(NamedTuple):
    """The text, the value and the kind of a cell."""

    text: str
    value: Decimal | datetime.datetime | None = None
    kind: CellKind = "text"


def number_content(number: Decimal, shown_by: NumberFormat | None, *, is_1904: bool) -> Content:
    """Return the content of a cell with a number. One that its format hides is shown all the same, and marked."""
    if shown_by is None:
        return Content(general(number), number, "number")
    if shown_by.kind != "date":
        kind: CellKind = "duration" if shown_by.kind == "duration" else "number"
        return Content(shown_by.show(number) or _hidden(number), number, kind)
    serial = number + FIRST_1904 if is_1904 else number
    moment = moment_of(serial)
    if moment is None:
        return Content(general(number), number, "number")
    return Content(shown_by.show(serial) or _hidden(number), moment, "date")


def moment_content(moment: datetime.datetime, shown_by: NumberFormat | None) -> Content:
    """Return the content of a cell with a date that is stored as one."""
    if shown_by is None or shown_by.kind != "date":
        return Content(moment.date().isoformat() if moment.time() == datetime.time() else str(moment), moment, "date")
    passed = moment - FIRST_DAY
    return Content(shown_by.show(Decimal(passed.days) + Decimal(passed.seconds) / 86_400), moment, "date")


def text_content(text: str, shown_by: NumberFormat | None) -> Content:
    """Return the content of a cell with a text."""
    line = " ".join(text.split())
    if shown_by is None or not line:
        return Content(line)
    return Content(" ".join(shown_by.show_text(line).split()) or f"{line} {HIDDEN}")


def _hidden(number: Decimal) -> str:
    """Return the text for a number of which the format shows nothing. Formats hide noughts for looks only."""
    return f"{general(number)} {HIDDEN}" if number else ""
