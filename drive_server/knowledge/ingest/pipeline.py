"""The indexing pipeline: files are read concurrently, and stored in batches, as every write has a fixed cost."""

import logging
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import anyio
from anyio.abc import TaskGroup

from drive_server.kernel.errors import DriveError, StorageFailureError
from drive_server.knowledge.index_process.passage_index import PassageIndex
from drive_server.knowledge.ingest.pending import MAX_FILES as MANY_FILES
from drive_server.knowledge.ingest.pending import Job, PendingFiles
from drive_server.knowledge.ingest.preparation import FilePreparer, PreparedFile, prepare
from drive_server.knowledge.readers.extract import ChunkedText

logger = logging.getLogger(__name__)

ENOUGH_FILES = 8
FEW_UNREAD = 8
"""Unread files that keep the readers busy until more are claimed."""

MAX_BYTES = 8_000_000
"""The most bytes of files in memory, read or being read: the embedding model may be slower than the readers."""

ENOUGH_PASSAGES = 4_000
STORE_SECONDS = 1.0
"""The longest that a file that was read waits for others to be stored with."""

DEBOUNCE_SECONDS = 0.25


Claim = Callable[[Collection[str], bool], Awaitable[list[Job]]]
"""Claims the next pending files but the excluded ones; if True, also files that failed just now."""


@dataclass(slots=True)
class Content:
    """A content that is being read or waits to be stored, and its files."""

    jobs: list[Job] = field(default_factory=list[Job])
    passages: ChunkedText | None = None


