"""The background job that keeps the index up to date, and a watch of its progress."""

import logging
import math
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Final

import anyio
import anyio.to_thread
from sqlalchemy import Select

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.embedding.embedder import Embedder, Vectors
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index.health import DamagedIndexError, IndexHealth
from drive_server.knowledge.index_process.passage_index import PassageIndex
from drive_server.knowledge.ingest.pending import Job, PendingFiles
from drive_server.knowledge.ingest.pipeline import DEBOUNCE_SECONDS, Pipeline
from drive_server.knowledge.ingest.preparation import FilePreparer
from drive_server.knowledge.ingest.progress import index_status_of, index_statuses
from drive_server.knowledge.ingest.recognition import Recognition
from drive_server.knowledge.ingest.shared_health import SharedHealth
from drive_server.knowledge.memory import release_unused
from drive_server.knowledge.readers.recognized import RecognizedTexts
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.models.search import IndexStatus
from drive_server.storage.process_locks import ProcessLock

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
OCR_POLL_SECONDS: Final = 30.0
UNCHANGED_SECONDS: Final = 10.0
"""The longest that the only writer on a server looks for no files, as long as nothing has changed there."""
UNTOLD_SECONDS: Final = 30.0
"""The same while the server tells of changes, and has told of none."""
LOOK_SECONDS: Final = 30.0
"""The interval at which an idle writer looks whether files of the index are gone."""
PAUSE_SECONDS: Final = 0.25
BATCH_SECONDS: Final = 1.0
"""The longest that a file of a series waits to be indexed with others: each batch has a fixed cost."""
LATE_SECONDS = 3.0
LATE_PASSAGES = 64
LATE_BATCH = 8
"""Late vectors: how long and how many until new files are looked for and progress is stored; how many at once."""
LATE_BACKOFF_SECONDS: Final = 60.0
"""The pause after the late model could not be loaded or reached."""

WAIT_SECONDS = 0.1
"""The interval of polls while another process does the work."""


