"""The storage of threads and memories: LangGraph's own savers and stores, chosen by URL."""

import json
import os
import re
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import anyio
from aiosqlite import Connection, connect
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import TASKS
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.base import BaseStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from typing_extensions import override

from api.storage.cached_saver import CachedSaver
from api.storage.database import ERASING, truncate_log
from drive_server.errors import InvalidInputError
from graph.approvals.act import only_reads
from graph.state import AGENTS

STORE_NAME: Final = "store.db"
"""The file of the store on SQLite, beside that of the threads: each file has one writer."""


async def _nothing() -> None:
    """Erase nothing: the database does it itself."""


@dataclass(frozen=True, slots=True)
class ThreadStorage:
    """The saver of checkpoints, the store, and what takes deleted words out of the files too."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore
    erase: Callable[[], Awaitable[None]] = _nothing


def open_threads(url: str) -> AbstractAsyncContextManager[ThreadStorage]:
    """Open what the URL names: `sqlite:///PATH` or `postgresql://...`; made if absent, closed at the end."""
    scheme = url.partition(":")[0]
    if scheme not in OPENERS:
        raise InvalidInputError(
            f"Threads can't be stored at a URL of this kind: {scheme}.", hint="Use postgresql://... or sqlite:///PATH."
        )
    return OPENERS[scheme](url)


@asynccontextmanager
async def _sqlite(url: str) -> AsyncGenerator[ThreadStorage]:
    path = Path(url.partition("///")[2])
    store_path = path.with_name(STORE_NAME)

    async def erase() -> None:
        for file in (path, store_path):
            await truncate_log(file)

    async with opened_saver(path) as saver, connected(store_path, isolation_level=None) as connection:
        store = AsyncSqliteStore(connection)
        await store.setup()
        yield ThreadStorage(saver, store, erase)


@asynccontextmanager
async def _postgres(url: str) -> AsyncGenerator[ThreadStorage]:
    # The extra `postgres`, which lint and types do without.
    saver_type: Any = import_module("langgraph.checkpoint.postgres.aio").AsyncPostgresSaver
    store_type: Any = import_module("langgraph.store.postgres.aio").AsyncPostgresStore
    check: Any = import_module("psycopg_pool").AsyncConnectionPool.check_connection
    saver_class: Any = type("PostgresThreads", (CachedSaver, saver_type), {})
    # A pool, so that a server that was started anew is reached again; the saver and the store use one connection each.
    waits = {"timeout": CONNECT_SECONDS, "reconnect_timeout": CONNECT_SECONDS}
    pool = {"max_size": 2, "check": check, "configure": _replace_nul, **waits}
    async with store_type.from_conn_string(url, pool_config=pool) as store:
        saver = saver_class(store.conn, serde=PackingSerializer())
        await saver.setup()
        await store.setup()
        yield ThreadStorage(saver, store)


CONNECT_SECONDS: Final = 10
"""How long a connection is waited for."""
_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


async def _replace_nul(connection: Any) -> None:
    """Write U+FFFD for NUL, which PostgreSQL's JSON has no room for; in messages, which are bytes there, it stays."""

    def dumps(value: Any) -> str:
        return _NUL.sub(r"\1\\ufffd", json.dumps(value))

    import_module("psycopg.types.json").set_json_dumps(dumps, connection)


OPENERS: Final[dict[str, Callable[[str], AbstractAsyncContextManager[ThreadStorage]]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgres,
}


BUSY_TIMEOUT_SECONDS: Final = 30
"""Another process that writes, or one that is just ending, is waited for."""
THINKING: Final = frozenset(f"branch:to:{node}" for node in ("begin", "cite", *AGENTS)) | {"__start__"}
"""Channels of a checkpoint before mere thinking, which nobody sees if it is repeated."""


class SqliteThreads(CachedSaver, AsyncSqliteSaver):
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
        # A stopped run's open statements would keep the file locked until its last cursor is collected.
        await connection.rollback()


def _sync(path: str) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


PACKED: Final = "zlib:"
"""Begins the type of what is packed; the type that it had follows."""
LEVEL: Final = 6
LONG: Final = 512
"""Bytes from which on a value is packed."""


class PackingSerializer(JsonPlusSerializer):
    """Packs long values, in which the same names stand again and again, and reads both forms."""

    @override
    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return the type of a value, and its content."""
        kind, content = super().dumps_typed(obj)
        return (f"{PACKED}{kind}", zlib.compress(content, LEVEL)) if len(content) >= LONG else (kind, content)

    @override
    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return what was stored, packed or not."""
        kind, content = data
        if kind.startswith(PACKED):
            return super().loads_typed((kind.removeprefix(PACKED), zlib.decompress(content)))
        return super().loads_typed(data)
