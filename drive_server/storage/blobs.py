"""Contents of files by their SHA-256: written once, durable before anything refers to them, never changed."""

import errno
import logging
import os
import re
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Generator, Iterable
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import obstore
from obstore.exceptions import BaseError, GenericError
from obstore.store import LocalStore, ObjectStore, from_url

from drive_server.kernel.errors import (
    RETRY_SECONDS,
    ContentsAwayError,
    InvalidInputError,
    StorageFailureError,
    TooLargeError,
)
from drive_server.kernel.files.spool import Checksums, SpooledFile, remove_unfinished, sync
from drive_server.kernel.files.token_file import make_private_directory
from drive_server.kernel.messages import Message
from drive_server.storage.aside import FOLDER, KINDS, AsideFolder, AsideObjects, Kind, Listed, for_each

if TYPE_CHECKING:
    from obstore.store import RetryConfig

logger = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20
HEAD_BYTES = 4096
"""The beginning of a content by which its kind is recognised."""
READ_BYTES = 1 << 16
"""Chunks of a content on its way to a client. A client that takes nothing holds one of them."""
SPOOL_FOLDER = ".incoming"
ABANDONED_AFTER_SECONDS = 24 * 3600
HASH_CHARACTERS = 64
RETRIES: "RetryConfig" = {"max_retries": 6, "retry_timeout": timedelta(seconds=15)}
"""With obstore's own pauses, a request that an object store does not answer fails after some 6 seconds, not after 3
minutes."""
_AWAY = re.compile(r"Error performing (?!.*status code: (?!429|5))")
"""Begins obstore's words about a request without an answer, or with one of 429 or 5xx. Its errors have no other
mark."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Blob:
    """The name of a content: the SHA-256 of its bytes in hex, and its size in bytes.

    `checksums` of the bytes, see `Checksums`, and `head`, the first `HEAD_BYTES` of them, are there where known, and no
    part of the name.
    """

    hash: str
    size: int
    checksums: str | None = field(default=None, compare=False)
    head: bytes | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Placed:
    """A blob in its place, and when it was last put (POSIX seconds)."""

    hash: str
    put_at: float


class BlobStore:
    """Content-addressed bytes over obstore. A blob that `put_*` returned survives a power failure.

    obstore's local store syncs nothing, so on a local disk the spooled file itself is synced and moved into place.
    A content that is put again counts as just written: only old contents without a reference are collected.
    Every method raises `StorageFailureError` if the store refuses or has lost a blob.
    """

    def __init__(self, store: ObjectStore, spool: Path, root: Path | None = None) -> None:
        self._store = store
        self._spool = spool
        self._root = root
        self._synced_folders: set[Path] = set()
        self._aside_folder = AsideFolder(root) if root else None
        self._aside_objects = AsideObjects(store)

    @property
    def objects(self) -> ObjectStore | None:
        """The store of contents that are not on a local disk; None for those that are."""
        return None if self._root else self._store

    async def put_bytes(self, data: bytes) -> Blob:
        """Store the bytes and return their blob."""
        if self._root and len(data) <= CHUNK_BYTES:
            # All steps in one trip to a thread: each trip costs more than writing so little.
            return await in_thread(self._put_at_once, self._root, data)

        async def once() -> AsyncIterator[bytes]:
            yield data

        return await self.put_stream(once(), limit=len(data))

    async def put_stream(self, chunks: AsyncIterator[bytes], limit: int) -> Blob:
        """Store the chunks, two in memory at a time. Raises `TooLargeError` past `limit` bytes; then nothing stays."""
        async with aclosing(_parts(chunks, limit)) as parts:
            first = await anext(parts)
            if self._root and len(first) < CHUNK_BYTES:  # it is the last one, too
                return await self.put_bytes(bytes(first))
            return await self._put_parts(first, parts)

    async def _put_parts(self, first: bytearray, others: AsyncIterator[bytearray]) -> Blob:
        async with self._spooled() as spooled:
            size, head = len(first), bytes(first[:HEAD_BYTES])
            await in_thread(spooled.write, first)
            async for part in others:
                size += len(part)
                await in_thread(spooled.write, part)
            blob_hash = await in_thread(spooled.finish)
            blob = Blob(blob_hash, size, spooled.checksums, head)
            return await self._keep(spooled.path, blob)

    async def put_file(self, path: Path) -> Blob:
        """Store the content of a file, which stays where it is and must not be changed any more."""
        async with self._spooled() as spooled:
            blob_hash = await in_thread(spooled.adopt, path)
            return await self._keep(spooled.path, Blob(blob_hash, spooled.size, spooled.checksums))

    async def read(self, blob_hash: str) -> bytes:
        """Return the whole content. For contents of bounded size only."""
        if self._aside_folder and self._root:
            return await in_thread(_read_file, self._root / _key(blob_hash), self._aside_folder)
        with _translated():
            try:
                result = await obstore.get_async(self._store, _key(blob_hash))
            except FileNotFoundError:
                if not await self.bring_back(blob_hash):
                    raise
                result = await obstore.get_async(self._store, _key(blob_hash))
            return bytes(await result.bytes_async())

    async def stream(self, blob_hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` to `end` (exclusive; None: to the end) in chunks.

        Files of a local store are read here: 200 MB take 0.1 s of CPU in chunks of 64 KiB, and 0.4 s or more by
        obstore in chunks of 1 MiB, which a client that takes nothing holds three times.
        """
        if self._root and self._aside_folder:
            path = self._root / _key(blob_hash)
            async with aclosing(_chunks(path, self._aside_folder, start, end)) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        size = await self.size(blob_hash)
        stop = size if end is None else min(end, size)
        if start >= stop:
            return
        with _translated():
            result = await obstore.get_async(self._store, _key(blob_hash), options={"range": (start, stop)})
            async for chunk in result.stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)

    async def size(self, blob_hash: str) -> int:
        """Return the size in bytes; a content that was set aside is brought back."""
        with _translated():
            try:
                return (await obstore.head_async(self._store, _key(blob_hash)))["size"]
            except FileNotFoundError:
                if not await self.bring_back(blob_hash):
                    raise
            return (await obstore.head_async(self._store, _key(blob_hash)))["size"]

    async def require_reachable(self) -> None:
        """Raise `StorageFailureError` unless the store answers: a bucket that is not there has no contents either."""
        if self._root:
            await in_thread(_reach, self._root)
            return
        with _translated():
            async for _ in obstore.list(self._store, chunk_size=1):
                return

    def require_all(self, hashes: Collection[str]) -> None:
        """Bring back the blobs that were set aside. Raise `StorageFailureError` unless all are there. It blocks."""
        with _translated():
            are_there = for_each(lambda name: self._is_there(name) or self._bring_back(name), hashes)
        if not all(are_there):
            raise StorageFailureError(
                "Too much time passed before the content was recorded, and it is gone again.", hint="Try again."
            )

    async def last_put_before(self, before: datetime) -> AsyncIterator[list[Placed]]:
        """Yield, in lists of bounded length, the blobs in their places without a `put` since that time."""
        with _translated():
            if self._root is None:
                async for found in obstore.list(self._store):
                    yield [placed for meta in found if (placed := _placed(meta, before))]
                return
            for shard in await anyio.to_thread.run_sync(_shards, self._root):
                yield await anyio.to_thread.run_sync(_old_in, shard, before.timestamp())

    async def set_aside(self, hashes: Iterable[str], kind: Kind, before: datetime) -> list[Blob]:
        """Take the blobs without a `put` since that time from their places, and return them.

        Only in a write transaction that made sure that nothing refers to them: no other can say so until it ends.
        """
        names = [*hashes]
        sizes = await in_thread(for_each, partial(self._take, kind=kind, before=before.timestamp()), names)
        return [Blob(name, size) for name, size in zip(names, sizes, strict=True) if size is not None]

    async def bring_back(self, blob_hash: str) -> bool:
        """Put a blob that was set aside back to its place; return whether it is there now."""
        return await in_thread(self._bring_back, blob_hash)

    async def aside(self, kind: Kind) -> list[Listed]:
        """Return the blobs of a kind that are set aside."""
        if self._aside_folder:
            return await in_thread(self._aside_folder.listed, kind)
        return await in_thread(self._aside_objects.listed, kind)

    async def remove_aside(self, hashes: Collection[str], kind: Kind) -> None:
        """Remove blobs that were set aside, for good. Only in a write transaction, as `set_aside`."""
        remove = self._aside_folder.remove if self._aside_folder else self._aside_objects.remove
        await in_thread(for_each, partial(remove, kind=kind), hashes)

    async def remove_unfinished(self, before: datetime) -> int:
        """Remove files of contents that never arrived whole; return how many."""
        # Elsewhere than on a local disk the spool may be the system's own folder for temporary files.
        return await in_thread(remove_unfinished, self._spool, before.timestamp()) if self._root else 0

    async def checksums(self, blob_hash: str) -> str:
        """Return the checksums of a content that is stored without them; its bytes are read."""
        async with self.local_path(blob_hash) as path:
            return await in_thread(Checksums.of_file, path)

    @asynccontextmanager
    async def local_path(self, blob_hash: str) -> AsyncGenerator[Path]:
        """Yield a file with the content, for readers that need one. Don't change it: it may be the store's own."""
        await self.size(blob_hash)
        if self._root:
            yield self._root / _key(blob_hash)
            return
        async with self._spooled() as spooled:
            async for chunk in self.stream(blob_hash):
                await in_thread(spooled.write, chunk)
            await in_thread(spooled.finish)
            yield spooled.path

    @asynccontextmanager
    async def _spooled(self) -> AsyncGenerator[SpooledFile]:
        spooled = await in_thread(SpooledFile, self._spool)
        try:
            yield spooled
        finally:
            with anyio.CancelScope(shield=True):
                await in_thread(spooled.discard)

    async def _keep(self, path: Path, blob: Blob) -> Blob:
        if self._root:
            await in_thread(self._move_into_place, path, self._root / _key(blob.hash), blob.size)
        else:
            with _translated():
                # Also over one that is there: that makes it as new as one that was not.
                await obstore.put_async(self._store, _key(blob.hash), path)
        return blob

    def _put_at_once(self, root: Path, data: bytes) -> Blob:
        spooled = SpooledFile(self._spool)
        try:
            spooled.write(data)
            blob = Blob(spooled.finish(), len(data), spooled.checksums, data[:HEAD_BYTES])
            self._move_into_place(spooled.path, root / _key(blob.hash), blob.size)
        finally:
            spooled.discard()
        return blob

    def _move_into_place(self, path: Path, target: Path, size: int) -> None:
        folder = target.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_renewed(target, size):
            path.replace(target)
            os.utime(target)
        # Also for one that was there: the call that put it there may not have synced the folder yet.
        sync(folder)
        for parent in (folder.parent, folder.parent.parent):
            self._sync_once(parent, folder)

    def _sync_once(self, parent: Path, folder: Path) -> None:
        marker = parent / folder.name
        if marker not in self._synced_folders:
            sync(parent)
            self._synced_folders.add(marker)

    def _is_there(self, blob_hash: str) -> bool:
        if self._root:
            return (self._root / _key(blob_hash)).exists()
        try:
            obstore.head(self._store, _key(blob_hash))
        except FileNotFoundError:
            return False
        return True

    def _bring_back(self, blob_hash: str) -> bool:
        if self._aside_folder and self._root:
            return self._aside_folder.bring_back(self._root / _key(blob_hash))
        return self._aside_objects.bring_back(_key(blob_hash))

    def _take(self, blob_hash: str, kind: Kind, before: float) -> int | None:
        if self._aside_folder and self._root:
            return self._aside_folder.take(self._root / _key(blob_hash), kind, before)
        return self._aside_objects.take(_key(blob_hash), kind, before)


