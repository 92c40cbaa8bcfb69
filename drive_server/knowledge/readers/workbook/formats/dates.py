"""Dates, times of day and elapsed times as a number format shows them.

Serial numbers count days from 1900, with a 29th of February of 1900 that never was (ECMA-376 part 1, section 18.17.4).
"""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from drive_server.knowledge.readers.workbook.formats.digits import rounded
from drive_server.knowledge.readers.workbook.formats.sections import Section, Token

FIRST_1904: Final = 1462
"""The serial number, counted from 1900, of the day from which workbooks of the 1904 system count."""
LAST_DAY: Final = 2_958_465
_LEAP_DAY: Final = 60
_DAY_SECONDS: Final = 86_400
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CHINESE: Final = "一二三四五六日"
_DIVISORS: Final = {"h": 3600, "m": 60, "s": 1}


@dataclass(frozen=True, slots=True)
class _Moment:
    year: int
    month: int
    day: int
    weekday: int
    seconds: int
    fraction: str
    elapsed: int
    has_half: bool


def is_date(section: Section) -> bool:
    """Say whether a section shows a date, a time of day or an elapsed time."""
    return section.has("date", "elapsed", "half")


def is_duration(section: Section) -> bool:
    """Say whether a section shows times without a day."""
    letters = {text[0] for kind, text in section.tokens if kind == "date"}
    return is_date(section) and not letters & set("ydebga") and not _has_months(section.tokens)


def moment_of(serial: Decimal) -> datetime.datetime | None:
    """Return the moment of a serial number, to the microsecond; None if no calendar has it."""
    if not 0 <= serial < LAST_DAY + 1:
        return None
    days, part = divmod(serial, 1)
    first = datetime.datetime(1899, 12, 30 if serial >= _LEAP_DAY else 31)  # noqa: DTZ001 - cells have no zone
    return first + datetime.timedelta(days=int(days), milliseconds=int(rounded(part * _DAY_SECONDS * 1000, 0)))


def date_text(section: Section, serial: Decimal) -> str:
    """Return the text for a serial number; empty if there is no such day, which a spreadsheet shows as `####`."""
    places = _fraction_places(section.tokens)
    seconds = rounded(serial * _DAY_SECONDS, places)
    if not 0 <= seconds < (LAST_DAY + 1) * _DAY_SECONDS:
        return ""
    moment = _moment(seconds, places, has_half=section.has("half"))
    return "".join(_pieces(section.tokens, moment))


def _moment(seconds: Decimal, places: int, *, has_half: bool) -> _Moment:
    whole, part = divmod(seconds, 1)
    days, rest = divmod(int(whole), _DAY_SECONDS)
    year, month, day = _calendar(days)
    fraction = f"{part:.{places}f}"[2:] if places else ""
    return _Moment(year, month, day, (days - 2) % 7, rest, fraction, int(whole), has_half)


def _calendar(days: int) -> tuple[int, int, int]:
    if days in (0, _LEAP_DAY):
        return (1900, 1, 0) if days == 0 else (1900, 2, 29)
    first = datetime.date(1899, 12, 30 if days > _LEAP_DAY else 31)
    date = first + datetime.timedelta(days=days)
    return date.year, date.month, date.day


def _pieces(tokens: Sequence[Token], moment: _Moment) -> Iterator[str]:
    in_fraction = False
    for place, (kind, text) in enumerate(tokens):
        if kind == "date":
            yield _minutes(text, moment) if _is_minutes(tokens, place) else _dated(text, moment)
        elif kind == "elapsed":
            yield f"{moment.elapsed // _DIVISORS[text[0]]:0{len(text)}d}"
        elif kind == "half":
            yield _half(text, is_morning=moment.seconds < _DAY_SECONDS // 2)
        elif kind == "digit" and in_fraction:
            yield f".{moment.fraction}" if tokens[place - 1] == ("sign", ".") else ""
        elif (kind, text) != ("sign", ".") or not _begins_fraction(tokens, place):
            yield text
        in_fraction = _begins_fraction(tokens, place) or (in_fraction and kind == "digit")


def _minutes(text: str, moment: _Moment) -> str:
    return f"{moment.seconds // 60 % 60:0{len(text)}d}"


def _half(text: str, *, is_morning: bool) -> str:
    morning, afternoon = text.split("/")
    return morning if is_morning else afternoon


def _dated(text: str, moment: _Moment) -> str:
    letter, length = text[0], len(text)
    if letter in "ye":
        return f"{moment.year % 100:02d}" if letter == "y" and length <= 2 else f"{moment.year:04d}"
    if letter == "m":
        return _named(moment.month, length, _MONTHS[moment.month - 1])
    if letter == "d":
        return _named(moment.day, length, _WEEKDAYS[moment.weekday])
    if letter == "a":
        return f"{'星期' if length > 3 else '周'}{_CHINESE[moment.weekday]}"
    if letter == "h":
        hour = moment.seconds // 3600
        return f"{(hour + 11) % 12 + 1 if moment.has_half else hour:0{min(length, 2)}d}"
    return f"{moment.seconds % 60:0{min(length, 2)}d}" if letter == "s" else ""


def _named(number: int, length: int, name: str) -> str:
    if length > 2:
        return {3: name[:3], 5: name[:1]}.get(length, name)
    return f"{number:0{length}d}"


def _is_minutes(tokens: Sequence[Token], place: int) -> bool:
    """Say whether `m` stands for minutes: after hours, or before seconds."""
    if tokens[place][1][0] != "m" or len(tokens[place][1]) > 2:
        return False
    before = next((text[0] for kind, text in reversed(tokens[:place]) if kind in ("date", "elapsed")), "")
    after = next((text[0] for kind, text in tokens[place + 1 :] if kind in ("date", "elapsed")), "")
    return before == "h" or after == "s"


def _has_months(tokens: Sequence[Token]) -> bool:
    dated = ((place, text) for place, (kind, text) in enumerate(tokens) if kind == "date" and text[0] == "m")
    return any(not _is_minutes(tokens, place) for place, _ in dated)


def _begins_fraction(tokens: Sequence[Token], place: int) -> bool:
    """Say whether the point of decimals of seconds stands here."""
    if tokens[place] != ("sign", ".") or place + 1 >= len(tokens) or tokens[place + 1][0] != "digit":
        return False
    before = next((text[0] for kind, text in reversed(tokens[:place]) if kind in ("date", "elapsed")), "")
    return before == "s"


def _fraction_places(tokens: Sequence[Token]) -> int:
    start = next((place for place in range(len(tokens)) if _begins_fraction(tokens, place)), None)
    if start is None:
        return 0
    digits = 0
    for kind, _ in tokens[start + 1 :]:
        if kind != "digit":
            break
        digits += 1
    return min(digits, 3)
