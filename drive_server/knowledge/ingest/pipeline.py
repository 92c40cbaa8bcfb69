"""The way of files into the index: several are read at the same time, and what has been read is stored together.

While some are stored, which has a cost of its own whatever it is, the next are read: small files do not wait for large
ones, and the processes that read do not wait for the table.
"""

import logging
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from drive_server.errors import DriveError
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest.pending import Job, PendingFiles
from drive_server.knowledge.ingest.preparation import Gathered, Gatherer, of_passages
from drive_server.knowledge.readers.extract import Passages

logger = logging.getLogger(__name__)

ENOUGH_FILES = 8
FEW_UNREAD = 8
"""Enough to keep the readers busy until more are claimed."""

MOST_BYTES = 8_000_000
"""Of files that are read, or were and wait in memory: the embedding model may be slower than the readers."""

ENOUGH_PASSAGES = 4_000
STORE_SECONDS = 1.0
"""How long what has been read waits for more at most."""

GATHER_SECONDS = 0.25


class Claim(Protocol):
    """Takes the next files that are pending, besides some; none if there are no more."""

    def __call__(self, besides: Collection[str], *, retry_at_once: bool) -> Awaitable[list[Job]]:
        """Return them; also those that failed just now, if `retry_at_once`."""
        ...


@dataclass(slots=True)
class Content:
    """A content that is read, or was but is not stored yet, and the files that have it."""

    jobs: list[Job] = field(default_factory=list[Job])
    passages: Passages | None = None


