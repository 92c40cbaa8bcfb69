"""The one door to the database: its engine, the only commit, and the seam that translates its errors."""

import logging
import sqlite3
import time
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

from drive_server.errors import DriveError, InvalidInputError, NameConflictError, StorageFailureError
from drive_server.storage import migrations
from drive_server.storage.token_file import make_private_directory

logger = logging.getLogger(__name__)

BUSY_TIMEOUT_SECONDS = 30
POOL_SIZE = 16
WAL_ATTEMPTS = 100
WAL_PAUSE_SECONDS = 0.05
LIVE_NAME_INDEX = "uq_nodes_live_name"
LIVE_NAME_COLUMNS = "nodes.parent_id, nodes.name"
# What a driver says of a lone surrogate, of a number over 64 bits, of NUL in a PostgreSQL text.
_UNSTORABLE = (UnicodeEncodeError, OverflowError, DataError)
_BUGS = (ProgrammingError, NotSupportedError)
_FAILURES = (DatabaseError, InterfaceError, PoolTimeoutError)


class Database:
    """An engine, and the two ways to use it: a read at one snapshot, and a write that commits once at its end."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(drive_write=True)
        # SQLite has one writer. Queueing here is fair and costs no polling; busy_timeout is for other processes.
        self._turn = anyio.Lock() if engine.dialect.name == "sqlite" else None

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        """Open a session that sees one state of the database throughout. Nothing done in it is kept."""
        async with AsyncSession(self.engine, expire_on_commit=False, autoflush=False) as session:
            with _translated():
                yield session

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncSession]:
        """Open the only kind of session that commits: once, at the end of the block; an exception rolls back.

        Writers follow one another, so what is read in the block still holds when it commits. Don't nest.
        Raises `NameConflictError` and `StorageFailureError` for what the database refuses.
        """
        async with self._turn_to_write(), AsyncSession(self._writing, expire_on_commit=False) as session:
            with _translated():
                yield session
                # A commit that is cancelled half-way may or may not have happened: let it finish.
                with anyio.CancelScope(shield=True):
                    await session.commit()

    async def dispose(self) -> None:
        """Close every connection."""
        await self.engine.dispose()

    def _turn_to_write(self) -> AbstractAsyncContextManager[Any]:
        return self._turn or nullcontext()


async def open_database(url: str) -> Database:
    """Bring the schema at the URL up to date and open it. For SQLite, file and folder are made if absent.

    Raises `InvalidInputError` for a malformed URL and `StorageFailureError` if the database can't be opened.
    """
    parsed = _parse(url)
    with _translated():
        try:
            await anyio.to_thread.run_sync(_prepare, parsed)
        except OSError as error:
            raise _storage_failure(error) from error
    options: dict[str, Any] = {}
    if parsed.get_backend_name() == "sqlite":
        options = {"pool_size": POOL_SIZE, "max_overflow": 0, "connect_args": {"timeout": BUSY_TIMEOUT_SECONDS}}
    engine = create_async_engine(parsed, hide_parameters=True, **options)
    if engine.dialect.name == "sqlite":
        configure_sqlite(engine.sync_engine)
    return Database(engine)


def configure_sqlite(engine: Any) -> None:
    """Make SQLAlchemy, not the driver, begin transactions; set durability and integrity on each connection."""
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)


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
    writes = connection.get_execution_options().get("drive_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except (SQLAlchemyError, ValueError) as error:
        raise InvalidInputError(
            "The database URL is malformed.", hint="Use e.g. sqlite+aiosqlite:////path/to/drive.db."
        ) from error


def _prepare(url: URL) -> None:
    is_sqlite = url.get_backend_name() == "sqlite"
    if is_sqlite and url.database and url.database != ":memory:":
        make_private_directory(Path(url.database).parent)
    migrations.upgrade(url, configure_sqlite if is_sqlite else None)


class _translated:  # noqa: N801 - a context manager that reads as a word
    """Turn the database's errors into ours. Programming errors pass: they are bugs, not failures of the disk."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        del kind, trace
        translated = translate(error)
        if translated:
            raise translated from error


def translate(error: BaseException | None) -> DriveError | None:
    """Return ours for an error of the database or its driver; None for bugs and for what is not theirs."""
    if isinstance(error, IntegrityError):
        return _integrity_error(error)
    if isinstance(error, _UNSTORABLE):
        return InvalidInputError(
            "An argument holds a text that is not Unicode or a number that is too large.", hint="Correct the arguments."
        )
    if isinstance(error, _FAILURES) and not isinstance(error, _BUGS):
        return _storage_failure(error)
    return None


def _integrity_error(error: IntegrityError) -> DriveError:
    reason = str(error.orig)
    if LIVE_NAME_INDEX in reason or LIVE_NAME_COLUMNS in reason:
        return NameConflictError(
            "An item of that name was put into the folder at the same moment.", hint="Choose another name."
        )
    return _storage_failure(error)


def _storage_failure(error: Exception) -> StorageFailureError:
    logger.error("The database failed: %s", getattr(error, "orig", None) or error)
    return StorageFailureError(
        "The database could not store or read this; nothing of the request was kept.",
        hint="Check that the disk is not full and that no other program holds the database, then try again.",
    )
