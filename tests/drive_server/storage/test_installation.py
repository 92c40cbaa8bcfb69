"""Marks of an installation: a kill, a full disk or two tasks at once never make a part look older than it is."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database
from drive_server.storage.blobs import places_of
from drive_server.storage.installation.installation import Installation
from drive_server.storage.installation.parts import MARK_FILE, FolderPart, Mark, mark_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

PATTERN = "[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*"


def of(root: Path, **options: Any) -> Installation:
    part = FolderPart("contents", root / "blobs", PATTERN)
    return Installation(f"sqlite+aiosqlite:///{root / 'drive.db'}", [part], **options)


@asynccontextmanager
async def opened(root: Path, **options: Any) -> AsyncGenerator[Installation]:
    installation = of(root, **options)
    database = await installation.open()
    try:
        yield installation
    finally:
        await database.dispose()


def put(root: Path) -> Path:
    path = root / "blobs" / places_of("ab" * 32)[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def is_second(root: Path) -> bool:
    return '"number": 2' in (root / "blobs" / MARK_FILE).read_text()


async def test_contents_that_came_into_an_empty_folder_before_a_kill_are_no_newer_than_the_database(
    tmp_path: Path,
) -> None:
    content = put(tmp_path)
    (tmp_path / "blobs").rename(tmp_path / "later")
    async with opened(tmp_path) as installation:
        (tmp_path / "later").rename(tmp_path / "blobs")
        await installation.mark()
        content.unlink()
    async with opened(tmp_path):
        put(tmp_path)  # and the process is killed, before it marks anything

    async with opened(tmp_path):
        pass


async def test_a_note_of_a_change_never_takes_a_number_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "blobs").mkdir()
    async with opened(tmp_path) as installation:
        put(tmp_path)
        await installation.mark()
        note, waits, marked = FolderPart.note, anyio.Event(), anyio.Event()
        loop = asyncio.get_running_loop()

        async def mark() -> None:
            await waits.wait()
            await installation.mark()
            marked.set()

        def note_late(self: FolderPart, mark: Mark) -> None:
            loop.call_soon_threadsafe(waits.set)
            for _ in range(2000):  # as long as another task may take that does not wait for this one
                if is_second(tmp_path):
                    break
                asyncio.run_coroutine_threadsafe(anyio.lowlevel.checkpoint(), loop).result()
            note(self, mark)

        monkeypatch.setattr(FolderPart, "note", note_late)
        async with anyio.create_task_group() as group:
            group.start_soon(mark)
            group.start_soon(installation.run)
            installation.wake()
            await marked.wait()
            group.cancel_scope.cancel()  # it waits for the thread that notes
    async with opened(tmp_path):
        pass


async def test_a_database_that_cannot_be_written_is_no_reason_not_to_start_or_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as installation:
        put(tmp_path)

        def full(*_: Any) -> Any:
            raise StorageFailureError("There is no room on the disk.")

        with monkeypatch.context() as patched:
            patched.setattr(Database, "write", full)
            await installation.mark()
    assert "were not marked: There is no room on the disk." in caplog.text


async def test_a_database_of_an_earlier_version_is_looked_at_without_a_failure(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "drive.db")) as connection, connection:
        for table in ("installation", "installation_marks", "released_contents"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("UPDATE alembic_version SET version_num = '0021'")

    assert await of(tmp_path).findings() == []


async def test_an_older_copy_of_the_contents_is_still_told(tmp_path: Path) -> None:
    put(tmp_path)
    async with opened(tmp_path, keep=True) as installation:
        await installation.mark()
        shutil.copytree(tmp_path / "blobs", tmp_path / "older")
        await installation.mark()
    shutil.rmtree(tmp_path / "blobs")
    (tmp_path / "older").rename(tmp_path / "blobs")

    with pytest.raises(StorageFailureError, match="is an older copy"):
        await of(tmp_path).open()


async def test_an_index_that_does_not_fit_and_cannot_be_removed_stops_the_start_with_a_sentence(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    index = tmp_path / "index"
    index.mkdir()
    (index / "chunks.lance").write_text("a file where a folder should be")
    (index / MARK_FILE).write_bytes(mark_json(Mark("another", 1), "index"))
    part = FolderPart("index", index, "*.lance", derived=True)

    with pytest.raises(StorageFailureError, match="index may only be read"):
        await Installation(f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}", [part]).open()
