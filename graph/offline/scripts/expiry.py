"""The time after which a link ends, in hours from now: "in 3 days", "until tomorrow", 下周五."""

import re
from datetime import date, datetime, time, timedelta
from typing import Final

from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import table, word
from graph.offline.understanding.intent import NUMBERS

MOST_HOURS: Final = 8_760
_UNITS: Final = {"hour": 1, "day": 24, "week": 168, "month": 720, "year": 8_760}
_DAYS: Final = (
    "monday|周一|星期一|礼拜一", "tuesday|周二|星期二|礼拜二", "wednesday|周三|星期三|礼拜三",
    "thursday|周四|星期四|礼拜四", "friday|周五|星期五|礼拜五", "saturday|周六|星期六|礼拜六",
    "sunday|周[日天]|星期[日天]|礼拜[日天]")  # fmt: skip
_AHEAD: Final = (("day after tomorrow|后天", 2), ("tomorrow|明天|明日", 1), ("today|tonight|今天|今晚", 0))


def hours_in(task: Task, said: str) -> int | None:
    """Return the hours until the end that a request for a link names; None if it names none that is understood."""
    text = said.lower()
    found = word("duration").search(text)
    if found:
        count = found["n"] or found["zh"]
        number = int(count) if count.isdigit() else NUMBERS.get(count, 1)
        unit = next(name for name, pattern in table("unit") if pattern.fullmatch(found["unit"] or found["zh_unit"]))
        return min(MOST_HOURS, max(1, number) * _UNITS[unit])
    now = _now(task)
    day = _day(text, now.date()) if now else None
    if now is None or day is None:
        return None
    end = datetime.combine(day, time(23, 59))
    return max(1, int((end - now).total_seconds() // 3600)) if end > now else None


def _now(task: Task) -> datetime | None:
    try:
        return datetime.strptime(str(task.sections.moment.get("now", "")).partition(" ")[2], "%Y-%m-%d %H:%M")  # noqa: DTZ007
    except ValueError:
        return None


def _day(text: str, today: date) -> date | None:
    """Return the day that the words name: a date, one relative to today, or a weekday of this week or the next."""
    if written := re.search(r"20\d\d-\d\d-\d\d", text):
        return date.fromisoformat(written[0])
    ahead = next((days for words, days in _AHEAD if re.search(words, text)), None)
    if ahead is not None:
        return today + timedelta(days=ahead)
    weekday = next((at for at, words in enumerate(_DAYS) if re.search(words, text)), None)
    if weekday is None:
        return None
    monday = today - timedelta(days=today.weekday())
    if re.search(r"\bnext\b|下个?(?:周|星期|礼拜)", text):
        return monday + timedelta(days=7 + weekday)
    return today + timedelta(days=(weekday - today.weekday()) % 7 or 7)
