"""A connection that gathers behaves as aiosqlite's does where the checkpoints use it, in fewer trips."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import pytest

from api.storage.gathering import READ_AHEAD, Change, GatheringConnection

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from pathlib import Path

INSERT = "INSERT INTO t VALUES (?, ?)"


class Counting(GatheringConnection):
    """Counts its trips."""

    trips = 0

    async def _execute(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        self.trips += 1
        return await super()._execute(fn, *args, **kwargs)


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncGenerator[Counting]:
    connection = Counting(lambda: sqlite3.connect(tmp_path / "x.db"))
    async with connection:
        await connection.executescript("CREATE TABLE t (a PRIMARY KEY, b)")
        connection.trips = 0
        yield connection


async def rows_of(connection: GatheringConnection) -> list[tuple[Any, ...]]:
    async with connection.execute("SELECT a, b FROM t ORDER BY a") as found:
        return await found.fetchall()


async def test_changes_and_their_commit_are_one_trip(connection: Counting) -> None:
    async with connection.cursor() as cursor:
        await cursor.executemany(INSERT, [(1, "x"), (2, "文")])
    await connection.execute(INSERT, (3, None))
    await connection.commit()
    assert connection.trips == 1
    assert await rows_of(connection) == [(1, "x"), (2, "文"), (3, None)]
    assert connection.trips == 2


async def test_a_question_sees_what_was_changed_before_it(connection: Counting) -> None:
    await connection.execute(INSERT, (1, "x"))
    assert await rows_of(connection) == [(1, "x")]
    await connection.rollback()
    assert await rows_of(connection) == []


async def test_what_is_wrong_is_raised_with_the_commit_and_takes_all_of_it_back(connection: Counting) -> None:
    await connection.execute(INSERT, (1, "x"))
    await connection.execute(INSERT, (1, "again"))
    with pytest.raises(sqlite3.IntegrityError):
        await connection.commit()
    assert await rows_of(connection) == []
    await connection.execute(INSERT, (2, "y"))
    await connection.commit()
    assert await rows_of(connection) == [(2, "y")]


async def test_what_waits_is_forgotten_by_a_rollback_and_a_commit_of_nothing_is_no_trip(connection: Counting) -> None:
    await connection.execute(INSERT, (1, "x"))
    await connection.rollback()
    await connection.commit()
    assert connection.trips == 0
    assert await rows_of(connection) == []


@pytest.mark.parametrize("count", [0, 1, READ_AHEAD - 1, READ_AHEAD, READ_AHEAD + 1, 3 * READ_AHEAD])
async def test_any_number_of_rows_comes_whole_and_in_order(connection: Counting, count: int) -> None:
    rows = [(number, str(number)) for number in range(count)]
    await connection.executemany(INSERT, rows)
    await connection.commit()
    assert await rows_of(connection) == rows
    async with connection.execute("SELECT a, b FROM t ORDER BY a") as found:
        assert [row async for row in found] == rows
    async with connection.execute("SELECT a, b FROM t ORDER BY a") as found:
        assert await found.fetchone() == (rows[0] if rows else None)
    await connection.execute("DELETE FROM t")
    await connection.commit()


async def test_a_commit_that_nobody_waits_for_is_whole_or_not_at_all(connection: Counting) -> None:
    for number in range(50):
        await connection.executemany(INSERT, [(2 * number, "x"), (2 * number + 1, "y")])
        task = asyncio.create_task(connection.commit())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert len(await rows_of(connection)) == 100


async def test_what_may_wait_goes_with_the_next_commit(connection: Counting) -> None:
    connection.put("a", [Change(INSERT, (1, "x"))])
    assert connection.owes
    assert connection.trips == 0
    await connection.execute(INSERT, (2, "y"))
    await connection.commit()
    assert not connection.owes
    assert connection.trips == 1
    await connection.rollback()
    assert await rows_of(connection) == [(1, "x"), (2, "y")]


@pytest.mark.parametrize("asks_first", [False, True])
async def test_who_let_changes_wait_is_told_if_they_fail(connection: Counting, asks_first: bool) -> None:
    lost: list[set[str]] = []
    connection.on_lost = lambda owners, _: lost.append(owners)
    connection.put("a", [Change(INSERT, (1, "x"))])
    if asks_first:
        await rows_of(connection)
    await connection.execute(INSERT, (1, "again"))
    with pytest.raises(sqlite3.IntegrityError):
        await (rows_of(connection) if asks_first else connection.commit())
    assert lost == [{"a"}]
    assert not connection.owes
    assert await rows_of(connection) == []


async def test_changes_that_can_not_all_be_told_are_none(connection: Counting) -> None:
    def changes() -> Iterator[Change]:
        yield Change(INSERT, (1, "x"))
        raise ValueError("no second one")

    with pytest.raises(ValueError, match="second"):
        connection.put("a", changes())
    connection.put("b", [Change(INSERT, (2, "y"))])
    connection.put("c", [Change(INSERT, (3, "z"))])
    connection.forget({"b"})
    await connection.commit()
    assert await rows_of(connection) == [(3, "z")]


async def test_who_is_cancelled_in_a_commit_that_fails_keeps_it_from_nobody(connection: Counting) -> None:
    lost: list[set[str]] = []
    connection.on_lost = lambda owners, _: lost.append(owners)
    going, may_fail = threading.Event(), threading.Event()

    def fails(_: sqlite3.Connection) -> None:
        going.set()
        may_fail.wait(20)
        raise sqlite3.OperationalError("disk full")

    connection.put("a", [Change(INSERT, (1, "x"))])
    committing = asyncio.create_task(connection.apart(fails))
    await asyncio.to_thread(going.wait, 20)
    committing.cancel()
    await asyncio.sleep(0)
    assert not committing.done()
    may_fail.set()
    with pytest.raises(asyncio.CancelledError):
        await committing
    assert lost == [{"a"}]
    assert await rows_of(connection) == []


async def test_a_transaction_of_questions_is_none_and_one_of_changes_is_one_trip(connection: Counting) -> None:
    await connection.execute("BEGIN")
    await rows_of(connection)
    await connection.execute("COMMIT")
    assert connection.trips == 1
    await connection.execute("BEGIN")
    await connection.execute(INSERT, (1, "x"))
    await connection.execute("COMMIT")
    await connection.rollback()
    assert connection.trips == 2
    assert await rows_of(connection) == [(1, "x")]


async def test_work_apart_is_kept_whole_or_not_at_all(connection: Counting) -> None:
    def work(raw: sqlite3.Connection) -> int:
        raw.execute(INSERT, (1, "x"))
        return raw.execute(INSERT, (1, "again")).rowcount

    with pytest.raises(sqlite3.IntegrityError):
        await connection.apart(work)
    assert await rows_of(connection) == []
    assert await connection.apart(lambda raw: raw.execute(INSERT, (1, "x")).rowcount) == 1
    await connection.rollback()
    assert await rows_of(connection) == [(1, "x")]
