"""PostgreSQL's driver fails at the n-th call of a request, as it does when the server or the way to it is gone."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import psycopg

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from starlette.types import ASGIApp, Receive, Scope, Send

HEADER: Final = "x-fail"
CALLS: Final = (
    (psycopg.AsyncConnection, "commit"),
    (psycopg.AsyncConnection, "rollback"),
    (psycopg.AsyncConnection, "set_autocommit"),
    (psycopg.AsyncCursor, "execute"),
    (psycopg.AsyncCursor, "executemany"),
    (psycopg.AsyncCursor, "fetchall"),
)
ERRORS: Final = {
    "unanswered": psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly"),
    "interface": psycopg.InterfaceError("the connection is closed"),
    "internal": psycopg.InternalError("lost synchronization with server"),
    "shutdown": psycopg.errors.AdminShutdown("terminating connection due to administrator command"),
    "timeout": psycopg.errors.ConnectionTimeout("connection timeout expired"),
}
KINDS: Final = ("terminated", "cut", *ERRORS)


@dataclass(slots=True)
class Fault:
    """What fails, at which call of the request; `left` counts down, and is below one once it has."""

    kind: str
    left: int

    async def meet(self, connection: psycopg.AsyncConnection[Any], call: Callable[[], Awaitable[Any]]) -> Any:
        """Make the call, or fail."""
        self.left -= 1
        if self.left:
            return await call()
        if self.kind == "unanswered":
            await call()
        if self.kind in ERRORS:
            connection.pgconn.finish()
            raise ERRORS[self.kind]
        if self.kind == "terminated":
            _terminate(connection)
        else:
            _cut(connection)
        return await call()


FAULT: Final = ContextVar[Fault | None]("fault", default=None)


def _terminate(connection: psycopg.AsyncConnection[Any]) -> None:
    """Have the server end the connection, as an administrator does, or its stop."""
    with psycopg.connect(connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.info.backend_pid])


def _cut(connection: psycopg.AsyncConnection[Any]) -> None:
    """Cut the connection, as a server does that crashes."""
    if not connection.closed:
        with socket.socket(fileno=os.dup(connection.fileno())) as way:
            way.shutdown(socket.SHUT_RDWR)


def failing(app: ASGIApp) -> ASGIApp:
    """Have requests fail that say so: `x-fail: KIND NUMBER`. The answer tells whether it came so far."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        asked = dict(scope.get("headers", ())).get(HEADER.encode())
        if asked is None:
            await app(scope, receive, send)
            return
        kind, _, number = asked.decode().partition(" ")
        fault = Fault(kind, int(number))
        token = FAULT.set(fault)

        async def tell(message: Any) -> None:
            if message["type"] == "http.response.start":
                told = (HEADER.encode(), b"yes" if fault.left < 1 else b"no")
                message = {**message, "headers": [*message.get("headers", ()), told]}
            await send(message)

        try:
            await app(scope, receive, tell)
        finally:
            FAULT.reset(token)

    return called


@contextmanager
def driver_that_fails() -> Generator[None]:
    """Have the driver look for faults meanwhile."""
    with ExitStack() as stack:
        for owner, name in CALLS:
            stack.enter_context(patch.object(owner, name, _watched(getattr(owner, name))))
        yield


def _watched(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        fault = FAULT.get()
        if fault is None or fault.left < 1:
            return await call(self, *arguments, **options)
        connection = self if isinstance(self, psycopg.AsyncConnection) else self.connection
        return await fault.meet(connection, lambda: call(self, *arguments, **options))

    return watched
