"""The one door to the database: its engine, the only commit, and the seam that translates its errors."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final, TypeVar

import anyio
from sqlalchemy import URL, Connection, make_url
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
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from drive_server.errors import DriveError, InvalidInputError, NameConflictError, StorageFailureError
from drive_server.messages import Message
from drive_server.signing import Signer
from drive_server.storage import migrations
from drive_server.storage.engine import Transactions, configure_sqlite, is_sqlite, open_engine
from drive_server.storage.tables import SecretRow
from drive_server.storage.token_file import make_private_directory

logger = logging.getLogger(__name__)

T = TypeVar("T")

SIGNING_KEY: Final = "signing"
KEY_BYTES: Final = 32
LIVE_NAME_INDEX = "uq_nodes_live_name"
LIVE_NAME_COLUMNS = "nodes.parent_id, nodes.name"
# What a driver says of a lone surrogate, of a number over 64 bits, of NUL in a PostgreSQL text.
_UNSTORABLE = (UnicodeEncodeError, OverflowError, DataError)
_BUGS = (ProgrammingError, NotSupportedError)
_FAILURES = (DatabaseError, InterfaceError, PoolTimeoutError)


class Database:
    """An engine, and the two ways to use it: a read at one snapshot, and a write that commits once at its end.

    Both are there twice: as a block of asynchronous code, and, far cheaper, as a function that runs from its beginning
    to its end in one go. `signer` signs with the key that is kept in this database.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.signer = Signer(token_bytes(KEY_BYTES))
        self._transactions = Transactions(engine)
        self._writing = engine.execution_options(writes=True)
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
        async with self._turn_to_write():
            session = AsyncSession(self._writing, expire_on_commit=False)
            try:
                with _translated():
                    yield session
                    # A commit that is cancelled half-way may or may not have happened: let it finish.
                    with anyio.CancelScope(shield=True):
                        await session.commit()
            finally:
                # Of a cancelled writer all is taken back before the next one begins; what follows a commit is not lost.
                with anyio.CancelScope(shield=True):
                    await session.close()

    async def read_sync(self, work: Callable[[Connection], T]) -> T:
        """Return what the work returns, which sees one state of the database. Nothing done in it is kept.

        It must not touch what belongs to the event loop: on SQLite it runs in a thread.
        """
        with _translated():
            return await self._transactions.read(work)

    async def write_sync(self, work: Callable[[Connection], T]) -> T:
        """Return what the work returns, and commit, as `write` does; on SQLite it runs in a thread."""
        async with self._turn_to_write():
            with _translated():
                return await self._transactions.write(work)

    async def dispose(self) -> None:
        """Close every connection."""
        await self._transactions.close()
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
    engine = open_engine(parsed)
    database = Database(engine)
    database.signer = Signer(await signing_key(database))
    return database


async def signing_key(database: Database) -> bytes:
    """Return the key that every process of this drive signs with; the first caller makes and stores it."""
    async with database.read() as session:
        row = await session.get(SecretRow, SIGNING_KEY)
    if row is None:
        async with database.write() as session:
            row = await session.get(SecretRow, SIGNING_KEY)
            if row is None:
                row = SecretRow(name=SIGNING_KEY, value=token_bytes(KEY_BYTES).hex())
                session.add(row)
    return bytes.fromhex(row.value)


def _parse(url: str) -> URL:
    try:
        return make_url(url)
    except (SQLAlchemyError, ValueError) as error:
        raise InvalidInputError(
            "The database URL is malformed.", hint="Use e.g. sqlite+aiosqlite:////path/to/drive.db."
        ) from error


def _prepare(url: URL) -> None:
    embedded = is_sqlite(url)
    if embedded and url.database and url.database != ":memory:":
        make_private_directory(Path(url.database).parent)
    migrations.upgrade(url, configure_sqlite if embedded else None)


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
        return NameConflictError(Message.of("name_taken_now"))
    return _storage_failure(error)


def _storage_failure(error: Exception) -> StorageFailureError:
    logger.error("The database failed: %s", getattr(error, "orig", None) or error)
    return StorageFailureError(
        Message.of("database_failure"),
    )
