"""A few reader processes, kept for the next files."""

import logging
import weakref
from pathlib import Path

import anyio
import anyio.to_thread

from drive_server.knowledge.elements import Extraction
from drive_server.knowledge.reader import Reader, ReaderCrashedError

logger = logging.getLogger(__name__)

MOST_PROCESSES = 2
LONGEST_SECONDS = 180.0


class ReaderPool:
    """Extracts files in other processes, which are started when they are needed and end with this object."""

    def __init__(self) -> None:
        self._idle: list[Reader] = []
        self._limiter = anyio.CapacityLimiter(MOST_PROCESSES)
        self.close = weakref.finalize(self, _end_all, self._idle)
        """End the processes; done by itself when the pool is no longer used, or the program ends."""

    async def extract(self, path: Path, name: str, media_type: str) -> Extraction:
        """Return the extraction of a file. Its state is `failed` if the file crashes its reader or takes too long.

        When cancelled, the process is ended. Raises `OSError` if the file can't be opened.
        """
        async with self._limiter:
            try:
                if self._idle:
                    return await self._extract(self._idle.pop(), path, name, media_type)
            except ReaderCrashedError:
                logger.debug("A reader that was kept has ended; another one is started.")
            try:
                return await self._extract(Reader(), path, name, media_type)
            except ReaderCrashedError:
                logger.warning("A file made its reader crash.")
                reason = "The file makes its reader crash; it is damaged, too complex, or needs too much memory."
                return Extraction("failed", reason)

    async def _extract(self, reader: Reader, path: Path, name: str, media_type: str) -> Extraction:
        is_done = False
        try:
            with anyio.move_on_after(LONGEST_SECONDS):
                extraction = await anyio.to_thread.run_sync(
                    reader.extract, path, name, media_type, abandon_on_cancel=True
                )
                is_done = True
                return extraction
            return Extraction("failed", f"Reading the file took longer than {LONGEST_SECONDS:.0f} seconds.")
        finally:
            if is_done:
                self._idle.append(reader)
            else:
                reader.end()


def _end_all(readers: list[Reader]) -> None:
    while readers:
        readers.pop().end()
