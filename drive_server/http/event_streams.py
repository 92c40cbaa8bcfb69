"""Streams of server-sent events that do not end by themselves: they end with the key, and with the server."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Any, Final

import anyio
from fastapi import Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from drive_server.access import Scope
from drive_server.drive import Drive
from drive_server.errors import DriveError
from drive_server.http.access import secret_of_request

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


class OpenStream:
    """A stream while its key holds. For one task."""

    def __init__(self, user_id: str, secret: str, scope: Scope | None) -> None:
        self.user_id = user_id
        self.secret = secret
        self.scope = scope
        self.is_open = True
        self._waiting: anyio.CancelScope | None = None

    def end(self) -> None:
        """Have it stop waiting, and end."""
        self.is_open = False
        if self._waiting is not None:
            self._waiting.cancel()

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Cancel the block when the stream has to end."""
        with anyio.CancelScope() as self._waiting:
            if not self.is_open:
                self._waiting.cancel()
            yield
        self._waiting = None


class OpenStreams:
    """The open streams. They end by `end`, and within `HEARTBEAT_SECONDS` after their key did.

    The keys of all of them are looked up in one step.
    """

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._streams: dict[OpenStream, None] = {}
        self._is_ending = False

    @contextmanager
    def opened(self, request: Request, user_id: str, scope: Scope | None = Scope.READ) -> Generator[OpenStream]:
        """Count the request's stream among the open ones. It ends when its key lacks the scope, too."""
        stream = OpenStream(user_id, secret_of_request(request), scope)
        self._streams[stream] = None
        if self._is_ending:
            stream.end()
        try:
            yield stream
        finally:
            del self._streams[stream]

    def end(self) -> None:
        """End them all, so that the server can shut down."""
        self._is_ending = True
        for stream in self._streams:
            stream.end()

    async def wake(self, user_id: str) -> None:
        """Look at once whether the keys of the person's streams still hold."""
        await self._check([stream for stream in self._streams if stream.user_id == user_id])

    async def run(self) -> None:
        """Look again and again whether the keys still hold, until cancelled."""
        while True:
            await anyio.sleep(HEARTBEAT_SECONDS)
            await self._check(list(self._streams))

    async def _check(self, streams: Collection[OpenStream]) -> None:
        if not streams:
            return
        try:
            holders = await self._drive.identity.holders({stream.secret for stream in streams})
        except DriveError:  # logged where it came from; clients come back
            holders = {}
        for stream in streams:
            holder = holders.get(stream.secret)
            if holder is None or (stream.scope is not None and stream.scope not in holder.scopes):
                stream.end()
