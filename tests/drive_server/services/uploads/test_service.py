from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import (
    ChecksumMismatchError,
    InvalidInputError,
    LockedError,
    NotFoundError,
    RateLimitError,
    StorageFailureError,
)
from drive_server.services.quota import Limits
from drive_server.services.uploads import service as module
from drive_server.services.uploads.partials import FilePartials
from drive_server.services.uploads.service import NewUpload, UploadService
from drive_server.storage.partials.files import PartialFile, PartialFiles
from tests.fakes.clock import SettableClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store

DAY = timedelta(days=1)


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime(2030, 1, 1, tzinfo=UTC))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "uploads"


@pytest.fixture
def uploads(store: Store, folder: Path, clock: SettableClock) -> UploadService:
    return UploadService(
        store.database,
        store.blobs,
        store.documents,
        in_files(folder),
        Limits(),
        max_bytes=1000,
        kept_for=DAY,
        clock=clock,
    )


class Never:
    """A checksum that no content has."""

    def update(self, data: bytes, /) -> None:
        pass

    def matches(self) -> bool:
        return False


def in_files(folder: Path) -> FilePartials:
    return FilePartials(PartialFiles(folder))


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def chunks(*data: bytes) -> AsyncIterator[bytes]:
    for chunk in data:
        yield chunk


async def broken(*data: bytes) -> AsyncIterator[bytes]:
    for chunk in data:
        yield chunk
    msg = "the client went away"
    raise InvalidInputError(msg)


async def test_an_upload_that_nobody_goes_on_with_ends(
    store: Store, ana: Actor, uploads: UploadService, clock: SettableClock, folder: Path
) -> None:
    ended = await uploads.create(ana, NewUpload("/", "a", length=6))
    finished = await uploads.create(ana, NewUpload("/", "b", length=3))
    await uploads.receive(ana, finished.id, 0, chunks(b"abc"))
    clock.now += DAY / 2
    going_on = await uploads.create(ana, NewUpload("/", "c", length=6))
    assert await uploads.expire() == 0
    clock.now += DAY / 2

    with pytest.raises(NotFoundError):
        await uploads.resume(ana, ended.id)
    assert await uploads.expire() == 2

    assert files_in(folder) == [going_on.id]
    assert (await uploads.resume(ana, going_on.id)).offset == 0
    assert await store.names(ana) == ["b"]
    assert await uploads.expire() == 0


async def test_who_goes_on_gets_more_time(ana: Actor, uploads: UploadService, clock: SettableClock) -> None:
    upload = await uploads.create(ana, NewUpload("/", "a", length=6))
    clock.now += DAY * 0.9
    later = await uploads.receive(ana, upload.id, 0, chunks(b"abc"))
    assert later.expires_at == clock.now + DAY
    clock.now += DAY * 0.9

    assert (await uploads.receive(ana, upload.id, 3, chunks(b"def"))).item_id


async def test_bytes_that_belong_to_no_upload_are_removed(
    uploads: UploadService, clock: SettableClock, folder: Path
) -> None:
    PartialFiles(folder).create("f" * 32)
    os.utime(folder / ("f" * 32), (clock.now.timestamp(), clock.now.timestamp()))

    assert await uploads.expire() == 0
    clock.now += DAY * 1.1
    assert await uploads.expire() == 1
    assert files_in(folder) == []


async def test_an_upload_that_is_being_sent_does_not_expire(
    ana: Actor, uploads: UploadService, clock: SettableClock, folder: Path
) -> None:
    upload = await uploads.create(ana, NewUpload("/", "a", length=6))
    writer = PartialFile(folder / upload.id)
    clock.now += DAY * 2

    assert await uploads.expire() == 0
    writer.close()
    assert await uploads.expire() == 1


async def test_what_arrived_before_the_end_stays(ana: Actor, uploads: UploadService, store: Store) -> None:
    upload = await uploads.create(ana, NewUpload("/", "a", length=6))

    with pytest.raises(InvalidInputError):
        await uploads.receive(ana, upload.id, 0, broken(b"ab", b"cd"))
    assert (await uploads.resume(ana, upload.id)).offset == 4
    with pytest.raises(ChecksumMismatchError):
        await uploads.receive(ana, upload.id, 4, chunks(b"ef"), verifier=Never())
    with pytest.raises(InvalidInputError):
        await uploads.receive(ana, upload.id, 4, broken(b"e"), verifier=Never())
    assert (await uploads.resume(ana, upload.id)).offset == 4

    done = await uploads.receive(ana, upload.id, 4, chunks(b"ef"))
    content = await store.documents.open_content(ana, done.item_id or "")
    assert b"".join([chunk async for chunk in content.stream()]) == b"abcdef"


