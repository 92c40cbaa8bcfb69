from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import exc, func, select, text

from drive_server.kernel.errors import InvalidInputError, NameConflictError, StorageFailureError
from drive_server.kernel.sql import engine
from drive_server.kernel.sql.database import KEY_BYTES, Database, translate
from drive_server.storage.drive_database import open_database, signing_key
from drive_server.storage.tables.drive_schema import SCHEMA
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'data' / 'drive.db'}")
    yield database
    await database.dispose()


def user(number: int) -> UserRow:
    return UserRow(id=f"u{number}", email=f"{number}@example.com", root_id="r", created_at=NOW)


def node(name: str, parent: str | None = None, owner: str = "u1") -> NodeRow:
    return NodeRow(
        id=f"n-{name}", parent_id=parent, owner_id=owner, kind="folder", name=name, created_at=NOW, updated_at=NOW
    )


async def count(database: Database) -> int:
    async with database.read() as session:
        return await session.scalar(select(func.count()).select_from(UserRow)) or 0


@pytest.mark.usefixtures("disk")
async def test_the_embedded_database_is_durable_and_keeps_its_references(database: Database) -> None:
    async with database.write() as session:
        found = [(await session.execute(text(f"PRAGMA {name}"))).scalar() for name in ("journal_mode", "synchronous")]
        assert found == ["wal", 2]
        assert (await session.execute(text("PRAGMA foreign_keys"))).scalar() == 1
        assert (await session.execute(text("PRAGMA busy_timeout"))).scalar() == 30_000


async def test_its_folder_is_private(database: Database, tmp_path: Path) -> None:
    del database
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


async def test_a_write_is_kept_at_the_end_of_its_block_and_not_before(database: Database) -> None:
    async with database.write() as session:
        session.add(user(1))
        await session.flush()
        assert await count(database) == 0
    assert await count(database) == 1


async def test_an_exception_rolls_back_and_passes_on(database: Database) -> None:
    async def fail() -> None:
        async with database.write() as session:
            session.add(user(1))
            await session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert await count(database) == 0


async def test_a_cancelled_write_rolls_back_and_lets_the_next_one_in(database: Database) -> None:
    with anyio.CancelScope() as scope:
        async with database.write() as session:
            session.add(user(1))
            await session.flush()
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    async with database.write() as session:
        session.add(user(2))
    assert await count(database) == 1


async def test_a_read_sees_one_state_throughout(database: Database) -> None:
    async with database.read() as session:
        query = select(func.count()).select_from(UserRow)
        assert await session.scalar(query) == 0
        async with database.write() as writing:
            writing.add(user(1))
        assert await session.scalar(query) == 0
    assert await count(database) == 1


async def test_writers_follow_one_another(database: Database) -> None:
    async with database.write() as session:
        session.add(user(0))

    async def rename() -> None:
        async with database.write() as session:
            row = await session.get_one(UserRow, "u0")
            row.email += "x"

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(rename)
    async with database.read() as session:
        assert (await session.get_one(UserRow, "u0")).email == "0@example.com" + "x" * 20


async def test_two_live_items_of_one_name_are_a_name_conflict(database: Database) -> None:
    async with database.write() as session:
        session.add(user(1))
        await session.flush()
        session.add(node("root"))
    with pytest.raises(NameConflictError):
        async with database.write() as session:
            session.add_all([node("x", "n-root"), NodeRow(**{**vars_of(node("x", "n-root")), "id": "other"})])
    async with database.write() as session:
        trashed = NodeRow(**{**vars_of(node("x", "n-root")), "id": "other", "trash_id": "other"})
        session.add_all([node("x", "n-root"), trashed])


def vars_of(row: NodeRow) -> dict[str, object]:
    return {key: value for key, value in vars(row).items() if not key.startswith("_")}


async def test_a_broken_reference_is_a_storage_failure(database: Database) -> None:
    with pytest.raises(StorageFailureError):
        async with database.write() as session:
            session.add(node("x", owner="nobody"))


async def test_a_full_disk_is_a_storage_failure_and_nothing_is_kept(database: Database) -> None:
    async def fill() -> None:
        async with database.write() as session:
            await session.execute(text("PRAGMA max_page_count = 1"))
            session.add_all(user(number) for number in range(5_000))

    with pytest.raises(StorageFailureError):
        await fill()
    assert await count(database) == 0


async def test_a_database_held_by_another_program_is_a_storage_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_SECONDS", 0)
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}")
    with closing(sqlite3.connect(tmp_path / "drive.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFailureError):
            async with database.write() as session:
                session.add(user(1))
        assert await count(database) == 0
        other.execute("ROLLBACK")
    async with database.write() as session:
        session.add(user(1))
    await database.dispose()


async def test_what_can_not_be_stored_is_the_callers_mistake(database: Database) -> None:
    for hostile in ("\ud800", 10**30):
        with pytest.raises(InvalidInputError):
            async with database.read() as session:
                await session.execute(select(UserRow).where(UserRow.id == hostile))


@pytest.mark.parametrize("url", ["", "nonsense", "sqlite", "sqlite+aiosqlite"])
async def test_a_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError):
        await open_database(url)


async def test_a_file_that_is_no_database_and_a_folder_that_can_not_be_made_are_storage_failures(
    tmp_path: Path,
) -> None:
    (tmp_path / "drive.db").write_bytes(b"no database" * 100)
    for path in (tmp_path / "drive.db", tmp_path / "drive.db" / "below" / "drive.db"):
        with pytest.raises(StorageFailureError):
            await open_database(f"sqlite+aiosqlite:///{path}")


def test_every_error_of_the_database_is_translated_or_a_bug() -> None:
    expected = {
        exc.IntegrityError: StorageFailureError,
        exc.OperationalError: StorageFailureError,
        exc.InternalError: StorageFailureError,
        exc.InterfaceError: StorageFailureError,
        exc.DatabaseError: StorageFailureError,
        exc.DataError: InvalidInputError,
        exc.ProgrammingError: type(None),
        exc.NotSupportedError: type(None),
    }
    errors = {exc.DatabaseError, exc.InterfaceError, *exc.DatabaseError.__subclasses__()}
    assert {kind: type(translate(kind("statement", {}, Exception("reason")), SCHEMA)) for kind in errors} == expected
    assert isinstance(translate(exc.TimeoutError("no connection"), SCHEMA), StorageFailureError)
    assert translate(None, SCHEMA) is None
    assert translate(KeyError(), SCHEMA) is None
    assert translate(sqlite3.ProgrammingError("Cannot operate on a closed database."), SCHEMA) is None


async def test_two_that_start_at_once_and_one_that_comes_later_have_the_same_key(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}"
    first, second = await open_database(url), await open_database(url)
    keys: list[bytes] = []

    async def take(database: Database) -> None:
        keys.append(await signing_key(database))

    async with anyio.create_task_group() as group:
        group.start_soon(take, first)
        group.start_soon(take, second)
    await take(first)
    await first.dispose()
    await second.dispose()
    assert len(keys[0]) == KEY_BYTES
    assert len(set(keys)) == 1


async def test_who_waits_for_a_change_rests_between_looks_also_while_the_newest_state_is_old(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []

    async def same() -> object:
        looks.append(None)
        return "same"

    monkeypatch.setattr(database, "state", same)
    # As on PostgreSQL, where notices tell for seconds that nothing changed: nobody reads the state anew.
    monkeypatch.setattr(database, "_state_read_at", time.monotonic() - 3.1)
    with anyio.move_on_after(0.2):
        await database.until_changed("same")
    assert len(looks) == 1
