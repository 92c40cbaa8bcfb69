"""The person of a run, as the drive knows them, for the moment that every prompt ends with."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from weakref import WeakKeyDictionary

from graph.clock import Clock
from graph.context import RunContext
from graph.drive.connections import Toolbox
from graph.drive.tool_names import WHOAMI
from graph.moment import Person, load_zone, moment_section
from graph.state import State, running_turn

FRESH: Final = timedelta(minutes=10)

_seen: Final = WeakKeyDictionary[Toolbox, tuple[datetime, Person]]()


async def read_moment(state: State, toolbox: Toolbox | None, user: RunContext, clock: Clock) -> str:
    """Return the section for a turn: the time at which it began, where its person is; they may be there without."""
    begun_at = running_turn(state).get("begun_at")
    at = datetime.fromisoformat(begun_at) if begun_at else clock()
    person = await read_person(toolbox, user, clock) if toolbox else Person(user.email, time_zone=user.time_zone)
    if person.time_zone:
        await load_zone(person.time_zone)
    return moment_section(at, person)


async def read_person(toolbox: Toolbox, user: RunContext, clock: Clock) -> Person:
    """Return the person of a session, asked of the drive every ten minutes. The run's own time zone goes before."""
    known = _seen.get(toolbox)
    if known is None or clock() - known[0] >= FRESH:
        known = _seen[toolbox] = clock(), await _ask(toolbox, user)
    return replace(known[1], time_zone=user.time_zone or known[1].time_zone)


async def _ask(toolbox: Toolbox, user: RunContext) -> Person:
    found = await toolbox.call(WHOAMI, {}, meta={}) if WHOAMI in toolbox.tools else None
    data: dict[str, Any] = (found.structuredContent if found and not found.isError else None) or {}
    return Person(
        email=str(data.get("email") or user.email),
        name=str(data.get("name") or ""),
        time_zone=str(data.get("time_zone") or ""),
        languages=[str(one) for one in data.get("languages") or ()],
    )
