"""Count what a turn costs apart from the background: trips to threads, statements, transactions and checkpoints."""

from __future__ import annotations

import asyncio
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiosqlite.core import Connection
from anyio._backends._asyncio import AsyncIOBackend
from sqlalchemy import Engine, event

from api.storage.sqlite_threads import SqliteThreads

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import pytest

SERVES_TURNS = ("api/events/log.py", "drive_server/mcp/server.py")
"""Files of tasks that are older than the turn, and only serve turns."""
_IS_TURN = ContextVar("is_turn", default=False)


@dataclass(slots=True)
class TurnCosts:
    """The costs of one turn. `checkpoints` are those that are put, `writes` the writes of tasks."""

    hops: int = 0
    statements: int = 0
    transactions: int = 0
    checkpoints: int = 0
    writes: int = 0


class TurnCounter:
    """Counts into `costs` all that a turn does, in whatever task."""

    def __init__(self) -> None:
        self.costs = TurnCosts()
        self._has_begun = False

    def begin(self) -> None:
        """Count for a turn of the calling task from here on."""
        self.costs = TurnCosts()
        self._has_begun = True
        _IS_TURN.set(True)

    def counts(self, call: Callable[..., Any], kind: str) -> Callable[..., Any]:
        """Return the call, which counts as one of the kind."""

        def counted(*arguments: Any, **options: Any) -> Any:
            if self._has_begun and _is_of_turn():
                setattr(self.costs, kind, getattr(self.costs, kind) + 1)
            return call(*arguments, **options)

        return counted

    def count_stored(self, call: Callable[..., Any], kind: str) -> Callable[..., Any]:
        """Return a call of the saver, which nothing but turns uses."""

        def counted(*arguments: Any, **options: Any) -> Any:
            setattr(self.costs, kind, getattr(self.costs, kind) + 1)
            return call(*arguments, **options)

        return counted

    def on_statement(self, connection: Any, cursor: Any, statement: str, *others: Any) -> None:
        """Count a statement, or the beginning of a transaction."""
        del connection, cursor, others
        if not _IS_TURN.get() or statement.startswith("PRAGMA"):
            return
        if statement.startswith("BEGIN"):
            self.costs.transactions += 1
        else:
            self.costs.statements += 1


def _is_of_turn() -> bool:
    if not _IS_TURN.get() and _serves_turns():
        _IS_TURN.set(True)
    return _IS_TURN.get()


def _serves_turns() -> bool:
    frame = sys._getframe()  # pyright: ignore[reportPrivateUsage] - the only way to the callers
    while frame := frame.f_back:
        if frame.f_code.co_filename.replace("\\", "/").endswith(SERVES_TURNS):
            return True
    return False


@contextmanager
def counting_turns(patches: pytest.MonkeyPatch) -> Generator[TurnCounter]:
    """Count meanwhile."""
    counter = TurnCounter()
    patches.setattr(Connection, "_execute", counter.counts(Connection._execute, "hops"))  # pyright: ignore[reportPrivateUsage]
    to_thread = AsyncIOBackend.run_sync_in_worker_thread.__func__  # pyright: ignore[reportFunctionMemberAccess]
    patches.setattr(AsyncIOBackend, "run_sync_in_worker_thread", classmethod(counter.counts(to_thread, "hops")))
    loop = type(asyncio.get_running_loop())
    patches.setattr(loop, "run_in_executor", counter.counts(loop.run_in_executor, "hops"))
    patches.setattr(SqliteThreads, "put", counter.count_stored(SqliteThreads.put, "checkpoints"))
    patches.setattr(SqliteThreads, "put_writes", counter.count_stored(SqliteThreads.put_writes, "writes"))
    event.listen(Engine, "before_cursor_execute", counter.on_statement)
    try:
        yield counter
    finally:
        event.remove(Engine, "before_cursor_execute", counter.on_statement)
