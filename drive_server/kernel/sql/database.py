"""The one door to a database: its engine, the only commit, and the seam that translates its errors."""

import logging
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final, Self, TypeVar

import anyio
from sqlalchemy import URL, Connection, Select, column, event, func, make_url, select, table
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

from drive_server.kernel.errors import DamagedDatabaseError, DriveError, InvalidInputError, StorageFailureError
from drive_server.kernel.files.token_file import make_private_directory
from drive_server.kernel.messages import Message
from drive_server.kernel.signing import Signer
from drive_server.kernel.sql import server, sqlite_faults
from drive_server.kernel.sql.engine import SessionWork, Transactions, close_engine, configure_sqlite, open_engine
from drive_server.kernel.sql.schema import Schema
from drive_server.kernel.sql.server import is_sqlite
from drive_server.kernel.sql.turns import commit, take_turns
from drive_server.kernel.telemetry.conventions import DATABASE_SYSTEM, TRANSACTION
from drive_server.kernel.telemetry.traces import span

logger = logging.getLogger(__name__)

T = TypeVar("T")
ConnectListener = Callable[[Any, Any], None]

KEY_BYTES: Final = 32
CHANGED_SECONDS: Final = 1.0
STATE_SECONDS: Final = 0.8
NET_SECONDS: Final = 5.0
"""How old a state may be while its notices are known to arrive, and none has."""
HEARD_SECONDS: Final = 4.0
"""How long notices count as arriving after one of this process to itself did; such ones come each 3 seconds or less."""
# The driver's errors for a lone surrogate, a number over 64 bits, NUL in a PostgreSQL text.
_UNSTORABLE = (UnicodeEncodeError, OverflowError, DataError)
_BUGS = (ProgrammingError, NotSupportedError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)
# An OSError is none of the driver's, which wraps its own: a disk's or a blob store's failed the transaction.
_FAILURES = (DatabaseError, InterfaceError, PoolTimeoutError, OSError, sqlite3.Error)


class News:
    """Whether notices of another state of the database arrive here, and whether one has since the last look.

    Triggers, which migration 0028 makes, send them on the `CHANNEL`.
    """

    CHANNEL: Final = "drive_agent_news"

    def __init__(self) -> None:
        self._heard_at = float("-inf")
        self._is_told = True
        self.count = 0
        """How often something was told."""

    @property
    def arrives(self) -> bool:
        """True if notices arrive."""
        return time.monotonic() - self._heard_at < HEARD_SECONDS

    @property
    def is_silent(self) -> bool:
        """True if nothing was told since the last look although it would have been."""
        return not self._is_told and self.arrives

    def hear(self) -> None:
        """Note that notices arrive."""
        self._heard_at = time.monotonic()

    def lose(self) -> None:
        """Note that none arrive."""
        self._heard_at = float("-inf")

    def tell(self) -> None:
        """Note that there is another state."""
        self._is_told = True
        self.count += 1

    def look(self) -> None:
        """Note that the state is being read: later notices are of later states."""
        self._is_told = False


