"""One stream of a session on the wire: server-sent events, or JSON for an answer that comes soon and alone."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import anyio
from starlette.types import Message, Receive, Send

from drive_server.http.streamable_http.event_store import EventLog, Stream
from drive_server.kernel.http.event_streams import HEARTBEAT_SECONDS, OpenStream

RETRY_MILLISECONDS: Final = 500
FIRST_WAIT_SECONDS: Final = 0.2
MAX_PLAIN_BYTES: Final = 1_048_576
STALLED_SECONDS: Final = 30.0
PING: Final = b": ping\n\n"
EVENT_STREAM: Final = "text/event-stream"
JSON_TYPE: Final = "application/json"

Allowed = Callable[[], Awaitable[bool]]


class EventStreamResponse:
    """Sends the events of a stream.

    A primed one begins with an event without data, from which the client can resume (SEP-1699). Events that come soon
    go out with it; where `can_be_json`, an answer that comes soon and alone goes out as JSON, unless it is
    so large that its client should be able to resume. A client that takes nothing for half a minute is disconnected;
    `EventLog` buffers the events that it missed. The response ends with `held`, and calls `allowed` before it sends any
    event.
    """

    def __init__(
        self,
        log: EventLog,
        stream: Stream,
        session_id: str,
        *,
        is_primed: bool,
        can_be_json: bool = False,
        held: OpenStream | None = None,
        allowed: Allowed | None = None,
    ) -> None:
        self._log = log
        self._stream = stream
        self._session_id = session_id.encode()
        self._is_primed = is_primed
        self._can_be_json = can_be_json
        self._held = held
        self._allowed = allowed

    async def send_all(self, receive: Receive, send: Send, after: int | None = None) -> None:
        """Send present and coming events, from after the event of this number or from the first unread one."""
        reader = self._stream.attach(after)
        start = self._start()
        try:
            with anyio.move_on_after(FIRST_WAIT_SECONDS):
                await self._wait_for_news(reader)
            if self._is_json():
                await self._send_json(send)
                return
            await send(self._head(EVENT_STREAM, (b"x-accel-buffering", b"no")))
            if self._stream.is_complete:
                await send(body_part(start + self._taken(), more=False))
                return
            async with anyio.create_task_group() as group:
                group.start_soon(until_disconnected, receive, group.cancel_scope)
                await self._follow(reader, start, send)
                group.cancel_scope.cancel()
        finally:
            self._stream.detach(reader)

    def _is_json(self) -> bool:
        answer = self._stream.sole
        return self._can_be_json and answer is not None and len(answer.data) <= MAX_PLAIN_BYTES

    async def _send_json(self, send: Send) -> None:
        data = b"".join(event.data for event in self._stream.take())
        self._log.forget(self._stream)
        await send(self._head(JSON_TYPE, (b"content-length", str(len(data)).encode())))
        await send(body_part(data, more=False))

    def _head(self, media_type: str, header: tuple[bytes, bytes]) -> Message:
        headers = [
            (b"content-type", media_type.encode()),
            (b"cache-control", b"no-store, no-transform"),
            (b"mcp-session-id", self._session_id),
            header,
        ]
        return {"type": "http.response.start", "status": 200, "headers": headers}

    async def _follow(self, reader: int, unsent: bytes, send: Send) -> None:
        while True:
            if not await self._is_allowed():
                await send_part(send, b"", more=False)
                return
            if not self._stream.is_read_by(reader):
                await send_part(send, unsent, more=False)
                return
            is_last = self._stream.is_complete
            unsent += self._taken()
            if not await send_part(send, unsent or PING, more=not is_last) or is_last:
                return
            unsent = b""
            with self._waiting(), anyio.move_on_after(HEARTBEAT_SECONDS):
                await self._wait_for_news(reader)

    async def _is_allowed(self) -> bool:
        if self._held is not None and not self._held.is_open:
            return False
        return self._allowed is None or not self._stream.unread or await self._allowed()

    def _waiting(self) -> AbstractContextManager[None]:
        return self._held.waiting() if self._held is not None else nullcontext()

    async def _wait_for_news(self, reader: int) -> None:
        stream = self._stream
        while not stream.unread and not stream.is_complete and stream.is_read_by(reader):
            await stream.wait()

    def _start(self) -> bytes:
        if not self._is_primed:
            return b""
        return f"id: {self._log.id_to_start(self._stream)}\nretry: {RETRY_MILLISECONDS}\ndata: \n\n".encode()

    def _taken(self) -> bytes:
        return b"".join(
            b"event: message\nid: %b\ndata: %b\n\n" % (self._log.id_of(self._stream, event).encode(), event.data)
            for event in self._stream.take()
        )


async def until_disconnected(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel the scope when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def send_part(send: Send, data: bytes, *, more: bool) -> bool:
    """Send, and return whether the client took it."""
    with anyio.move_on_after(STALLED_SECONDS):
        await send(body_part(data, more=more))
        return True
    return False


def body_part(data: bytes, *, more: bool) -> Message:
    """Return a part of a response's body."""
    return {"type": "http.response.body", "body": data, "more_body": more}
