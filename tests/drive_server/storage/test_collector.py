from __future__ import annotations

import os
import sqlite3
import sys
import time
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import delete, select

from drive_server.kernel.errors import StorageFailureError
from drive_server.services.journal.service import Journal
from drive_server.storage import blobs as module
from drive_server.storage.blobs import BlobStore, open_blobs
from drive_server.storage.collector import Collector, Rules
from drive_server.storage.tables.installation import InstallationRow, ReleasedRow
from drive_server.storage.tables.items import VersionRow
from tests import buckets
from tests.databases import drive_url
from tests.drive_server.services.test_quota import limited

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store

LATER = timedelta(days=2)
MUCH_LATER = timedelta(days=30)
LONG_AGO = datetime.fromtimestamp(0, UTC)
WRITERS, ROUNDS = 4, 30


def collector(store: Store, after: timedelta = timedelta(), grace: timedelta = timedelta(hours=1)) -> Collector:
    """A collector whose clock is ahead, of a process that put everything itself."""
    return Collector(store.database, store.blobs, grace=grace, clock=lambda: datetime.now(UTC) + after, began=LONG_AGO)


def stored(store: Store) -> list[Path]:
    return [path for path in store.folder_of_blobs.rglob("*") if path.is_file()]


async def test_what_nothing_refers_to_is_set_aside_and_everything_else_stays(store: Store, ana: Actor) -> None:
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
    assert not (store.folder_of_blobs / orphan.hash[:2] / orphan.hash[2:4] / orphan.hash).exists()
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


async def test_a_reference_to_what_is_set_aside_brings_it_back(store: Store, ana: Actor) -> None:
    blob = await store.blobs.put_bytes(b"slow")
    assert (await collector(store, LATER).run_once()).blobs == 1

    item = (await store.documents.create_from_blob(ana, "/", "a.txt", blob, "text/plain")).value

    assert await store.text(ana, item.id) == "slow"


async def test_a_reference_to_what_is_gone_is_refused(store: Store, ana: Actor) -> None:
    blob = await store.blobs.put_bytes(b"slow")
    await collector(store, LATER).run_once()
    assert (await collector(store, MUCH_LATER).run_once()).removed == 1

    with pytest.raises(StorageFailureError):
        await store.documents.create_from_blob(ana, "/", "a.txt", blob, "text/plain")

    assert await store.names(ana) == []
    assert (await store.file(ana, "/a.txt", "slow")).size == 4


async def test_a_content_of_a_store_without_files_is_read_with_one_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = await open_blobs(buckets.new_url(), spool=tmp_path / "spool")
    blob = await blobs.put_bytes(b"x")
    monkeypatch.delattr(module.obstore, "head_async")

    assert await blobs.read(blob.hash) == b"x"


async def test_a_store_without_files_is_collected_alike(store: Store, ana: Actor, tmp_path: Path) -> None:
    blobs = await open_blobs(buckets.new_url(), spool=tmp_path / "spool")
    documents = type(store.documents)(store.database, blobs, Journal(store.database, blobs), store.texts)
    item = (await documents.create(ana, "/", "a.txt", "kept")).value
    orphan = await blobs.put_bytes(b"nobody's")

    assert (await Collector(store.database, blobs).run_once()).blobs == 0
    later = Collector(store.database, blobs, clock=lambda: datetime.now(UTC) + LATER, began=LONG_AGO)
    assert (await later.run_once()).blobs == 1
    assert await blobs.read(orphan.hash) == b"nobody's"
    assert (await later.run_once()).blobs == 1
    assert [name for name, _, _ in await blobs.aside("unknown")] == [orphan.hash]
    end = Collector(store.database, blobs, clock=lambda: datetime.now(UTC) + MUCH_LATER, began=LONG_AGO)
    assert (await end.run_once()).removed == 1

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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from drive_server.storage.blobs import open_blobs
from drive_server.storage.collector import Collector
from drive_server.storage.drive_database import open_database

LONG_AGO = datetime.fromtimestamp(0, UTC)

