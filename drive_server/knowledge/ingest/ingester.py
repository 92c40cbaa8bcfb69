"""The job that keeps the index up to date: takes what is pending, has it read and embedded, and stores it."""

import logging
from collections.abc import Collection, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import anyio

from drive_server.errors import StorageFailureError
from drive_server.knowledge.embedding.embedder import Embedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.lock import WriterLock
from drive_server.knowledge.ingest.pending import Job, PendingFiles
from drive_server.knowledge.ingest.pipeline import GATHER_SECONDS, Pipeline
from drive_server.knowledge.ingest.preparation import Gatherer
from drive_server.knowledge.ingest.progress import index_status
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.models import IndexStatus
from drive_server.storage.database import Database

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
WAIT_SECONDS = 0.1
"""How often someone who waits for another process's work looks whether it is done."""


class Ingester:
    """Indexes files in the background. Of all processes on one index, the one that holds the lock works.

    A file whose work fails is tried three times, then it is `failed`, with the error's kind as the reason; one that
    can't be embedded, because the model can't be reached, is found by its words and tried again until it can.
    `retry_after` is the unit of the pauses between attempts. Files whose passages are in another model's table are
    brought into this one's when nothing else is to be done, and found in that one until then.
    """

    def __init__(
        self,
        database: Database,
        text_source: TextSource,
        embedder: Embedder,
        index: KnowledgeIndex,
        lock_path: Path,
        *,
        retry_after: timedelta = timedelta(seconds=1),
    ) -> None:
        self._database = database
        self._gatherer = Gatherer(database, text_source, embedder, index)
        self._index = index
        self._lock = WriterLock(lock_path)
        self._pending = PendingFiles(database, retry_after, index.table_name)
        self._turn = anyio.Lock()
        self._woken = anyio.Event()
        self._progressed = anyio.Event()
        self._in_order = False
        self._settled = True

    def wake(self) -> None:
        """Say that something is pending: the loop looks at once, not only at its next poll."""
        self._woken.set()
        self._tell()

    @property
    def next_step(self) -> anyio.Event:
        """What is set as soon as this process knows of a file that is in another state than now."""
        return self._progressed

    async def run(self) -> None:
        """Index what becomes pending, until cancelled. An error is logged, and the work goes on."""
        holds = False
        try:
            while True:
                self._woken = anyio.Event()
                holds = holds or self._lock.acquire()
                with _logging_errors():
                    if await self._work_all(retry_at_once=False):
                        await anyio.sleep(GATHER_SECONDS)
                        continue
                with anyio.move_on_after(POLL_SECONDS) as rest:
                    await self._woken.wait()
                if holds and rest.cancelled_caught:
                    with _logging_errors():
                        await self._tend()
        finally:
            if holds:
                self._lock.release()

    async def drain(self) -> None:
        """Work until nothing is left to be done, with no pause between attempts; or wait for the process that works.

        What can't be embedded now is left.
        """
        while await self._work_all(retry_at_once=True):
            if not await self._pending.is_any_left():
                return
            await anyio.sleep(WAIT_SECONDS)

    async def status(self, owner_id: str, wait_seconds: float = 0) -> IndexStatus:
        """Return how far the index is with the files of a person.

        While some of them are unfinished it waits for the next batch of work to be done, `wait_seconds` at most.
        """
        progressed = self._progressed
        status = await self._status(owner_id)
        if wait_seconds and status.unfinished:
            with anyio.move_on_after(wait_seconds):
                await progressed.wait()
            status = await self._status(owner_id)
        return status

    async def rebuild(self, owner_id: str | None = None) -> None:
        """Have all files read again, in the background: those of one person, or of all."""
        await self._pending.restart(owner_id)
        self.wake()

    def _tell(self) -> None:
        self._progressed.set()
        self._progressed = anyio.Event()

    async def _status(self, owner_id: str) -> IndexStatus:
        async with self._database.read() as session:
            return await index_status(session, owner_id)

    async def _work_all(self, *, retry_at_once: bool) -> bool:
        """Work off what is pending, if no other process does; return whether there may be more to do soon.

        Unless `retry_at_once`, stop after a few small files: who writes one writes the next soon, and each batch costs
        the same whatever is in it.
        """
        async with self._turn:
            if not self._lock.acquire():
                return retry_at_once
            try:
                await self._put_in_order()
                return await self._work_off(retry_at_once=retry_at_once)
            except BaseException:
                self._in_order = False  # what was claimed is still marked so
                raise
            finally:
                self._lock.release()
                self._in_order = self._in_order and self._lock.is_held

    async def _work_off(self, *, retry_at_once: bool) -> bool:
        while True:
            pipeline = Pipeline(self._pending, self._gatherer, self._index, self._tell)
            is_quiet = await pipeline.work_off(self._claim, retry_at_once=retry_at_once)
            if is_quiet or (retry_at_once and pipeline.is_stuck):
                return is_quiet
            if pipeline.is_untouched:
                await self._settle()
                return False
            # Once more: what changed while it was under way was left out.

    async def _claim(self, besides: Collection[str], *, retry_at_once: bool) -> list[Job]:
        jobs = await self._pending.claim(besides, retry_at_once=retry_at_once)
        if not jobs and not self._settled:
            return await self._pending.claim_elsewhere(besides, retry_at_once=retry_at_once)
        if jobs:
            self._tell()
        return jobs

    async def _settle(self) -> None:
        """Let the model's own table serve, once everything is in it."""
        if not self._settled and not await self._pending.is_any_elsewhere():
            await self._index.settle()
            self._settled = True

    async def _tend(self) -> None:
        async with self._turn:
            await self._index.tend(idle=True)

    async def _put_in_order(self) -> None:
        """Once after the lock was taken: see to what an earlier writer left, and to an index that is lost or broken."""
        if self._in_order:
            return
        try:
            tables = await self._index.table_names()
        except StorageFailureError:
            await self._index.clear()
            tables = set[str]()
        await self._index.drop_unusable()
        await self._pending.recover(tables)
        self._settled = tables <= {self._index.table_name}
        self._in_order = True


@contextmanager
def _logging_errors() -> Generator[None]:
    try:
        yield
    except Exception:
        logger.exception("The index could not be brought up to date; it is tried again.")


LOOK_SECONDS: Final = 2.0
"""How soon the work of another process is seen: of this process's own the watch is told."""
PAUSE_SECONDS: Final = 0.25


class IndexWatch:
    """Looks again and again, and returns only what is news. For one task."""

    def __init__(self, ingester: Ingester, user_id: str) -> None:
        self._ingester = ingester
        self._user_id = user_id
        self._step = ingester.next_step
        self.last: IndexStatus | None = None

    async def look(self) -> IndexStatus | None:
        """Return the status now, None if it is the one that was returned last."""
        self._step = self._ingester.next_step
        status = await self._ingester.status(self._user_id)
        if status == self.last:
            return None
        self.last = status
        return status

    async def next(self, seconds: float) -> IndexStatus | None:
        """Return the next status that is another than the last one; the first one at once.

        None if there is none within so many seconds.
        """
        with anyio.move_on_after(seconds):
            while (status := await self.look()) is None:
                with anyio.move_on_after(LOOK_SECONDS):
                    await self._step.wait()
                await anyio.sleep(PAUSE_SECONDS)
            return status
        return None
