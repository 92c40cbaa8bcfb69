"""The clock of a process never goes back, whatever happens to the machine's: an expired key stays expired."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import ALL_SCOPES, Actor
from drive_server.kernel.clock import MAX_AHEAD, MonotonicClock, utc_now
from drive_server.kernel.errors import UnauthenticatedError
from drive_server.services.identity.service import IdentityService
from drive_server.services.journal.moments import BEGINNING, last_moment
from tests.drive_server.store import open_store
from tests.fakes.clock import START, Seconds, SettableClock

if TYPE_CHECKING:
    from pathlib import Path

HOUR = timedelta(hours=1)


class Machine:
    """A machine whose clock may be set while its seconds go on."""

    def __init__(self) -> None:
        self.wall = SettableClock()
        self.seconds = Seconds()
        self.clock = MonotonicClock(self.wall, self.seconds)

    def wait(self, seconds: float) -> None:
        self.wall.advance(seconds)
        self.seconds.now += seconds


def test_it_follows_the_machine_and_its_steps_forward() -> None:
    machine = Machine()
    machine.wait(60)
    assert machine.clock() == START + timedelta(minutes=1)
    machine.wall.advance(hours=5)
    assert machine.clock() == START + timedelta(minutes=1) + 5 * HOUR


def test_after_a_step_back_it_goes_on_at_half_speed_until_the_machine_has_caught_up() -> None:
    machine = Machine()
    machine.wall.advance(hours=2)
    assert machine.clock() == START + 2 * HOUR
    machine.wall.advance(hours=-2)
    assert machine.clock() == START + 2 * HOUR
    machine.wait(3600)
    assert machine.clock() == START + 2.5 * HOUR
    machine.wait(3 * 3600)
    assert machine.clock() == START + 4 * HOUR == machine.wall.now
    machine.wait(60)
    assert machine.clock() == machine.wall.now


def test_back_and_forth_by_hours_never_goes_back() -> None:
    machine, seen = Machine(), [START]
    for hours in (3, -5, 1, -1, 4, -8, 12, -12, 0):
        machine.wall.advance(hours=hours)
        machine.wait(1)
        seen.append(machine.clock())
    assert seen == sorted(seen)


def test_a_stop_of_the_process_is_time_that_goes_by() -> None:
    machine = Machine()
    machine.wait(20)
    assert machine.clock() == START + timedelta(seconds=20)


def test_it_goes_on_from_a_stored_moment_unless_that_is_from_a_wrong_clock() -> None:
    machine = Machine()
    machine.clock.begin_at(START + HOUR)
    assert machine.clock() == START + HOUR
    machine.clock.begin_at(START)
    machine.clock.begin_at(START + 2 * HOUR + MAX_AHEAD)
    machine.clock.begin_at(BEGINNING)
    assert machine.clock() == START + HOUR


async def test_the_last_moment_is_of_the_newest_change_or_the_last_use_of_a_key(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        assert await last_moment(store.database) == BEGINNING
        ana = await store.person("ana@example.com")
        before = utc_now()
        await store.file(ana, "/a.txt", "text")
        assert before <= await last_moment(store.database) <= utc_now()


async def test_a_key_that_has_expired_stays_so_after_the_clock_is_set_back(tmp_path: Path) -> None:
    machine = Machine()
    async with open_store(tmp_path) as store:
        identity = IdentityService(store.database, tmp_path / "token", machine.clock)
        person, token = await identity.ensure_local_user()
        actor = Actor(await identity.authenticate(token))
        _, secret = await identity.create_key(actor, "short", ALL_SCOPES, days=1)
        assert (await identity.authenticate(secret)).user_id == person.id
        machine.wall.advance(days=1, hours=1)
        with pytest.raises(UnauthenticatedError):
            await identity.authenticate(secret)
        machine.wall.advance(hours=-2)
        with pytest.raises(UnauthenticatedError):
            await identity.authenticate(secret)
