"""Threads in a file of SQLite."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from aiosqlite import Connection, connect
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.types import TASKS
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from typing_extensions import override

from api.storage.remembering import Remembering
from api.storage.secure_delete import ERASING
from api.storage.serializer import PackingSerializer
from graph.approvals.act import only_reads
from graph.state import AGENTS

BUSY_TIMEOUT_SECONDS: Final = 30
"""Another process that writes, or one that is just ending, is waited for."""
THINKING: Final = frozenset(f"branch:to:{node}" for node in ("begin", "cite", *AGENTS)) | {"__start__"}
"""What a checkpoint has when nothing follows but thinking, which nobody sees if it is done again."""


class SqliteThreads(Remembering, AsyncSqliteSaver):
    """LangGraph's saver, with one wait for the disk in a turn that changes nothing, and with short versions.

    All steps outlive the process. Those that may be seen (a change, a question, a plan, the end of a turn) are on the
    disk, with all before them, before anything follows. That takes a fifth off a turn's CPU (`python -m
    benchmarks.turns`), and half of its time on a busy disk.
    """

    def __init__(self, connection: Connection, path: Path) -> None:
        super().__init__(connection, serde=PackingSerializer())
        self.path = path

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint."""
        stored = await super().aput(config, checkpoint, metadata, new_versions)
        if may_be_seen(checkpoint["channel_values"]):
            await self.sync()
        return stored

    async def sync(self) -> None:
        """Return when all that was stored is on the disk."""
        await anyio.to_thread.run_sync(_sync, f"{self.path}-wal")

    @override
    def get_next_version(self, current: Any, channel: None) -> Any:
        """Return the number after `current`; in threads of before, which have texts, as such a text."""
        del channel
        if isinstance(current, str):
            return f"{int(current.split('.', 1)[0]) + 1:032}"
        return (current or 0) + 1


def may_be_seen(values: Mapping[str, Any]) -> bool:
    """Say whether more follows the checkpoint of these values than thinking and reading, or nothing."""
    tasks = values.get(TASKS) or ()
    if values.get("plan") or not only_reads(tasks):
        return True
    return not tasks and THINKING.isdisjoint(values)


@asynccontextmanager
async def opened_saver(path: Path) -> AsyncGenerator[SqliteThreads]:
    """Open the threads of a file, which is made if absent; nothing stays locked at the end."""
    async with connected(path) as connection:
        saver = SqliteThreads(connection, path)
        await saver.setup()
        # With the write-ahead log, a crash of the machine loses the newest commits at most, and `sync` those not.
        await connection.execute("PRAGMA synchronous = NORMAL")
        try:
            yield saver
        finally:
            # Keeps out what runs that were stopped have still to write.
            await saver.lock.acquire()


@asynccontextmanager
async def connected(path: Path, **options: Any) -> AsyncGenerator[Connection]:
    """Open a connection that overwrites what is deleted."""
    async with connect(path, timeout=BUSY_TIMEOUT_SECONDS, **options) as connection:
        await connection.execute(ERASING)
        yield connection
        # What a stopped run left open would stay locked until its last cursor is collected.
        await connection.rollback()


def _sync(path: str) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
