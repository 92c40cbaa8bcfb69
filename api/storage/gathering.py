"""A connection to SQLite that goes to its thread once for a transaction, and once for a question.

aiosqlite goes there for the cursor, the statement, its rows, its end and the commit. A trip wakes two threads that want
the same lock, which is most of what a small statement costs.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Self, TypeVar

import anyio
from aiosqlite import Connection

CHANGES: Final = ("insert", "replace", "update", "delete")
READ_AHEAD: Final = 1000
BEGIN: Final = "begin"
COMMIT: Final = "commit"
Row = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that waits for the commit, or for the next question. `rows`: its parameters, or a list of them.

    `owner` is who loses something if it is not made.
    """

    sql: str
    rows: Any
    many: bool = False
    owner: str = ""


class GatheringConnection(Connection):
    """A connection whose changes wait until they are committed or asked about, which is when they may fail.

    `on_lost` is told whose changes could not be stored, of those whose commit was put off.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=READ_AHEAD)
        self._waiting: list[Change] = []
        self._owed: set[str] = set()
        self.on_lost: Callable[[set[str], Exception], None] = _ignore

    @property
    def owes(self) -> bool:
        """Whether something waits whose commit was put off."""
        return bool(self._owed)

    def put(self, owner: str, changes: Iterable[Change]) -> None:
        """Let changes wait for the next commit, whoever makes it; all of them, or none if one can't be told."""
        taken = [replace(change, owner=owner) for change in changes]
        self._waiting += taken
        self._owed |= {owner} if taken else set()

    def forget(self, owners: set[str]) -> None:
        """Forget what waits of these owners."""
        self._waiting = [change for change in self._waiting if change.owner not in owners]
        self._owed -= owners

    def cursor(self) -> "Asked":  # pyright: ignore[reportIncompatibleMethodOverride] - needs no trip of its own
        """Return a new cursor."""
        return Asked(self)

    def execute(self, sql: str, parameters: Any = ()) -> "Asked":  # pyright: ignore[reportIncompatibleMethodOverride] - awaited and entered like aiosqlite's
        """Return a cursor that runs the statement when it is awaited or entered."""
        return Asked(self, Change(sql, parameters, many=False))

    def executemany(self, sql: str, parameters: Iterable[Iterable[Any]]) -> "Asked":  # pyright: ignore[reportIncompatibleMethodOverride] - the same
        """Return a cursor that runs the statement with each of the parameters when it is awaited or entered."""
        return Asked(self, Change(sql, list(parameters), many=True))

    async def commit(self) -> None:
        """Make what waits and commit it, in one trip. If that fails, all of the transaction is taken back."""
        if self._waiting or self.in_transaction:
            await self.apart(_nothing)

    async def rollback(self) -> None:
        """Take back what was made, and forget what waits."""
        self._waiting.clear()
        if self.in_transaction:
            await super().rollback()

    async def run(self, change: Change) -> tuple[sqlite3.Cursor, list[Row]] | None:
        """Ask, after what waits; None for a change, which waits itself.

        A transaction begins with its first change, whether it is said or not, so that one of questions is none.
        """
        word = change.sql.lstrip()[:7].lower()
        if word.startswith(CHANGES):
            self._waiting.append(change)
            return None
        if word.startswith(BEGIN):
            return None
        if word.startswith(COMMIT):
            await self.commit()
            return None
        return await self._going(self._owed, self._answered, self._taken(), change)

    async def apart(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work in the connection's thread, after what waits, and commit. If that fails, all is taken back."""
        owed, self._owed = self._owed, set()
        return await self._going(owed, self._worked, self._taken(), work)

    async def more(self, cursor: sqlite3.Cursor, size: int) -> list[Row]:
        """Return the next rows of a question."""
        return await self._execute(cursor.fetchmany, size)

    async def let_go(self, cursor: sqlite3.Cursor) -> None:
        """End a question that has more rows."""
        await self._execute(cursor.close)

    def _taken(self) -> list[Change]:
        waiting, self._waiting = self._waiting, []
        return waiting

    async def _going(self, owed: set[str], trip: Callable[..., T], *args: Any) -> T:
        """Go to the thread and back. Who is cancelled meanwhile learns so when it has ended: it may have failed."""
        going = asyncio.ensure_future(self._execute(trip, *args))
        try:
            try:
                return await asyncio.shield(going)
            except asyncio.CancelledError:
                await _ended(going)
                raise
        finally:
            error = going.exception() if going.done() and not going.cancelled() else None
            if isinstance(error, Exception) and owed:
                lost = set(owed)
                self._owed -= lost
                self.on_lost(lost, error)

    def _worked(self, changes: Sequence[Change], work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self._make(changes)
            result = work(self._conn)
            self._conn.commit()
        except BaseException:
            self._conn.rollback()
            raise
        return result

    def _answered(self, changes: Sequence[Change], question: Change) -> tuple[sqlite3.Cursor, list[Row]]:
        try:
            self._make(changes)
        except BaseException:
            self._conn.rollback()
            raise
        cursor = self._conn.execute(question.sql, question.rows)
        return cursor, cursor.fetchmany(READ_AHEAD)

    def _make(self, changes: Sequence[Change]) -> None:
        for change in changes:
            made = self._conn.executemany if change.many else self._conn.execute
            made(change.sql, change.rows)


class Asked:
    """What is used of aiosqlite's cursors. The first rows come with the statement, all of them unless they are many."""

    def __init__(self, connection: GatheringConnection, statement: Change | None = None) -> None:
        self._connection = connection
        self._statement = statement
        self._cursor: sqlite3.Cursor | None = None
        self._rows: list[Row] = []

    def __await__(self) -> Generator[Any, None, Self]:
        return self._begun().__await__()

    async def __aenter__(self) -> Self:
        return await self._begun()

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def execute(self, sql: str, parameters: Any = ()) -> Self:
        """Run a statement."""
        self._statement = Change(sql, parameters, many=False)
        return await self._begun()

    async def executemany(self, sql: str, parameters: Iterable[Iterable[Any]]) -> Self:
        """Run a statement with each of the parameters."""
        self._statement = Change(sql, list(parameters), many=True)
        return await self._begun()

    async def fetchone(self) -> Row | None:
        """Return the next row, None at the end."""
        if not self._rows:
            await self._read_on()
        return self._rows.pop(0) if self._rows else None

    async def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        while await self._read_on():
            pass
        rows, self._rows = self._rows, []
        return rows

    async def __aiter__(self) -> AsyncIterator[Row]:
        """Go through the rows that are left."""
        while self._rows or await self._read_on():
            rows, self._rows = self._rows, []
            for row in rows:
                yield row

    async def close(self) -> None:
        """Let go of what was not fetched."""
        cursor, self._cursor, self._rows = self._cursor, None, []
        if cursor is not None:
            await self._connection.let_go(cursor)

    async def _begun(self) -> Self:
        statement, self._statement = self._statement, None
        if statement and (answer := await self._connection.run(statement)):
            cursor, self._rows = answer
            self._cursor = cursor if len(self._rows) == READ_AHEAD else None
        return self

    async def _read_on(self) -> bool:
        if self._cursor is None:
            return False
        rows = await self._connection.more(self._cursor, READ_AHEAD)
        self._rows += rows
        if len(rows) < READ_AHEAD:
            self._cursor = None
        return bool(rows)


async def _ended(going: "asyncio.Future[Any]") -> None:
    with anyio.CancelScope(shield=True):
        while not going.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({going})


def _nothing(connection: sqlite3.Connection) -> None:
    del connection


def _ignore(owners: set[str], error: Exception) -> None:
    del owners, error
