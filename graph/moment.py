"""The moment of a turn, for models: date, weekday and time where the person is, who they are, the drive's languages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from graph.prompts import json_section

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Person:
    """The person of a run. `time_zone` is an IANA name, empty: the server's; `languages` are those of their files."""

    email: str
    name: str = ""
    time_zone: str = ""
    languages: Sequence[str] = ()


def is_time_zone(name: str) -> bool:
    """Say whether there is a time zone of that IANA name."""
    return _zone(name) is not None


def local_time(at: datetime, time_zone: str) -> datetime:
    """Return the time in the zone of that IANA name; in the server's if there is none of that name."""
    return at.astimezone(_zone(time_zone))


def moment_section(at: datetime, person: Person) -> str:
    """Return the section: it is another one in every turn, so it stands behind all that stays the same."""
    now = local_time(at, person.time_zone)
    today = now.date()
    monday = today - timedelta(days=today.weekday())
    end_of_last_month = today.replace(day=1) - timedelta(days=1)
    who = {"name": person.name, "email": person.email}
    shown: dict[str, Any] = {
        "today": f"{today} ({WEEKDAYS[today.weekday()]})",
        "time": f"{now:%H:%M}",
        "time_zone": _label(now, person.time_zone),
        "this_week": _span(monday),
        "last_week": _span(monday - WEEK),
        "last_month": f"{end_of_last_month.replace(day=1)} to {end_of_last_month}",
        "person": {key: value for key, value in who.items() if value},
        "drive_languages": list(person.languages),
    }
    return json_section("moment", {key: value for key, value in shown.items() if value})


def _span(monday: date) -> str:
    return f"{monday} to {monday + WEEK - timedelta(days=1)}"


def _label(now: datetime, time_zone: str) -> str:
    """Return a zone as people read it: `Asia/Shanghai (UTC+08:00)`."""
    offset = f"{now:%z}"
    shown = f"UTC{offset[:3]}:{offset[3:5]}"
    return f"{time_zone} ({shown})" if _zone(time_zone) else shown


@lru_cache(maxsize=1_000)
def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None
