from __future__ import annotations

import os
import shutil
import time
import tracemalloc
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import anyio
import pytest
from typing_extensions import override

from drive_server.kernel.errors import ContentsAwayError, InvalidInputError, StorageFailureError, TooLargeError
from drive_server.storage import blobs as module
from drive_server.storage.blobs import READ_BYTES, Blob, BlobStore, open_blobs
from tests import buckets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

MEBIBYTE = 1 << 20
LOCAL_AND_REMOTE = pytest.mark.parametrize("kind", ["local", "remote"])


async def opened(kind: str, folder: Path) -> BlobStore:
    """A store on the disk, or one behind an interface without files, as S3 is."""
    url = (folder / "blobs").as_uri() if kind == "local" else buckets.new_url()
    return await open_blobs(url, spool=folder / "spool")


async def chunks(*data: bytes) -> AsyncIterator[bytes]:
    for chunk in data:
        yield chunk


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@LOCAL_AND_REMOTE
@pytest.mark.parametrize("data", [b"", b"x", os.urandom(3 * MEBIBYTE + 7)])
async def test_what_is_put_reads_back_under_its_hash(kind: str, data: bytes, tmp_path: Path) -> None:
    store = await opened(kind, tmp_path)
    blob = await store.put_bytes(data)
    assert blob == Blob(sha256(data).hexdigest(), len(data))
    assert await store.read(blob.hash) == data
    assert await store.size(blob.hash) == len(data)
    assert b"".join([chunk async for chunk in store.stream(blob.hash)]) == data
    async with store.local_path(blob.hash) as path:
        assert path.read_bytes() == data


@LOCAL_AND_REMOTE
@pytest.mark.parametrize(("start", "end"), [(0, 10), (5, None), (0, 0), (9, 5), (10, None), (99, 100), (3, 999)])
async def test_a_range_streams_what_a_slice_would_give(kind: str, start: int, end: int | None, tmp_path: Path) -> None:
    store = await opened(kind, tmp_path)
    blob = await store.put_bytes(b"0123456789")
    assert b"".join([chunk async for chunk in store.stream(blob.hash, start, end)]) == b"0123456789"[start:end]


@LOCAL_AND_REMOTE
async def test_the_same_content_is_stored_once(kind: str, tmp_path: Path) -> None:
    store = await opened(kind, tmp_path)
    first = await store.put_bytes(b"same")
    assert await store.put_stream(chunks(b"sa", b"", b"me"), limit=4) == first
    assert len(files_below(tmp_path)) == (1 if kind == "local" else 0)


async def test_a_blob_lies_below_its_first_characters_and_is_private(tmp_path: Path) -> None:
    store = await opened("local", tmp_path)
    blob = await store.put_bytes(b"x")
    (path,) = files_below(tmp_path)
    assert path == tmp_path / "blobs" / blob.hash[:2] / blob.hash[2:4] / blob.hash
    assert path.stat().st_mode & 0o077 == 0


@LOCAL_AND_REMOTE
async def test_a_stream_over_the_limit_is_refused_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    store = await opened(kind, tmp_path)
    with pytest.raises(TooLargeError) as caught:
        await store.put_stream(chunks(b"12345", b"6"), limit=5)
    assert caught.value.details == {"limit": 5}
    assert files_below(tmp_path) == []
    assert (await store.put_stream(chunks(b"12345"), limit=5)).size == 5


async def test_a_stream_that_breaks_leaves_nothing_and_its_error_passes(tmp_path: Path) -> None:
    async def breaking() -> AsyncIterator[bytes]:
        yield b"half"
        msg = "the client went away"
        raise ConnectionError(msg)

    store = await opened("local", tmp_path)
    with pytest.raises(ConnectionError, match="the client went away"):
        await store.put_stream(breaking(), limit=100)
    assert files_below(tmp_path) == []


async def test_a_cancelled_stream_leaves_nothing(tmp_path: Path) -> None:
    store = await opened("local", tmp_path)
    with anyio.CancelScope() as scope:

        async def cancelled() -> AsyncIterator[bytes]:
            yield b"half"
            scope.cancel()
            await anyio.lowlevel.checkpoint()

        await store.put_stream(cancelled(), limit=100)
    assert scope.cancelled_caught
    assert files_below(tmp_path) == []


async def test_a_disk_that_fails_to_sync_keeps_nothing_and_says_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opened("local", tmp_path)

    def failing(descriptor: int) -> None:
        del descriptor
        raise OSError(5, "Input/output error", str(tmp_path))

    monkeypatch.setattr(module.os, "fsync", failing)
    with pytest.raises(StorageFailureError) as caught:
        await store.put_bytes(b"x")
    assert str(tmp_path) not in str(caught.value.to_dict())
    assert files_below(tmp_path) == []


async def test_a_blob_is_synced_before_it_has_its_name_and_its_folders_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opened("local", tmp_path)
    seen: list[tuple[str, bool]] = []
    sync = os.fsync

    def watching(descriptor: int) -> None:
        named = any(".incoming" not in str(path) for path in files_below(tmp_path))
        target = Path(f"/proc/self/fd/{descriptor}").readlink()
        seen.append((str(target).removeprefix(str(tmp_path / "blobs")), named))
        sync(descriptor)

    monkeypatch.setattr(module.os, "fsync", watching)
    blob = await store.put_bytes(b"x")
    first, second = blob.hash[:2], blob.hash[2:4]
    assert seen[0][0].startswith("/.incoming/")
    assert not seen[0][1]
    assert seen[1:] == [(f"/{first}/{second}", True), (f"/{first}", True), ("", True)]


