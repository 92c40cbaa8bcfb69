"""A pool of reader processes, and the queue of the files that wait for one."""

import logging
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import anyio
import anyio.to_thread

from drive_server.knowledge.process import Answer, ProcessCrashedError
from drive_server.knowledge.readers.extract import ChunkedText, extract, read_chunks, unreadable_chunks
from drive_server.knowledge.readers.process import Reader, Work
from drive_server.knowledge.text.elements import Extraction
from drive_server.knowledge.text.unreadable import UnreadableKind, unreadable

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 180.0
Refusal = Callable[[UnreadableKind, int], Answer]
"""Returns the answer for a file that can't be read: for a reason of this kind, with its number."""


class ReaderPool:
    """Extracts files in other processes, which are started when they are needed and end with this object."""

    def __init__(self) -> None:
        self._idle: list[Reader] = []
        self._queue = ReaderQueue()
        self.close = weakref.finalize(self, _end_all, self._idle)
        """End the processes. Garbage collection of the pool and the end of the program do it too."""

    async def extract(self, path: Path, name: str, media_type: str) -> Extraction:
        """Return the extraction of a file. Its state is `failed` if the file crashes its reader or takes too long."""
        async with self._queue.slot(0, is_awaited=True):
            return await self._run(extract, unreadable, path, name, media_type)

    async def chunks(self, path: Path, name: str, media_type: str) -> ChunkedText:
        """Return the passages of a file, with the same states and errors as `extract`; those come first."""
        size = (await anyio.Path(path).stat()).st_size
        async with self._queue.slot(size, is_awaited=False):
            return await self._run(read_chunks, unreadable_chunks, path, name, media_type)

    async def run(
        self, work: Work[Answer], refusal: Refusal[Answer], path: Path, name: str, media_type: str, seconds: float
    ) -> Answer:
        """Return the answer of other work over a file, or `refusal` if it crashes or takes longer than `seconds`."""
        async with self._queue.slot(0, is_awaited=True):
            return await self._run(work, refusal, path, name, media_type, seconds)

    async def _run(
        self,
        work: Work[Answer],
        refusal: Refusal[Answer],
        path: Path,
        name: str,
        media_type: str,
        seconds: float | None = None,
    ) -> Answer:
        seconds = TIMEOUT_SECONDS if seconds is None else seconds
        try:
            if self._idle:
                return await self._run_in(self._idle.pop(), work, refusal, path, name, media_type, seconds)
        except ProcessCrashedError:
            logger.debug("An idle reader process has ended; another one is started.")
        try:
            return await self._run_in(Reader(), work, refusal, path, name, media_type, seconds)
        except ProcessCrashedError:
            logger.warning("A file made its reader crash.")
            return refusal("crash", 1)

    async def _run_in(
        self,
        reader: Reader,
        work: Work[Answer],
        refusal: Refusal[Answer],
        path: Path,
        name: str,
        media_type: str,
        seconds: float,
    ) -> Answer:
        is_done = False
        try:
            with anyio.move_on_after(seconds):
                answer = await anyio.to_thread.run_sync(
                    reader.run, work, path, name, media_type, abandon_on_cancel=True
                )
                is_done = True
                return answer
            return refusal("seconds", round(seconds))
        finally:
            if is_done:
                self._idle.append(reader)
            else:
                reader.end()


def _end_all(readers: list[Reader]) -> None:
    while readers:
        readers.pop().end()


class End(Enum):
    """The end of the queue, by size, from which a slot takes its next file."""

    SMALLEST = 1
    LARGEST = 2


@dataclass(eq=False, slots=True)
class Waiting:
    """A waiting file. `is_awaited`: a person waits for it at the screen."""

    size: int
    is_awaited: bool
    slot: End | None = None
    called: anyio.Event = field(default_factory=anyio.Event)


class ReaderQueue:
    """Two slots. One takes the smallest waiting file, so that many are done soon, the other one the largest."""

    def __init__(self) -> None:
        self._free = list(End)
        self._waiting: list[Waiting] = []

    @asynccontextmanager
    async def slot(self, size: int, *, is_awaited: bool) -> AsyncGenerator[None]:
        """Wait for a slot, and hold it while the context is open."""
        one = Waiting(size, is_awaited)
        self._waiting.append(one)
        self._assign_slots()
        try:
            await one.called.wait()
            yield
        finally:
            if one.slot:
                self._free.append(one.slot)
                self._assign_slots()
            else:
                self._waiting.remove(one)

    def _assign_slots(self) -> None:
        while self._free and self._waiting:
            one = self._first(self._free[0])
            self._waiting.remove(one)
            one.slot = self._free.pop(0)
            one.called.set()

    def _first(self, end: End) -> Waiting:
        awaited = next((one for one in self._waiting if one.is_awaited), None)
        choose = min if end is End.SMALLEST else max
        return awaited or choose(self._waiting, key=lambda one: one.size)
