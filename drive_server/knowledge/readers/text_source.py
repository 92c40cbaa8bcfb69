"""The text of blobs, extracted once, for the services and the index."""

import os
from collections import OrderedDict
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from drive_server.knowledge.formats import HEAD_BYTES, Format, format_of
from drive_server.knowledge.process import Answer, ProcessCrashedError
from drive_server.knowledge.readers.extract import ChunkedText, chunk_extraction, extract, read_chunks
from drive_server.knowledge.readers.pool import ReaderPool, Refusal
from drive_server.knowledge.readers.process import Reader, Work
from drive_server.knowledge.readers.recognized import Pages, RecognizedTexts, awaits_ocr, with_recognized
from drive_server.knowledge.text.elements import Extraction, Recognized
from drive_server.storage.blobs import BlobStore

CACHED_CHARACTERS = 40_000_000
MIN_COST = 1_000
THREAD_BYTES = 1_000_000
SHORT_BYTES = 100_000
"""Up to this size a thread cuts plain text into passages: more would hold up the service's other threads."""

OCR_STEP_SECONDS = 10.0
"""After this time OCR begins no further page, so that the pages read are stored."""

OCR_PAGE_SECONDS = 120.0
"""The most seconds of such a step: one page of a slow machine."""

_Key = tuple[str, Format]


class TextSource:
    """Extracts the text of blobs, and caches the last ones, up to a number of characters.

    Pages that are pictures come from `recognized`, as far as OCR has read them by then.
    """

    def __init__(
        self,
        blobs: BlobStore,
        recognized: RecognizedTexts | None = None,
        *,
        cached_characters: int = CACHED_CHARACTERS,
    ) -> None:
        self._blobs = blobs
        self._recognized = recognized
        self._limit = cached_characters
        self._size = 0
        self._cache: OrderedDict[_Key, Extraction] = OrderedDict()
        self._locks: WeakValueDictionary[_Key, anyio.Lock] = WeakValueDictionary()
        self._readers = ReaderPool()

    async def text(self, blob_hash: str, name: str, media_type: str) -> Extraction:
        """Return the extraction of a blob that is, or was, the content of a file of this name and media type.

        Concurrent calls for the same blob share the work. Raises `StorageFailureError` if the blob can't be read.
        """
        extraction = await self._extraction(blob_hash, name, media_type)
        pages = await self._recognized_pages(blob_hash, extraction)
        return extraction if pages is None else with_recognized(extraction, pages)

    async def _extraction(self, blob_hash: str, name: str, media_type: str) -> Extraction:
        key = (blob_hash, format_of(name, media_type))
        lock = self._locks.setdefault(key, anyio.Lock())
        async with lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
            async with self._blobs.local_path(blob_hash) as path:
                extraction = await self._extract(path, name, media_type)
            self._add_to_cache(key, extraction)
            return extraction

    async def chunks(self, blob_hash: str, name: str, media_type: str) -> ChunkedText:
        """Return the passages of a blob, for the index; its text is not cached. Raises as `text` does."""
        read = await self._chunks(blob_hash, name, media_type)
        if await self._recognized_pages(blob_hash, read) is None:
            return read
        return await anyio.to_thread.run_sync(chunk_extraction, await self.text(blob_hash, name, media_type))

    async def recognize(self, blob_hash: str, name: str, media_type: str, reader: Reader, after: int) -> Recognized:
        """Read pages behind number `after` that are pictures, for some seconds, in a process of its own.

        Raises as `text`, and `ProcessCrashedError` if the process ends or takes too long.
        """
        from drive_server.knowledge.readers.pages.scans import recognize  # loads libraries of pictures

        work = partial(recognize, after=after, seconds=OCR_STEP_SECONDS)
        async with self._blobs.local_path(blob_hash) as path:
            with anyio.move_on_after(OCR_PAGE_SECONDS):
                return await anyio.to_thread.run_sync(reader.run, work, path, name, media_type, abandon_on_cancel=True)
        reader.end()
        raise ProcessCrashedError

    async def _recognized_pages(self, blob_hash: str, read: Extraction | ChunkedText) -> Pages | None:
        if self._recognized is None or not awaits_ocr(read.state, read.omissions):
            return None
        return await self._recognized.complete(blob_hash)

    async def _chunks(self, blob_hash: str, name: str, media_type: str) -> ChunkedText:
        cached = self._cache.get((blob_hash, format_of(name, media_type)))
        if cached is not None:
            return await anyio.to_thread.run_sync(chunk_extraction, cached)
        async with self._blobs.local_path(blob_hash) as path:
            if await _is_harmless(path, name, media_type, SHORT_BYTES):
                return await anyio.to_thread.run_sync(read_chunks, path, name, media_type, abandon_on_cancel=True)
            return await self._readers.chunks(path, name, media_type)

    async def run(
        self,
        work: Work[Answer],
        refusal: Refusal[Answer],
        blob_hash: str,
        name: str,
        media_type: str,
        seconds: float,
    ) -> Answer:
        """Return the answer of other work over a blob, from a reader's process. Raises as `text` does."""
        async with self._blobs.local_path(blob_hash) as path:
            return await self._readers.run(work, refusal, path, name, media_type, seconds)

    async def run_without_file(
        self, work: Work[Answer], refusal: Refusal[Answer], media_type: str, seconds: float
    ) -> Answer:
        """Return the answer of work that reads no file, from a reader's process."""
        return await self._readers.run(work, refusal, Path(os.devnull), "", media_type, seconds)

    def close(self) -> None:
        """End the processes that read documents; the next document would start others."""
        self._readers.close()

    async def _extract(self, path: Path, name: str, media_type: str) -> Extraction:
        if await _is_harmless(path, name, media_type, THREAD_BYTES):
            return await anyio.to_thread.run_sync(extract, path, name, media_type, abandon_on_cancel=True)
        return await self._readers.extract(path, name, media_type)

    def _add_to_cache(self, key: _Key, extraction: Extraction) -> None:
        size = _cost(extraction)
        if extraction.state == "failed" or size > self._limit:
            return
        self._cache[key] = extraction
        self._size += size
        while self._size > self._limit:
            _, dropped = self._cache.popitem(last=False)
            self._size -= _cost(dropped)


def _cost(extraction: Extraction) -> int:
    return len(extraction.text) + MIN_COST


async def _is_harmless(path: Path, name: str, media_type: str, most_bytes: int) -> bool:
    """Return whether a file is short plain text by its first bytes: a PDF may have any name."""

    def check() -> bool:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        return format_of(name, media_type, head).is_text and path.stat().st_size <= most_bytes

    return await anyio.to_thread.run_sync(check, abandon_on_cancel=True)
