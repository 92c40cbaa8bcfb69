"""The file that the graph's checkpoints are kept in, and what of a run is stored in it when."""

import asyncio
import logging
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from pathlib import Path
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.types import TASKS
from typing_extensions import override

from api.storage.checkpoint_rows import rows_of
from api.storage.gathering import GatheringConnection
from api.storage.known import CHANNEL, RememberingSaver
from api.storage.secure_delete import ERASING
from api.storage.unstored import Step, Unstored, Written
from graph.approvals.act import only_reads

logger = logging.getLogger(__name__)

# A checkpoint waits for another process, or for one that is just ending, instead of failing its run.
BUSY_TIMEOUT_SECONDS = 30
GATHERING_SECONDS: Final = 0.1


class CheckpointSaver(RememberingSaver):
    """Stores what can't be done again without anybody seeing it, and of the rest what there was a moment later.

    Calls that change something are on disk before they are made, with all that led to them, and so is each step of a
    plan (`_has_to_be_stored`). Who reads a thread sees all of it: what waits is handed over first.
    """

    def __init__(self, connection: GatheringConnection) -> None:
        super().__init__(connection)
        self.gathering = connection
        connection.on_lost = self._lose
        self.loose = Counter[str]()
        """How many checkpoints of a thread were stored since they were last made few, by this process."""
        self._unstored: dict[str, Unstored] = {}
        self._lost: dict[str, Exception] = {}
        self._saving: asyncio.Task[None] | None = None
        self._ended = False

    @property
    def owes(self) -> bool:
        """Whether something waits to be stored."""
        return bool(self._unstored) or self.gathering.owes

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Take a checkpoint; if it has to be stored, it and all that came before outlive a crash when this returns.

        Raises what went wrong with what was to be stored of the thread before: without that, it can't go on.
        """
        del new_versions
        thread_id = _thread_of(config)
        self._refuse_lost(thread_id)
        step = Step(config, checkpoint, cast("CheckpointMetadata", {**metadata}))
        self._waiting(thread_id).add(step)
        if _has_to_be_stored(checkpoint):
            await self.saved(thread_id)
        return step.named

    @override
    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Take what a task wrote; it is on disk with the next checkpoint that has to be, or after 0.1 s.

        A process that is killed before that does the task again: its calls have keys, and are not done twice.
        """
        self._waiting(_thread_of(config)).write(Written(config, writes, task_id, task_path))

    @override
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, by default the newest."""
        self.hand_over(_thread_of(config))
        return await super().aget_tuple(config)

    @override
    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, the newest first."""
        self.hand_over(_thread_of(config) if config else None)
        async for found in super().alist(config, filter=filter, before=before, limit=limit):
            yield found

    @override
    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the messages at a checkpoint as a value without differences; other channels as they are stored."""
        self.hand_over(_thread_of(config))
        return await super().aget_delta_channel_history(config=config, channels=channels)

    @override
    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the thread's checkpoints, also those that were to be stored, and forget what was said in it."""
        self._unstored.pop(thread_id, None)
        self.gathering.forget({thread_id})
        await super().adelete_thread(thread_id)
        del self.loose[thread_id]
        self._lost.pop(thread_id, None)

    async def saved(self, thread_id: str | None = None) -> None:
        """Store what waits of a thread, or of all. Raises what goes wrong with that, and what did with the thread's."""
        self._refuse_lost(thread_id)
        with self._told(thread_id):
            self.hand_over(thread_id)
            async with self.lock:
                if self.gathering.owes:
                    await self.gathering.commit()
        self._refuse_lost(thread_id)

    def hand_over(self, thread_id: str | None = None) -> None:
        """Give what waits of a thread, or of all, to the connection, which makes it before it is asked anything.

        Nothing comes in between: a thread is handed over as a whole. Of one that lost something nothing more is.
        """
        for named in list(self._unstored) if thread_id is None else [thread_id]:
            unstored = self._unstored.pop(named, None)
            if unstored and named not in self._lost:
                self._give(named, unstored)

    async def aclose(self) -> None:
        """Store what waits, while the connection is still there. What comes later is not stored."""
        self._ended = True
        if self._saving:
            self._saving.cancel()
        await self._save()

    def _waiting(self, thread_id: str) -> Unstored:
        if self._saving is None and not self._ended:
            self._saving = asyncio.create_task(self._save_soon(), context=Context())
        return self._unstored.setdefault(thread_id, Unstored(CHANNEL))

    def _give(self, thread_id: str, unstored: Unstored) -> None:
        steps = unstored.staying()
        try:
            self.gathering.put(thread_id, rows_of(unstored, steps, self.serde))
        except Exception as error:  # noqa: BLE001 - told to the thread, whose it is, and not to who stores it
            self._lose({thread_id}, error)
        else:
            self.loose[thread_id] += len(steps)

    async def _save_soon(self) -> None:
        await asyncio.sleep(GATHERING_SECONDS)
        self._saving = None
        await self._save()

    async def _save(self) -> None:
        with suppress(sqlite3.Error):
            await self.saved()

    @contextmanager
    def _told(self, thread_id: str | None) -> Generator[None]:
        """A thread that is told now what went wrong need not be told again; nor does it go on from what was lost."""
        try:
            yield
        except Exception:
            if thread_id is not None:
                self._lost.pop(thread_id, None)
                self._unstored.pop(thread_id, None)
            raise

    def _refuse_lost(self, thread_id: str | None) -> None:
        with self._told(thread_id):
            if thread_id is not None and (error := self._lost.get(thread_id)):
                raise error

    def _lose(self, threads: set[str], error: Exception) -> None:
        logger.error("steps of %d threads could not be stored", len(threads), exc_info=error)
        self._lost |= dict.fromkeys(threads, error)
        self.gathering.forget(threads)

    @override
    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the version after `current`: without the random part, which keeps apart what is stored by version."""
        del channel
        return f"{int(str(current or 0).split('.', 1)[0]) + 1:032}"


def _has_to_be_stored(checkpoint: Checkpoint) -> bool:
    """Say whether something is done next that can't be undone by forgetting it: a call that changes something, or a
    step of a plan, which has a copy that people edit (`api/plans.py`) and that must not be ahead of it.
    """
    values = checkpoint["channel_values"]
    return not only_reads(values.get(TASKS) or ()) or bool(values.get("plan"))


def _thread_of(config: RunnableConfig) -> str:
    return str(config.get("configurable", {})["thread_id"])


@asynccontextmanager
async def open_checkpoints(path: Path) -> AsyncGenerator[CheckpointSaver]:
    """Open the checkpoints at the path, which are made if absent, and leave nothing locked at the end."""
    connection = GatheringConnection(lambda: sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS))
    async with connection:
        saver = CheckpointSaver(connection)
        await saver.setup()
        await connection.execute(ERASING)
        try:
            yield saver
        finally:
            # A run that was stopped between its write and the commit leaves a transaction open. Closing alone would
            # keep the lock until the last cursor is collected (sqlite3_close_v2): nobody could write until then. The
            # saver's own lock keeps out the writes of such runs that come in between.
            await saver.aclose()
            async with saver.lock:
                await connection.rollback()
                await connection.close()
