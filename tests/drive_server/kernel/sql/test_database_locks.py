"""Locks between processes on several machines: a row of their database with a lease."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import Interval, cast, func, literal, update

from drive_server.kernel.errors import DatabaseAwayError
from drive_server.kernel.messages import Message
from drive_server.storage.drive_database import open_database
from drive_server.storage.process_locks import DatabaseLock
from drive_server.storage.tables.work import ProcessLockRow
from tests.databases import new_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.sql.database import Database


class TwoProcesses:
    """The same lock as two processes on one database have it."""

    def __init__(self, database: Database, lease: timedelta) -> None:
        self.database = database
        self.one = DatabaseLock(database, "index", lease)
        self.other = DatabaseLock(database, "index", lease)

    async def end_lease(self) -> None:
        """Let the holder's lease have ended, as it does when its process was stopped for long."""
        past = func.clock_timestamp() - cast(literal(timedelta(seconds=1)), Interval)
        async with self.database.write() as session:
            await session.execute(update(ProcessLockRow).values(ends_at=past))


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    database = await open_database(new_url())
    yield database
    await database.dispose()


async def test_of_several_machines_one_holds_it_until_it_lets_go(database: Database) -> None:
    pair = TwoProcesses(database, timedelta(seconds=600))
    assert await pair.one.acquire()
    assert await pair.one.acquire()
    assert not await pair.other.acquire()
    await pair.one.release()
    assert (pair.one.is_held, pair.other.is_held) == (True, False)
    await pair.one.release()
    third = DatabaseLock(database, "index", timedelta(seconds=600))
    assert await third.acquire()
    cleaning = DatabaseLock(database, "housekeeping")
    assert await cleaning.acquire(), "another kind of work has a lock of its own"
    await third.release()
    await cleaning.release()


async def test_who_was_refused_does_not_ask_again_at_once(database: Database) -> None:
    pair = TwoProcesses(database, timedelta(seconds=600))
    assert await pair.one.acquire()
    assert not await pair.other.acquire()
    await pair.one.release()
    assert not await pair.other.acquire()


async def test_of_many_that_ask_at_once_one_gets_it(database: Database) -> None:
    locks = [DatabaseLock(database, "index") for _ in range(8)]
    got: list[DatabaseLock] = []

    async def ask(lock: DatabaseLock) -> None:
        if await lock.acquire():
            got.append(lock)

    async with anyio.create_task_group() as tasks:
        for lock in locks:
            tasks.start_soon(ask, lock)
    assert len(got) == 1
    await got[0].release()


async def test_a_holder_whose_lease_was_taken_by_another_hears_of_it_and_begins_anew(database: Database) -> None:
    pair = TwoProcesses(database, timedelta(seconds=1))
    lost = anyio.Event()
    pair.one.on_lost = lost.set
    assert await pair.one.acquire()
    first = pair.one.tenure
    await pair.end_lease()
    assert await pair.other.acquire()
    with anyio.fail_after(60):
        await lost.wait()
    assert not pair.one.is_held
    await pair.other.release()
    with anyio.fail_after(60):
        while not await pair.one.acquire():
            await anyio.lowlevel.checkpoint()
    assert pair.one.tenure > first
    await pair.one.release()
    await pair.one.release()
    assert not pair.one.is_held


async def test_a_holder_that_renews_keeps_it_beyond_its_first_lease(database: Database) -> None:
    pair = TwoProcesses(database, timedelta(seconds=1))
    assert await pair.one.acquire()
    async with database.read() as session:
        first = (await session.get_one(ProcessLockRow, "index")).ends_at
    with anyio.fail_after(60):
        while True:
            async with database.read() as session:
                if (await session.get_one(ProcessLockRow, "index")).ends_at > first:
                    break
    await pair.one.release()
    async with database.read() as session:
        assert await session.get(ProcessLockRow, "index") is None


async def test_a_holder_that_the_database_does_not_answer_counts_it_as_lost_before_another_may_begin(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = TwoProcesses(database, timedelta(seconds=1))
    lost = anyio.Event()
    pair.one.on_lost = lost.set
    assert await pair.one.acquire()

    async def away(*_: object, **__: object) -> bool:
        raise DatabaseAwayError(Message.of("database_away"))

    monkeypatch.setattr(database, "change", away)
    with anyio.fail_after(60):
        await lost.wait()
    assert not pair.one.is_held
    await pair.one.release()
