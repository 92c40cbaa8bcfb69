"""Streams of server-sent events that do not end by themselves: they end with the key, and with the server."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import anyio
from fastapi import Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from drive_server.access import Scope, require_scope
from drive_server.drive import Drive
from drive_server.errors import DriveError
from drive_server.http.access import principal_of_request

HEARTBEAT: Final = b": heartbeat\n\n"
HEARTBEAT_SECONDS: Final = 15.0
UNBUFFERED: Final = {"X-Accel-Buffering": "no"}
"""Headers that keep a proxy from holding events back."""


def stream_responses(event: type[BaseModel], example: str) -> dict[int | str, dict[str, Any]]:
    """Return how OpenAPI describes a stream of such events."""
    return {
        200: {
            "description": "Server-sent events; the schema is of `data`. Comments are heartbeats.",
            "model": event,
            "content": {"text/event-stream": {"schema": {"type": "object"}, "example": example}},
        }
    }


class EventStream(StreamingResponse):
    """A response of server-sent events."""

    media_type = "text/event-stream"


class OpenStreams:
    """The open streams, which end only by `end`, or when their person's key does."""

    def __init__(self) -> None:
        self.is_ending = False
        self._scopes: dict[anyio.CancelScope, str] = {}

    def end(self) -> None:
        """End them all, so that the server can shut down."""
        self.is_ending = True
        for scope in self._scopes:
            scope.cancel()

    async def wake(self, user_id: str) -> None:
        """Have the person's streams look at once whether their key still holds."""
        for scope, owner in self._scopes.items():
            if owner == user_id:
                scope.cancel()

    @contextmanager
    def cancellable(self, user_id: str) -> Generator[None]:
        """Cancel the block, in a stream of this person, when `end` or `wake` is called."""
        with anyio.CancelScope() as scope:
            self._scopes[scope] = user_id
            if self.is_ending:
                scope.cancel()
            try:
                yield
            finally:
                del self._scopes[scope]


async def may_read(drive: Drive, request: Request) -> bool:
    """Return whether the caller's key still holds, and may read."""
    try:
        require_scope(await principal_of_request(drive, request), Scope.READ)
    except DriveError:
        return False
    return True