class Pipeline:
    """One pass over the pending files. No file is processed twice at a time, and no content read twice."""

    def __init__(
        self, pending: PendingFiles, preparer: FilePreparer, index: PassageIndex, notify: Callable[[], None]
    ) -> None:
        self.is_waiting_for_model = False
        """True if a file waits for the embedding model."""

        self.was_idle = True
        """True if there was nothing to do."""

        self._pending = pending
        self._preparer = preparer
        self._index = index
        self._notify = notify
        self._jobs: dict[str, Job] = {}
        self._contents: dict[str, Content] = {}
        self._prepared: list[PreparedFile] = []
        self._is_closed = False
        self._is_maintaining = False
        self._stored_at = anyio.current_time()
        self._changed = anyio.Event()

    async def work_off(self, claim: Claim, *, retry_at_once: bool) -> bool:
        """Index everything that can be claimed. Return whether it stopped after a few small files."""
        is_quiet = False
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._store_all, group)
                is_quiet = await self._read_all(group, claim, retry_at_once=retry_at_once)
                self._is_closed = True
                self._signal_change()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        return is_quiet

    async def _read_all(self, group: TaskGroup, claim: Claim, *, retry_at_once: bool) -> bool:
        while jobs := await self._claim(claim, retry_at_once=retry_at_once):
            await self._begin(group, jobs)
            if len(jobs) < MANY_FILES and await self._is_done_within(DEBOUNCE_SECONDS) and not retry_at_once:
                return True
            while self._is_full:
                await self._changed.wait()
            if retry_at_once and self.is_waiting_for_model:
                return False
        return False

    async def _claim(self, claim: Claim, *, retry_at_once: bool) -> list[Job]:
        """Return the next files; none if none came before the current ones were done."""
        while True:
            is_done = not self._jobs
            jobs = await claim(self._jobs.keys(), retry_at_once)
            if jobs or is_done:
                return jobs
            await self._is_done_within(DEBOUNCE_SECONDS)

    async def _begin(self, group: TaskGroup, jobs: Sequence[Job]) -> None:
        """Reuse the index's passages of these files, and schedule the others to be read."""
        self.was_idle = False
        self._jobs |= {job.file_id: job for job in jobs}
        try:
            reused = await self._preparer.reuse(jobs)
        except Exception as error:
            logger.exception("The index could not be read for %d file(s).", len(jobs))
            await self._begin_each(group, jobs, error)
            return
        for job, one in zip(jobs, reused, strict=True):
            if one:
                self._prepared.append(one)
            else:
                self._schedule_read(group, job)
        self._signal_change()

    async def _begin_each(self, group: TaskGroup, jobs: Sequence[Job], error: Exception) -> None:
        if len(jobs) == 1:
            await self._fail(jobs[0], error)
            return
        for job in jobs:
            await self._begin(group, [job])

    def _schedule_read(self, group: TaskGroup, job: Job) -> None:
        content = self._contents.get(job.content)
        if content is None:
            content = self._contents[job.content] = Content()
            group.start_soon(self._read, job, content)
        content.jobs.append(job)
        if content.passages:
            self._prepared.append(prepare(job, content.passages))

    async def _read(self, job: Job, content: Content) -> None:
        try:
            content.passages = await self._preparer.read(job)
            self._prepared += [prepare(one, content.passages) for one in content.jobs]
        except Exception as error:
            logger.exception("A file can't be read.")
            for one in content.jobs:
                await self._fail(one, error)
        self._signal_change()

    async def _store_all(self, group: TaskGroup) -> None:
        """Store files as they are read; end when none are left and none will come."""
        while self._jobs or not self._is_closed:
            if self._is_store_due:
                prepared = self._next_batch()
                await self._store(prepared)
                self._stored_at = anyio.current_time()
                if not self._is_maintaining:
                    self._is_maintaining = True
                    group.start_soon(self._maintain, len(prepared))
            else:
                with anyio.move_on_at(self._stored_at + STORE_SECONDS if self._prepared else math.inf):
                    await self._changed.wait()

    @property
    def _is_store_due(self) -> bool:
        """True if it is time to store the prepared files, as every write has a fixed cost."""
        size = sum(len(one.file.chunks) for one in self._prepared)
        is_all = len(self._prepared) == len(self._jobs)
        is_late = anyio.current_time() >= self._stored_at + STORE_SECONDS
        return bool(self._prepared) and (is_all or is_late or size >= ENOUGH_PASSAGES)

    def _next_batch(self) -> list[PreparedFile]:
        """Take the next batch to store: small enough that its files do not wait for minutes."""
        sizes = accumulate(len(one.file.chunks) for one in self._prepared)
        count = sum(size <= ENOUGH_PASSAGES for size in sizes) or 1
        taken, self._prepared = self._prepared[:count], self._prepared[count:]
        return taken

    async def _store(self, read: Sequence[PreparedFile]) -> None:
        """Store the files in one batch or, if that fails, one by one, so that one can't hold up the others."""
        try:
            await self._store_batch(read)
        except Exception as error:
            # Of the disk's own failures the sentence says all.
            trace = None if isinstance(error, StorageFailureError) else error
            logger.warning("%d file(s) can't be stored: %s", len(read), error, exc_info=trace)
            if len(read) == 1:
                await self._fail(read[0].result.job, error)
                return
            for one in read:
                await self._store([one])

    async def _store_batch(self, read: Sequence[PreparedFile]) -> None:
        """Replace the files' passages in the index, and save their new states."""
        prepared = await self._preparer.embed(read)
        # A table that is being filled takes no files without vectors: the serving table may have those.
        waiting = [one for one in prepared if one.result.postponed and one.result.job.is_searchable]
        await self._index.replace([one.file for one in prepared if not one.is_indexed and one not in waiting])
        await self._pending.finish([one.result for one in prepared])
        self.is_waiting_for_model = self.is_waiting_for_model or any(one.result.postponed for one in prepared)
        # Here, not when a whole batch is through: a file of it that failed may have been claimed again meanwhile.
        self._forget([one.result.job for one in read])
        self._notify()

    async def _maintain(self, stored: int) -> None:
        """Do the maintenance that is due; less of it while more files come."""
        try:
            await self._index.maintain(busy=bool(self._jobs) or stored >= ENOUGH_FILES)
        except DriveError:
            logger.exception("The maintenance of the index failed; it is tried again.")
        finally:
            self._is_maintaining = False

    async def _fail(self, job: Job, error: Exception) -> None:
        await self._pending.fail(job, f"It could not be indexed ({_kind(error)}).")
        self._forget([job])
        self._notify()

    def _forget(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._jobs.pop(job.file_id, None)
            self._contents.pop(job.content, None)
        self._signal_change()

    @property
    def _is_full(self) -> bool:
        unread = sum(content.passages is None for content in self._contents.values())
        return unread > FEW_UNREAD or sum(job.size for job in self._jobs.values()) > MAX_BYTES

    async def _is_done_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            while self._jobs:
                await self._changed.wait()
        return not self._jobs

    def _signal_change(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def _kind(error: Exception) -> str:
    return error.code if isinstance(error, DriveError) else type(error).__name__
