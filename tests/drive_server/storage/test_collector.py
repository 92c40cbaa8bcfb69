from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.errors import StorageFailureError
from drive_server.services.journal.service import Journal
from drive_server.storage import blobs as module
from drive_server.storage.blobs import BlobStore, open_blobs
from drive_server.storage.collector import Collector
from tests.drive_server.services.test_quota import limited

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.access import Actor
    from tests.drive_server.store import Store

LATER = timedelta(days=2)
WRITERS, ROUNDS = 4, 30


def collector(store: Store, after: timedelta = timedelta(), grace: timedelta = timedelta(hours=1)) -> Collector:
    """A collector whose clock is ahead."""
    return Collector(store.database, store.blobs, grace=grace, clock=lambda: datetime.now(UTC) + after)


def stored(store: Store) -> list[Path]:
    return [path for path in store.folder_of_blobs.rglob("*") if path.is_file()]


async def test_what_nothing_refers_to_is_removed_and_everything_else_stays(store: Store, ana: Actor) -> None:
    documents = limited(store, max_versions=1)
    item = (await documents.create(ana, "/", "a.txt", "old")).value
    await documents.write_text(ana, item.id, "new")
    trashed = await store.file(ana, "/b.txt", "trashed")
    versioned = await store.file(ana, "/c.txt", "before")
    await store.documents.write_text(ana, versioned.id, "after")
    await store.files.trash(ana, trashed.id)
    orphan = await store.blobs.put_bytes(b"nobody's")

    found = await collector(store, LATER).run_once()

    assert (found.blobs, found.size) == (2, len("old") + len("nobody's"))
    with pytest.raises(StorageFailureError):
        await store.blobs.read(orphan.hash)
    assert await store.text(ana, item.id) == "new"
    await store.files.restore(ana, trashed.id)
    assert await store.text(ana, trashed.id) == "trashed"
    await store.documents.restore_version(ana, versioned.id, 1)
    assert await store.text(ana, versioned.id) == "before"
    assert (await collector(store, LATER).run_once()).blobs == 0


async def test_what_was_just_put_stays_for_a_while_also_if_it_was_there_before(store: Store) -> None:
    blob = await store.blobs.put_bytes(b"content")
    (path,) = stored(store)
    os.utime(path, (0, 0))
    await store.blobs.put_bytes(b"content")

    assert (await collector(store).run_once()).blobs == 0
    assert (await collector(store, timedelta(minutes=59)).run_once()).blobs == 0
    assert await store.blobs.read(blob.hash) == b"content"
    assert (await collector(store, timedelta(minutes=61)).run_once()).blobs == 1


async def test_unfinished_files_are_removed_after_a_day(store: Store) -> None:
    unfinished = store.folder_of_blobs / ".incoming" / "half"
    unfinished.write_bytes(b"x")

    assert (await collector(store, timedelta(hours=23)).run_once()).unfinished == 0
    assert (await collector(store, LATER).run_once()).unfinished == 1
    assert not unfinished.exists()


async def test_files_that_are_no_contents_are_left_alone(store: Store) -> None:
    blob = await store.blobs.put_bytes(b"x")
    stranger = store.folder_of_blobs / blob.hash[:2] / blob.hash[2:4] / "notes.txt"
    stranger.write_text("mine")
    (store.folder_of_blobs / "README").write_text("mine")

    await collector(store, LATER).run_once()

    assert stranger.exists()
    assert (store.folder_of_blobs / "README").exists()


async def test_a_reference_to_what_is_gone_is_refused(store: Store, ana: Actor) -> None:
    blob = await store.blobs.put_bytes(b"slow")
    await collector(store, LATER).run_once()

    with pytest.raises(StorageFailureError):
        await store.documents.create_from_blob(ana, "/", "a.txt", blob, "text/plain")

    assert await store.names(ana) == []
    assert (await store.file(ana, "/a.txt", "slow")).size == 4


async def test_a_content_that_is_put_while_it_is_being_removed_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = await store.blobs.put_bytes(b"x")
    (path,) = stored(store)
    os.utime(path, (0, 0))
    rename = module.Path.rename

    def renewed_just_before(self: Path, target: Path) -> Path:
        os.utime(self)
        return rename(self, target)

    monkeypatch.setattr(module.Path, "rename", renewed_just_before)
    async with store.database.write():
        assert await store.blobs.remove([blob.hash], datetime.now(UTC) - timedelta(hours=1)) == []
    assert await store.blobs.read(blob.hash) == b"x"


