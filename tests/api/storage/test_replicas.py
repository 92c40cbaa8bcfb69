"""The fence of runs: who took a run up last writes for it, and nobody else, whatever a process believes."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from api.clock import SystemClock
from api.plans import Plans
from api.storage.database import open_database
from api.storage.replicas import CLAIM, Claim, NotOwnerError, Replica, RunLostError
from api.storage.tables import ReplicaRow, RunRow, ThreadRow, table_of
from api.storage.threads import open_threads
from drive_server.kernel.clock import utc_now
from tests.api.storage.talk import graph_on, said, say
from tests.databases import async_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.sql.database import Database
    from tests.api.storage.postgres_server import PostgresServer


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
async def database(url: str) -> AsyncGenerator[Database]:
    database = await open_database(async_url(url))
    yield database
    await database.dispose()


async def begin(replica: Replica, database: Database) -> RunRow:
    """Begin a run in a thread of its own."""
    now = utc_now()
    run = RunRow(
        id="r", thread_id="t1", user_id="u", email="", scopes=[], assistant_id="", message="", place={}, number=1,
        owner=replica.id, created_at=now,
    )  # fmt: skip
    async with database.write() as session:
        session.add(ThreadRow(id="t1", user_id="u", title="", created_at=now, updated_at=now))
        await session.flush()
        session.add(run)
    return run


async def let_die(database: Database, replica: Replica) -> None:
    """Let a process have had its last heartbeat long ago."""
    async with database.write() as session:
        statement = text("UPDATE replicas SET seen_at = seen_at - interval '1 minute' WHERE id = :id")
        await session.execute(statement, {"id": replica.id})


@contextmanager
def working(claim: Claim | None) -> Generator[None]:
    token = CLAIM.set(claim)
    try:
        yield
    finally:
        CLAIM.reset(token)


async def test_only_the_runs_of_the_dead_are_taken_over_by_one_and_counted(database: Database) -> None:
    first, second, third = (Replica(database) for _ in range(3))
    taken: list[int] = []
    for replica in (first, second, third):
        replica.on_take_over = lambda: taken.append(1)
        await replica.begin()
    run = await begin(first, database)
    assert await second.recover() == []
    assert await second.claim(run) is None
    await let_die(database, first)
    assert [one.id for one in await second.recover()] == ["r"]
    assert (await third.look()).taken == []
    assert [one.id for one in (await second.look()).owned] == ["r"]
    async with database.read() as session:
        assert [*await session.execute(text("SELECT owner, starts FROM runs"))] == [(second.id, 2)]
    assert taken == [1]


async def test_who_waits_for_a_run_that_another_process_is_just_taking_leaves_it(database: Database) -> None:
    first, second, third = (Replica(database) for _ in range(3))
    taken: list[int] = []
    third.on_take_over = lambda: taken.append(1)
    for replica in (first, second, third):
        await replica.begin()
    run = await begin(first, database)
    await let_die(database, first)
    async with asyncio.TaskGroup() as group, database.write() as session:
        await session.execute(text("UPDATE runs SET owner = :id, starts = starts + 1"), {"id": second.id})
        claimed = group.create_task(third.claim(run))
        await until_locked_out(database)
    assert claimed.result() is None
    async with database.read() as session:
        assert [*await session.execute(text("SELECT owner, starts FROM runs"))] == [(second.id, 2)]
    assert taken == []


async def test_a_run_that_its_own_look_is_just_taking_is_taken_once(database: Database) -> None:
    first, second = Replica(database), Replica(database)
    taken: list[int] = []
    second.on_take_over = lambda: taken.append(1)
    for replica in (first, second):
        await replica.begin()
    run = await begin(first, database)
    await let_die(database, first)
    claims: list[asyncio.Task[RunRow | None]] = []

    async def claim_meanwhile(session: AsyncSession) -> None:
        del session
        claims.append(group.create_task(second.claim(run)))
        await until_locked_out(database)

    second.read_beside = claim_meanwhile
    async with asyncio.TaskGroup() as group:
        assert [one.id for one in (await second.look()).taken] == ["r"]
    claimed = claims[0].result()
    assert claimed
    assert (claimed.owner, claimed.starts) == (second.id, 2)
    assert taken == [1]


async def test_a_look_tells_whether_any_process_has_a_run_at_work(database: Database) -> None:
    first, second = Replica(database), Replica(database)
    await first.begin()
    await second.begin()
    assert [(await one.look()).is_calm for one in (first, second)] == [True, True]
    await begin(first, database)
    assert [(await one.look()).is_calm for one in (first, second)] == [False, False]
    async with database.write() as session:
        await session.execute(text("UPDATE runs SET status = 'waiting'"))
    assert [(await one.look()).is_calm for one in (first, second)] == [True, True]


async def until_locked_out(database: Database) -> None:
    """Return when somebody waits for a row that another transaction has."""
    waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')")
    async with asyncio.timeout(60):
        while True:
            async with database.read() as session:
                if await session.scalar(waits):
                    return
            await asyncio.sleep(0)


async def test_a_process_that_was_away_itself_takes_nothing_over_at_its_first_look(
    database: Database,
) -> None:
    first, second = Replica(database), Replica(database)
    await first.begin()
    await begin(first, database)
    await let_die(database, first)
    # `second` never showed that it lives, as after a long pause: `first` may only have had the same one.
    assert (await second.look()).taken == []
    await first.look()
    assert (await second.look()).taken == []
    await let_die(database, first)
    assert len((await second.look()).taken) == 1


async def test_a_run_given_up_is_free_at_once_and_its_stop_no_crash(database: Database) -> None:
    first, second = Replica(database), Replica(database)
    await first.begin()
    await second.begin()
    await begin(first, database)
    await first.release(["r"])
    (run,) = await second.recover()
    assert (run.owner, run.starts, run.stops) == (second.id, 2, 1)


async def test_events_and_drive_calls_are_refused_to_a_former_owner(database: Database) -> None:
    first, second = Replica(database), Replica(database)
    refused: list[int] = []
    first.on_refusal = lambda: refused.append(1)
    await first.begin()
    await second.begin()
    run = await begin(first, database)
    first.hold(run, is_new=True)
    assert await database.write_sync(lambda connection: first.lost(connection, {"r": 1})) == frozenset()
    async with database.read() as session:
        assert await first.still_holds(session, "r")
        assert await second.still_holds(session, "r"), "a run that never was its own is none of its business"
    await let_die(database, first)
    await second.recover()
    assert await database.write_sync(lambda connection: first.lost(connection, {"r": 1})) == {"r"}
    async with database.read() as session:
        assert not await first.still_holds(session, "r")
    assert refused == [1, 1]


async def test_a_former_owner_s_plan_is_refused(database: Database) -> None:
    first = Replica(database)
    await first.begin()
    run = await begin(first, database)
    plans = Plans(database, SystemClock())
    plan: Any = {"steps": [], "version": 1, "status": "running"}
    over: Any = {**plan, "status": "done"}
    with working(first.hold(run, is_new=True)):
        await plans.exchange("t1", "r", lambda _: plan)
        async with database.write() as session:
            await session.execute(text("UPDATE runs SET starts = 2"))
        with pytest.raises(NotOwnerError):
            await plans.exchange("t1", "r", lambda _: over)
    found = await plans.find("r")
    assert found
    assert found.status == "running"


async def test_a_former_owner_s_checkpoints_are_refused(url: str, database: Database) -> None:
    async with open_threads(url) as storage:
        graph, replica = graph_on(storage.saver), Replica(database)
        former, owner = Claim(replica, "r", "t1", 1, 1, False), Claim(replica, "r", "t1", 1, 2, True)
        with working(former):
            await say(graph, "first")
        before = await said(storage.saver)
        with working(owner):
            # From the moment on at which it reads the thread.
            await graph.aget_state({"configurable": {"thread_id": "t1"}})
        with working(former), pytest.raises(RunLostError):
            await say(graph, "of a zombie")
        assert await said(storage.saver) == before
        with working(owner):
            await say(graph, "second")
        with working(Claim(replica, "next", "t1", 2, 1, False)):
            await say(graph, "third")
        texts = [words for _, words in await said(storage.saver)]
        assert [word for word in ("first", "of a zombie", "second", "third") if word in texts] == [
            "first",
            "second",
            "third",
        ]


async def test_rows_of_processes_that_are_long_gone_are_removed(database: Database) -> None:
    async with database.write() as session:
        await session.execute(insert(table_of(ReplicaRow)).values(id="old", seen_at=utc_now().replace(year=2020)))
    replica = Replica(database)
    await replica.begin()
    async with database.read() as session:
        assert [*await session.scalars(text("SELECT id FROM replicas"))] == [replica.id]