async def main(folder, url):
    database = await open_database(url)
    blobs = await open_blobs((folder / "blobs").as_uri())
    removed = 0
    print("ready", flush=True)
    done = False
    while not (done and removed):
        done = (folder / "done").exists()
        removed += (await Collector(database, blobs, grace=timedelta(), began=LONG_AGO).run_once()).blobs
    await database.dispose()
    (folder / "removed").write_text(str(removed))

anyio.run(main, Path(sys.argv[1]), sys.argv[2])
"""


async def test_writers_race_the_collector_of_another_process(store: Store, ana: Actor) -> None:
    folder = store.folder_of_blobs.parent
    accepted: list[int] = []
    for number in range(WRITERS):
        await store.file(ana, f"/{number}.txt", "nothing yet")
    await store.blobs.put_bytes(b"nobody's")

    async def write(seed: int) -> None:
        accepted.append(await overwrite(store, ana, seed))

    command = [sys.executable, "-c", COLLECTS, str(folder), drive_url(folder / "drive.db")]
    async with await anyio.open_process(command, stderr=None) as other:
        assert other.stdout is not None
        assert (await other.stdout.receive()).startswith(b"ready")
        async with anyio.create_task_group() as writers:
            for seed in range(WRITERS):
                writers.start_soon(write, seed)
        (folder / "done").touch()
        assert await other.wait() == 0
        # What nobody has is removed however fast the writers were; how many of them were too slow is a matter of luck.
        await store.file(ana, "/last.txt", "the race is over")

    assert int((folder / "removed").read_text()) > 0
    assert len(accepted) == WRITERS


async def test_a_file_that_vanishes_under_the_collector_is_no_failure(store: Store, tmp_path: Path) -> None:
    del tmp_path
    blob = await store.blobs.put_bytes(b"x")
    found = [
        [placed.hash for placed in found] async for found in store.blobs.last_put_before(datetime.now(UTC) + LATER)
    ]
    (path,) = stored(store)
    path.unlink()

    assert [blob.hash] in found
    async with store.database.write():
        assert await store.blobs.set_aside([blob.hash], "unknown", datetime.now(UTC) + LATER) == []


async def test_a_content_put_again_by_a_store_without_files_counts_as_new(tmp_path: Path) -> None:
    blobs: BlobStore = await open_blobs(buckets.new_url(), spool=tmp_path / "spool")
    await blobs.put_bytes(b"x")
    between = datetime.fromtimestamp(time.time(), UTC)
    await blobs.put_bytes(b"x")

    assert [names async for names in blobs.last_put_before(between) if names] == []


async def many(store: Store, ana: Actor, count: int = 12) -> list[str]:
    """Make files; return the hashes of their contents."""
    for number in range(count):
        await store.file(ana, f"/{number}.txt", f"content {number}")
    async with store.database.read() as session:
        return list(await session.scalars(select(VersionRow.blob).order_by(VersionRow.id)))


async def forget(store: Store, hashes: list[str]) -> None:
    """Make the database one that never knew these contents."""
    async with store.database.write() as session:
        await session.execute(delete(VersionRow).where(VersionRow.blob.in_(hashes)))


def of_another_start(store: Store, after: timedelta = LATER, rules: Rules | None = None) -> Collector:
    """A collector of a process that began after everything was put."""
    return Collector(store.database, store.blobs, clock=lambda: datetime.now(UTC) + after, rules=rules)


@pytest.mark.parametrize("gone", [2, 12])
async def test_contents_that_the_database_never_knew_stay_if_they_are_more_than_a_share(
    store: Store, ana: Actor, gone: int, caplog: pytest.LogCaptureFixture
) -> None:
    hashes = await many(store, ana)
    await forget(store, hashes[:gone])

    done = await of_another_start(store).run_once()

    assert (done.blobs, done.kept) == (0, gone)
    assert f"{gone} contents are unknown to the database" in caplog.text
    assert (await of_another_start(store, MUCH_LATER).run_once()).removed == 0


async def test_a_share_of_unknown_contents_is_set_aside_once_a_night_and_kept_for_days(
    store: Store, ana: Actor, caplog: pytest.LogCaptureFixture
) -> None:
    hashes = await many(store, ana)
    await forget(store, hashes[:1])
    assert (await of_another_start(store, rules=Rules(days=0)).run_once()).blobs == 1
    assert "1 (9 bytes) set aside" in caplog.text
    await forget(store, hashes[1:2])

    assert (await of_another_start(store, timedelta(hours=2)).run_once()).kept == 1
    assert (await of_another_start(store, timedelta(days=6)).run_once()).removed == 0
    assert (await of_another_start(store, timedelta(days=8)).run_once()).removed == 2


async def test_all_unknown_contents_are_set_aside_when_that_is_asked_for(store: Store, ana: Actor) -> None:
    hashes = await many(store, ana)
    await forget(store, hashes)

    done = await of_another_start(store, rules=Rules(takes_all_unknown=True)).run_once()

    assert (done.blobs, done.kept) == (12, 0)


async def test_no_unknown_content_is_touched_while_everything_is_to_be_kept(store: Store, ana: Actor) -> None:
    hashes = await many(store, ana)
    await forget(store, hashes[:1])

    assert (await of_another_start(store, rules=Rules(keeps_unknown=True)).run_once()).kept == 1


async def test_contents_that_were_there_when_everything_was_kept_stay_for_good(store: Store, ana: Actor) -> None:
    hashes = await many(store, ana)
    await forget(store, hashes[:1])
    async with store.database.write() as session:
        session.add(InstallationRow(id="i", keeps_before=datetime.now(UTC) + timedelta(minutes=1)))

    assert (await of_another_start(store, MUCH_LATER).run_once()).kept == 1


@pytest.mark.sqlite("the file of the database is put back")
async def test_contents_come_back_when_the_database_is_put_back(store: Store, ana: Actor) -> None:
    hashes = await many(store, ana)
    folder = store.folder_of_blobs.parent
    backup = folder / "backup.db"
    with closing(sqlite3.connect(folder / "drive.db")) as source, closing(sqlite3.connect(backup)) as copy:
        source.backup(copy)
    await forget(store, hashes)
    await of_another_start(store, rules=Rules(takes_all_unknown=True)).run_once()
    with closing(sqlite3.connect(backup)) as source, closing(sqlite3.connect(folder / "drive.db")) as target:
        source.backup(target)

    done = await of_another_start(store, MUCH_LATER).run_once()

    assert (done.restored, done.removed) == (12, 0)
    assert await store.text(ana, "/3.txt") == "content 3"


async def deleted_for_good(store: Store, ana: Actor) -> None:
    for number in range(12):
        item = await store.files.get(ana, f"/{number}.txt")
        await store.files.trash(ana, item.id)
        await store.files.delete_for_good(ana, item.id)


async def test_what_people_delete_for_good_goes_however_much_it_is(store: Store, ana: Actor) -> None:
    await many(store, ana)
    await deleted_for_good(store, ana)

    assert (await of_another_start(store).run_once()).blobs == 12
    assert (await of_another_start(store, timedelta(days=6)).run_once()).removed == 0
    assert (await of_another_start(store, timedelta(days=9)).run_once()).removed == 12
    assert stored(store) == []
    async with store.database.read() as session:
        assert list(await session.scalars(select(ReleasedRow.blob))) == []


async def test_the_bytes_of_what_is_deleted_go_at_once_where_no_day_is_set(store: Store, ana: Actor) -> None:
    await many(store, ana)
    await deleted_for_good(store, ana)

    assert (await of_another_start(store, rules=Rules(days=0)).run_once()).blobs == 12
    assert stored(store) == []


async def test_a_content_that_another_person_still_has_stays(store: Store, ana: Actor) -> None:
    ben = await store.person("ben@example.com")
    for person in (ana, ben):
        await store.file(person, "/0.txt", "both")
    item = await store.files.get(ana, "/0.txt")
    await store.files.trash(ana, item.id)
    await store.files.delete_for_good(ana, item.id)

    assert (await of_another_start(store, rules=Rules(days=0)).run_once()).blobs == 0
    assert await store.text(ben, "/0.txt") == "both"