async def test_a_damaged_blob_is_replaced_when_its_content_comes_again(tmp_path: Path) -> None:
    store = await opened("local", tmp_path)
    blob = await store.put_bytes(b"content")
    (path,) = files_below(tmp_path)
    path.write_bytes(b"")
    await store.put_bytes(b"content")
    assert await store.read(blob.hash) == b"content"


async def test_fifty_megabytes_pass_through_little_memory(tmp_path: Path) -> None:
    store = await opened("local", tmp_path)
    piece = os.urandom(MEBIBYTE)

    async def large() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield piece

    tracemalloc.start()
    blob = await store.put_stream(large(), limit=100 * MEBIBYTE)
    size = 0
    async for chunk in store.stream(blob.hash):
        size += len(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size == blob.size == 50 * MEBIBYTE
    assert peak < 8 * MEBIBYTE


async def test_many_that_put_one_content_at_once_all_succeed(tmp_path: Path) -> None:
    store = await opened("local", tmp_path)
    found: list[Blob] = []

    async def put() -> None:
        found.append(await store.put_bytes(b"same"))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(put)
    assert len(set(found)) == 1
    assert len(files_below(tmp_path)) == 1


@LOCAL_AND_REMOTE
async def test_an_unknown_blob_is_a_storage_failure(kind: str, tmp_path: Path) -> None:
    store = await opened(kind, tmp_path)
    with pytest.raises(StorageFailureError):
        await store.read("0" * 64)
    with pytest.raises(StorageFailureError):
        await store.size("0" * 64)
    with pytest.raises(StorageFailureError):
        async with store.local_path("0" * 64):
            pass


async def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path: Path) -> None:
    await opened("local", tmp_path)
    old, new = tmp_path / "blobs" / ".incoming" / "old", tmp_path / "blobs" / ".incoming" / "new"
    for path in (old, new):
        path.write_bytes(b"x")
    yesterday = time.time() - 25 * 3600
    os.utime(old, (yesterday, yesterday))
    await opened("local", tmp_path)
    assert (old.exists(), new.exists()) == (False, True)


async def test_paths_with_spaces_and_other_scripts_work(tmp_path: Path) -> None:
    store = await opened("local", tmp_path / "my 数据 50%")
    assert await store.read((await store.put_bytes(b"x")).hash) == b"x"


@pytest.mark.parametrize("url", ["", "nonsense", "nosuch://bucket", "s3:///"])
async def test_a_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError):
        await open_blobs(url)


async def test_a_content_that_is_cut_while_it_is_sent_is_a_storage_failure_and_never_a_shorter_one(
    tmp_path: Path,
) -> None:
    store = await opened("local", tmp_path)
    blob = await store.put_bytes(b"x" * 3 * READ_BYTES)
    sent = aiter(store.stream(blob.hash))
    first = await anext(sent)
    (path,) = [path for path in files_below(tmp_path) if path.name == blob.hash]
    os.truncate(path, READ_BYTES)

    assert len(first) == READ_BYTES
    with pytest.raises(StorageFailureError):
        await anext(sent)


class Refusing(BaseHTTPRequestHandler):
    """Answers as S3 does about a bucket that is not there, or with another status."""

    status = 404

    def do_GET(self) -> None:
        body = b'<?xml version="1.0"?><Error><Code>NoSuchBucket</Code></Error>'
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        self.do_GET()

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def s3_without_bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        for name, value in {"ALLOW_HTTP": "true", "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("s3_without_bucket")
async def test_a_bucket_that_is_not_there_is_found_out_before_any_content_is_needed() -> None:
    store = await open_blobs("s3://nowhere/prefix")
    with pytest.raises(StorageFailureError):
        await store.require_reachable()


@pytest.mark.usefixtures("s3_without_bucket")
@pytest.mark.parametrize(
    ("status", "code"),
    [(503, "contents_away"), (500, "contents_away"), (429, "contents_away"), (403, "storage_failure")],
)
async def test_an_object_store_that_is_overloaded_is_away_and_one_that_refuses_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, code: str
) -> None:
    monkeypatch.setattr(module, "RETRIES", {"max_retries": 1})
    monkeypatch.setattr(Refusing, "status", status)
    store = await open_blobs("s3://bucket/prefix", spool=tmp_path)
    for request in (store.put_bytes(b"words"), store.read(sha256(b"words").hexdigest())):
        with pytest.raises(StorageFailureError) as refused:
            await request
        assert refused.value.code == code
    assert files_below(tmp_path) == []


@pytest.mark.usefixtures("s3_without_bucket")
async def test_an_object_store_that_nobody_serves_is_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "RETRIES", {"max_retries": 1})
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:1")
    store = await open_blobs("s3://bucket/prefix", spool=tmp_path)
    with pytest.raises(ContentsAwayError) as away:
        await store.put_bytes(b"words")
    assert away.value.status == 503
    assert away.value.details["retry_after_seconds"] > 0


@LOCAL_AND_REMOTE
async def test_a_store_without_contents_answers(kind: str, tmp_path: Path) -> None:
    await (await opened(kind, tmp_path)).require_reachable()


async def test_a_folder_that_is_gone_is_found_out(tmp_path: Path) -> None:
    store = await opened("local", tmp_path)
    shutil.rmtree(tmp_path)
    with pytest.raises(StorageFailureError):
        await store.require_reachable()
