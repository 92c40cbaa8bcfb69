"""Each kind of damage of a SQLite file is told apart, by one sentence with the file's name, and nothing is lost."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select, text

from drive_server.kernel.errors import DamagedDatabaseError, StorageFailureError
from drive_server.kernel.sql import sqlite_faults
from drive_server.kernel.sql.sqlite_faults import failure_of, require_sound
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.people import UserRow
from tests.drive_server.kernel.sql.test_database import user

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from drive_server.kernel.sql.database import Database

USERS = 3_000
PAGE = 4096


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\x89PNG\r\n\x1a\n" * 20)


def overwrite_pages(path: Path) -> None:
    _write_into_the_middle(path, b"garbage ")


def zero_pages(path: Path) -> None:
    _write_into_the_middle(path, bytes(8))


def _write_into_the_middle(path: Path, eight: bytes) -> None:
    pages = path.stat().st_size // PAGE
    with path.open("r+b") as file:
        file.seek(pages // 4 * PAGE)
        file.write(eight * (pages // 2 * PAGE // 8))


def replace_by_program(path: Path) -> None:
    path.write_bytes(b"#!/bin/sh\necho hello\n" * 500)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def log_is_a_folder(path: Path) -> None:
    path.with_name(f"{path.name}-wal").mkdir()


DAMAGES: dict[Callable[[Path], None], str] = {
    cut: "database_damaged",
    overwrite_header: "database_foreign",
    overwrite_pages: "database_damaged",
    zero_pages: "database_damaged",
    replace_by_program: "database_foreign",
    replace_by_folder: "database_unopened",
    log_is_a_folder: "database_unopened",
}


def url_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


def content_of(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


async def count(database: Database) -> int | None:
    async with database.read() as session:
        return await session.scalar(select(func.count()).select_from(UserRow))


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    path = tmp_path / "drive.db"
    database = await open_database(url_of(path))
    async with database.write() as session:
        session.add_all(user(number) for number in range(USERS))
    await database.dispose()
    return path


@pytest.mark.parametrize("harm", DAMAGES)
async def test_damage_at_the_start_is_one_sentence_with_the_name_of_the_file(
    path: Path, harm: Callable[[Path], None]
) -> None:
    harm(path)
    before = content_of(path)
    with pytest.raises(StorageFailureError) as caught:
        await open_database(url_of(path))
    assert caught.value.reason.code == DAMAGES[harm]
    for language in ("en", "zh"):
        sentence, hint = caught.value.texts(language)
        assert "drive.db" in sentence
        assert hint
        assert str(path.parent) not in f"{sentence} {hint}"
        assert "full" not in f"{sentence} {hint}"
        assert "满" not in f"{sentence} {hint}"
    assert content_of(path) == before


@pytest.mark.parametrize("harm", [cut, overwrite_pages, zero_pages])
async def test_damage_while_it_runs_is_told_by_the_request_and_by_every_look_after_it(
    path: Path, harm: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_faults, "CHECKED_BYTES", 0)  # as of a large file
    database = await open_database(url_of(path))
    database.require_sound()
    harm(path)
    with pytest.raises(DamagedDatabaseError):
        async with database.read() as session:
            await session.execute(text("SELECT * FROM users"))
    with pytest.raises(DamagedDatabaseError):
        database.require_sound()
    await database.dispose()


async def test_a_log_that_is_cut_overwritten_or_missing_leaves_a_sound_database(path: Path, tmp_path: Path) -> None:
    database = await open_database(url_of(path))
    async with database.write() as session:
        session.add(user(USERS))
    copies: list[Path] = []
    for number, content in enumerate((b"", b"garbage" * 1000, None)):
        copy = tmp_path / str(number) / "drive.db"
        copy.parent.mkdir()
        shutil.copy(path, copy)
        if content is not None:
            copy.with_name("drive.db-wal").write_bytes(content)
        copies.append(copy)
    assert await count(database) == USERS + 1
    await database.dispose()
    for copy in copies:
        opened = await open_database(url_of(copy))
        assert await count(opened) == USERS
        await opened.dispose()


async def test_a_full_disk_says_so_and_keeps_nothing_of_the_request(path: Path) -> None:
    database = await open_database(url_of(path))

    async def fill() -> None:
        async with database.write() as session:
            await session.execute(text("PRAGMA max_page_count = 1"))
            session.add_all(user(number) for number in range(USERS, 2 * USERS))

    with pytest.raises(StorageFailureError) as caught:
        await fill()
    assert caught.value.reason.code == "database_full"
    assert not isinstance(caught.value, DamagedDatabaseError)
    database.require_sound()
    assert await count(database) == USERS
    await database.dispose()


def test_every_code_of_sqlite_has_its_sentence() -> None:
    expected = {
        sqlite3.SQLITE_CORRUPT: "database_damaged",
        sqlite3.SQLITE_CORRUPT_INDEX: "database_damaged",
        sqlite3.SQLITE_NOTADB: "database_foreign",
        sqlite3.SQLITE_FULL: "database_full",
        sqlite3.SQLITE_READONLY: "database_read_only",
        sqlite3.SQLITE_READONLY_DIRECTORY: "database_read_only",
        sqlite3.SQLITE_IOERR_READ: "database_unreadable",
        sqlite3.SQLITE_IOERR_SHORT_READ: "database_unreadable",
        sqlite3.SQLITE_CANTOPEN_ISDIR: "database_unopened",
        sqlite3.SQLITE_BUSY: "database_busy",
        sqlite3.SQLITE_BUSY_SNAPSHOT: "database_busy",
    }
    for code, sentence in expected.items():
        error = sqlite3.OperationalError("it failed at /secret/place")
        error.sqlite_errorcode = code
        failure = failure_of(error, "drive.db")
        assert failure is not None
        assert failure.reason.code == sentence
        assert "secret" not in str(failure.to_dict())
    assert failure_of(sqlite3.OperationalError("no such table"), "drive.db") is None
    assert failure_of(KeyError("x"), "drive.db") is None


async def test_a_read_only_database_says_so(path: Path) -> None:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        with pytest.raises(sqlite3.OperationalError) as caught:
            connection.execute("DELETE FROM users")
        failure = failure_of(caught.value, path.name)
    assert failure is not None
    assert failure.reason.code == "database_read_only"


async def test_a_sound_an_empty_and_a_missing_file_and_one_that_is_written_to_pass(path: Path, tmp_path: Path) -> None:
    require_sound(path)
    require_sound(tmp_path / "missing.db")
    (tmp_path / "empty.db").touch()
    require_sound(tmp_path / "empty.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        require_sound(path)
        other.execute("ROLLBACK")
