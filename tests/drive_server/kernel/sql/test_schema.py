from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, make_url, text

from drive_server.kernel.sql.engine import configure_sqlite
from drive_server.kernel.sql.schema import Schema
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


OLD_ROWS = (
    "INSERT INTO users (id, email, root_id, is_admin, created_at) VALUES ('u', 'a@b.c', 'r', 0, '2026-01-01')",
    """INSERT INTO nodes
        (id, parent_id, owner_id, kind, name, revision, version, size, media_type, created_at, updated_at)
    VALUES
        ('r', NULL, 'u', 'folder', '', 1, 0, 0, '', '2026-01-01', '2026-01-01'),
        ('given', 'r', 'u', 'file', 'a', 1, 2, 1, '', '2026-02-01', '2026-05-05'),
        ('stale', 'r', 'u', 'file', 'b', 1, 2, 1, '', '2026-02-01', '2026-05-05'),
        ('none', 'r', 'u', 'file', 'c', 1, 1, 1, '', '2026-02-02', '2026-05-05')""",
    """INSERT INTO versions (node_id, number, blob, size, media_type, created_at, author_id) VALUES
        ('given', 1, 'x', 1, '', '2026-02-01 00:00:00.000000', 'u'),
        ('given', 2, 'y', 1, '', '2026-02-03 00:00:00.000000', 'u'),
        ('stale', 2, 'y', 1, '', '2026-03-03 00:00:00.000000', 'u'),
        ('none', 1, 'y', 1, '', '2026-02-02 00:00:00.000000', 'u')""",
    """INSERT INTO dav_properties (node_id, name, value) VALUES
        ('given', '{DAV:}getlastmodified', '981169506 2'),
        ('stale', '{DAV:}getlastmodified', '981169506 1'),
        ('none', '{urn:x}color', '<a/>')""",
)
"""A drive of before own dates: a file with a client's date, one with that of a content before, and one without."""


def test_dates_of_webdav_clients_become_those_of_the_contents(tmp_path: Path) -> None:
    SCHEMA.upgrade(make_url(f"sqlite:///{tmp_path / 'drive.db'}"), configure_sqlite)
    engine = engine_at(tmp_path / "drive.db")
    before = ScriptDirectory.from_config(SCHEMA.config()).get_revision("0020")
    assert before is not None
    with engine.begin() as connection:
        command.downgrade(SCHEMA.config(connection), str(before.down_revision))
        for statement in OLD_ROWS:
            connection.exec_driver_sql(statement)
    SCHEMA.upgrade(make_url(f"sqlite:///{tmp_path / 'drive.db'}"), configure_sqlite)
    with engine.connect() as connection:
        own = {row.id: row.modified_at[:10] for row in connection.execute(text("SELECT id, modified_at FROM nodes"))}
        versions = connection.execute(text("SELECT node_id, number, modified_at FROM versions")).all()
        left = connection.execute(text("SELECT name FROM dav_properties")).scalars().all()
    engine.dispose()
    assert own == {"r": "2026-01-01", "given": "2001-02-03", "stale": "2026-03-03", "none": "2026-02-02"}
    assert {(row.node_id, row.number): row.modified_at[:10] for row in versions} == {
        ("given", 1): "2026-02-01",
        ("given", 2): "2001-02-03",
        ("stale", 2): "2026-03-03",
        ("none", 1): "2026-02-02",
    }
    assert left == ["{urn:x}color"]
