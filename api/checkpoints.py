"""The file that the graph's checkpoints are kept in, and a saver that does not read a thread twice."""

import asyncio
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    writes_sort_key,
)
from langgraph.checkpoint.serde.types import TASKS
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from typing_extensions import override

from api.erasing import ERASING
from api.gathering import GatheringConnection, later
from api.packing import PackingSerializer
from graph.state import MESSAGES

logger = logging.getLogger(__name__)

# A checkpoint waits for another process, or for one that is just ending, instead of failing its run.
BUSY_TIMEOUT_SECONDS = 30
CHANNEL: Final = "messages"
MOST_KNOWN: Final = 20_000
"""How many messages of all threads together are kept in memory: some 30 MB."""
MOST_STEPS: Final = 500
GATHERING_SECONDS: Final = 0.02

_ANCESTORS: Final = """
WITH RECURSIVE ancestors(id, parent, type, checkpoint) AS (
    SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints
    WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = :target
    UNION ALL
    SELECT c.checkpoint_id, c.parent_checkpoint_id, c.type, c.checkpoint FROM ancestors a CROSS JOIN checkpoints c
    ON c.checkpoint_id = a.parent WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND a.id <> :known
    LIMIT :most
)
SELECT id, type, checkpoint FROM ancestors
"""
_WRITES: Final = """
SELECT checkpoint_id, task_path, task_id, idx, type, value FROM writes
WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND checkpoint_id IN ({places})
"""


@dataclass(frozen=True, slots=True)
class _Known:
    """What was said in a thread up to a checkpoint."""

    checkpoint_id: str
    messages: list[AnyMessage]


