"""Contents on their way to the folder of what is set aside, and back, while others put and read them."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Barrier
from typing import TYPE_CHECKING, Any

import anyio
import obstore
import pytest

from drive_server.storage import blobs as module
from drive_server.storage.aside import TRIPS_AT_ONCE, AsideFolder
from drive_server.storage.blobs import open_blobs
from tests import buckets
from tests.drive_server.storage.test_collector import LATER, collector, stored

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


async def test_a_content_that_is_put_while_it_is_being_removed_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = await store.blobs.put_bytes(b"x")
    (path,) = stored(store)
    os.utime(path, (0, 0))
    replace = module.Path.replace

    def renewed_just_before(self: Path, target: Path) -> Path:
        os.utime(self)
        return replace(self, target)

    monkeypatch.setattr(module.Path, "replace", renewed_just_before)
    async with store.database.write():
        assert await store.blobs.set_aside([blob.hash], "unknown", datetime.now(UTC) - timedelta(hours=1)) == []
    assert await store.blobs.read(blob.hash) == b"x"


async def test_a_content_that_is_put_after_it_was_found_old_comes_back_for_its_file(
    store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = await store.blobs.put_bytes(b"x")
    (path,) = stored(store)
    os.utime(path, (0, 0))
    utime = os.utime

    def put_just_before(*arguments: Any) -> None:
        utime(path)
        utime(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(os, "utime", put_just_before)
        async with store.database.write():
            await store.blobs.set_aside([blob.hash], "unknown", datetime.now(UTC) - timedelta(hours=1))
    item = (await store.documents.create_from_blob(ana, "/", "a.txt", blob, "text/plain")).value

    assert await store.text(ana, item.id) == "x"
    assert stored(store) == [path]


class KilledError(Exception):
    """The process ends."""


@pytest.mark.parametrize("kills", ["os.utime", "module.Path.replace", "module.Path.stat"])
async def test_a_content_stays_for_its_days_wherever_the_process_that_sets_it_aside_is_killed(
    store: Store, monkeypatch: pytest.MonkeyPatch, kills: str
) -> None:
    await store.blobs.put_bytes(b"x")
    (path,) = stored(store)
    os.utime(path, (0, 0))
    owner, name = {"os": os, "module.Path": module.Path}[kills.rpartition(".")[0]], kills.rpartition(".")[2]
    work = getattr(owner, name)

    def killed_after(*arguments: Any, **options: Any) -> Any:
        result = work(*arguments, **options)
        if ".aside" in str(arguments[-1]) or name == "utime":
            raise KilledError
        return result

    async def set_aside() -> None:
        async with store.database.write():
            await store.blobs.set_aside([path.name], "unknown", datetime.now(UTC))

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, killed_after)
        with pytest.raises(KilledError):
            await set_aside()
    ended = await collector(store).run_once()

    assert ended.removed == 0
    assert await store.blobs.read(path.name) == b"x"


@pytest.mark.parametrize("is_remote", [False, True])
async def test_several_who_read_what_is_set_aside_all_get_it(store: Store, tmp_path: Path, is_remote: bool) -> None:
    blobs = await open_blobs(buckets.new_url(), spool=tmp_path / "spool") if is_remote else store.blobs
    for number in range(30):
        blob = await blobs.put_bytes(b"%d" % number)
        async with store.database.write():
            assert await blobs.set_aside([blob.hash], "released", datetime.now(UTC) + LATER)
        found: list[bytes] = []

        async def read(found: list[bytes] = found, of: str = blob.hash) -> None:
            found.append(await blobs.read(of))

        async with anyio.create_task_group() as readers:
            for _ in range(4):
                readers.start_soon(read)
        assert found == [b"%d" % number] * 4


async def test_a_content_that_somebody_reads_while_it_is_set_aside_is_no_failure(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.blobs.put_bytes(b"x")
    (path,) = stored(store)
    folder, replace = AsideFolder(store.folder_of_blobs), module.Path.replace

    def read_just_after(self: Path, target: Path) -> Path:
        moved = replace(self, target)
        with monkeypatch.context() as patched:
            patched.setattr(module.Path, "replace", replace)
            folder.bring_back(path)
        return moved

    monkeypatch.setattr(module.Path, "replace", read_just_after)
    async with store.database.write():
        assert await store.blobs.set_aside([path.name], "unknown", datetime.now(UTC) + LATER) == []
    assert await store.blobs.read(path.name) == b"x"


async def test_an_object_store_is_asked_at_once_for_the_contents_that_a_transaction_waits_for(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One by one, 200 of them take longer than a transaction of PostgreSQL may be silent."""
    blobs = await open_blobs(buckets.new_url(), spool=tmp_path / "spool")
    hashes = [(await blobs.put_bytes(b"%d" % number)).hash for number in range(TRIPS_AT_ONCE)]
    all_asked = Barrier(TRIPS_AT_ONCE, timeout=60)

    def together(work: Callable[..., Any], *arguments: Any) -> Any:
        all_asked.wait()
        return work(*arguments)

    for name in ("head", "delete"):
        monkeypatch.setattr(obstore, name, partial(together, getattr(obstore, name)))

    await anyio.to_thread.run_sync(blobs.require_all, hashes)
    async with store.database.write():
        assert len(await blobs.set_aside(hashes, "released", datetime.now(UTC) + LATER)) == TRIPS_AT_ONCE
        await blobs.remove_aside(hashes, "released")

    assert await blobs.aside("released") == []
