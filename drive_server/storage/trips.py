"""SQLite from asyncio with one trip to the connection's thread for each statement.

aiosqlite makes four (a cursor, the statement, its rows, closing it), and SQLAlchemy adds some to begin and to roll back
what was rolled back before. A trip wakes two threads that want the same lock: they are most of what a small read costs.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

from aiosqlite import Connection
from aiosqlite.core import (
    _connection_worker_thread,  # pyright: ignore[reportPrivateUsage] - what a connection's thread runs
)

if TYPE_CHECKING:
    import asyncio

READ_AHEAD = 1000
Row = tuple[Any, ...]


class TripConnection(Connection):
    """A connection whose cursors fetch with the statement, and whose transactions begin with their first statement.

    Its thread is told to end once. After a cancelled call SQLAlchemy tells it twice, and aiosqlite 0.22 then waits for
    an answer from the thread that is gone: the event loop, and with it the process, would never end.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=READ_AHEAD)
        # A daemon, as SQLAlchemy does with its own: a connection that nobody closed must not keep the process alive.
        self._thread = Thread(target=_serve, args=(self._tx,), daemon=True)
        self._is_stopped = False
        self._beginning: str | None = None
        self._is_settled = True

    def begin_with(self, statement: str) -> None:
        """Begin a transaction with this statement as soon as there is something to do in it."""
        self._beginning = statement

    def cursor(self) -> "TripCursor":  # pyright: ignore[reportIncompatibleMethodOverride] - needs no trip of its own
        """Return a new cursor."""
        return TripCursor(self)

    async def run(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """Do the work in the connection's thread, after what begins the transaction if that is still to be done."""
        beginning, self._beginning = self._beginning, None

        def trip() -> Any:
            if beginning is not None:
                self._conn.execute(beginning)
            return work(self._conn)

        return await self._execute(trip)

    async def commit(self) -> None:
        """Commit, if there is something to commit."""
        if self._is_open():
            await super().commit()

    async def rollback(self) -> None:
        """Take the transaction back, if there is one."""
        if self._is_open():
            await super().rollback()

    def stop(self) -> "asyncio.Future[Any] | None":
        """End the thread after what it was asked before; None if it was told so already."""
        if self._is_stopped:
            return None
        self._is_stopped = True
        return super().stop()

    def _is_open(self) -> bool:
        """Whether a transaction is open, or may be: of a trip that nobody waited for the end is not known."""
        self._beginning = None
        return not self._is_settled or self.in_transaction

    async def _execute(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        self._is_settled = False
        try:
            result = await super()._execute(fn, *args, **kwargs)
        except Exception:
            self._is_settled = True
            raise
        self._is_settled = True
        return result


class TripCursor:
    """What SQLAlchemy uses of a cursor. The first rows come with the statement, all of them unless they are many."""

    def __init__(self, connection: TripConnection) -> None:
        self._connection = connection
        self._cursor: sqlite3.Cursor | None = None
        self._rows: list[Row] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Self:
        """Run the statement and fetch its first rows."""

        def work(connection: sqlite3.Connection) -> None:
            self._take(connection.execute(statement, parameters))

        await self._connection.run(work)
        return self

    async def executemany(self, statement: str, parameters: Sequence[Sequence[Any]]) -> Self:
        """Run the statement with each of the parameters."""

        def work(connection: sqlite3.Connection) -> None:
            self._take(connection.executemany(statement, parameters))

        await self._connection.run(work)
        return self

    async def fetchone(self) -> Row | None:
        """Return the next row, None at the end."""
        rows = await self.fetchmany(1)
        return rows[0] if rows else None

    async def fetchmany(self, size: int | None = None) -> list[Row]:
        """Return the next rows, at most `size`."""
        wanted = size or self.arraysize
        if len(self._rows) < wanted and self._cursor is not None:
            self._rows += await self._more(max(wanted - len(self._rows), READ_AHEAD))
        rows = list(islice(self._rows, wanted))
        del self._rows[:wanted]
        return rows

    async def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        rows, self._rows = self._rows, []
        return rows + await self._more(None) if self._cursor is not None else rows

    async def __aiter__(self) -> AsyncIterator[Row]:
        """Go through the rows that are left."""
        while rows := await self.fetchmany(READ_AHEAD):
            for row in rows:
                yield row

    async def close(self) -> None:
        """Let go of what was not fetched."""
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            await self._connection.run(lambda _: cursor.close())

    def _take(self, cursor: sqlite3.Cursor) -> None:
        """Read the outcome, in the connection's thread."""
        self.description, self.rowcount, self.lastrowid = cursor.description, cursor.rowcount, cursor.lastrowid
        self._rows = cursor.fetchmany(READ_AHEAD) if cursor.description else []
        self._cursor = cursor if len(self._rows) == READ_AHEAD else None
        if self._cursor is None:
            self.rowcount = cursor.rowcount
            cursor.close()

    async def _more(self, size: int | None) -> list[Row]:
        cursor = self._cursor
        assert cursor is not None  # noqa: S101 - asked before

        def work(_: sqlite3.Connection) -> list[Row]:
            rows = cursor.fetchall() if size is None else cursor.fetchmany(size)
            if size is None or len(rows) < size:
                self._cursor = None
                cursor.close()
            return rows

        return await self._connection.run(work)


def _serve(requests: Any) -> None:
    """Work in the connection's thread. An answer that comes after its event loop was closed has nobody to hear it."""
    with suppress(RuntimeError):
        _connection_worker_thread(requests)
