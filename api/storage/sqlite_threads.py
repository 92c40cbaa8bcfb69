"""Threads and memories in SQLite: LangGraph's own saver and store, each in one thread of its own."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.base import Op, Result
from langgraph.store.sqlite import SqliteStore
from typing_extensions import override

from api.storage.cached_saver import CachedSaver
from api.storage.database import ERASING
from api.storage.one_thread import OneThread
from api.storage.replicas import Claim
from api.storage.steps import may_be_seen
from drive_server.kernel.files.spool import sync
from drive_server.kernel.sql.sqlite_faults import require_sound, translated

BUSY_TIMEOUT_SECONDS: Final = 30
"""Another process that writes, or one that is just ending, is waited for."""


class SqliteThreads(CachedSaver, SqliteSaver):
    """The threads of a SQLite file."""

    _is_together = False

    @override
    def put_all(self, calls: Sequence[Callable[[], Any]], claim: Claim | None) -> None:
        """Make the storing calls in order and in one transaction; a file has one process, and needs no `claim`."""
        del claim
        # All calls of the saver are in its one thread, so nothing else meets its connection here.
        self._is_together = True
        try:
            with self.conn:
                for call in calls:
                    call()
        finally:
            self._is_together = False

    @override
    @contextmanager
    def cursor(self, transaction: bool = True) -> Generator[sqlite3.Cursor]:
        """Yield a cursor, and commit at its end unless the transaction goes on."""
        with super().cursor(transaction and not self._is_together) as cursor:
            yield cursor


class ThreadedSqliteStore(SqliteStore):
    """LangGraph's store, called by the event loop."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.thread = OneThread()

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations in one transaction."""
        return await self.thread.run(self.batch, [*ops])


@asynccontextmanager
async def opened_saver(path: Path, serde: SerializerProtocol) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Open the threads of a file, which is made if absent; nothing stays locked at the end.

    All steps outlive the process. Those that may be seen (a change, a question, a plan, the end of a turn) are on the
    disk, with all before them, before anything follows.
    """
    connection = await anyio.to_thread.run_sync(partial(_connect, path))
    with closing(connection):
        saver = SqliteThreads(connection, serde=serde)
        saver.thread.file = path.name
        saver.after_put = partial(_sync_if_seen, Path(f"{path}-wal"))
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
        store.thread.file = path.name
        await store.thread.run(store.setup)
        try:
            yield store
        finally:
            await store.thread.close()


async def _sync_if_seen(log: Path, checkpoint: Checkpoint) -> None:
    if may_be_seen(checkpoint["channel_values"]):
        await anyio.to_thread.run_sync(sync, log)


def _connect(path: Path, **options: Any) -> sqlite3.Connection:
    """Open a connection whose deletions overwrite the bytes on the disk. Raises `StorageFailureError`."""
    require_sound(path)
    with translated(path.name):
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False, **options)
        connection.execute(ERASING)
    return connection
