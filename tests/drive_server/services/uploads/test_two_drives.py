"""An upload that was begun at one drive goes on at another one on the same database."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import anyio
import obstore
import pytest

from drive_server.kernel.errors import ChecksumMismatchError, DriveError, LockedError, NotFoundError, StateConflictError
from drive_server.services.uploads import partials
from drive_server.services.uploads.service import NewUpload, Upload
from drive_server.storage.partials.objects import FOLDER
from tests.drive_server.actors import new_person
from tests.drive_server.replicas import two_drives
from tests.drive_server.services.uploads.test_service import Never, broken, chunks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

Drives = tuple["Drive", "Drive"]


@pytest.fixture(params=["bucket", "folder"])
async def drives(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Drives]:
    """Two drives whose contents are in a bucket, or in a folder that both see."""
    (tmp_path / "blobs").mkdir()
    places = {"folder": (tmp_path / "blobs").as_uri()}
    async with two_drives(tmp_path, monkeypatch, *filter(None, [places.get(request.param)])) as pair:
        yield pair


@pytest.fixture
async def bucket_drives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Drives]:
    async with two_drives(tmp_path, monkeypatch) as pair:
        yield pair


async def content(drive: Drive, ana: Actor, upload: Upload) -> bytes:
    assert upload.item_id
    opened = await drive.documents.open_content(ana, upload.item_id)
    return b"".join([chunk async for chunk in opened.stream()])


def objects_of(drive: Drive) -> list[str]:
    assert drive.blobs.objects
    return [meta["path"] for found in obstore.list(drive.blobs.objects, FOLDER) for meta in found]


async def test_an_upload_goes_on_at_the_other_drive_from_where_it_is(drives: Drives) -> None:
    a, b = drives
    ana = await new_person(a.identity, "ana@example.com")
    begun = await a.uploads.create(ana, NewUpload("/", "a.bin", length=9))
    assert (await b.uploads.resume(ana, begun.id)).offset == 0
    assert (await a.uploads.receive(ana, begun.id, 0, chunks(b"abc"))).offset == 3
    assert (await b.uploads.resume(ana, begun.id)).offset == 3
    with pytest.raises(StateConflictError):
        await b.uploads.receive(ana, begun.id, 2, chunks(b"def"))
    assert (await b.uploads.receive(ana, begun.id, 3, chunks(b"de", b"f"))).offset == 6
    done = await a.uploads.receive(ana, begun.id, 6, chunks(b"ghi"))

    assert await content(b, ana, done) == b"abcdefghi"
    assert (await b.uploads.resume(ana, begun.id)).item_id == done.item_id


async def test_an_upload_of_many_objects_is_whole_and_leaves_none(
    bucket_drives: Drives, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partials, "PART_BYTES", 1 << 20)
    a, b = bucket_drives
    ana = await new_person(a.identity, "ana@example.com")
    data = bytes(range(256)) * (5 << 12)
    begun = await a.uploads.create(ana, NewUpload("/", "a.bin", length=len(data)))
    half = len(data) // 2 + 77
    await a.uploads.receive(ana, begun.id, 0, chunks(data[:half]))
    assert len(objects_of(a)) == 3
    done = await b.uploads.receive(ana, begun.id, half, chunks(data[half:]))

    assert sha256(await content(a, ana, done)).digest() == sha256(data).digest()
    assert objects_of(a) == []


async def test_of_two_requests_at_one_offset_one_goes_on(bucket_drives: Drives) -> None:
    a, b = bucket_drives
    ana = await new_person(a.identity, "ana@example.com")
    begun = await a.uploads.create(ana, NewUpload("/", "a.bin", length=6))
    given: list[int | DriveError] = []

    async def send(drive: Drive, data: bytes) -> None:
        try:
            given.append((await drive.uploads.receive(ana, begun.id, 0, chunks(data))).offset)
        except DriveError as error:
            given.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(send, a, b"aaa")
        group.start_soon(send, b, b"bbb")
    assert [one for one in given if isinstance(one, int)] == [3]
    assert all(isinstance(one, int | LockedError | StateConflictError) for one in given)
    done = await a.uploads.receive(ana, begun.id, 3, chunks(b"ccc"))
    assert await content(a, ana, done) in {b"aaaccc", b"bbbccc"}


async def test_bytes_that_broke_off_stay_and_bytes_that_do_not_match_go(bucket_drives: Drives) -> None:
    a, b = bucket_drives
    ana = await new_person(a.identity, "ana@example.com")
    begun = await a.uploads.create(ana, NewUpload("/", "a.bin", length=6))
    with pytest.raises(DriveError, match="went away"):
        await a.uploads.receive(ana, begun.id, 0, broken(b"abc"))
    with pytest.raises(ChecksumMismatchError):
        await b.uploads.receive(ana, begun.id, 3, chunks(b"xyz"), verifier=Never())

    assert (await a.uploads.resume(ana, begun.id)).offset == 3
    assert len(objects_of(a)) == 1


async def test_an_upload_that_was_ended_at_the_other_drive_takes_no_bytes(bucket_drives: Drives) -> None:
    a, b = bucket_drives
    ana = await new_person(a.identity, "ana@example.com")
    begun = await a.uploads.create(ana, NewUpload("/", "a.bin", length=6))

    async def ended_meanwhile() -> AsyncIterator[bytes]:
        yield b"abc"
        await b.uploads.terminate(ana, begun.id)

    with pytest.raises(LockedError):
        await a.uploads.receive(ana, begun.id, 0, ended_meanwhile())
    with pytest.raises(NotFoundError):
        await a.uploads.resume(ana, begun.id)
    assert objects_of(a) == []


async def test_objects_of_uploads_that_are_gone_are_removed(bucket_drives: Drives) -> None:
    a, _ = bucket_drives
    assert a.blobs.objects
    obstore.put(a.blobs.objects, f"{FOLDER}/{'f' * 32}/0-0", b"left by a killed process")
    assert await a.uploads.expire() == 0
    a.uploads._kept_for *= 0  # pyright: ignore[reportPrivateUsage] - a day without waiting for it
    await a.uploads.expire()
    assert objects_of(a) == []