async def open_blobs(url: str, spool: Path | None = None) -> BlobStore:
    """Open the store at an obstore URL (`file:///...`, `s3://...`, `memory:///`).

    `spool` is the folder for uploads on their way to a store that is not local; by default the system's.
    Raises `InvalidInputError` for a malformed URL and `StorageFailureError` if the folder can't be made.
    """
    return await in_thread(_open, url, spool)


def _open(url: str, spool: Path | None) -> BlobStore:
    parts = urlsplit(url)
    if parts.scheme != "file":
        folder = spool or Path(tempfile.gettempdir())
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return BlobStore(remote_store(url), folder)
    root = Path(unquote(parts.path))
    make_private_directory(root)
    folder = root / SPOOL_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    sync(root)
    sync(root.parent)
    with suppress(PermissionError):  # a folder of the system
        sync(root.parent.parent)
    remove_unfinished(folder, time.time() - ABANDONED_AFTER_SECONDS)
    return BlobStore(LocalStore(root), folder, root)


def remote_store(url: str) -> ObjectStore:
    """Return the object store at a URL. Raises `InvalidInputError` for a malformed one."""
    try:
        return from_url(url, retry_config=RETRIES)
    except (BaseError, ValueError) as error:
        raise InvalidInputError("The blob URL is malformed.", hint="Use e.g. s3://bucket/prefix.") from error


