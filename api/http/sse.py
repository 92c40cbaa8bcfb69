"""Server-sent events: one ASGI message for each batch of frames, a comment as heartbeat."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.events.frames import Frame

HEARTBEAT = b": heartbeat\n\n"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
]


def encode_frames(frames: Sequence[Frame]) -> bytes:
    """Return frames as the text of an event stream (WHATWG HTML, 9.2); a heartbeat for no frames."""
    if not frames:
        return HEARTBEAT
    return b"".join(b"id: %d\nevent: %s\ndata: %s\n\n" % (f.seq, f.type.encode(), f.data) for f in frames)


class EventStream(Response):
    """Streams a run's frames. A client that goes away ends the response and nothing else.

    `encode` turns a batch into bytes, where it is one of something else than frames.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        batches: AsyncGenerator[Any],
        headers: Sequence[tuple[str, str]] = (),
        encode: Callable[[Any], bytes] = encode_frames,
    ) -> None:
        super().__init__()
        self._batches = batches
        self._encode = encode
        self.raw_headers = [*HEADERS, *((name.encode(), value.encode()) for name, value in headers)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the frames end or the client is gone."""
        del scope
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_when_gone, receive, group.cancel_scope)
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with aclosing(self._batches) as batches:
                async for frames in batches:
                    await send({"type": "http.response.body", "body": self._encode(frames), "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            group.cancel_scope.cancel()


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
