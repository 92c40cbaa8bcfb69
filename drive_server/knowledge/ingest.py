"""The job that keeps the index up to date: takes what is pending, reads, cuts, embeds and stores it."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from pathlib import Path

import anyio
import anyio.to_thread

from drive_server.errors import DriveError, StorageFailureError
from drive_server.knowledge.chunk import Chunk, chunk
from drive_server.knowledge.embed import Embedder, Vectors
from drive_server.knowledge.index import KnowledgeIndex
from drive_server.knowledge.lock import WriterLock
from drive_server.knowledge.pending import Job, PendingFiles, Result
from drive_server.knowledge.progress import index_status
from drive_server.knowledge.rows import IndexedFile, embedded_text
from drive_server.knowledge.text import TextSource
from drive_server.models import IndexStatus
from drive_server.storage.database import Database

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
GATHER_SECONDS = 0.25
ENOUGH_FILES = 8
WAIT_SECONDS = 0.1
"""How often someone who waits for another process's work looks whether it is done."""

_Reading = tuple[Result, list[Chunk]]


class Ingester:
    """Indexes files in the background. Of all processes on one index, the one that holds the lock works.

    A file whose work fails is tried three times, then it is `failed`, with the error's kind as the reason.
    `retry_after` is the unit of the pauses between attempts.
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
        self._texts = text_source
        self._embedder = embedder
        self._index = index
        self._lock = WriterLock(lock_path)
        self._pending = PendingFiles(database, retry_after)
        self._turn = anyio.Lock()
        self._woken = anyio.Event()
        self._progressed = anyio.Event()
        self._in_order = False

    def wake(self) -> None:
        """Say that something is pending: the loop looks at once, not only at its next poll."""
        self._woken.set()

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
        """Work until nothing is pending, with no pause between attempts; or wait for the process that works."""
        await self._work_all(retry_at_once=True)
        while await self._pending.is_any_left():
            await anyio.sleep(WAIT_SECONDS)
            await self._work_all(retry_at_once=True)

    async def status(self, owner_id: str, wait_seconds: float = 0) -> IndexStatus:
        """Return how far the index is with the files of a person.

        While some of them are unfinished it waits for the next batch of work to be done, `wait_seconds` at most.
        """
        progressed = self._progressed
        status = await self._status(owner_id)
        if wait_seconds and status.is_unfinished:
            with anyio.move_on_after(wait_seconds):
                await progressed.wait()
            status = await self._status(owner_id)
        return status

    async def rebuild(self, owner_id: str | None = None) -> None:
        """Have all files read again, in the background: those of one person, or of all."""
        await self._pending.restart(owner_id)
        self.wake()

    async def _status(self, owner_id: str) -> IndexStatus:
        async with self._database.read() as session:
            return await index_status(session, owner_id)

    async def _work_all(self, *, retry_at_once: bool) -> bool:
        """Work off what is pending, if no other process does.

        Unless `retry_at_once`, stop after a few files and return True: who writes one writes the next soon, and each
        batch costs the same whatever is in it.
        """
        async with self._turn:
            if not self._lock.acquire():
                return False
            try:
                await self._put_in_order()
                while jobs := await self._pending.claim(retry_at_once=retry_at_once):
                    await self._work(jobs)
                    self._progressed.set()
                    self._progressed = anyio.Event()
                    await self._index.tend()
                    if len(jobs) < ENOUGH_FILES and not retry_at_once:
                        return True
            except BaseException:
                self._in_order = False  # what was claimed is still marked so
                raise
            finally:
                self._lock.release()
                self._in_order = self._in_order and self._lock.is_held
        return False

    async def _tend(self) -> None:
        async with self._turn:
            await self._index.tend(idle=True)

    async def _put_in_order(self) -> None:
        """Once after the lock was taken: see to what an earlier writer left, and to an index that is lost or broken."""
        if self._in_order:
            return
        try:
            is_empty = await self._index.is_empty()
        except StorageFailureError:
            await self._index.clear()
            is_empty = True
        await self._pending.recover(everything=is_empty)
        self._in_order = True

    async def _work(self, jobs: Sequence[Job]) -> None:
        """Index the files together or, if that fails, each by itself, so that one can't hold up the others."""
        try:
            await self._pending.finish(await self._index_files(jobs))
        except Exception as error:
            logger.exception("Indexing failed for %d file(s).", len(jobs))
            if len(jobs) == 1:
                await self._pending.fail(jobs[0], f"It could not be indexed ({_kind(error)}).")
                return
            for job in jobs:
                await self._work([job])

    async def _index_files(self, jobs: Sequence[Job]) -> list[Result]:
        """Put the files' passages into the index, in the place of what is there, and return their new states."""
        readings = await self._read_all(jobs)
        vectors = await self._embed(
            [(job.name, passage) for job, (_, chunks) in zip(jobs, readings, strict=True) for passage in chunks]
        )
        remaining = iter(vectors)
        await self._index.replace(
            [
                IndexedFile(
                    job.file_id, job.owner_id, job.version, job.name, chunks, list(islice(remaining, len(chunks)))
                )
                for job, (_, chunks) in zip(jobs, readings, strict=True)
            ]
        )
        return [result for result, _ in readings]

    async def _read_all(self, jobs: Sequence[Job]) -> list[_Reading]:
        """Return the readings of the files in their order, worked out at once as far as there are processes for it."""
        if len(jobs) == 1:  # by itself, so that its error is not wrapped in a group
            return [await self._read(jobs[0])]
        readings: dict[int, _Reading] = {}

        async def read(number: int, job: Job) -> None:
            readings[number] = await self._read(job)

        async with anyio.create_task_group() as group:
            for number, job in enumerate(jobs):
                group.start_soon(read, number, job)
        return [readings[number] for number in range(len(jobs))]

    async def _read(self, job: Job) -> _Reading:
        """Return the file's passages, and what is to be said of it."""
        if job.blob is None:
            return Result(job, "ready"), []
        extraction = await self._texts.text(job.blob, job.name, job.media_type)
        chunks = await anyio.to_thread.run_sync(chunk, extraction)
        return Result(job, extraction.state, extraction.reason), chunks

    async def _embed(self, passages: Sequence[tuple[str, Chunk]]) -> list[Vectors | None]:
        """Return the vector of each passage of a file of some name, None for those that the model can't read."""
        texts = [embedded_text(name, passage) for name, passage in passages]
        readable = [index for index, text in enumerate(texts) if self._embedder.reads(text)]
        vectors: list[Vectors | None] = [None] * len(texts)
        if readable:
            found = await self._embedder.embed_documents([texts[index] for index in readable])
            for index, vector in zip(readable, found, strict=True):
                vectors[index] = vector
        return vectors


@contextmanager
def _logging_errors() -> Generator[None]:
    try:
        yield
    except Exception:
        logger.exception("The index could not be brought up to date; it is tried again.")


def _kind(error: Exception) -> str:
    return error.code if isinstance(error, DriveError) else type(error).__name__