async def test_a_store_without_files_is_collected_alike(store: Store, ana: Actor, tmp_path: Path) -> None:
    blobs = await open_blobs("memory:///", spool=tmp_path / "spool")
    documents = type(store.documents)(store.database, blobs, Journal(store.database, blobs), store.texts)
    item = (await documents.create(ana, "/", "a.txt", "kept")).value
    orphan = await blobs.put_bytes(b"nobody's")

    assert (await Collector(store.database, blobs).run_once()).blobs == 0
    later = Collector(store.database, blobs, clock=lambda: datetime.now(UTC) + LATER)
    assert (await later.run_once()).blobs == 1

    assert (await documents.read_text(ana, item.id)).text == "kept"
    with pytest.raises(StorageFailureError):
        await blobs.read(orphan.hash)
    with pytest.raises(StorageFailureError):
        await documents.create_from_blob(ana, "/", "b.txt", orphan, "text/plain")


async def overwrite(store: Store, person: Actor, seed: int) -> int:
    """Overwrite a file that keeps one version, with contents that others write and drop as well.

    Each one that was accepted has to be there. One that was refused, for being too slow in a race without grace, has
    changed nothing. Returns how many were accepted.
    """
    documents, random, accepted = limited(store, max_versions=1), Random(seed), 0
    kept = "nothing yet"
    for _ in range(ROUNDS):
        text = f"content {random.randrange(WRITERS)}"
        with suppress(StorageFailureError):
            await documents.write_text(person, f"/{seed}.txt", text)
            kept, accepted = text, accepted + 1
        assert await store.text(person, f"/{seed}.txt") == kept
    return accepted


async def collect_until(store: Store, done: anyio.Event) -> int:
    removed = 0
    while not done.is_set():
        removed += (await collector(store, grace=timedelta()).run_once()).blobs
    return removed


async def test_writers_and_collectors_race_without_any_grace(store: Store, ana: Actor) -> None:
    done, accepted, removed = anyio.Event(), list[int](), list[int]()
    for number in range(WRITERS):
        await store.file(ana, f"/{number}.txt", "nothing yet")

    async def write(seed: int) -> None:
        accepted.append(await overwrite(store, ana, seed))

    async def collect() -> None:
        removed.append(await collect_until(store, done))

    async with anyio.create_task_group() as collectors:
        for _ in range(2):
            collectors.start_soon(collect)
        async with anyio.create_task_group() as writers:
            for seed in range(WRITERS):
                writers.start_soon(write, seed)
        done.set()

    assert sum(removed) > 0
    assert sum(accepted) > 0


COLLECTS = """
import sys, anyio
from datetime import timedelta
from pathlib import Path
from drive_server.storage.blobs import open_blobs
from drive_server.storage.collector import Collector
from drive_server.storage.database import open_database

async def main(folder):
    database = await open_database(f"sqlite+aiosqlite:///{folder / 'drive.db'}")
    blobs = await open_blobs((folder / "blobs").as_uri())
    removed = 0
    print("ready", flush=True)
    done = False
    while not done:
        done = (folder / "done").exists()
        removed += (await Collector(database, blobs, grace=timedelta()).run_once()).blobs
    await database.dispose()
    (folder / "removed").write_text(str(removed))

anyio.run(main, Path(sys.argv[1]))
"""


async def test_writers_race_the_collector_of_another_process(store: Store, ana: Actor) -> None:
    folder = store.folder_of_blobs.parent
    accepted: list[int] = []
    for number in range(WRITERS):
        await store.file(ana, f"/{number}.txt", "nothing yet")
    await store.blobs.put_bytes(b"nobody's")

    async def write(seed: int) -> None:
        accepted.append(await overwrite(store, ana, seed))

    async with await anyio.open_process([sys.executable, "-c", COLLECTS, str(folder)], stderr=None) as other:
        assert other.stdout is not None
        assert (await other.stdout.receive()).startswith(b"ready")
        async with anyio.create_task_group() as writers:
            for seed in range(WRITERS):
                writers.start_soon(write, seed)
        (folder / "done").touch()
        assert await other.wait() == 0
    removed = int((folder / "removed").read_text())

    assert removed > 0
    assert sum(accepted) > 0


async def test_a_file_that_vanishes_under_the_collector_is_no_failure(store: Store, tmp_path: Path) -> None:
    del tmp_path
    blob = await store.blobs.put_bytes(b"x")
    found = [hashes async for hashes in store.blobs.last_put_before(datetime.now(UTC) + LATER)]
    (path,) = stored(store)
    path.unlink()

    assert [blob.hash] in found
    async with store.database.write():
        assert await store.blobs.remove([blob.hash], datetime.now(UTC) + LATER) == []


async def test_a_content_put_again_by_a_store_without_files_counts_as_new(tmp_path: Path) -> None:
    blobs: BlobStore = await open_blobs("memory:///", spool=tmp_path / "spool")
    await blobs.put_bytes(b"x")
    between = datetime.fromtimestamp(time.time(), UTC)
    await blobs.put_bytes(b"x")

    assert [names async for names in blobs.last_put_before(between) if names] == []
