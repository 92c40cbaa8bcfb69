"""Engines for SQLAlchemy as the drive and the service want them: on SQLite, durable, and with one writer at a time."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from selectors import EVENT_READ, DefaultSelector
from threading import Event, Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import anyio
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    ExceptionContext,
    Pool,
    PoolProxiedConnection,
    QueuePool,
    Select,
    Text,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.util.concurrency import await_only, greenlet_spawn

from drive_server.kernel.sql.server import READ_ONLY, is_sqlite, server_url
from drive_server.kernel.sql.sqlite_faults import is_busy
from drive_server.kernel.sql.turns import commit, take_turns

logger = logging.getLogger(__name__)

T = TypeVar("T")
SessionWork = Callable[[AsyncSession], Coroutine[Any, Any, T]]

BUSY_TIMEOUT_SECONDS = 30
POOL_SIZE = 16
SERVER_POOL_SIZE = 5
SERVER_POOL_OVERFLOW = 10
"""Connections to a server that stay open, and how many more there may be for a while: docs/POSTGRESQL.md."""
PING_SECONDS = 30.0
"""How long a connection that nobody uses or has ended counts as alive: one to a machine that is gone looks like it."""
WAL_ATTEMPTS = 100
WAL_PAUSE_SECONDS = 0.05
_SNAPSHOT = select(func.txid_current_snapshot().cast(Text))
IN_THREAD = "in_thread"
"""Set in the `info` of a session whose whole transaction runs in one thread."""


def open_engine(url: URL) -> AsyncEngine:
    """Return an engine for the URL. With the execution option `writes`, transactions take SQLite's write lock first."""
    if not is_sqlite(url):
        # Said, for a server may have another default: who reads up to a settled number needs the newest commits then.
        engine = create_async_engine(
            server_url(url, url.drivername),
            hide_parameters=True,
            pool_pre_ping=True,
            isolation_level="READ COMMITTED",
            pool_size=SERVER_POOL_SIZE,
            max_overflow=SERVER_POOL_OVERFLOW,
        )
        dialect: Any = engine.dialect
        dialect.do_ping = ping = _Ping(dialect.do_ping)
        event.listen(engine.sync_engine, "checkin", ping.note_use)
        event.listen(engine.sync_engine, "handle_error", _leave_read_only)
        return engine
    engine = create_async_engine(
        url, hide_parameters=True, pool_size=POOL_SIZE, max_overflow=0, connect_args={"timeout": BUSY_TIMEOUT_SECONDS}
    )
    configure_sqlite(engine.sync_engine)
    ending = _Ending()
    engine.dialect.do_terminate = ending
    event.listen(engine.sync_engine, "do_connect", ending.open)
    return engine


async def close_engine(engine: AsyncEngine) -> None:
    """Close every connection of an engine, also those whose calls were cancelled; one in use, when it is given back."""
    event.listen(engine.sync_engine.pool, "checkin", _close_returned)
    await engine.dispose()
    ending: Any = engine.dialect.do_terminate
    if isinstance(ending, _Ending) and ending.threads:
        await asyncio.wait(ending.threads)


class Transactions:
    """Runs a transaction as one function: the same work on every database, and on SQLite in one call of a thread.

    A call of a thread for each statement costs a small transaction most of its time. The work gets a connection that
    has begun; it must neither commit nor keep the connection. A cancelled caller waits until the work has ended, so
    that nothing goes on behind its back: by then a write may be committed, whole.

    SQLite's connections here are not the engine's: pass a listener for new ones as `on_connect` too. `sequence` is
    that of `take_turns`, `server_state` that of the schema.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        on_connect: Callable[[Any, Any], None] | None = None,
        sequence: str = "",
        server_state: Select[Any, Any] | None = None,
    ) -> None:
        self._engine = engine
        self._server_state = _SNAPSHOT if server_state is None else server_state
        self._sequence = sequence
        self._sqlite = _SqliteThreads(engine.url, on_connect) if is_sqlite(engine.url) else None

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Return the result of `work`, which sees one state of the database, and roll back."""
        if self._sqlite is not None:
            return await self._sqlite.read(work)
        async with self._engine.connect() as connection:
            return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], T], turns: Iterable[str] = ()) -> T:
        """Return the result of `work`, and commit; an exception rolls back. Writers take turns."""
        if self._sqlite is not None:
            return await self._sqlite.write(work)
        connection = await self._engine.connect()
        try:
            mark = await take_turns(connection, turns, self._sequence)
            value = await connection.run_sync(work)
            await commit(connection, self._engine, mark)
        finally:
            with anyio.CancelScope(shield=True):
                await connection.close()
        return value

    async def look(self, work: SessionWork[T]) -> T:
        """Return the result of asynchronous `work` with a session, as `change` runs it; nothing is kept."""
        if self._sqlite is not None:
            return await self._sqlite.look(work)
        async with AsyncSession(self._engine, expire_on_commit=False, autoflush=False) as session:
            return await work(session)

    async def change(self, work: SessionWork[T], turns: Iterable[str] = ()) -> T:
        """Return the result of asynchronous `work` with a session, and commit; an exception rolls back.

        SQLite's runs in one go in a thread: it may await its session, `asyncio.sleep(0)` (where it is to end if the
        caller was cancelled), and `beside`, and nothing else. It gets the caller's context variables.
        """
        if self._sqlite is not None:
            return await self._sqlite.change(work)
        session = AsyncSession(self._engine, expire_on_commit=False)
        try:
            mark = await take_turns(session, turns, self._sequence)
            value = await work(session)
            await commit(session, self._engine, mark)
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()
        return value

    async def state(self) -> object:
        """Return a mark of the state of the database: another one after each transaction that wrote, by any process.

        SQLite's `data_version` (https://sqlite.org/pragma.html#pragma_data_version). On PostgreSQL, where each process
        writes that it is alive, the mark is of the values that the schema names.
        """
        if self._sqlite is not None:
            return await self._sqlite.state()
        # One statement needs no transaction around it, which would be two more.
        async with self._engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            return tuple((await connection.execute(self._server_state)).one())

    @property
    def connections_in_use(self) -> int:
        """The connections that work now, the engine's among them."""
        pools = [self._engine.pool, *([self._sqlite.pool] if self._sqlite is not None else [])]
        return sum(pool.checkedout() for pool in pools if isinstance(pool, QueuePool))

    async def close(self) -> None:
        """Close its own connections when all work has ended."""
        if self._sqlite is not None:
            await self._sqlite.close()