class CheckpointSaver(AsyncSqliteSaver):
    """Remembers the messages of the threads that it read last, and reads of each only what was said since.

    Messages are stored as differences (`graph/state.py`): read from the file, a thread of 200 long turns costs as much
    as ten turns. What is remembered is the value at one checkpoint, which never changes; forks lead to others.

    Not every step waits for the disk: what can be done again without anybody seeing it is stored with what follows, or
    a moment later. Calls that are about to be made are on disk before, and so is all of a plan (`_has_to_be_stored`).
    """

    def __init__(self, connection: GatheringConnection) -> None:
        super().__init__(connection, serde=PackingSerializer())
        self.gathering = connection
        connection.on_lost = self._lose
        self._lost: dict[str, Exception] = {}
        self._saving: asyncio.Task[None] | None = None
        self._ended = False
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    @override
    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the messages at a checkpoint as a value without differences; other channels as they are stored."""
        target = get_checkpoint_id(config)
        if [*channels] != [CHANNEL] or not target:
            return await super().aget_delta_channel_history(config=config, channels=channels)
        named: dict[str, Any] = config.get("configurable", {})
        thread = (str(named["thread_id"]), str(named.get("checkpoint_ns", "")))
        known = self._known.get(thread)
        if known is None or known.checkpoint_id != target:
            history = await self._since(thread, target, known) if known else None
            if history is None:
                history = (await super().aget_delta_channel_history(config=config, channels=channels))[CHANNEL]
            known = self._remember(thread, _Known(target, _value(history)))
        return {CHANNEL: {"seed": list(known.messages), "writes": []}}

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; if it has to be, it and all that came before outlive a crash when this returns.

        Raises what went wrong with what was to be stored of the thread before: without that, it can't go on.
        """
        self._refuse_lost(_thread_of(config))
        if _has_to_be_stored(checkpoint):
            with self._told(_thread_of(config)):
                return await super().aput(config, checkpoint, metadata, new_versions)
        with self._put_off(config):
            return await super().aput(config, checkpoint, metadata, new_versions)

    @override
    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Take what a task wrote; it is on disk with the next checkpoint that has to be, or after 20 ms.

        A process that is killed before that does the task again: its calls have keys, and are not done twice.
        """
        with self._put_off(config):
            await super().aput_writes(config, writes, task_id, task_path)

    async def saved(self, thread_id: str = "") -> None:
        """Store what waits. Raises what goes wrong with that, and what went wrong before with the thread's."""
        with self._told(thread_id):
            async with self.lock:
                if self.gathering.owes:
                    await self.gathering.commit()
        self._refuse_lost(thread_id)

    async def aclose(self) -> None:
        """Store what waits, while the connection is still there. What comes later is not stored."""
        self._ended = True
        if self._saving:
            self._saving.cancel()
        await self._save()

    @contextmanager
    def _put_off(self, config: RunnableConfig) -> Generator[None]:
        with later(_thread_of(config)):
            yield
        if self._saving is None and not self._ended:
            self._saving = asyncio.create_task(self._save_soon(), context=Context())

    async def _save_soon(self) -> None:
        await asyncio.sleep(GATHERING_SECONDS)
        self._saving = None
        await self._save()

    async def _save(self) -> None:
        with suppress(sqlite3.Error):
            await self.saved()

    @contextmanager
    def _told(self, thread_id: str) -> Generator[None]:
        """A thread that is told now what went wrong need not be told again."""
        try:
            yield
        except Exception:
            self._lost.pop(thread_id, None)
            raise

    def _refuse_lost(self, thread_id: str) -> None:
        if error := self._lost.pop(thread_id, None):
            raise error

    def _lose(self, threads: set[str], error: Exception) -> None:
        logger.error("what tasks of %d threads wrote could not be stored", len(threads), exc_info=error)
        self._lost |= dict.fromkeys(threads, error)

    @override
    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the thread's checkpoints, and forget what was said in it."""
        await super().adelete_thread(thread_id)
        for thread in [thread for thread in self._known if thread[0] == thread_id]:
            del self._known[thread]

    @override
    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the version after `current`: without the random part, which keeps apart what is stored by version."""
        del channel
        return f"{int(str(current or 0).split('.', 1)[0]) + 1:032}"

    async def _since(self, thread: tuple[str, str], target: str, known: _Known) -> DeltaChannelHistory | None:
        """Return what was written between the known checkpoint and the target; None if that is no ancestor of it."""
        chain: list[str] = []
        named = {"thread": thread[0], "ns": thread[1], "target": target, "known": known.checkpoint_id}
        async with self.lock, self.conn.execute(_ANCESTORS, {**named, "most": MOST_STEPS}) as rows:
            async for checkpoint_id, kind, blob in rows:
                if checkpoint_id == target:
                    continue
                chain.append(checkpoint_id)
                if checkpoint_id == known.checkpoint_id:
                    return {"seed": list(known.messages), "writes": await self._writes(thread, chain)}
                values = self.serde.loads_typed((kind, blob)).get("channel_values") or {}
                if CHANNEL in values:
                    return {"seed": values[CHANNEL], "writes": await self._writes(thread, chain)}
        return None

    async def _writes(self, thread: tuple[str, str], chain: Sequence[str]) -> list[PendingWrite]:
        """Return the writes of these checkpoints, which are told newest first, in the order in which they count."""
        query = _WRITES.format(places=",".join("?" * len(chain)))
        async with self.conn.execute(query, [*thread, CHANNEL, *chain]) as found:
            rows = sorted(
                await found.fetchall(), key=lambda row: (-chain.index(row[0]), *writes_sort_key(row[1], row[2], row[3]))
            )
        return [(row[2], CHANNEL, self.serde.loads_typed((row[4], row[5]))) for row in rows]

    def _remember(self, thread: tuple[str, str], known: _Known) -> _Known:
        self._known[thread] = known
        self._known.move_to_end(thread)
        while len(self._known) > 1 and sum(len(one.messages) for one in self._known.values()) > MOST_KNOWN:
            self._known.popitem(last=False)
        return known


def _has_to_be_stored(checkpoint: Checkpoint) -> bool:
    """Say whether something is done next that can't be undone by forgetting it: calls, or a step of a plan.

    The plan has a copy that people edit (`api/plans.py`), which must not be ahead of it.
    """
    values = checkpoint["channel_values"]
    return bool(values.get(TASKS) or values.get("plan"))


def _thread_of(config: RunnableConfig) -> str:
    return str(config.get("configurable", {})["thread_id"])


def _value(history: DeltaChannelHistory) -> list[AnyMessage]:
    channel: Any = MESSAGES.from_checkpoint(history.get("seed", []))
    channel.replay_writes(history["writes"])
    return channel.get()


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
