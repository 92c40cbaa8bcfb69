from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING
from uuid import RFC_4122, UUID

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, make_url, text

from api.storage.database import SCHEMA, open_database
from api.storage.tables import Base, ThreadRow, new_id
from api.threads import make_title
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql import engine as engines
from drive_server.kernel.sql.engine import configure_sqlite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.storage.postgres_server import PostgresServer


def url_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


async def test_the_migrations_make_the_tables_that_the_code_knows(tmp_path: Path) -> None:
    database = await open_database(url_of(tmp_path / "api.db"))
    assert await database.schema_version() == SCHEMA.newest_version()
    await database.dispose()
    engine = create_engine(f"sqlite:///{tmp_path / 'api.db'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": SCHEMA.version_table})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_services_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    url = make_url(url_of(tmp_path / "api.db"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(SCHEMA.upgrade, [url] * 4, [configure_sqlite] * 4))
    with sqlite3.connect(tmp_path / "api.db") as connection:
        assert connection.execute("SELECT count(*) FROM api_alembic_version").fetchone() == (1,)
    connection.close()


def test_databases_that_are_migrated_at_once_in_one_process_each_get_their_own_tables(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.db" for number in range(4)]
    for path in paths:
        path.touch()  # none of them is a copy of one that was migrated before
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(SCHEMA.upgrade, [make_url(url_of(path)) for path in paths], [configure_sqlite] * 4))
    for path in paths:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT count(*) FROM api_alembic_version").fetchone() == (1,)
            assert connection.execute("SELECT count(*) FROM mcp_servers").fetchone() == (0,)


def test_services_that_start_at_once_on_postgresql_migrate_once(postgres: PostgresServer) -> None:
    url = make_url(postgres.new_database()).set(drivername="postgresql+psycopg")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(SCHEMA.upgrade, [url] * 4))
    engine = create_engine(url)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM api_alembic_version").scalar() == 1
    engine.dispose()


@pytest.mark.parametrize("begins", ["before", "after"])
async def test_a_connection_that_is_in_use_while_its_database_closes_is_closed_when_it_is_given_back(
    postgres: PostgresServer, begins: str
) -> None:
    database = await open_database(postgres.new_database().replace("postgresql://", "postgresql+psycopg://"))
    if begins == "after":
        await database.dispose()
    async with database.read() as session:
        used = (await (await session.connection()).get_raw_connection()).driver_connection
        if begins == "before":
            await database.dispose()
        assert await session.scalar(text("SELECT 1")) == 1
    assert used
    assert used.closed


def test_a_service_waits_for_a_migration_that_takes_longer_than_any_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_SECONDS", 0)
    url = make_url(url_of(tmp_path / "api.db"))
    with closing(sqlite3.connect(tmp_path / "api.db", isolation_level=None)) as other, ThreadPoolExecutor(1) as pool:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        waiting = pool.submit(SCHEMA.upgrade, url, configure_sqlite)
        done, _ = wait([waiting], timeout=0.3)
        other.execute("COMMIT")
        waiting.result()
    assert not done


async def test_a_database_that_can_not_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageFailureError):
        await open_database(url_of(tmp_path / "file" / "api.db"))


async def test_a_write_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    database = await open_database(url_of(tmp_path / "api.db"))
    moment = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=8)))

    async def fail_half_way() -> None:
        async with database.write() as session:
            session.add(ThreadRow(id="t", user_id="u", title="标题", created_at=moment, updated_at=moment))
            await session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        await fail_half_way()
    async with database.read() as session:
        assert await session.get(ThreadRow, "t") is None
    async with database.write() as session:
        session.add(ThreadRow(id="t", user_id="u", title="标题", created_at=moment, updated_at=moment))
    async with database.read() as session:
        stored = await session.get_one(ThreadRow, "t")
    assert (stored.title, stored.created_at, stored.created_at.tzinfo) == ("标题", moment, UTC)
    await database.dispose()


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("hello", "hello"),
        ("\n\n  find   it \nnow", "find it"),
        ("word " * 40, "word " * 15 + "word…"),
        ("长" * 200, "长" * 79 + "…"),
        ("a" * 80, "a" * 80),
        ("🧑‍💻", "🧑‍💻"),
    ],
)
def test_a_title_is_the_first_line_cut_where_a_word_ends(message: str, title: str) -> None:
    assert make_title(message) == title
    assert len(make_title(message)) <= 80


def test_ids_are_uuids_that_begin_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for seconds in (1_700_000_000, 1_700_000_001, 1_800_000_000):
        monkeypatch.setattr("api.storage.tables.time", SimpleNamespace(time_ns=partial(int, seconds * 10**9)))
        made += [new_id(), new_id()]
    assert {(UUID(one).version, UUID(one).variant) for one in made} == {(7, RFC_4122)}
    assert len({*made}) == len(made)
    assert [one[:13] for one in made] == sorted(one[:13] for one in made)
    assert int(made[-1].replace("-", "")[:12], 16) == 1_800_000_000_000