def _require_fits(size: int, limit: int) -> None:
    if size > limit:
        raise TooLargeError(Message.of("content_too_large", limit=limit), details={"limit": limit})


async def _parts(chunks: AsyncIterator[bytes], limit: int) -> AsyncGenerator[bytearray]:
    """Yield the chunks in parts of at least `CHUNK_BYTES`, then the rest, which may be empty."""
    size, part = 0, bytearray()
    async for chunk in chunks:
        size += len(chunk)
        _require_fits(size, limit)
        part += chunk
        if len(part) >= CHUNK_BYTES:
            yield part
            part = bytearray()
    yield part


def _is_renewed(target: Path, size: int) -> bool:
    """Renew the time of the content, and say whether it is there and whole."""
    try:
        os.utime(target)
        return target.stat().st_size == size
    except FileNotFoundError:  # it never was, or has just been collected
        return False


def _read_file(path: Path, aside: AsideFolder) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if not aside.bring_back(path):
            raise
    return path.read_bytes()


async def _chunks(path: Path, aside: AsideFolder, start: int, end: int | None) -> AsyncGenerator[bytes]:
    reading, chunk = await in_thread(_opened, path, aside, start, end)
    try:
        while chunk:
            yield chunk
            chunk = await in_thread(reading.next) if reading.place < reading.stop else b""
    finally:
        reading.file.close()