class Pipeline:
    """One pass over what is pending. No file is under way twice, and no content is read twice."""

    def __init__(
        self, pending: PendingFiles, gatherer: Gatherer, index: KnowledgeIndex, tell: Callable[[], None]
    ) -> None:
        self.is_stuck = False
        """Whether a file has to wait for the embedding model."""

        self.is_untouched = True
        """Whether there was nothing to be done."""

        self._pending = pending
        self._gatherer = gatherer
        self._index = index
        self._tell = tell
        self._jobs: dict[str, Job] = {}
        self._contents: dict[str, Content] = {}
        self._gathered: list[Gathered] = []
        self._is_closed = False
        self._is_tending = False
        self._stored_at = -math.inf
        self._changed = anyio.Event()

    async def work_off(self, claim: Claim, *, retry_at_once: bool) -> bool:
        """Index everything that can be claimed; return whether it was but a few small files, and more may come soon.

        Unless `retry_at_once`, stop after those: who writes one writes the next soon.
        """
        is_quiet = False
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._store_all, group)
                is_quiet = await self._read_all(group, claim, retry_at_once=retry_at_once)
                self._is_closed = True
                self._note_change()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        return is_quiet

    async def _read_all(self, group: TaskGroup, claim: Claim, *, retry_at_once: bool) -> bool:
        while jobs := await self._claim(claim, retry_at_once=retry_at_once):
            await self._begin(group, jobs)
            if len(jobs) < ENOUGH_FILES and await self._is_done_within(GATHER_SECONDS) and not retry_at_once:
                return True
            while self._is_full:
                await self._changed.wait()
            if retry_at_once and self.is_stuck:
                return False
        return False

    async def _claim(self, claim: Claim, *, retry_at_once: bool) -> list[Job]:
        """Return the next files; none if there are none, and none came while others were under way."""
        while True:
            is_done = not self._jobs
            jobs = await claim(self._jobs.keys(), retry_at_once=retry_at_once)
            if jobs or is_done:
                return jobs
            await self._is_done_within(GATHER_SECONDS)

    async def _begin(self, group: TaskGroup, jobs: Sequence[Job]) -> None:
        """Have those files read of which the index has to know more."""
        self.is_untouched = False
        self._jobs |= {job.file_id: job for job in jobs}
        try:
            known = await self._gatherer.known(jobs)
        except Exception as error:
            logger.exception("What the index has of %d file(s) can't be told.", len(jobs))
            await self._begin_each(group, jobs, error)
            return
        for job, one in zip(jobs, known, strict=True):
            if one:
                self._gathered.append(one)
            else:
                self._have_read(group, job)
        self._note_change()

    async def _begin_each(self, group: TaskGroup, jobs: Sequence[Job], error: Exception) -> None:
        if len(jobs) == 1:
            await self._fail(jobs[0], error)
            return
        for job in jobs:
            await self._begin(group, [job])

    def _have_read(self, group: TaskGroup, job: Job) -> None:
        content = self._contents.get(job.content)
        if content is None:
            content = self._contents[job.content] = Content()
            group.start_soon(self._read, job, content)
        content.jobs.append(job)
        if content.passages:
            self._gathered.append(of_passages(job, content.passages))

    async def _read(self, job: Job, content: Content) -> None:
        try:
            content.passages = await self._gatherer.read(job)
            self._gathered += [of_passages(one, content.passages) for one in content.jobs]
        except Exception as error:
            logger.exception("A file can't be read.")
            for one in content.jobs:
                await self._fail(one, error)
        self._note_change()

    async def _store_all(self, group: TaskGroup) -> None:
        """Store what has been read, as often as there is some; end when nothing is under way, and nothing comes."""
        while self._jobs or not self._is_closed:
            if self._is_enough:
                gathered = self._next()
                await self._store(gathered)
                self._forget([one.result.job for one in gathered])
                self._stored_at = anyio.current_time()
                if not self._is_tending:
                    self._is_tending = True
                    group.start_soon(self._tend, len(gathered))
            else:
                with anyio.move_on_at(self._stored_at + STORE_SECONDS if self._gathered else math.inf):
                    await self._changed.wait()

    @property
    def _is_enough(self) -> bool:
        """Whether to store now what has been read, or to wait for more: to store anything takes a while."""
        size = sum(len(one.file.chunks) for one in self._gathered)
        is_all = len(self._gathered) == len(self._jobs)
        is_late = anyio.current_time() >= self._stored_at + STORE_SECONDS
        return bool(self._gathered) and (is_all or is_late or size >= ENOUGH_PASSAGES)

    def _next(self) -> list[Gathered]:
        """Take what is to be stored together: not so much that nothing is seen of it for minutes."""
        sizes = accumulate(len(one.file.chunks) for one in self._gathered)
        count = sum(size <= ENOUGH_PASSAGES for size in sizes) or 1
        taken, self._gathered = self._gathered[:count], self._gathered[count:]
        return taken

    async def _store(self, read: Sequence[Gathered]) -> None:
        """Store the files together or, if that fails, each by itself, so that one can't hold up the others."""
        try:
            await self._store_together(read)
        except Exception as error:
            logger.exception("%d file(s) can't be stored.", len(read))
            if len(read) == 1:
                await self._fail(read[0].result.job, error)
                return
            for one in read:
                await self._store([one])

    async def _store_together(self, read: Sequence[Gathered]) -> None:
        """Put the files' passages into the index, in the place of what is there, and keep their new states."""
        gathered = await self._gatherer.embed(read)
        # Not without vectors into a table that is being filled: the one that serves may have them.
        waiting = [one for one in gathered if one.result.postponed and one.result.job.is_found_already]
        await self._index.replace([one.file for one in gathered if not one.is_there and one not in waiting])
        await self._pending.finish([one.result for one in gathered])
        self.is_stuck = self.is_stuck or any(one.result.postponed for one in gathered)
        self._tell()

    async def _tend(self, stored: int) -> None:
        """Do the upkeep that is due; while more files come, what they would undo is left."""
        try:
            await self._index.tend(busy=bool(self._jobs) or stored >= ENOUGH_FILES)
        except DriveError:
            logger.exception("The upkeep of the index failed; it is tried again.")
        finally:
            self._is_tending = False

    async def _fail(self, job: Job, error: Exception) -> None:
        await self._pending.fail(job, f"It could not be indexed ({_kind(error)}).")
        self._forget([job])
        self._tell()

    def _forget(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._jobs.pop(job.file_id, None)
            self._contents.pop(job.content, None)
        self._note_change()

    @property
    def _is_full(self) -> bool:
        unread = sum(content.passages is None for content in self._contents.values())
        return unread > FEW_UNREAD or sum(job.size for job in self._jobs.values()) > MOST_BYTES

    async def _is_done_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            while self._jobs:
                await self._changed.wait()
        return not self._jobs

    def _note_change(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def _kind(error: Exception) -> str:
    return error.code if isinstance(error, DriveError) else type(error).__name__
