"""Streams of server-sent events that do not end by themselves: they end with the key, and with the server."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import anyio
from fastapi import Request
from fastapi.responses import StreamingResponse

from drive_server.access import Scope, require_scope
from drive_server.drive import Drive
from drive_server.errors import DriveError
from drive_server.http.access import principal_of_request

HEARTBEAT: Final = b": heartbeat\n\n"
HEARTBEAT_SECONDS: Final = 15.0
UNBUFFERED: Final = {"X-Accel-Buffering": "no"}
"""Headers that keep a proxy from holding events back."""


class EventStream(StreamingResponse):
    """A response of server-sent events."""

    media_type = "text/event-stream"


class OpenStreams:
    """The open streams, which end only by `end`."""

    def __init__(self) -> None:
        self.is_ending = False
        self._scopes: set[anyio.CancelScope] = set()

    def end(self) -> None:
        """End them all, so that the server can shut down."""
        self.is_ending = True
        for scope in self._scopes:
            scope.cancel()

    @contextmanager
    def cancellable(self) -> Generator[None]:
        """Cancel the block when `end` is called."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            if self.is_ending:
                scope.cancel()
            try:
                yield
            finally:
                self._scopes.discard(scope)


async def may_read(drive: Drive, request: Request) -> bool:
    """Return whether the caller's key still holds, and may read."""
    try:
        require_scope(await principal_of_request(drive, request), Scope.READ)
    except DriveError:
        return False
    return True
