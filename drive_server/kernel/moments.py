"""Times as people say them, in English and Chinese: `this week`, `上个月`, `last Friday`, where the person is."""

import os
import re
from datetime import date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo

LONGEST: Final = 64
"""Characters of a time in words, and of a zone's name."""
Edge = Literal["start", "end"]
Span = tuple[date, date]
"""The first day, and the day after the last."""

_DAY: Final = timedelta(days=1)
_DAYS: Final = {"today": 0, "yesterday": -1, "tomorrow": 1, "今天": 0, "昨天": -1, "前天": -2, "明天": 1, "后天": 2}
_PERIOD: Final = re.compile(
    r"(?:(?P<step>this|current|last|past|previous|next) (?P<unit>week|month|year)"
    r"|(?P<step_zh>[本这今上去下明])一?个?(?P<unit_zh>周|星期|礼拜|月|年))"
)
_COUNT: Final = re.compile(
    r"(?:(?:(?:in|over) )?(?:the )?(?:last|past) (?P<last>\d{1,4}) (?P<last_unit>day|week|month|year)s?"
    r"|(?:最近|过去|近)(?P<last_zh>\d{1,4})个?(?P<last_unit_zh>天|日|周|星期|月|年)"
    r"|(?P<ago>\d{1,4}) (?P<ago_unit>day|week|month|year)s? ago"
    r"|(?P<ago_zh>\d{1,4})个?(?P<ago_unit_zh>天|日|周|星期|月|年)以?前)"
)
_WEEKDAY: Final = re.compile(
    r"(?:(?P<step>this|last|past|next) )?(?P<day>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:day)?"
    r"|(?P<step_zh>[本这上下])?一?个?(?:周|星期|礼拜)(?P<day_zh>[一二三四五六日天])"
)
_STEPS: Final = {
    word: step
    for step, words in ((0, "this current 本 这 今"), (-1, "last past previous 上 去"), (1, "next 下 明"))
    for word in words.split()
}
_UNITS: Final = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_WEEKDAYS: Final = {name: number for names in (
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"), "一二三四五六日", "******天"
) for number, name in enumerate(names)}  # fmt: skip
_CALENDAR: Final = re.compile(
    r"(?:in )?(?P<year>\d{4})(?:年|[-/](?P<month>\d{1,2})|年(?P<month_zh>\d{1,2})月)?", re.ASCII
)
"""A year, or a month of one."""
_MONTHS: Final[tuple[str, ...]] = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_NAMED_MONTH: Final = re.compile(rf"(?:in )?(?P<name>{'|'.join(_MONTHS)})[a-z]*\.? (?:of )?(?P<year>\d{{4}})", re.ASCII)
_EDGES: Final = re.compile(
    r"^(?P<word>until|till|since|from|by|on|before|after|直到|截至|自从|到|从)\s*|\s*(?P<tail>为止|以来|之前|之后)$"
)
_BEFORE, _AFTER = frozenset({"before", "之前"}), frozenset({"after", "之后"})


@lru_cache(maxsize=1_000)
def zone_of(name: str) -> tzinfo | None:
    """Return the time zone of that IANA name; None if there is none."""
    try:
        return ZoneInfo(name) if 0 < len(name) <= LONGEST else None
    except (KeyError, ValueError, OSError):
        return None


def server_zone() -> str:
    """Return the IANA name of the server's own time zone; empty where the system does not tell."""
    stated = os.environ.get("TZ", "").lstrip(":")
    linked = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    return next((name for name in (stated, linked) if zone_of(name)), "")


def to_iso(text: str | None, now: datetime, edge: Edge) -> str | None:
    """Return a time as ISO 8601 with its zone; `now` is the person's local time, and a time without a zone is theirs.

    Words become the start of their span, or with the edge `end` its end: "until Friday" has all of Friday. A text that
    is neither a time nor words for one comes back unchanged.
    """
    if text is None or len(text) > LONGEST:
        return text
    try:
        at = datetime.fromisoformat(text)
        return text if at.tzinfo else at.replace(tzinfo=now.tzinfo).isoformat()
    except (ValueError, OverflowError):
        said = " ".join(text.casefold().split())
    if said in {"now", "现在"}:
        return now.isoformat()
    words = {found["word"] or found["tail"] for found in _EDGES.finditer(said)}
    try:
        span = _span_of(_EDGES.sub("", said), now.date(), edge)
    except (ValueError, OverflowError):
        return text
    if span is None:
        return text
    day = span[0] if words & _BEFORE else span[1] if words & _AFTER or edge == "end" else span[0]
    return datetime.combine(day, time(), now.tzinfo).isoformat()


def _span_of(said: str, today: date, edge: Edge) -> Span | None:
    if said in _DAYS:
        day = today + _DAYS[said] * _DAY
        return day, day + _DAY
    if found := _PERIOD.fullmatch(said):
        unit = found["unit"] or _UNITS[found["unit_zh"]]
        return _period(today, unit, _STEPS[found["step"] or found["step_zh"]])
    if found := _COUNT.fullmatch(said):
        count = int(next(filter(None, (found["last"], found["last_zh"], found["ago"], found["ago_zh"]))))
        unit = found["last_unit"] or found["ago_unit"] or _UNITS[found["last_unit_zh"] or found["ago_unit_zh"]]
        first = _moved(today, unit, -count)
        return first, (first if found["ago"] or found["ago_zh"] else today) + _DAY
    if found := _NAMED_MONTH.fullmatch(said):
        said = f"{found['year']}-{_MONTHS.index(found['name']) + 1}"
    if found := _CALENDAR.fullmatch(said):
        month = found["month"] or found["month_zh"]
        first = date(int(found["year"]), int(month or 1), 1)
        return first, _moved(first, "month" if month else "year", 1)
    found = _WEEKDAY.fullmatch(said)
    return _weekday(found, today, edge) if found else None


def _period(today: date, unit: str, step: int) -> Span:
    if unit == "week":
        first = today + (7 * step - today.weekday()) * _DAY
    else:
        first = _moved(today.replace(day=1) if unit == "month" else today.replace(month=1, day=1), unit, step)
    return first, _moved(first, unit, 1)


def _moved(day: date, unit: str, count: int) -> date:
    if unit in {"day", "week"}:
        return day + count * (7 if unit == "week" else 1) * _DAY
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    first = date(months // 12, months % 12 + 1, 1)
    following = date((months + 1) // 12, (months + 1) % 12 + 1, 1)
    return first + min(day.day - 1, (following - first).days - 1) * _DAY


def _weekday(found: re.Match[str], today: date, edge: Edge) -> Span:
    """Return the day of this, the last or the next week; alone the nearest one, behind or ahead as the edge is."""
    number, step = _WEEKDAYS[found["day"] or found["day_zh"]], found["step"] or found["step_zh"]
    if step is None:
        away = (number - today.weekday()) % 7 if edge == "end" else -((today.weekday() - number) % 7)
    else:
        away = number - today.weekday() + 7 * _STEPS[step]
    day = today + away * _DAY
    return day, day + _DAY
