"""The moment of a turn, for models: date, weekday and time where the person is, who they are, the drive's languages."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from graph.prompts import json_section

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WEEK: Final = timedelta(days=6)
"""From its first day to its last."""
_zones: Final = dict[str, tzinfo]()
"""By name, those that were read: there are six hundred."""


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


async def load_zone(name: str) -> None:
    """Read a time zone from its file, once and in a thread, so that the event loop need not."""
    if name not in _zones:
        await asyncio.to_thread(_zone, name)


def local_time(at: datetime, time_zone: str) -> datetime:
    """Return the time in the zone of that IANA name; in the server's if there is none of that name."""
    return at.astimezone(_zone(time_zone))


def moment_section(at: datetime, person: Person) -> str:
    """Return the section: it is another one in every turn, so it stands behind all that stays the same."""
    now = local_time(at, person.time_zone)
    today = now.date()
    monday = today - timedelta(days=today.weekday())
    who = {"name": person.name, "email": person.email}
    shown: dict[str, Any] = {
        "now": f"{WEEKDAYS[today.weekday()]} {today} {now:%H:%M}",
        "time_zone": _label(now, person.time_zone),
        "this_week": f"{monday} to {monday + WEEK}",
        "person": {key: value for key, value in who.items() if value},
        "drive_languages": list(person.languages),
    }
    return json_section("moment", {key: value for key, value in shown.items() if value})


def _label(now: datetime, time_zone: str) -> str:
    """Return a zone as people read it: `Asia/Shanghai (UTC+08:00)`."""
    offset = f"{now:%z}"
    shown = f"UTC{offset[:3]}:{offset[3:5]}"
    return f"{time_zone} ({shown})" if _zone(time_zone) else shown


def _zone(name: str) -> tzinfo | None:
    if not name:
        return None
    try:
        return _zones.get(name) or _zones.setdefault(name, ZoneInfo(name))
    except (KeyError, ValueError, OSError):
        return None
