"""A few reader processes, kept for the next files."""

import logging
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread

from drive_server.knowledge.readers.extract import Passages, extract, read_passages
from drive_server.knowledge.readers.process import Answer, Reader, ReaderCrashedError, Work
from drive_server.knowledge.text.elements import Extraction

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 180.0
_Refusal = Callable[[Literal["failed"], str], Answer]


class ReaderPool:
    """Extracts files in other processes, which are started when they are needed and end with this object."""

    def __init__(self) -> None:
        self._idle: list[Reader] = []
        self._queue = ReaderQueue()
        self.close = weakref.finalize(self, _end_all, self._idle)
        """End the processes; done by itself when the pool is no longer used, or the program ends."""

    async def extract(self, path: Path, name: str, media_type: str) -> Extraction:
        """Return the extraction of a file. Its state is `failed` if the file crashes its reader or takes too long.

        When cancelled, the process is ended. Raises `OSError` if the file can't be opened.
        """
        async with self._queue.place(0, is_awaited=True):
            return await self._run(extract, Extraction, path, name, media_type)

    async def passages(self, path: Path, name: str, media_type: str) -> Passages:
        """Return the passages of a file, with the same states and errors as `extract`; those come first."""
        size = (await anyio.Path(path).stat()).st_size
        async with self._queue.place(size, is_awaited=False):
            return await self._run(read_passages, Passages, path, name, media_type)

    async def _run(
        self, work: Work[Answer], refusal: _Refusal[Answer], path: Path, name: str, media_type: str
    ) -> Answer:
        try:
            if self._idle:
                return await self._run_in(self._idle.pop(), work, refusal, path, name, media_type)
        except ReaderCrashedError:
            logger.debug("A reader that was kept has ended; another one is started.")
        try:
            return await self._run_in(Reader(), work, refusal, path, name, media_type)
        except ReaderCrashedError:
            logger.warning("A file made its reader crash.")
            reason = "The file makes its reader crash; it is damaged, too complex, or needs too much memory."
            return refusal("failed", reason)

    async def _run_in(
        self, reader: Reader, work: Work[Answer], refusal: _Refusal[Answer], path: Path, name: str, media_type: str
    ) -> Answer:
        is_done = False
        try:
            with anyio.move_on_after(LONGEST_SECONDS):
                answer = await anyio.to_thread.run_sync(
                    reader.run, work, path, name, media_type, abandon_on_cancel=True
                )
                is_done = True
                return answer
            return refusal("failed", f"Reading the file took longer than {LONGEST_SECONDS:.0f} seconds.")
        finally:
            if is_done:
                self._idle.append(reader)
            else:
                reader.end()


def _end_all(readers: list[Reader]) -> None:
    while readers:
        readers.pop().end()


class End(Enum):
    """Where a place takes the next file from, of those that wait."""

    SMALLEST = 1
    LARGEST = 2


@dataclass(eq=False, slots=True)
class Waiting:
    """A file that waits. `is_awaited`: somebody looks at the screen until it is read."""

    size: int
    is_awaited: bool
    place: End | None = None
    called: anyio.Event = field(default_factory=anyio.Event)


class ReaderQueue:
    """Two places: one for the smallest file that waits, so that many are done soon, one for the largest, which would
    else be read at the end while the other place is empty. What is awaited comes first, at either."""

    def __init__(self) -> None:
        self._free = list(End)
        self._waiting: list[Waiting] = []

    @asynccontextmanager
    async def place(self, size: int, *, is_awaited: bool) -> AsyncGenerator[None]:
        """Wait for a place, and keep it as long as the context is open."""
        one = Waiting(size, is_awaited)
        self._waiting.append(one)
        self._call()
        try:
            await one.called.wait()
            yield
        finally:
            if one.place:
                self._free.append(one.place)
                self._call()
            else:
                self._waiting.remove(one)

    def _call(self) -> None:
        while self._free and self._waiting:
            one = self._first(self._free[0])
            self._waiting.remove(one)
            one.place = self._free.pop(0)
            one.called.set()

    def _first(self, end: End) -> Waiting:
        awaited = next((one for one in self._waiting if one.is_awaited), None)
        choose = min if end is End.SMALLEST else max
        return awaited or choose(self._waiting, key=lambda one: one.size)