class Ingester:
    """Indexes files in the background. Among the processes on one index, only the holder of the lock works.

    A file that fails is tried three times, then it is `failed`, with the error's kind as the reason. If the embedding
    model can't be reached, a file is found by its words, and tried again until it can. `retry_after` is the unit of the
    pauses between attempts. Files in another model's table move to this one's when nothing else is pending, and are
    found in the other one until then. When no file is pending, passages get the vectors of the index's late model, and
    pages that are pictures are read by OCR, beside all other work, if `recognized` is there to store them.
    `shared_health` is that of an index of several services.
    `steps` counts the changes of states that this process sees; it calls `on_step` at each.
    """

    def __init__(
        self,
        database: Database,
        text_source: TextSource,
        embedder: Embedder,
        index: PassageIndex,
        lock: ProcessLock,
        *,
        retry_after: timedelta = timedelta(seconds=1),
        recognized: RecognizedTexts | None = None,
        shared_health: SharedHealth | None = None,
    ) -> None:
        self._database = database
        self._preparer = FilePreparer(database, text_source, embedder, index)
        self._index = index
        self._lock = lock
        self._shared_health = shared_health
        self._pending = PendingFiles(database, retry_after, index.table_name)
        self._recognition = Recognition(self._pending, text_source, recognized) if recognized else None
        self._mutex = anyio.Lock()
        self._woken = anyio.Event()
        self._progressed = anyio.Event()
        self._recovered_in = 0
        self._is_promoted = True
        self.steps = 0
        self.on_step: Callable[[], None] = lambda: None
        self._wakes = 0
        self._no_late_until = -math.inf
        self._look_at = -math.inf
        self._idle_state: object = None
        self._idle_until = self._untold_until = -math.inf
        self._news_count = 0
        index.health.on_request = self.wake

    def wake(self) -> None:
        """Have the loop look for pending files at once, not only at its next poll."""
        self._wakes += 1
        self._woken.set()
        self._notify()

    @property
    def health(self) -> IndexHealth:
        """The health of the index."""
        return self._index.health

    @property
    def is_writer(self) -> bool:
        """True if this process indexes: no other changes the state of files."""
        return self._lock.is_held

    @property
    def next_step(self) -> anyio.Event:
        """An event that is set as soon as this process sees a file change its state."""
        return self._progressed

    async def run(self) -> None:
        """Index pending files until cancelled. Errors are logged, and the work goes on."""
        async with anyio.create_task_group() as group:
            if self._recognition:
                group.start_soon(self._recognize_all, self._recognition)
            await self._index_all()

    async def _recognize_all(self, recognition: Recognition) -> None:
        """Read pages that are pictures while no file is pending, if this process is the one that indexes."""
        try:
            while True:
                progressed = self._progressed
                with _logging_errors():
                    if self._lock.is_held and not await self._pending.has_unfinished() and await recognition.step():
                        self.wake()
                        continue
                with anyio.move_on_after(OCR_POLL_SECONDS):
                    await progressed.wait()
                await anyio.sleep(DEBOUNCE_SECONDS)
        finally:
            recognition.close()

    async def _index_all(self) -> None:
        holds = False
        try:
            while True:
                is_woken, self._woken = self._woken.is_set(), anyio.Event()
                with _logging_errors():
                    holds = holds or await self._lock.acquire()
                    may_work = is_woken or not (holds and await self._is_idle())
                    if may_work and await self._look_for_work():
                        await self._until_calm()
                        continue
                with anyio.move_on_after(POLL_SECONDS) as rest:
                    await self._woken.wait()
                if self._lock.is_held and rest.cancelled_caught:
                    with _logging_errors():
                        await self._maintain()
        finally:
            if holds:
                await self._lock.release()

    async def _is_idle(self) -> bool:
        """Say whether there was nothing to do at the last look, and nothing has changed since; health is told anyway.

        Only on a server, whose state is known without a question of its own.
        """
        if not (self._database.takes_turns and self._lock.is_held):
            return False
        await self._share_health()
        state, news = await self._database.state(), self._database.news
        is_untold = news.arrives and news.count == self._news_count
        until = self._untold_until if is_untold else self._idle_until
        return state == self._idle_state and anyio.current_time() < until

    async def _look_for_work(self) -> bool:
        """Index the pending files. Return whether more may follow soon."""
        self._idle_until = self._untold_until = -math.inf
        news_count = self._database.news.count
        state = await self._database.state() if self._database.takes_turns else None
        if await self._work_all(retry_at_once=False):
            return True
        if state is not None and not await self._pending.has_unfinished():
            self._idle_state, self._news_count, now = state, news_count, anyio.current_time()
            self._idle_until, self._untold_until = now + UNCHANGED_SECONDS, now + UNTOLD_SECONDS
        return False

    async def _until_calm(self) -> None:
        """Wait until no more files come, `BATCH_SECONDS` at most, so that those of a series are indexed together."""
        for _ in range(round(BATCH_SECONDS / DEBOUNCE_SECONDS)):
            wakes = self._wakes
            await anyio.sleep(DEBOUNCE_SECONDS)
            if self._wakes == wakes:
                break

    async def drain(self) -> None:
        """Work until nothing is pending, without pauses between attempts; or wait for the process that works."""
        while await self._work_all(retry_at_once=True):
            if not self._index.health.requested and not await self._pending.has_unfinished():
                break
            await anyio.sleep(WAIT_SECONDS)

    async def status(self, owner_id: str, wait_seconds: float = 0, *, files: Select[str] | None = None) -> IndexStatus:
        """Return the status of a person's files in the index, or of the `files` with these ids, whoever owns them.

        While some are unfinished, or the index is being built anew, wait for the next step, `wait_seconds` at most.
        """
        progressed = self._progressed
        status = await self._status(owner_id, files)
        if wait_seconds and (status.unfinished or status.health == "rebuilding"):
            with anyio.move_on_after(wait_seconds):
                await progressed.wait()
            status = await self._status(owner_id, files)
        return status

    async def statuses(self, owner_ids: Collection[str]) -> dict[str, IndexStatus]:
        """Return the status of the files of each of these people, read in one step."""
        async with self._database.read() as session:
            found = await index_statuses(session, owner_ids)
        waiting: Mapping[str, int] = {}
        with suppress(StorageFailureError):  # the files' states are true all the same
            waiting = await self._index.waiting_by_owner(owner_ids)
        health = self._index.health.state
        return {
            owner: replace(status, awaiting_vectors=waiting.get(owner, 0), health=health)
            for owner, status in found.items()
        }

    async def rebuild(self, owner_id: str | None = None) -> None:
        """Have all files read again in the background: of one person, or of all, whose index is dropped unread.

        An index that could not be built anew is dropped in both cases, as no file can be found in it anyway. One that
        is being built anew goes on: nobody makes others wait by beginning it again and again.
        """
        health = self._index.health
        if owner_id is None or health.state == "degraded":
            health.request("rebuild")
        await self._pending.restart(owner_id)
        self.wake()

    async def rebuild_files(self, files: Select[str]) -> int:
        """Have the files with these ids read again in the background; return how many did not wait for it already."""
        count = await self._pending.restart_files(files)
        self.wake()
        return count

    def _notify(self) -> None:
        self.steps += 1
        self._progressed.set()
        self._progressed = anyio.Event()
        self.on_step()

    async def _status(self, owner_id: str, files: Select[str] | None) -> IndexStatus:
        if files is None:
            return (await self.statuses([owner_id]))[owner_id]
        async with self._database.read() as session:
            status = await index_status_of(session, files)
            file_ids = list(await session.scalars(files))
        with suppress(StorageFailureError):  # the files' states are true all the same
            status = replace(status, awaiting_vectors=await self._index.waiting_for_vectors(owner_id, file_ids))
        return replace(status, health=self._index.health.state)

    async def _work_all(self, *, retry_at_once: bool) -> bool:
        """Index the pending files, if no other process does. Return whether more may follow soon."""
        async with self._mutex:
            await self._share_health()
            if not await self._lock.acquire():
                return retry_at_once
            is_quiet = retry_at_once
            try:
                with anyio.CancelScope() as scope:
                    self._lock.on_lost = scope.cancel
                    is_quiet = await self._work(retry_at_once=retry_at_once)
            except BaseException:
                self._recovered_in = 0  # files are still marked as claimed
                raise
            finally:
                await self._lock.release()
            return is_quiet

    async def _work(self, *, retry_at_once: bool) -> bool:
        if not await self._make_usable():
            return False
        is_quiet = await self._work_off(retry_at_once=retry_at_once)
        await self._settle()
        return is_quiet or bool(self._index.health.requested)

    async def _work_off(self, *, retry_at_once: bool) -> bool:
        while True:
            pipeline = Pipeline(self._pending, self._preparer, self._index, self._notify)
            is_quiet = await pipeline.work_off(self._claim, retry_at_once=retry_at_once)
            if is_quiet or (retry_at_once and pipeline.is_waiting_for_model):
                return is_quiet
            if self._index.health.requested:
                return True
            if pipeline.was_idle:
                await self._promote_table()
                if not await self._add_late_vectors():
                    return False
            # Once more: files that changed meanwhile were left out.

    async def _claim(self, excluded: Collection[str], retry_at_once: bool) -> list[Job]:
        if self._index.health.requested:
            return []  # first the index is looked at
        jobs = await self._pending.claim(excluded, retry_at_once=retry_at_once)
        if not jobs and not self._is_promoted:
            return await self._pending.claim_for_migration(excluded, retry_at_once=retry_at_once)
        if jobs:
            self._notify()
        return jobs

    async def _add_late_vectors(self) -> bool:
        """Embed passages that wait for the late model, until it is time to look for files; return whether any did."""
        late = self._index.late if anyio.current_time() >= self._no_late_until else None
        waiting = await self._index.late_passages(LATE_PASSAGES) if late is not None else {}
        if late is None or not waiting:
            return False
        try:
            vectors = await self._late_vectors(late, waiting)
        except EmbedderUnavailableError as error:
            logger.warning("Passages wait for their vectors: %s", error)
            self._no_late_until = anyio.current_time() + LATE_BACKOFF_SECONDS
            return False
        await self._index.add_vectors(vectors, late.name)
        await self._index.maintain()
        self._notify()
        return True

    async def _late_vectors(self, late: Embedder, waiting: Mapping[str, str]) -> dict[str, Vectors]:
        digests, vectors = list(waiting), dict[str, Vectors]()
        wakes, ends_at = self._wakes, anyio.current_time() + LATE_SECONDS
        for start in range(0, len(digests), LATE_BATCH):
            batch = digests[start : start + LATE_BATCH]
            found = await late.embed_documents([waiting[digest] for digest in batch])
            vectors |= zip(batch, found, strict=True)
            if self._wakes != wakes or anyio.current_time() > ends_at:
                break
        return vectors

    async def _promote_table(self) -> None:
        """Have the model's own table serve, once everything is in it."""
        if not self._is_promoted and not await self._pending.needs_migration():
            await self._index.promote()
            self._is_promoted = True

    async def _maintain(self) -> None:
        async with self._mutex:
            await self._index.maintain(idle=True)
            if anyio.current_time() >= self._look_at:
                self._look_at = anyio.current_time() + LOOK_SECONDS
                await self._index.look()
                await anyio.to_thread.run_sync(release_unused)

    async def _share_health(self) -> None:
        """Let other services on this index know of its health, and hear of theirs."""
        if self._shared_health is not None:
            await self._shared_health.exchange(is_writer=self._lock.is_held)

    async def _make_usable(self) -> bool:
        """Repair and recover the index as far as needed; return False while it is left alone as it is."""
        await self._repair()
        if not self._index.health.is_resting:
            await self._recover()
        return not self._index.health.is_resting

    async def _repair(self) -> None:
        """Inspect the index, or build it anew, if a process asked for that."""
        health = self._index.health
        wanted = health.take_request()
        if wanted == "rebuild":
            await self._build_anew(by_request=True)
        elif wanted:
            self._recovered_in = 0
            if health.is_beyond_doubt():
                await self._build_anew(by_request=False)

    async def _build_anew(self, *, by_request: bool) -> None:
        """Set the index aside unread; all files become pending by `_recover`. Give up if that was done too often."""
        health = self._index.health
        if not by_request and not health.may_rebuild():
            health.give_up()
            return
        logger.warning("The search index is set aside and built anew.")
        health.begin_rebuild(by_request=by_request)
        self._recovered_in = 0
        await self._share_health()
        try:
            await self._index.clear()
        except StorageFailureError:
            health.give_up()
            raise
        self._notify()

    async def _recover(self) -> None:
        """Recover once after taking the lock: from an interrupted writer, and a lost or damaged index."""
        if self._recovered_in == self._lock.tenure:
            return
        passages = await self._inspected()
        if passages is None:
            return
        await self._index.drop_unusable()
        await self._index.upgrade()
        tables = await self._index.table_names()
        await self._pending.recover(tables)
        await self._pending.restart_missing(passages)
        self._is_promoted = tables <= {self._index.table_name}
        self._recovered_in = self._lock.tenure

    async def _inspected(self) -> Mapping[str, int] | None:
        """Return the number of passages of each file in the index; of a damaged one, which is set aside, none.

        Return None if it is damaged and stays as it is.
        """
        try:
            return await self._index.inspect()
        except DamagedIndexError:
            await self._build_anew(by_request=False)
            if self._index.health.is_resting:
                return None
        return await self._index.inspect()

    async def _settle(self) -> None:
        """Note that the index is whole again, once every file of it was read."""
        health = self._index.health
        if health.state != "ok" and not health.requested and not await self._pending.has_unfinished():
            health.settle()
            await self._share_health()
            self._notify()


