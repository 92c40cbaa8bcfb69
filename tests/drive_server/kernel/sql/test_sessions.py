from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import make_url, text

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.engine import open_engine
from drive_server.storage.tables.drive_schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from sqlalchemy.ext.asyncio import AsyncSession

# It begins with SELECT: by that SQLAlchemy knows what can be streamed.
NUMBERS = text(
    "SELECT i FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :last) SELECT i FROM n)"
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(open_engine(make_url(f"sqlite+aiosqlite:///{tmp_path / 'words.db'}")), SCHEMA)
    async with database.write() as session:
        await session.execute(text("CREATE TABLE words (word TEXT PRIMARY KEY)"))
    yield database
    await database.dispose()


async def words(database: Database) -> list[str]:
    async with database.read() as session:
        return list((await session.scalars(text("SELECT word FROM words ORDER BY word"))).all())


async def add(session: AsyncSession, word: str) -> None:
    await session.execute(text("INSERT INTO words VALUES (:word)"), {"word": word})


@pytest.mark.parametrize("last", [1, 3_000])
async def test_all_rows_arrive_however_many_they_are(database: Database, last: int) -> None:
    async with database.read() as session:
        at_once = (await session.scalars(NUMBERS, {"last": last})).all()
        streamed = [number async for number in await session.stream_scalars(NUMBERS, {"last": last})]

    assert at_once == streamed == list(range(1, last + 1))


async def test_a_stream_that_is_left_early_does_not_read_to_the_end(database: Database) -> None:
    async with database.read() as session:
        stream = await session.stream(NUMBERS, {"last": 2_000_000_000})
        first = await anext(stream.partitions(10))
        await stream.close()

    assert [row.i for row in first] == list(range(1, 11))


async def test_a_read_sees_one_state_throughout(database: Database) -> None:
    async with database.read() as session:
        before = (await session.scalars(text("SELECT count(*) FROM words"))).one()
        async with database.write() as writing:
            await add(writing, "你好")
        after = (await session.scalars(text("SELECT count(*) FROM words"))).one()

    assert (before, after) == (0, 0)
    assert await words(database) == ["你好"]


async def test_a_writer_holds_the_lock_from_its_first_statement(database: Database) -> None:
    rival = sqlite3.connect(database.engine.url.database or "", timeout=0, isolation_level=None)
    async with database.write() as session:
        await session.execute(text("SELECT word FROM words"))
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            rival.execute("BEGIN IMMEDIATE")
    rival.execute("BEGIN IMMEDIATE")
    rival.close()


async def test_what_a_cancelled_writer_did_is_taken_back(database: Database) -> None:
    with anyio.move_on_after(0.05) as limit:
        async with database.write() as session:
            await add(session, "lost")
            await session.execute(NUMBERS, {"last": 1_000_000})
    async with database.write() as session:
        await add(session, "kept")

    assert limit.cancelled_caught
    assert await words(database) == ["kept"]


async def fail_after_adding(database: Database, word: str) -> None:
    async with database.write() as session:
        await add(session, word)
        await session.execute(text("SELECT * FROM nowhere"))


async def test_a_statement_that_fails_leaves_a_connection_that_works(database: Database) -> None:
    for _ in range(3):
        with pytest.raises(StorageFailureError):
            await fail_after_adding(database, "lost")

    assert await words(database) == []
