"""Threads and memories in PostgreSQL: LangGraph's own saver and store over one pool of connections."""

import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib import import_module
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.store.base import BaseStore, Op, Result
from typing_extensions import override

from api.storage.cached_saver import CachedSaver
from api.storage.one_thread import OneThread
from api.storage.patience import patiently
from api.storage.replicas import CLAIM, Claim
from drive_server.kernel.sql.database import parsed_url
from drive_server.kernel.sql.engine import is_silent
from drive_server.kernel.sql.server import server_url
from drive_server.kernel.sql.turns import IDLE_SECONDS

CONNECT_SECONDS: Final = 10
"""How long a connection is waited for."""
CHECKED_SECONDS: Final = 1.0
"""How long a connection that stays silent counts as one to a server that writes."""
PAUSE_SECONDS: Final = 0.1
_TRY: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended('threads', 0)) AS is_ours"
_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


_FENCES: Final = """
CREATE TABLE IF NOT EXISTS thread_fences (thread_id text PRIMARY KEY, number integer NOT NULL, starts integer NOT NULL)
"""
_ENTER: Final = """
INSERT INTO thread_fences AS fence VALUES (%s, %s, %s) ON CONFLICT (thread_id) DO UPDATE
SET number = excluded.number, starts = excluded.starts
WHERE (fence.number, fence.starts) <= (excluded.number, excluded.starts)
RETURNING set_config('idle_in_transaction_session_timeout', %s, true)
"""
"""Writes a row unless a later run of the thread, or a later process of this one, passed before.

Who stands still within the transaction then holds the row no longer than a writer of the drive holds its locks.
"""

_UNUSED_INDEXES: Final = """
DROP INDEX IF EXISTS checkpoints_thread_id_idx, checkpoint_blobs_thread_id_idx, checkpoint_writes_thread_id_idx
"""
"""LangGraph's, by the thread alone: each table's primary key begins with it. They take a twelfth of a turn's log."""

P = ParamSpec("P")
T = TypeVar("T")


class PatientThread(OneThread):
    """Makes the calls of a server, which may be away."""

    @override
    async def run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Return the result of the call, which in a run is made again while the server is away."""

        async def call() -> T:
            return await OneThread.run(self, work, *args, **options)

        return await patiently(call)


class PatientStore(BaseStore):
    """A store of LangGraph on a server, which may be away."""

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations, in a run again and again while the server is away."""
        return await patiently(partial(super().abatch, [*ops]))


class FencedSaver(CachedSaver):
    """Stores a trip's checkpoints and writes in one transaction, and none for a run that another process has.

    Threads may be in another database than the runs: so each thread has its own fence beside them, the number of its
    newest run and how often that was taken up. The one who takes a run up passes it before reading the thread.
    """

    THREAD = PatientThread
    conn: Any

    @override
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint."""
        claim = CLAIM.get()
        if claim is not None and claim.must_announce:
            # This process may have lost the run before: its earlier thoughts are nobody's.
            self.forget(claim.thread_id)
            await self.thread.run(self.put_all, (), claim)
            claim.must_announce = False
        return await super().aget_tuple(config)

    @override
    def put_all(self, calls: Sequence[Callable[[], Any]], claim: Claim | None) -> None:
        """Make the storing calls in order and in one transaction. Raises `RunLostError`."""
        # All calls of the saver are in its one thread, so nothing else meets its connection here.
        pool = self.conn
        with pool.connection() as connection, connection.transaction():
            if claim is not None:
                values = claim.thread_id, claim.number, claim.starts, f"{IDLE_SECONDS}s"
                passed = connection.execute(_ENTER, values)
                if passed.rowcount == 0:
                    claim.refuse()
            self.conn = connection
            try:
                for call in calls:
                    call()
            finally:
                self.conn = pool

    @override
    def delete_thread(self, thread_id: str) -> None:
        """Delete all of a thread, its fence too."""
        super().delete_thread(thread_id)
        with self.conn.connection() as connection:
            connection.execute("DELETE FROM thread_fences WHERE thread_id = %s", (thread_id,))


@asynccontextmanager
async def opened_postgres(
    url: str, serde: SerializerProtocol
) -> AsyncGenerator[tuple[BaseCheckpointSaver[Any], BaseStore]]:
    """Open the threads and the store of a database; their tables are made if absent."""
    # The extra `postgres`, which lint and types do without.
    saver_type: Any = import_module("langgraph.checkpoint.postgres").PostgresSaver
    store_type: Any = import_module("langgraph.store.postgres").PostgresStore
    pools: Any = import_module("psycopg_pool").ConnectionPool
    saver_class: Any = type("PostgresThreads", (FencedSaver, saver_type), {})
    # A pool, so that a server that was started anew is reached again; the saver and the store use one connection each.
    pool: Any = pools(
        server_url(parsed_url(url)).render_as_string(hide_password=False),
        min_size=1,
        max_size=2,
        open=False,
        check=_Check(),
        configure=_replace_nul,
        timeout=CONNECT_SECONDS,
        reconnect_timeout=CONNECT_SECONDS,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": import_module("psycopg.rows").dict_row},
    )
    store_class: Any = type("PostgresMemories", (PatientStore, store_type), {})
    saver, store = saver_class(pool, serde=serde), store_class(pool)
    await saver.thread.run(pool.open)
    try:
        await saver.thread.run(_make_tables, pool, saver, store)
        yield saver, store
    finally:
        await saver.thread.run(pool.close)
        await saver.thread.close()


class _Check:
    """Refuses a connection that is broken, or whose server writes nothing any more: the pool opens another one.

    A server that ended a connection has sent its end, which waits to be read. Each question is a transaction more, so
    it is asked for that, and every `CHECKED_SECONDS`.
    """

    def __init__(self) -> None:
        self._asked_at: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

    def __call__(self, connection: Any) -> None:
        now = time.monotonic()
        if now - self._asked_at.get(connection, float("-inf")) < CHECKED_SECONDS and is_silent(connection):
            return
        if not is_writable(connection):
            connection.close()  # or the pool would keep it
            raise import_module("psycopg").errors.ReadOnlySqlTransaction("the server is read only")
        self._asked_at[connection] = now


def is_writable(connection: Any) -> bool:
    """Ask the server of a connection whether it writes."""
    return connection.execute("SHOW transaction_read_only").fetchone()["transaction_read_only"] == "off"


def _make_tables(pool: Any, saver: Any, store: Any) -> None:
    """Bring the tables up to date, while no other process does: of two, one would fail on the other's rows."""
    with pool.connection() as connection, _turn(connection):
        saver.setup()
        store.setup()
        connection.execute(_FENCES)
        connection.execute(_UNUSED_INDEXES)


@contextmanager
def _turn(connection: Any) -> Generator[None]:
    """Hold the lock of those who make tables, within a transaction: PgBouncer may give each one another connection.

    It is tried again and again, not waited for: LangGraph's CREATE INDEX CONCURRENTLY waits for every snapshot, so also
    for a statement that waits for the lock, for ever. A transaction has none between statements that
    are neither prepared nor given parameters; with the other protocol the last one stays open.
    """
    while True:
        with connection.transaction():
            if connection.execute(_TRY, prepare=False).fetchone()["is_ours"]:
                yield
                return
        time.sleep(PAUSE_SECONDS)


def _replace_nul(connection: Any) -> None:
    """Write U+FFFD for NUL, which PostgreSQL's JSON has no room for; in messages, which are bytes there, it stays."""

    def dumps(value: Any) -> str:
        return _NUL.sub(r"\1\\ufffd", json.dumps(value))

    import_module("psycopg.types.json").set_json_dumps(dumps, connection)