class _SqliteThreads:
    """A SQLite file in threads, each with its own connection, so that none waits for one."""

    def __init__(self, url: URL, on_connect: Callable[[Any, Any], None] | None) -> None:
        self._reading = create_engine(
            url.set(drivername="sqlite"),
            hide_parameters=True,
            pool_size=POOL_SIZE + 1,
            max_overflow=0,
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
        )
        configure_sqlite(self._reading)
        # Never used for anything else: `data_version` tells of the writes of other connections alone.
        self._watching: PoolProxiedConnection | None = None
        self._watched = Lock()
        if on_connect is not None:
            event.listen(self._reading, "connect", on_connect)
        self._writing = self._reading.execution_options(writes=True)
        self._threads = ThreadPoolExecutor(POOL_SIZE, thread_name_prefix="sqlite")

    @property
    def pool(self) -> Pool:
        return self._reading.pool

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._run(partial(self._read, work))

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self._run(partial(self._write, work))

    async def look(self, work: SessionWork[T]) -> T:
        return await self._in_session(work, self._look)

    async def change(self, work: SessionWork[T]) -> T:
        return await self._in_session(work, self._change)

    async def _in_session(self, work: SessionWork[T], run: Callable[[SessionWork[T], Event], T]) -> T:
        cancelled = Event()
        return await self._run(lambda: run(work, cancelled), cancelled)

    async def state(self) -> object:
        return await self._run(self._state)

    async def close(self) -> None:
        await anyio.to_thread.run_sync(self._threads.shutdown)
        if self._watching is not None:
            self._watching.close()
        self._reading.dispose()

    def _read(self, work: Callable[[Connection], T]) -> T:
        with self._reading.connect() as connection:
            return work(connection)

    def _write(self, work: Callable[[Connection], T]) -> T:
        with self._writing.begin() as connection:
            return work(connection)

    def _state(self) -> object:
        with self._watched:
            self._watching = self._watching or self._reading.raw_connection()
            cursor = self._watching.cursor()
            try:
                cursor.execute("PRAGMA data_version")
                return cursor.fetchone()
            finally:
                cursor.close()

    def _look(self, work: SessionWork[T], cancelled: Event) -> T:
        session = _thread_session(self._reading, autoflush=False)
        with session.sync_session:
            return _run_through(work(session), cancelled)

    def _change(self, work: SessionWork[T], cancelled: Event) -> T:
        session = _thread_session(self._writing)
        with session.sync_session as sync_session:
            value = _run_through(work(session), cancelled)
            sync_session.commit()
            return value

    async def _run(self, work: Callable[[], T], cancelled: Event | None = None) -> T:
        running = asyncio.get_running_loop().run_in_executor(self._threads, partial(copy_context().run, work))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            if cancelled is not None:
                cancelled.set()
            with anyio.CancelScope(shield=True):
                while not running.done():
                    with suppress(asyncio.CancelledError):
                        await asyncio.wait({running})
            running.exception()  # the cancelled caller does not see it: keep the event loop from complaining
            raise


class _ThreadSession(AsyncSession):
    """A session for asynchronous code whose driver blocks: nothing that it is asked for has to be waited for."""

    async def execute(self, *arguments: Any, **options: Any) -> Any:
        """Execute the statement. The inherited method closes cursors as asynchronous drivers want it."""
        return self.sync_session.execute(*arguments, **options)


