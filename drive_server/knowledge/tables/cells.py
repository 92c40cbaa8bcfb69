"""The cells of a table: texts, and numbers and moments with the text that they are shown by."""

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from drive_server.knowledge.tables.numbers import readings

_PERCENT: Final = "%"
_DIGITS: Final = re.compile(r"[\d.,]*\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class Shown:
    """A number or a moment that its sheet shows in another way: `47.5%` for 0.475, `27:15` for 1.135 days.

    `unit` is the currency that is shown, or `days`; empty without one.
    """

    value: Decimal | datetime.datetime
    text: str
    unit: str = ""


class NotCalculated(str):
    """A formula that no program has calculated: its value is not known, and it is equal to nothing."""

    __slots__ = ()


Cell = str | Decimal | datetime.datetime | Shown | None


def value_of(cell: Cell) -> str | Decimal | datetime.datetime | None:
    """Return the value to compute with."""
    return cell.value if isinstance(cell, Shown) else cell


def shown(cell: Cell) -> str:
    """Return the text of a cell."""
    if isinstance(cell, Shown):
        return cell.text
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    return cell or ""


def shown_number(value: Decimal, text: str) -> Cell:
    """Return the cell of a number that is shown by a text."""
    return value if text == f"{value:f}" else Shown(value, text, _currency(_DIGITS.sub("0", text)))


@lru_cache(maxsize=1_000)
def _currency(pattern: str) -> str:
    """Return the currency in a number's text, whose digits are one nought."""
    number = readings(pattern)[0]
    return "" if number is None or number.unit == _PERCENT else number.unit