async def test_a_disk_that_is_full_keeps_what_was_acknowledged(
    ana: Actor, uploads: UploadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = await uploads.create(ana, NewUpload("/", "a", length=6))
    await uploads.receive(ana, upload.id, 0, chunks(b"abc"))

    def full(self: PartialFile, data: bytes) -> None:
        del self, data
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(PartialFile, "append", full)
        with pytest.raises(StorageFailureError):
            await uploads.receive(ana, upload.id, 3, chunks(b"d"))

    assert (await uploads.resume(ana, upload.id)).offset == 3
    assert (await uploads.receive(ana, upload.id, 3, chunks(b"def"))).item_id


async def interrupt_the_end(
    store: Store, uploads: UploadService, actor: Actor, upload_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Send `abc`, and end the process, as it were, right after the file was made."""
    create = store.documents.create_from_blob

    async def interrupted(*arguments: object, **named: object) -> None:
        await create(*arguments, **named)  # pyright: ignore[reportArgumentType] - passed on as they come
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store.documents, "create_from_blob", interrupted)
        with pytest.raises(KeyboardInterrupt):
            await uploads.receive(actor, upload_id, 0, chunks(b"abc"))


async def test_an_interrupted_end_is_made_up_for_once(
    store: Store, ana: Actor, uploads: UploadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = await uploads.create(ana, NewUpload("/", "a", length=3, on_conflict="rename"))
    await interrupt_the_end(store, uploads, ana, upload.id, monkeypatch)
    assert await store.names(ana) == ["a"]

    first = await uploads.resume(ana, upload.id)
    again = await uploads.receive(ana, upload.id, 3, chunks())

    assert first.item_id is not None
    assert again.item_id == first.item_id
    assert await store.names(ana) == ["a"]


async def test_an_interrupted_end_is_made_up_for_where_there_is_no_room_left(
    store: Store, ana: Actor, folder: Path, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(quota_bytes=4)
    uploads = UploadService(
        store.database,
        store.blobs,
        store.documents,
        in_files(folder),
        limits,
        max_bytes=1000,
        kept_for=DAY,
        clock=clock,
    )
    upload = await uploads.create(ana, NewUpload("/", "a", length=3))
    await interrupt_the_end(store, uploads, ana, upload.id, monkeypatch)

    assert (await uploads.receive(ana, upload.id, 3, chunks())).item_id is not None


async def test_nobody_has_uploads_without_number(
    ana: Actor, ben: Actor, uploads: UploadService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_OPEN", 2)
    first = await uploads.create(ana, NewUpload("/", "a", length=1))
    await uploads.create(ana, NewUpload("/", "b", length=1))

    with pytest.raises(RateLimitError) as caught:
        await uploads.create(ana, NewUpload("/", "c", length=1))
    assert caught.value.details["limit"] == 2
    await uploads.create(ben, NewUpload("/", "c", length=1))
    await uploads.receive(ana, first.id, 0, chunks(b"x"))
    await uploads.create(ana, NewUpload("/", "c", length=1))


@pytest.fixture
def uploads_with_quota(store: Store, folder: Path, clock: SettableClock) -> UploadService:
    return UploadService(
        store.database,
        store.blobs,
        store.documents,
        in_files(folder),
        Limits(quota_bytes=100),
        max_bytes=1000,
        kept_for=DAY,
        clock=clock,
    )


@pytest.mark.parametrize("length", [90, None])
async def test_what_is_unfinished_does_not_take_many_times_the_quota(
    ana: Actor, ben: Actor, uploads_with_quota: UploadService, folder: Path, length: int | None
) -> None:
    uploads = uploads_with_quota
    first = await uploads.create(ana, NewUpload("/", "a", length=length))
    await uploads.create(ana, NewUpload("/", "b", length=length))

    for asked in (90, None):
        with pytest.raises(RateLimitError):
            await uploads.create(ana, NewUpload("/", "c", length=asked))
    assert len(files_in(folder)) == 2
    await uploads.create(ben, NewUpload("/", "c", length=90))
    await uploads.terminate(ana, first.id)
    await uploads.create(ana, NewUpload("/", "c", length=90))


async def test_many_that_begin_at_once_are_not_each_the_first(ana: Actor, uploads_with_quota: UploadService) -> None:
    begun: list[str] = []

    async def begin(number: int) -> None:
        with suppress(RateLimitError):
            begun.append((await uploads_with_quota.create(ana, NewUpload("/", f"a{number}", length=60))).id)

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(begin, number)

    assert len(begun) == 3


async def test_others_find_nothing(ana: Actor, ben: Actor, uploads: UploadService, folder: Path) -> None:
    upload = await uploads.create(ana, NewUpload("/", "a", length=3))
    stranger = replace(ben, principal=replace(ben.principal, is_admin=True))

    for attempt in (
        uploads.resume(stranger, upload.id),
        uploads.receive(stranger, upload.id, 0, chunks(b"abc")),
        uploads.terminate(stranger, upload.id),
        uploads.terminate(ana, f"../uploads/{upload.id}"),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    assert (folder / upload.id).exists()


async def test_one_request_at_a_time(ana: Actor, uploads: UploadService, folder: Path) -> None:
    upload = await uploads.create(ana, NewUpload("/", "a", length=3))
    writer = PartialFile(folder / upload.id)

    for attempt in (uploads.receive(ana, upload.id, 0, chunks(b"abc")), uploads.terminate(ana, upload.id)):
        with pytest.raises(LockedError):
            await attempt
    assert (await uploads.resume(ana, upload.id)).offset == 0
    writer.close()
    await uploads.terminate(ana, upload.id)
    assert files_in(folder) == []