def _thread_session(engine: Engine, *, autoflush: bool = True) -> AsyncSession:
    session = _ThreadSession(expire_on_commit=False, autoflush=autoflush, info={IN_THREAD: True})
    session.sync_session.bind = engine
    return session


async def beside(session: AsyncSession, work: Callable[[], T]) -> T:
    """Return the result of `work`, which blocks: in the thread that the session's transaction has, or in another."""
    return work() if session.info.get(IN_THREAD) else await anyio.to_thread.run_sync(work)


def _run_through(work: Coroutine[Any, Any, T], cancelled: Event) -> T:
    """Run a coroutine that waits for nothing but its own work, to its end; if `cancelled`, to its next pause."""
    try:
        while work.send(None) is None:
            if cancelled.is_set():
                work.throw(asyncio.CancelledError())
    except StopIteration as ended:
        return ended.value
    work.close()
    raise RuntimeError("a change waited for something else than its session")


class _Ping:
    """Tries a connection before its use, as `ping` does, but asks the server only if that may be of use.

    A server that ended a connection has sent its end, which waits to be read: then, and after `PING_SECONDS` without
    use, the server is asked. Each trial is a transaction more, and a trip more for each request.
    """

    def __init__(self, ping: Callable[[Any], bool]) -> None:
        self._ping = ping
        self._alive_at: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

    def note_use(self, dbapi_connection: Any, record: Any) -> None:
        """Note that a connection was given back to the pool, and is sound."""
        del record
        if dbapi_connection is not None:
            self._alive_at[dbapi_connection.driver_connection] = time.monotonic()

    def __call__(self, dbapi_connection: Any) -> bool:
        connection, now = dbapi_connection.driver_connection, time.monotonic()
        if now - self._alive_at.setdefault(connection, now) < PING_SECONDS and is_silent(connection):
            return True
        self._alive_at[connection] = now
        return self._ping(dbapi_connection)


def is_silent(connection: Any) -> bool:
    """Say whether nothing waits to be read from an idle connection, not even its end."""
    if connection.closed:
        return False
    with DefaultSelector() as selector:
        selector.register(connection.fileno(), EVENT_READ)
        return not selector.select(0)


def _leave_read_only(context: ExceptionContext) -> None:
    """Close all connections to a server that writes nothing any more: with several hosts, another one does now."""
    if getattr(context.original_exception, "sqlstate", None) == READ_ONLY:
        context.is_disconnect = True


def configure_sqlite(engine: Any) -> None:
    """Make SQLAlchemy, not the driver, begin transactions; set durability and integrity on each connection."""
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)


class _Ending:
    """Ends the threads of connections whose calls were cancelled, after their present work, and does not wait for them.

    SQLAlchemy waits, and tells a thread once more if that is cancelled too: aiosqlite 0.22 then waits for ever.
    """

    def __init__(self) -> None:
        self.threads: set[asyncio.Future[Any]] = set()

    def __call__(self, dbapi_connection: Any) -> None:
        self._keep(_end(dbapi_connection.driver_connection))

    def open(self, dialect: Any, record: Any, arguments: Any, options: Any) -> Any:
        """Open a connection; if that is cancelled, end it once it is open: aiosqlite forgets the thread's last word."""
        del record
        opening = asyncio.ensure_future(greenlet_spawn(dialect.connect, *arguments, **options))
        try:
            return await_only(asyncio.shield(opening))
        except asyncio.CancelledError:
            self._keep(_end_opened(opening))
            raise

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        ending = asyncio.ensure_future(work)
        self.threads.add(ending)
        ending.add_done_callback(self.threads.discard)


async def _end_opened(opening: asyncio.Future[Any]) -> None:
    with suppress(sqlite3.Error):  # a file that can't be opened is told to the next caller
        await _end((await opening).driver_connection)


async def _end(connection: Any) -> None:
    """Roll back, then close: one that is closed while a cancelled call's cursor lives keeps its locks as long."""
    try:
        await connection.rollback()
    except (sqlite3.Error, ValueError):
        logger.warning("A cancelled transaction could not be rolled back; its connection is closed.", exc_info=True)
    finally:
        if (stopped := connection.stop()) is not None:
            await stopped


def _on_connect(connection: Any, record: Any) -> None:
    del record
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_SECONDS * 1000}")
    _switch_to_wal(cursor)
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _switch_to_wal(cursor: Any) -> None:
    """Ask for WAL until no other process does so at the same moment: SQLite refuses that at once."""
    for attempt in range(WAL_ATTEMPTS):
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if attempt == WAL_ATTEMPTS - 1 or not is_busy(error):
                raise
            time.sleep(WAL_PAUSE_SECONDS)
        else:
            return


def _close_returned(connection: Any, record: Any) -> None:
    del connection
    record.invalidate()


def _on_begin(connection: Any) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
