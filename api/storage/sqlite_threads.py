"""Threads and memories in SQLite: LangGraph's own saver and store, each in one thread of its own."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import anyio
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import TASKS
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.base import Op, Result
from langgraph.store.sqlite import SqliteStore
from typing_extensions import override

from api.storage.cached_saver import CachedSaver
from api.storage.database import ERASING
from drive_server.storage.spool import sync
from graph.approvals.act import only_reads
from graph.state import AGENTS

P = ParamSpec("P")
T = TypeVar("T")

BUSY_TIMEOUT_SECONDS: Final = 30
"""Another process that writes, or one that is just ending, is waited for."""
THINKING: Final = frozenset(f"branch:to:{node}" for node in ("begin", "cite", *AGENTS)) | {"__start__"}
"""Channels of a checkpoint before mere thinking, which nobody sees if it is repeated."""


class OneThread:
    """Runs calls one after the other in one thread; after `close`, none."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="threads")

    async def run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Return the result of the call. A cancelled caller leaves what has begun to its end."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(work, *args, **options))

    async def close(self) -> None:
        """Wait for what has begun, and drop what has not."""
        await anyio.to_thread.run_sync(partial(self._executor.shutdown, cancel_futures=True))


class ThreadedSqliteSaver(SqliteSaver):
    """LangGraph's saver, called by the event loop: one trip to a thread for each call, where aiosqlite makes three.

    All steps outlive the process. Those that may be seen (a change, a question, a plan, the end of a turn) are on the
    disk, with all before them, before anything follows. With the cache that takes an eighth to a sixth off a turn's CPU
    and three tenths off its time on a busy machine: `python -m benchmarks.turns`, the rows `drive-agent` (17.4 ms of
    CPU, 41 ms in all) and `drive-agent, LangGraph's saver` (20.6, 60).
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, serde: SerializerProtocol) -> None:
        super().__init__(connection, serde=serde)
        self.path = path
        self.thread = OneThread()

    @override
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint."""
        return await self.thread.run(self.get_tuple, config)

    @override
    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, the newest first."""
        for found in await self.thread.run(lambda: list(self.list(config, **options))):
            yield found

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint."""
        stored = await self.thread.run(self.put, config, checkpoint, metadata, new_versions)
        if may_be_seen(checkpoint["channel_values"]):
            await anyio.to_thread.run_sync(sync, Path(f"{self.path}-wal"))
        return stored

    @override
    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote at a checkpoint."""
        await self.thread.run(self.put_writes, config, writes, task_id, task_path)

    @override
    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all of a thread."""
        await self.thread.run(self.delete_thread, thread_id)

    @override
    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return what leads to the channels' values."""
        return await self.thread.run(self.get_delta_channel_history, config=config, channels=channels)

    @override
    def get_next_version(self, current: Any, channel: None) -> Any:
        """Return the number after `current`; in threads of before, which have texts, as such a text."""
        del channel
        if isinstance(current, str):
            return f"{int(current.split('.', 1)[0]) + 1:032}"
        return (current or 0) + 1


class SqliteThreads(CachedSaver, ThreadedSqliteSaver):
    """The threads of a SQLite file."""


class ThreadedSqliteStore(SqliteStore):
    """LangGraph's store, called by the event loop."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.thread = OneThread()

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations in one transaction."""
        return await self.thread.run(self.batch, [*ops])


def may_be_seen(values: Mapping[str, Any]) -> bool:
    """Say whether more follows the checkpoint of these values than thinking and reading, or nothing."""
    tasks = values.get(TASKS) or ()
    if values.get("plan") or not only_reads(tasks):
        return True
    return not tasks and THINKING.isdisjoint(values)


@asynccontextmanager
async def opened_saver(path: Path, serde: SerializerProtocol) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Open the threads of a file, which is made if absent; nothing stays locked at the end."""
    connection = await anyio.to_thread.run_sync(partial(_connect, path))
    with closing(connection):
        saver = SqliteThreads(connection, path, serde)
        await saver.thread.run(saver.setup)
        # With the write-ahead log, a crash of the machine loses the newest commits at most, and `sync` those not.
        await saver.thread.run(connection.execute, "PRAGMA synchronous = NORMAL")
        try:
            yield saver
        finally:
            await saver.thread.close()


@asynccontextmanager
async def opened_store(path: Path) -> AsyncGenerator[SqliteStore]:
    """Open the store of a file, which is made if absent."""
    connection = await anyio.to_thread.run_sync(partial(_connect, path, isolation_level=None))
    with closing(connection):
        store = ThreadedSqliteStore(connection)
        await store.thread.run(store.setup)
        try:
            yield store
        finally:
            await store.thread.close()


def _connect(path: Path, **options: Any) -> sqlite3.Connection:
    """Open a connection that overwrites what is deleted."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False, **options)
    connection.execute(ERASING)
    return connection