@contextmanager
def _logging_errors() -> Generator[None]:
    try:
        yield
    except (StorageFailureError, OSError) as error:
        logger.error("The index could not be brought up to date; it is tried again: %s", error)  # noqa: TRY400 - the disk's
    except Exception:
        logger.exception("The index could not be brought up to date; it is tried again.")


class IndexWatch:
    """Polls a person's index status, or the result of `read`, and returns only changes. For one task."""

    def __init__(
        self, ingester: Ingester, user_id: str, read: Callable[[], Awaitable[IndexStatus]] | None = None
    ) -> None:
        self._ingester = ingester
        self._read = read or (lambda: ingester.status(user_id))
        self._step = ingester.next_step
        self.last: IndexStatus | None = None

    async def poll(self) -> IndexStatus | None:
        """Return the current status, None if it was returned last."""
        self._step = self._ingester.next_step
        status = await self._read()
        if status == self.last:
            return None
        self.last = status
        return status

    async def next(self, seconds: float) -> IndexStatus | None:
        """Return the next changed status, the first one at once; None if there is none in time."""
        with anyio.move_on_after(seconds):
            while (status := await self.poll()) is None:
                with anyio.move_on_after(POLL_SECONDS):
                    await self._step.wait()
                await anyio.sleep(PAUSE_SECONDS)
            return status
        return None
