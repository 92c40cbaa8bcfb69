"""Count the thread calls, statements and transactions of each request, apart from those of the background."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiosqlite.core import Connection
from anyio._backends._asyncio import AsyncIOBackend
from sqlalchemy import Engine, event

from drive_server.kernel.sql.engine import _SqliteThreads  # pyright: ignore[reportPrivateUsage] - where threads are called

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import pytest
    from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(slots=True)
class Costs:
    """The costs of one request."""

    hops: int = 0
    statements: int = 0
    transactions: int = 0


_COSTS = ContextVar[Costs | None]("costs", default=None)


def is_counted() -> bool:
    """Say whether a request is under way here, and not the background."""
    return _COSTS.get() is not None


class CostCounter:
    """Counts what each HTTP request costs; the last one's is `last`."""

    def __init__(self) -> None:
        self.last = Costs()

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return the application with its requests counted."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                self.last = Costs()
                _COSTS.set(self.last)
            await app(scope, receive, send)

        return counted


@contextmanager
def counting(patches: pytest.MonkeyPatch) -> Generator[CostCounter]:
    """Count meanwhile."""
    _count_calls(patches, Connection, "_execute")
    _count_calls(patches, _SqliteThreads, "_run")
    to_thread = AsyncIOBackend.run_sync_in_worker_thread.__func__  # pyright: ignore[reportFunctionMemberAccess]
    patches.setattr(AsyncIOBackend, "run_sync_in_worker_thread", classmethod(_hopping(to_thread)))
    event.listen(Engine, "before_cursor_execute", _on_statement)
    event.listen(Engine, "begin", _on_begin)
    try:
        yield CostCounter()
    finally:
        event.remove(Engine, "before_cursor_execute", _on_statement)
        event.remove(Engine, "begin", _on_begin)


def _count_calls(patches: pytest.MonkeyPatch, owner: type, name: str) -> None:
    patches.setattr(owner, name, _hopping(getattr(owner, name)))


def _hopping(call: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*arguments: Any, **options: Any) -> Any:
        if (costs := _COSTS.get()) is not None:
            costs.hops += 1
        return call(*arguments, **options)

    return counted


def _on_statement(connection: Any, cursor: Any, statement: str, *others: Any) -> None:
    del connection, cursor, others
    if (costs := _COSTS.get()) is not None and not statement.startswith(("PRAGMA", "BEGIN")):
        costs.statements += 1


def _on_begin(connection: Any) -> None:
    del connection
    if (costs := _COSTS.get()) is not None:
        costs.transactions += 1
