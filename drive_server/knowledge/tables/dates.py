"""Dates as people write them in English and Chinese: moments of cells, and the periods that filters name. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, Literal

Order = Literal["dmy", "mdy"]
"""The order of day and month where both are numbers and come before the year."""
Unit = Literal["day", "month", "quarter", "year"]

_MONTH_NAMES: Final = "January February March April May June July August September October November December"
_MONTHS: Final = {
    name[:length].lower(): number
    for number, name in enumerate(_MONTH_NAMES.split(), start=1)
    for length in (3, len(name))
} | {"sept": 9}
_TIME: Final = (
    r"(?:,?[ T]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?(?: ?(?:Z|UTC|GMT|[-+]\d\d:?\d\d))?)?"
)
"""A time of day; a zone says nothing here: a day is the day that is written."""
_FORMS: Final = tuple(
    re.compile(form + _TIME, re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
        r"(?P<year>\d{4})\s*年\s*(?P<month>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号])?",
        r"(?P<year>\d{4})[-/](?P<month>\d{1,2})",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})",
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?[ -](?P<name>[a-z]{3,9})\.?,?[ -](?P<year>\d{4}|\d\d)",
        r"(?P<name>[a-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})",
        r"(?P<name>[a-z]{3,9})\.?,?[ -](?P<year>\d{4})",
    )
)
_OPEN: Final = re.compile(
    r"(?P<former>\d{1,2})(?P<sep>[/-])(?P<latter>\d{1,2})(?P=sep)(?P<year>\d{4}|(?<=/)\d\d)" + _TIME, re.IGNORECASE
)
_SHORTEST_OPEN: Final = 6
_YEAR: Final = re.compile(r"(\d{4})\s*年?")
_LONGEST: Final = 40
_NEXT_CENTURY, _LAST_CENTURY = 30, 69
"""Years of two digits below and from these are of a known century: programs differ about those between."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The first moment of a period, and the first one after it."""

    start: datetime
    end: datetime


@lru_cache(maxsize=100_000)
def read_date(text: str, order: Order | None) -> Moment | None:
    """Return the day, month or moment that a text writes; None if it writes none, or its order is open."""
    if len(text) > _LONGEST or not any(map(str.isdigit, text)):
        return None
    text = unicodedata.normalize("NFKC", text.strip())
    for form in _FORMS:
        if match := form.fullmatch(text):
            return _moment(match.groupdict())
    if (match := _OPEN.fullmatch(text)) is None:
        return None
    groups = match.groupdict()
    order = order or order_of([text])
    if order is None and groups["former"] == groups["latter"] and len(groups["year"] or "") == 4:
        order = "dmy"
    if order is None:
        return None
    first, second = ("day", "month") if order == "dmy" else ("month", "day")
    return _moment({**groups, first: groups["former"], second: groups["latter"]})


def read_period(text: str, order: Order | None) -> Moment | None:
    """Return the period that a filter names: as `read_date` reads it, or a year."""
    if match := _YEAR.fullmatch(unicodedata.normalize("NFKC", text.strip())):
        year = int(match[1])
        return Moment(datetime(year, 1, 1), datetime(year + 1, 1, 1)) if 1 <= year < 9999 else None  # noqa: DTZ001 - cells have no zone
    return read_date(text, order)


def order_of(texts: Iterable[str]) -> Order | None:
    """Return the order that the dates among the texts show, None if they show none or both."""
    found: set[Order] = set()
    short: list[tuple[int, int]] = []
    for text in texts:
        if len(text) < _SHORTEST_OPEN:
            continue
        if match := _OPEN.fullmatch(unicodedata.normalize("NFKC", text.strip())[:_LONGEST]):
            former, latter, year = int(match["former"]), int(match["latter"]), match["year"]
            if former <= 12 < latter <= 31:
                found.add("mdy")
            elif former > 12 >= latter and len(year) == 4:
                found.add("dmy")
            elif former > 12 >= latter:
                short.append((former, int(year)))
    if short:
        found |= _orders_of_short(short)
    return found.pop() if len(found) == 1 else None


def _orders_of_short(pairs: Sequence[tuple[int, int]]) -> set[Order]:
    """Return the possible orders of dates as `25/11/26`: a leading year changes less often than the day."""
    formers, years = {former for former, _ in pairs}, {year for _, year in pairs}
    if max(formers) > 31:
        return {"dmy", "mdy"}
    return {"dmy"} if len(formers) > len(years) or max(years) > 31 or 0 in years else set()


def is_open(text: str) -> bool:
    """Say whether the text is a date of which nothing says whether day or month comes first: `03/04/2026`."""
    if _OPEN.fullmatch(text.strip()) is None or read_date(text, None) is not None:
        return False
    return read_date(text, "dmy") is not None or read_date(text, "mdy") is not None


def label_of(moment: datetime, unit: Unit | None) -> str:
    """Return the period of a moment as results name it: `2026-11-05`, `2026-11`, `2026-Q4`, `2026`."""
    if unit == "year":
        return f"{moment:%Y}"
    if unit == "quarter":
        return f"{moment:%Y}-Q{(moment.month + 2) // 3}"
    if unit == "month":
        return f"{moment:%Y-%m}"
    has_time = unit is None and (moment.hour, moment.minute, moment.second) != (0, 0, 0)
    return f"{moment:%Y-%m-%d %H:%M:%S}" if has_time else f"{moment:%Y-%m-%d}"


def _moment(groups: dict[str, str | None]) -> Moment | None:
    name = (groups.get("name") or "").lower()
    month = _MONTHS.get(name, 0) if name else int(groups["month"] or 0)
    year, day = int(groups["year"] or 0), groups.get("day")
    if len(groups["year"] or "") == 2:
        year = _with_century(year)
    try:
        start = datetime(  # noqa: DTZ001 - cells have no zone
            year, month, int(day or 1), _hour(groups), int(groups["minute"] or 0), int(groups["second"] or 0)
        )
        if groups["hour"]:
            return Moment(start, start + (timedelta(seconds=1) if groups["second"] else timedelta(minutes=1)))
        if day:
            return Moment(start, start + timedelta(days=1))
        return Moment(start, start.replace(year=year + month // 12, month=month % 12 + 1))
    except (ValueError, OverflowError):
        return None


def _with_century(year: int) -> int:
    """Return the year, or 0, which no date has."""
    if year < _NEXT_CENTURY:
        return 2000 + year
    return 1900 + year if year >= _LAST_CENTURY else 0


def _hour(groups: dict[str, str | None]) -> int:
    hour, half = int(groups["hour"] or 0), (groups["half"] or "").lower()
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if half == "p" else 0)
