"""Contents of files by their SHA-256: written once, durable before anything refers to them, never changed."""

import logging
import os
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import anyio
import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from drive_server.errors import InvalidInputError, StorageFailureError, TooLargeError
from drive_server.storage.token_file import make_private_directory

logger = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20
SPOOL_FOLDER = ".incoming"
ABANDONED_AFTER_SECONDS = 24 * 3600
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Blob:
    """The name of a content: the SHA-256 of its bytes in hex, and its size in bytes."""

    hash: str
    size: int


class BlobStore:
    """Content-addressed bytes over obstore. What `put_*` returned survives a power failure.

    obstore's local store syncs nothing, so on a local disk the spooled file itself is synced and moved into place.
    Every method raises `StorageFailureError` if the store refuses or has lost a blob.
    """

    def __init__(self, store: ObjectStore, spool: Path, root: Path | None = None) -> None:
        self._store = store
        self._spool = spool
        self._root = root
        self._synced_folders: set[Path] = set()

    async def put_bytes(self, data: bytes) -> Blob:
        """Store the bytes and return their blob."""

        async def once() -> AsyncIterator[bytes]:
            yield data

        return await self.put_stream(once(), limit=len(data))

    async def put_stream(self, chunks: AsyncIterator[bytes], limit: int) -> Blob:
        """Store what the iterator yields, never more than a chunk of it in memory; `limit` is in bytes.

        Raises `TooLargeError` past the limit, and what the iterator raises. On any failure nothing stays behind.
        """
        spooled = await _in_thread(_SpooledFile, self._spool)
        try:
            async for chunk in chunks:
                if spooled.size + len(chunk) > limit:
                    raise TooLargeError(
                        "The content is too large.", hint=f"The limit is {limit} bytes.", details={"limit": limit}
                    )
                await _in_thread(spooled.write, chunk)
            blob = await _in_thread(spooled.finish)
            await self._keep(spooled.path, blob)
        finally:
            with anyio.CancelScope(shield=True):
                await _in_thread(spooled.discard)
        return blob

    async def read(self, blob_hash: str) -> bytes:
        """Return the whole content. For contents of bounded size only."""
        with _translated():
            result = await obstore.get_async(self._store, _key(blob_hash))
            return bytes(await result.bytes_async())

    async def stream(self, blob_hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` to `end` (exclusive; None: to the end) in chunks of about 1 MiB."""
        size = await self.size(blob_hash)
        stop = size if end is None else min(end, size)
        if start >= stop:
            return
        with _translated():
            result = await obstore.get_async(self._store, _key(blob_hash), options={"range": (start, stop)})
            async for chunk in result.stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)

    async def size(self, blob_hash: str) -> int:
        """Return the size in bytes."""
        with _translated():
            return (await obstore.head_async(self._store, _key(blob_hash)))["size"]

    @asynccontextmanager
    async def local_path(self, blob_hash: str) -> AsyncGenerator[Path]:
        """Lend a file with the content, for readers that need one. Read it only; it may be the store's own."""
        await self.size(blob_hash)
        if self._root:
            yield self._root / _key(blob_hash)
            return
        spooled = await _in_thread(_SpooledFile, self._spool)
        try:
            async for chunk in self.stream(blob_hash):
                await _in_thread(spooled.write, chunk)
            await _in_thread(spooled.finish)
            yield spooled.path
        finally:
            with anyio.CancelScope(shield=True):
                await _in_thread(spooled.discard)

    async def _keep(self, path: Path, blob: Blob) -> None:
        if self._root:
            await _in_thread(self._move_into_place, path, self._root / _key(blob.hash), blob.size)
            return
        with _translated():
            try:
                await obstore.put_async(self._store, _key(blob.hash), path, mode="create")
            except AlreadyExistsError:
                logger.debug("The content is stored already.")

    def _move_into_place(self, path: Path, target: Path, size: int) -> None:
        folder = target.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not target.exists() or target.stat().st_size != size:
            path.replace(target)
        # Also for one that was there: the call that put it there may not have synced the folder yet.
        _sync_folder(folder)
        for parent in (folder.parent, folder.parent.parent):
            self._sync_once(parent, folder)

    def _sync_once(self, parent: Path, folder: Path) -> None:
        marker = parent / folder.name
        if marker not in self._synced_folders:
            _sync_folder(parent)
            self._synced_folders.add(marker)


async def open_blobs(url: str, spool: Path | None = None) -> BlobStore:
    """Open the store at an obstore URL (`file:///...`, `s3://...`, `memory:///`).

    `spool` is the folder for uploads on their way to a store that is not local; by default the system's.
    Raises `InvalidInputError` for a malformed URL and `StorageFailureError` if the folder can't be made.
    """
    return await _in_thread(_open, url, spool)


def _open(url: str, spool: Path | None) -> BlobStore:
    parts = urlsplit(url)
    if parts.scheme != "file":
        folder = spool or Path(tempfile.gettempdir())
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return BlobStore(_remote(url), folder)
    root = Path(unquote(parts.path))
    make_private_directory(root)
    folder = root / SPOOL_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    _remove_abandoned(folder)
    return BlobStore(LocalStore(root), folder, root)


def _remote(url: str) -> ObjectStore:
    try:
        return from_url(url)
    except (BaseError, ValueError) as error:
        raise InvalidInputError("The blob URL is malformed.", hint="Use e.g. s3://bucket/prefix.") from error


def _remove_abandoned(folder: Path) -> None:
    """Remove what a killed process left; another process may be spooling here right now, so only what is old."""
    before = time.time() - ABANDONED_AFTER_SECONDS
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # the other process may be cleaning up, too
            if path.stat().st_mtime < before:
                path.unlink()


class _SpooledFile:
    """A content on its way into the store: a private temporary file, hashed while it grows. Its methods block."""

    def __init__(self, folder: Path) -> None:
        descriptor, name = tempfile.mkstemp(dir=folder)
        self.path = Path(name)
        self.size = 0
        self._file = os.fdopen(descriptor, "wb")
        self._digest = sha256()

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._digest.update(chunk)
        self.size += len(chunk)

    def finish(self) -> Blob:
        """Make the file durable and close it."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return Blob(self._digest.hexdigest(), self.size)

    def discard(self) -> None:
        """Remove the file, unless it was moved into place."""
        self.path.unlink(missing_ok=True)
        with suppress(OSError):  # on a full disk the buffered rest can't be written; it is being thrown away
            self._file.close()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def _in_thread(work: Callable[..., T], *arguments: Any) -> T:
    with _translated():
        return await anyio.to_thread.run_sync(work, *arguments)


def _key(blob_hash: str) -> str:
    return f"{blob_hash[:2]}/{blob_hash[2:4]}/{blob_hash}"


@contextmanager
def _translated() -> Generator[None]:
    """Turn errors of the disk and of obstore into ours, saying nothing of paths."""
    try:
        yield
    except FileNotFoundError as error:
        logger.error("A blob is missing: %s", error)  # noqa: TRY400 - the trace says no more than the message
        raise StorageFailureError(
            "The content of this file is missing in the store.", hint="Restore the blob store from its backup."
        ) from error
    except (BaseError, OSError) as error:
        logger.error("The blob store failed: %s", error)  # noqa: TRY400 - the trace says no more than the message
        raise StorageFailureError(
            "The content could not be stored or read; nothing of the request was kept.",
            hint="Check that the disk is not full, then try again.",
        ) from error
