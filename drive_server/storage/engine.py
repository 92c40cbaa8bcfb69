"""Engines for SQLAlchemy as the drive and the service want them: on SQLite, durable, and with one writer at a time."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import anyio
from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

T = TypeVar("T")

BUSY_TIMEOUT_SECONDS = 30
POOL_SIZE = 16
WAL_ATTEMPTS = 100
WAL_PAUSE_SECONDS = 0.05


def open_engine(url: URL) -> AsyncEngine:
    """Return an engine for the URL. With the execution option `writes`, transactions take SQLite's write lock first."""
    if not is_sqlite(url):
        return create_async_engine(url, hide_parameters=True)
    engine = create_async_engine(
        url,
        hide_parameters=True,
        pool_size=POOL_SIZE,
        max_overflow=0,
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
    )
    configure_sqlite(engine.sync_engine)
    engine.dialect.do_terminate = _Ending()
    return engine


async def close_engine(engine: AsyncEngine) -> None:
    """Close every connection of an engine, also those whose calls were cancelled."""
    await engine.dispose()
    ending: Any = engine.dialect.do_terminate
    if isinstance(ending, _Ending) and ending.threads:
        await asyncio.wait(ending.threads)


class Transactions:
    """Runs transactions as a whole: the same work on every database, and on SQLite in a single trip to a thread.

    A trip for each statement costs a small transaction most of its time. The work gets a connection that has begun; it
    must neither commit nor keep the connection. Whoever is cancelled while it runs is told so when it has ended, so
    that nothing goes on behind the caller's back: a write may have been kept by then, whole.

    SQLite's connections here are not the engine's: what listens there to new ones is to be given as `on_connect` too.
    """

    def __init__(self, engine: AsyncEngine, on_connect: Callable[[Any, Any], None] | None = None) -> None:
        self._engine = engine
        self._trips = _Trips(engine.url, on_connect) if is_sqlite(engine.url) else None

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Return what the work returns, which sees one state of the database. Nothing done in it is kept."""
        if self._trips is not None:
            return await self._trips.read(work)
        async with self._engine.connect() as connection:
            return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Return what the work returns, and commit; what it raises takes all of it back.

        Take turns: on SQLite, who comes while another writes waits in a thread, 30 seconds at most.
        """
        if self._trips is not None:
            return await self._trips.write(work)
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """Close the connections that are its own, after what goes on."""
        if self._trips is not None:
            await self._trips.close()


class _Trips:
    """Connections to a SQLite file that are used in threads: as many as there are threads, so that none waits."""

    def __init__(self, url: URL, on_connect: Callable[[Any, Any], None] | None) -> None:
        self._reading = create_engine(
            url.set(drivername="sqlite"),
            hide_parameters=True,
            pool_size=POOL_SIZE,
            max_overflow=0,
            connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
        )
        configure_sqlite(self._reading)
        if on_connect is not None:
            event.listen(self._reading, "connect", on_connect)
        self._writing = self._reading.execution_options(writes=True)
        self._threads = ThreadPoolExecutor(POOL_SIZE, thread_name_prefix="sqlite")

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._ended(partial(self._read, work))

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self._ended(partial(self._write, work))

    async def close(self) -> None:
        await anyio.to_thread.run_sync(self._threads.shutdown)
        self._reading.dispose()

    def _read(self, work: Callable[[Connection], T]) -> T:
        with self._reading.connect() as connection:
            return work(connection)

    def _write(self, work: Callable[[Connection], T]) -> T:
        with self._writing.begin() as connection:
            return work(connection)

    async def _ended(self, trip: Callable[[], T]) -> T:
        going = asyncio.get_running_loop().run_in_executor(self._threads, trip)
        try:
            return await asyncio.shield(going)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                while not going.done():
                    with suppress(asyncio.CancelledError):
                        await asyncio.wait({going})
            going.exception()  # who is cancelled does not learn of it, and the event loop need not complain of that
            raise


def is_sqlite(url: URL) -> bool:
    """Whether the URL leads to an embedded database."""
    return url.get_backend_name() == "sqlite"


def configure_sqlite(engine: Any) -> None:
    """Make SQLAlchemy, not the driver, begin transactions; set durability and integrity on each connection."""
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)


class _Ending:
    """Ends the threads of connections whose calls were cancelled, after what they do, and does not wait for them.

    SQLAlchemy waits, and tells a thread once more if that is cancelled too: aiosqlite 0.22 then waits for ever.
    """

    def __init__(self) -> None:
        self.threads: set[asyncio.Future[Any]] = set()

    def __call__(self, dbapi_connection: Any) -> None:
        future: asyncio.Future[Any] | None = dbapi_connection.driver_connection.stop()
        if future is not None:
            self.threads.add(future)
            future.add_done_callback(self.threads.discard)


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
    """Ask for WAL until no other process does so at the same moment: SQLite refuses that at once, whatever the timeout.

    Only the first start on a new file can meet this, in the thread that migrates; the mode stays with the file.
    """
    for attempt in range(WAL_ATTEMPTS):
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if attempt == WAL_ATTEMPTS - 1:
                raise
            time.sleep(WAL_PAUSE_SECONDS)
        else:
            return


def _on_begin(connection: Any) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
