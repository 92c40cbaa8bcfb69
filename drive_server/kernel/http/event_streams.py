"""Streams of server-sent events that do not end by themselves: they end with the key, and with the server."""

from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final

import anyio
from fastapi import Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from drive_server.kernel.access import Principal, Scope
from drive_server.kernel.errors import DriveError
from drive_server.kernel.http.credentials import secret_of_request

HEARTBEAT: Final = b": heartbeat\n\n"
HEARTBEAT_SECONDS: Final = 25.0
"""Proxies close connections that are silent for 30 to 60 s; each heartbeat of each stream is a write to its socket."""
LOOK_SECONDS: Final = 5.0
Holders = Callable[[Collection[str]], Awaitable[Mapping[str, Principal]]]
"""Returns whom each of the secrets belongs to; those that hold no more are left out."""
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
    """A stream while its key holds, as it did at `looked_at` (monotonic seconds). For one task."""

    def __init__(self, user_id: str, secret: str, scope: Scope | None) -> None:
        self.user_id = user_id
        self.secret = secret
        self.scope = scope
        self.is_open = True
        self.looked_at = monotonic()
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
    """The open streams. They end by `end`, and within `LOOK_SECONDS` after their key did.

    The keys of all of them are looked up in one step, each once.
    """

    def __init__(self, holders: Holders) -> None:
        self._holders = holders
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
            await anyio.sleep(LOOK_SECONDS)
            await self._check(list(self._streams))

    async def _check(self, streams: Collection[OpenStream]) -> None:
        if not streams:
            return
        try:
            holders = await self._holders({stream.secret for stream in streams})
        except DriveError:  # logged where it came from; clients come back
            holders = {}
        now = monotonic()
        for stream in streams:
            stream.looked_at = now
            holder = holders.get(stream.secret)
            if holder is None or (stream.scope is not None and stream.scope not in holder.scopes):
                stream.end()