class Database:
    """An engine, and the two ways to use it: a read at one snapshot, and a write that commits once at its end.

    Each exists twice: as a block of asynchronous code, and, far cheaper, as a function that runs from its beginning to
    its end in one go. `signer` signs the cursors and links of this database. SQLite calls `on_connect` with each new
    connection.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        schema: Schema,
        signer: Signer | None = None,
        on_connect: ConnectListener | None = None,
    ) -> None:
        self.engine = engine
        self.schema = schema
        self.damage: StorageFailureError | None = None
        """The failure that told of a damaged file. A database with one is not ready any more."""

        self.turns: tuple[str, ...] = ()
        """The turns of writers that name none."""

        self.signer = signer or Signer(token_bytes(KEY_BYTES))
        self._transactions = Transactions(engine, on_connect, schema.sequence, schema.server_state)
        self.news = News()
        """Where the process listens to the server it tells this; it asks each second otherwise."""

        self._state: object = None
        self._state_read_at = float("-inf")
        self._state_lock = anyio.Lock()
        self._writing = engine.execution_options(writes=True)
        # SQLite has one writer. Queueing here is fair and costs no polling; busy_timeout is for other processes.
        self._write_lock = anyio.Lock(fast_acquire=True) if engine.dialect.name == "sqlite" else None

    @classmethod
    async def open(
        cls, url: str, schema: Schema, signer: Signer | None = None, on_connect: ConnectListener | None = None
    ) -> Self:
        """Bring the schema at the URL up to date and open it. For SQLite, make file and folder if absent.

        Raises `InvalidInputError` for a malformed URL and `StorageFailureError` if the database can't be opened.
        """
        parsed = parsed_url(url)
        with _Translation(schema, parsed):
            await anyio.to_thread.run_sync(_prepare, parsed, schema)
        engine = open_engine(parsed)
        if on_connect is not None and is_sqlite(parsed):
            event.listen(engine.sync_engine, "connect", on_connect)
        return cls(engine, schema, signer, on_connect)

    @property
    def connections_in_use(self) -> int:
        """The connections of this process that work now."""
        return self._transactions.connections_in_use

    @property
    def takes_turns(self) -> bool:
        """Whether several may write at once, so that those who must follow one another name a turn."""
        return self._write_lock is None

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        """Open a session that sees one state of the database throughout. Nothing done in it is kept."""
        # Its end rolls back, which fails as well if the server went away meanwhile.
        with self._translation():
            async with AsyncSession(self.engine, expire_on_commit=False, autoflush=False) as session:
                yield session

    @asynccontextmanager
    async def write(self, *turns: str) -> AsyncGenerator[AsyncSession]:
        """Open the only kind of session that commits: once, at the end of the block; an exception rolls back.

        Writers follow one another on SQLite, so data read in the block still holds when it commits; on PostgreSQL
        those of the same turns do, `self.turns` if none is named. Don't nest. Raises `StorageFailureError`, and the
        schema's own error for a broken constraint.
        """
        async with self._exclusive():
            with self._translation():
                session = AsyncSession(self._writing, expire_on_commit=False)
                try:
                    mark = None
                    if self.takes_turns:
                        mark = await take_turns(session, turns or self.turns, self.schema.sequence)
                    yield session
                    await commit(session, self.engine, mark)
                finally:
                    # Roll back a cancelled writer before the next one begins; don't lose the steps after a commit.
                    with anyio.CancelScope(shield=True):
                        await session.close()

    async def read_sync(self, work: Callable[[Connection], T]) -> T:
        """Return the result of `work`, which sees one state of the database. Nothing done in it is kept.

        It must not touch objects of the event loop: on SQLite it runs in a thread.
        """
        with self._translation():
            return await self._transactions.read(work)

    async def write_sync(self, work: Callable[[Connection], T]) -> T:
        """Return the result of `work`, and commit, as `write` does; on SQLite it runs in a thread."""
        async with self._exclusive():
            with self._translation():
                return await self._transactions.write(work, self.turns)

    async def look(self, work: SessionWork[T]) -> T:
        """Return the result of asynchronous `work`, which sees one state, as `change` runs it; nothing is kept."""
        with self._translation():
            return await self._transactions.look(work)

    async def change(self, work: SessionWork[T], *, turns: Iterable[str] = (), waits: bool = False) -> T:
        """Return the result of asynchronous `work`, and commit, as `write` does; on SQLite it runs in one go.

        It may await its session, `asyncio.sleep(0)` where it may end if the caller was cancelled, and `beside`. One
        that `waits` for anything else gets a session of the event loop.
        """
        if waits:
            async with self.write(*turns) as session:
                return await work(session)
        async with self._exclusive():
            with self._translation():
                return await self._transactions.change(work, turns or self.turns)

    @asynccontextmanager
    async def alone(self, turn: str) -> AsyncGenerator[bool]:
        """Yield whether no other process does this; True where one process has the database. Writers don't wait."""
        if not self.takes_turns:
            yield True
            return
        taken = select(func.pg_try_advisory_xact_lock(func.hashtextextended(turn, 0)))
        with self._translation():
            connection = await self.engine.connect()
        try:
            with self._translation():
                is_alone = bool(await connection.scalar(taken))
            yield is_alone
        finally:
            with self._translation(), anyio.CancelScope(shield=True):
                await connection.close()

    async def state(self) -> object:
        """Return a mark of the state of the database: see `until_changed`.

        It is at most `STATE_SECONDS` old; `NET_SECONDS` while notices of others arrive, and none has.
        """
        async with self._state_lock:
            age = time.monotonic() - self._state_read_at
            if age >= NET_SECONDS or (age >= STATE_SECONDS and not self._is_unchanged()):
                with self._translation():
                    await self._look_at_state(self._transactions.state())
            return self._state

    async def note_state(self, session: AsyncSession) -> None:
        """Read the state in another session of the server, so that it needs no transaction of its own."""
        if self.schema.server_state is not None:
            async with self._state_lock:
                await self._look_at_state(_row_of(session, self.schema.server_state))

    async def tell_others(self, session: AsyncSession) -> None:
        """Tell the processes of the server of news that no trigger tells of, when the session has committed."""
        if self.takes_turns:
            await session.execute(select(func.pg_notify(News.CHANNEL, "")))

    async def _look_at_state(self, look: Awaitable[object]) -> None:
        self.news.look()
        try:
            self._state = await look
        except BaseException:
            self.news.tell()
            raise
        self._state_read_at = time.monotonic()

    def _is_unchanged(self) -> bool:
        """Say whether notices tell that the state is the same. None tells that a writer gave its numbers up."""
        is_settled = isinstance(self._state, tuple) and self._state[:1] == self._state[1:2]
        return is_settled and self.news.is_silent

    async def until_changed(self, state: object, is_over: Callable[[], bool] = lambda: False) -> None:
        """Return when the database is in another state than it was, by any process; looked at every second.

        On PostgreSQL that is a change of the journal, a key that was revoked, a person who was disabled or removed.

        Return too once `is_over` says so.

        All who wait share one look. Read the state first, then the data that may change: so that nothing is missed.
        """
        while True:
            if await self.state() != state or is_over():
                return
            # The same moments for all: the first of them looks, and the others find that. It may find nothing to read.
            age = time.monotonic() - self._state_read_at
            await anyio.sleep(CHANGED_SECONDS - age % CHANGED_SECONDS)

    def require_sound(self) -> None:
        """Raise the failure that told of damage, if there was one."""
        if self.damage is not None:
            raise self.damage

    async def schema_version(self) -> str | None:
        """Return the newest migration that the database has seen."""
        async with self.read() as session:
            return await session.scalar(select(column("version_num")).select_from(table(self.schema.version_table)))

    async def dispose(self) -> None:
        """Close every connection."""
        await self._transactions.close()
        await close_engine(self.engine)

    def _translation(self) -> "_Translation":
        return _Translation(self.schema, self.engine.url, self._note)

    def _note(self, failure: DriveError) -> None:
        if isinstance(failure, DamagedDatabaseError):
            self.damage = failure

    @asynccontextmanager
    async def _exclusive(self) -> AsyncGenerator[None]:
        with span(TRANSACTION, {DATABASE_SYSTEM: self.engine.dialect.name}):
            async with self._write_lock or nullcontext():
                yield


