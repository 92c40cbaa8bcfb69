"""News of the drive's database arrive by LISTEN, and spare the question each second; who hears none asks."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from sqlalchemy import event, text

from api.storage.database import open_database
from api.storage.notices import listen
from api.storage.replicas import Replica
from drive_server.kernel.sql.database import News
from tests.drive_server.actors import local_owner, new_person
from tests.drive_server.replicas import two_drives

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from drive_server.drive import Drive
    from drive_server.kernel.sql.database import Database

PATIENCE_SECONDS = 20
CUT = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
)


class WatchedNews(News):
    """News whose arrival a test can wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.heard, self.lost, self.told = anyio.Event(), anyio.Event(), anyio.Event()

    def hear(self) -> None:
        super().hear()
        self.heard.set()

    def lose(self) -> None:
        super().lose()
        self.lost.set()

    def tell(self) -> None:
        super().tell()
        self.told.set()


class Listener:
    """A service's own part on the database of a drive: it listens, and shows that it is alive."""

    def __init__(self, drive: Drive, database: Database) -> None:
        self.replica = Replica(database)
        self.replica.read_beside = drive.database.note_state
        self.database = database
        self.news = drive.database.news = WatchedNews()
        self.looks = 0
        event.listen(drive.database.engine.sync_engine, "before_cursor_execute", self._note)

    def _note(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        self.looks += "api_keys.revoked_at IS NOT NULL" in statement

    async def beat(self) -> None:
        """Have a heartbeat, and hear it."""
        self.news.heard = anyio.Event()
        await self.replica.look()
        with anyio.fail_after(PATIENCE_SECONDS):
            await self.news.heard.wait()


@pytest.fixture
async def drives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Drive, Drive]]:
    for name, seconds in {"STATE_SECONDS": 0, "NET_SECONDS": 1000, "HEARD_SECONDS": 1000}.items():
        monkeypatch.setattr(f"drive_server.kernel.sql.database.{name}", seconds)
    async with two_drives(tmp_path, monkeypatch) as drives:
        yield drives


def ignore(kind: str, run_ids: Sequence[str]) -> None:
    """Runs are of no interest here."""


@asynccontextmanager
async def listening(drive: Drive) -> AsyncGenerator[Listener]:
    database = await open_database(drive.database.engine.url.render_as_string(hide_password=False))
    listener = Listener(drive, database)
    await listener.replica.begin()
    hearing = listen(database.engine.url, listener.replica.id, ignore, listener.news)
    task = asyncio.create_task(hearing)
    try:
        with anyio.fail_after(PATIENCE_SECONDS):
            await listener.news.told.wait()
        await listener.beat()
        yield listener
    finally:
        task.cancel()
        await asyncio.wait({task})
        await database.dispose()


async def test_a_process_that_hears_notices_asks_for_the_state_only_after_one(drives: tuple[Drive, Drive]) -> None:
    ours, theirs = drives
    owner = await local_owner(theirs.identity)
    async with listening(ours) as listener:
        await ours.database.state()
        listener.looks = 0
        states = [await ours.database.state() for _ in range(5)]
        assert (listener.looks, len(set(states))) == (0, 1)
        listener.news.told = anyio.Event()
        await theirs.files.create_folder(owner, "/", "Letters")
        with anyio.fail_after(PATIENCE_SECONDS):
            await listener.news.told.wait()
        assert await ours.database.state() != states[0]


async def test_each_change_key_and_person_that_another_process_ends_is_told(drives: tuple[Drive, Drive]) -> None:
    ours, theirs = drives
    owner = await local_owner(theirs.identity)
    anna, ben = [await new_person(theirs.identity, f"{name}@example.com") for name in ("anna", "ben")]
    key = (await theirs.identity.create_key(owner, "laptop", ["read"]))[0]
    steps = [
        partial(theirs.identity.revoke_key, owner, key.id),
        partial(theirs.people.change, owner, anna.user_id, is_disabled=True),
        partial(theirs.people.remove, owner, ben.user_id, deletes_files=True),
        partial(theirs.files.create_folder, owner, "/", "Letters"),
    ]
    async with listening(ours) as listener:
        states = [await ours.database.state()]
        for step in steps:
            listener.news.told = anyio.Event()
            await step()
            with anyio.fail_after(PATIENCE_SECONDS):
                await listener.news.told.wait()
            states.append(await ours.database.state())
    assert [after for before, after in pairwise(states) if after == before] == []


async def test_a_process_whose_connection_for_notices_is_cut_asks_again_at_once(drives: tuple[Drive, Drive]) -> None:
    ours, _ = drives
    async with listening(ours) as listener:
        await ours.database.state()
        listener.looks, listener.news.lost = 0, anyio.Event()
        await listener.database.write_sync(lambda connection: connection.execute(CUT).all())
        with anyio.fail_after(PATIENCE_SECONDS):
            await listener.news.lost.wait()
        await ours.database.state()
        await ours.database.state()
        # The drive's own watchers may have asked as well.
        assert listener.looks >= 2


async def test_the_state_that_a_heartbeat_reads_is_the_drives(drives: tuple[Drive, Drive]) -> None:
    ours, theirs = drives
    owner = await local_owner(theirs.identity)
    async with listening(ours) as listener:
        await theirs.files.create_folder(owner, "/", "Letters")
        await listener.beat()
        listener.news.look()
        noted = await ours.database.state()
    assert noted == await theirs.database.state()


async def test_notices_that_stop_without_a_word_are_believed_for_a_moment_only(
    drives: tuple[Drive, Drive], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, _ = drives
    async with listening(ours) as listener:
        await ours.database.state()
        listener.looks = 0
        monkeypatch.setattr("drive_server.kernel.sql.database.HEARD_SECONDS", 0)
        await ours.database.state()
        assert listener.looks == 1
