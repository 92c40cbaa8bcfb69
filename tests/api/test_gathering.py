"""A connection that gathers behaves as aiosqlite's does where the checkpoints use it, in fewer trips."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from api.gathering import READ_AHEAD, GatheringConnection

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
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
