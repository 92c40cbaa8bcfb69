"""The text of blobs, extracted once: where the services and the index get it from."""

import logging
from collections import OrderedDict
from pathlib import Path
from weakref import WeakValueDictionary

import anyio
import anyio.to_process
import anyio.to_thread

from drive_server.knowledge.elements import Extraction
from drive_server.knowledge.extract import extract
from drive_server.knowledge.formats import HEAD_BYTES, Format, format_of
from drive_server.storage.blobs import BlobStore

logger = logging.getLogger(__name__)

CACHED_CHARACTERS = 40_000_000
LONGEST_SECONDS = 300.0
LEAST_COST = 1_000
THREAD_BYTES = 1_000_000
MOST_PROCESSES = 2
_Key = tuple[str, Format]


class TextSource:
    """Extracts the text of blobs, and remembers the last ones, up to a number of characters.

    Readers of pdf, html and docx run in a process of their own: they take CPU that the event loop's process needs,
    150 MB of libraries, and may crash on a malformed file. Small plain text is read in a thread.
    """

    def __init__(self, blobs: BlobStore, *, cached_characters: int = CACHED_CHARACTERS) -> None:
        self._blobs = blobs
        self._limit = cached_characters
        self._size = 0
        self._cache: OrderedDict[_Key, Extraction] = OrderedDict()
        self._turns: WeakValueDictionary[_Key, anyio.Lock] = WeakValueDictionary()
        self._processes = anyio.CapacityLimiter(MOST_PROCESSES)

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

    async def _extract(self, path: Path, name: str, media_type: str) -> Extraction:
        if await anyio.to_thread.run_sync(_is_harmless, path, name, media_type):
            return await anyio.to_thread.run_sync(extract, path, name, media_type)
        async with self._processes:
            return await _extract_apart(path, name, media_type)

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


def _is_harmless(path: Path, name: str, media_type: str) -> bool:
    """Return whether a file is short plain text. Its first bytes count: a PDF may be called anything."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return format_of(name, media_type, head).keeps_offsets and path.stat().st_size <= THREAD_BYTES


async def _extract_apart(path: Path, name: str, media_type: str) -> Extraction:
    """Extract in a worker process, which is killed if it takes too long or is no longer waited for."""
    with anyio.move_on_after(LONGEST_SECONDS):
        try:
            return await anyio.to_process.run_sync(extract, path, name, media_type, cancellable=True)
        except anyio.BrokenWorkerProcess:
            logger.warning("The process that reads files ended in the midst of one.", exc_info=True)
            return Extraction("failed", "The file makes its reader crash; it is damaged, or too complex.")
    return Extraction("failed", f"Reading the file took longer than {LONGEST_SECONDS:.0f} seconds.")
