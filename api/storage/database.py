"""The one door to the service's database: its engine, the only commit, and the seam that translates its errors."""

import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import anyio
from sqlalchemy import URL, Connection, column, event, make_url, select, table
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from api.errors import StorageFailureError
from api.storage import migrations
from api.storage.secure_delete import ERASING, truncate_log
from drive_server.storage.engine import Transactions, close_engine, configure_sqlite, is_sqlite, open_engine

logger = logging.getLogger(__name__)

T = TypeVar("T")

_FAILURES = (OperationalError, InternalError, InterfaceError, PoolTimeoutError, OSError)


class Database:
    """An engine, and the two ways to use it: reads that keep nothing, and a write that commits once at its end."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._transactions = Transactions(engine, _erasing)
        self._writing = engine.execution_options(writes=True)
        # SQLite has one writer. Queueing here is fair and costs no polling; the busy timeout is for other processes.
        self._turn = anyio.Lock() if engine.dialect.name == "sqlite" else nullcontext()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        """Open a session that sees one state of the database throughout."""
        async with AsyncSession(self._engine, expire_on_commit=False, autoflush=False) as session:
            with _translated():
                yield session

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncSession]:
        """Open a session that commits once, at the end of the block; an exception rolls back. Don't nest.

        Writers follow one another on SQLite, so what is read in the block still holds when it commits.
        Raises `StorageFailureError` if the database can't keep it.
        """
        async with self._turn, AsyncSession(self._writing, expire_on_commit=False) as session:
            with _translated():
                yield session
                # A commit that is cancelled half-way may or may not have happened: let it finish.
                with anyio.CancelScope(shield=True):
                    await session.commit()

    async def write_sync(self, work: Callable[[Connection], T]) -> T:
        """Return what the work returns, and commit, as `write` does: far cheaper, as it is done in one go.

        It must not touch what belongs to the event loop: on SQLite it runs in a thread.
        """
        async with self._turn:
            with _translated():
                return await self._transactions.write(work)

    async def schema_version(self) -> str | None:
        """Return the newest migration that the database has seen."""
        async with self.read() as session:
            return await session.scalar(select(column("version_num")).select_from(table(migrations.VERSION_TABLE)))

    async def erase(self) -> None:
        """Take what was deleted out of the write-ahead log of SQLite too, as far as nobody is reading."""
        url = self._engine.url
        if is_sqlite(url) and url.database:
            await truncate_log(Path(url.database))

    async def dispose(self) -> None:
        """Close every connection."""
        await self._transactions.close()
        await close_engine(self._engine)


async def open_database(url: str) -> Database:
    """Bring the schema at the URL up to date and open it. For SQLite, the file is made if absent.

    Raises `StorageFailureError` if the database can't be opened.
    """
    with _translated():
        parsed = make_url(url)
        await anyio.to_thread.run_sync(_prepare, parsed)
        engine = open_engine(parsed)
        if is_sqlite(parsed):
            event.listen(engine.sync_engine, "connect", _erasing)
    return Database(engine)


def _erasing(connection: Any, record: Any) -> None:
    del record
    cursor = connection.cursor()
    cursor.execute(ERASING)
    cursor.close()


def _prepare(url: URL) -> None:
    if is_sqlite(url) and url.database:
        Path(url.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    migrations.upgrade(url, configure_sqlite if is_sqlite(url) else None)


@contextmanager
def _translated() -> Generator[None]:
    """Turn the database's failures into ours. Programming errors pass: they are bugs, not failures of the disk."""
    try:
        yield
    except _FAILURES as error:
        logger.error("the database failed: %s", getattr(error, "orig", None) or error)  # noqa: TRY400 - the cause is kept in the error raised
        raise StorageFailureError from error
