"""The text of blobs, extracted once: where the services and the index get it from."""

from collections import OrderedDict
from pathlib import Path
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from drive_server.knowledge.formats import HEAD_BYTES, Format, format_of
from drive_server.knowledge.readers.extract import Passages, extract, passages_of, read_passages
from drive_server.knowledge.readers.pool import ReaderPool
from drive_server.knowledge.text.elements import Extraction
from drive_server.storage.blobs import BlobStore

CACHED_CHARACTERS = 40_000_000
LEAST_COST = 1_000
THREAD_BYTES = 1_000_000
SHORT_BYTES = 100_000
"""Up to here plain text is cut into passages in a thread: beyond, that would hold up the service's other threads."""

_Key = tuple[str, Format]


class TextSource:
    """Extracts the text of blobs, and remembers the last ones, up to a number of characters.

    Documents and large texts are read in processes of their own, short plain text in a thread.
    """

    def __init__(self, blobs: BlobStore, *, cached_characters: int = CACHED_CHARACTERS) -> None:
        self._blobs = blobs
        self._limit = cached_characters
        self._size = 0
        self._cache: OrderedDict[_Key, Extraction] = OrderedDict()
        self._turns: WeakValueDictionary[_Key, anyio.Lock] = WeakValueDictionary()
        self._readers = ReaderPool()

    async def text(self, blob_hash: str, name: str, media_type: str) -> Extraction:
        """Return the extraction of a blob that is, or was, the content of a file of this name and media type.

        Two that ask for the same at once share the work. Raises `StorageFailureError` if the blob can't be read.
        """
        key = (blob_hash, format_of(name, media_type))
        turn = self._turns.setdefault(key, anyio.Lock())
        async with turn:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
            async with self._blobs.local_path(blob_hash) as path:
                extraction = await self._extract(path, name, media_type)
            self._remember(key, extraction)
            return extraction

    async def passages(self, blob_hash: str, name: str, media_type: str) -> Passages:
        """Return the passages of a blob, for the index; its text is not remembered. Raises as `text` does."""
        known = self._cache.get((blob_hash, format_of(name, media_type)))
        if known is not None:
            return await anyio.to_thread.run_sync(passages_of, known)
        async with self._blobs.local_path(blob_hash) as path:
            if await _is_harmless(path, name, media_type, SHORT_BYTES):
                return await anyio.to_thread.run_sync(read_passages, path, name, media_type, abandon_on_cancel=True)
            return await self._readers.passages(path, name, media_type)

    def close(self) -> None:
        """End the processes that read documents; the next document would start others."""
        self._readers.close()

    async def _extract(self, path: Path, name: str, media_type: str) -> Extraction:
        if await _is_harmless(path, name, media_type, THREAD_BYTES):
            return await anyio.to_thread.run_sync(extract, path, name, media_type, abandon_on_cancel=True)
        return await self._readers.extract(path, name, media_type)

    def _remember(self, key: _Key, extraction: Extraction) -> None:
        size = _cost(extraction)
        if extraction.state == "failed" or size > self._limit:
            return
        self._cache[key] = extraction
        self._size += size
        while self._size > self._limit:
            _, dropped = self._cache.popitem(last=False)
            self._size -= _cost(dropped)


def _cost(extraction: Extraction) -> int:
    return len(extraction.text) + LEAST_COST


async def _is_harmless(path: Path, name: str, media_type: str, most_bytes: int) -> bool:
    """Return whether a file is short plain text. Its first bytes count: a PDF may be called anything."""

    def look() -> bool:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        return format_of(name, media_type, head).is_text and path.stat().st_size <= most_bytes

    return await anyio.to_thread.run_sync(look, abandon_on_cancel=True)
