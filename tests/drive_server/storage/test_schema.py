from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, make_url, text

from drive_server.storage.engine import configure_sqlite
from drive_server.storage.schema import Schema
from drive_server.storage.tables.base import Base
from drive_server.storage.tables.drive_schema import SCHEMA
from tests.fakes.threads import at_once

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def migrations_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the migrations, where other tests begin with a copy of a migrated database."""
    monkeypatch.setattr(Schema, "upgrade", unwrap(Schema.upgrade))


def engine_at(path: Path) -> Engine:
    return create_engine(f"sqlite:///{path}")


def is_of_the_code(name: str | None, kind: str, parents: object) -> bool:
    """FTS5 makes tables of its own beside a virtual one."""
    del parents
    return kind != "table" or not (name or "").startswith("name_grams")


def test_the_migrations_make_exactly_the_tables_of_the_code(tmp_path: Path) -> None:
    SCHEMA.upgrade(make_url(f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}"), configure_sqlite)
    engine = engine_at(tmp_path / "drive.db")
    with engine.connect() as connection:
        options = {"include_name": is_of_the_code}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata) == []
    engine.dispose()


def test_an_upgrade_of_what_is_new_already_changes_nothing(tmp_path: Path) -> None:
    url = make_url(f"sqlite:///{tmp_path / 'drive.db'}")
    SCHEMA.upgrade(url, configure_sqlite)
    engine = engine_at(tmp_path / "drive.db")
    with engine.begin() as connection:
        columns = "id, email, root_id, is_admin, created_at"
        connection.execute(text(f"INSERT INTO users ({columns}) VALUES ('u', 'a@b.c', 'r', 0, '2026-01-01')"))  # noqa: S608 - constants
    SCHEMA.upgrade(url, configure_sqlite)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM users")).scalar() == 1
    engine.dispose()


def test_every_migration_can_be_taken_back(tmp_path: Path) -> None:
    SCHEMA.upgrade(make_url(f"sqlite:///{tmp_path / 'drive.db'}"), configure_sqlite)
    engine = engine_at(tmp_path / "drive.db")
    with engine.begin() as connection:
        command.downgrade(SCHEMA.config(connection), "base")
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_processes_that_start_at_once_wait_for_each_other(tmp_path: Path) -> None:
    url = make_url(f"sqlite:///{tmp_path / 'drive.db'}")
    at_once(4, lambda: SCHEMA.upgrade(url, configure_sqlite))
    engine = engine_at(tmp_path / "drive.db")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar() == 1
    engine.dispose()


def test_the_history_is_one_line() -> None:
    assert ScriptDirectory.from_config(SCHEMA.config()).get_heads() == [SCHEMA.newest_version()]