async def _row_of(session: AsyncSession, query: Select[Any, Any]) -> object:
    return tuple((await session.execute(query)).one())


def parsed_url(url: str) -> URL:
    """Return the parts of a database's URL. Raises `InvalidInputError` for a malformed one."""
    try:
        return make_url(url)
    except (SQLAlchemyError, ValueError) as error:
        raise InvalidInputError(
            "The database URL is malformed.",
            hint="Use e.g. sqlite+aiosqlite:////path/to/drive.db, or for several servers "
            "postgresql+psycopg://user@/name?host=a,b&port=5432,5432&target_session_attrs=read-write.",
        ) from error


def _prepare(url: URL, schema: Schema) -> None:
    embedded = is_sqlite(url)
    if embedded and url.database and url.database != ":memory:":
        make_private_directory(Path(url.database).parent)
        sqlite_faults.require_sound(Path(url.database))
    schema.upgrade(url, configure_sqlite if embedded else None)


class _Translation:
    """Turns the database's errors into ours. Programming errors pass: they are bugs, not failures of the disk."""

    def __init__(self, schema: Schema, url: URL, note: Callable[[DriveError], None] = lambda _: None) -> None:
        self._schema = schema
        self._file = Path(url.database or "").name if is_sqlite(url) else ""
        self._note = note

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        del kind, trace
        translated = translate(error, self._schema, self._file)
        if translated:
            self._note(translated)
            raise translated from error


def translate(error: BaseException | None, schema: Schema, file: str = "") -> DriveError | None:
    """Return ours for an error of the database or its driver; None for bugs and for other errors.

    `file` is the name of a SQLite database's file.
    """
    if isinstance(error, IntegrityError):
        if schema.conflict is None:
            return None
        return schema.conflict(error) or _storage_failure(error, file)
    if isinstance(error, _UNSTORABLE):
        return InvalidInputError(
            "An argument holds a text that is not Unicode or a number that is too large.", hint="Correct the arguments."
        )
    if isinstance(error, _FAILURES) and not isinstance(error, _BUGS):
        return _storage_failure(error, file)
    return None


def _storage_failure(error: Exception, file: str) -> StorageFailureError:
    logger.error("The database %s failed: %s", file, getattr(error, "orig", None) or error)
    failure = sqlite_faults.failure_of(error, file) if file else server.failure_of(error)
    return failure or StorageFailureError(Message.of("database_failure"))