@dataclass(slots=True)
class _Reading:
    """A file that is read from `place` to `stop` in chunks. Its methods block; the first chunk comes with the file."""

    file: FileIO
    place: int
    stop: int

    def next(self) -> bytes:
        """Return the next chunk."""
        chunk = self.file.read(min(READ_BYTES, self.stop - self.place))
        if not chunk:
            raise OSError(errno.EIO, "a content ends too early")
        self.place += len(chunk)
        return chunk


def _opened(path: Path, aside: AsideFolder, start: int, end: int | None) -> tuple[_Reading, bytes]:
    """Open the content, which is brought back if it was set aside; read the first chunk, empty if there is none."""
    try:
        file = path.open("rb", 0)
    except FileNotFoundError:
        if not aside.bring_back(path):
            raise
        file = path.open("rb", 0)
    try:
        size = os.fstat(file.fileno()).st_size
        reading = _Reading(file, file.seek(start), size if end is None else min(end, size))
        return reading, reading.next() if start < reading.stop else b""
    except BaseException:
        file.close()
        raise


def _reach(root: Path) -> None:
    os.scandir(root).close()


def _shards(root: Path) -> list[Path]:
    return sorted(root.glob("[0-9a-f][0-9a-f]"))


def _old_in(shard: Path, before: float) -> list[Placed]:
    old: list[Placed] = []
    for path in shard.glob("[0-9a-f][0-9a-f]/*"):
        with suppress(FileNotFoundError):  # another process collects as well
            if _is_hash(path.name) and (put_at := path.stat().st_mtime) < before:
                old.append(Placed(path.name, put_at))
    return old


def _placed(meta: Any, before: datetime) -> Placed | None:
    """Return an object as a blob in its place; None for another one, and for one that was put since `before`."""
    name = meta["path"].rpartition("/")[2]
    is_old = meta["last_modified"] < before and _is_hash(name) and not meta["path"].startswith(FOLDER)
    return Placed(name, meta["last_modified"].timestamp()) if is_old else None


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Return the result of `work`, run in a thread. Raises `StorageFailureError` for an error of the disk."""
    with _translated():
        return await anyio.to_thread.run_sync(work, *arguments)


def places_of(blob_hash: str) -> tuple[str, ...]:
    """Return where a blob may be below its store: in its place, or set aside."""
    return (_key(blob_hash), *(f"{FOLDER}/{kind}/{blob_hash}" for kind in KINDS))


def _key(blob_hash: str) -> str:
    return f"{blob_hash[:2]}/{blob_hash[2:4]}/{blob_hash}"


def _is_hash(name: str) -> bool:
    return len(name) == HASH_CHARACTERS and set(name) <= set("0123456789abcdef")


@contextmanager
def _translated() -> Generator[None]:
    """Turn errors of the disk and of obstore into ours, saying nothing of paths."""
    try:
        yield
    except FileNotFoundError as error:
        logger.error("A blob is missing: %s", error)  # noqa: TRY400 - the trace says no more than the message
        raise StorageFailureError(Message.of("content_missing")) from error
    except (BaseError, OSError) as error:
        logger.error("The blob store failed: %s", error)  # noqa: TRY400 - the trace says no more than the message
        if isinstance(error, GenericError) and _AWAY.search(str(error)):
            details = {"retry_after_seconds": RETRY_SECONDS}
            raise ContentsAwayError(Message.of("contents_away"), details=details) from error
        raise StorageFailureError(Message.of("content_failure")) from error
