"""A response of server-sent events, which knows whether its client has gone."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class ClientStream(Response):
    """Streams pieces of text. `on_end` is called when all are sent, `on_gone` if the client goes away before."""

    media_type = "text/event-stream"

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        headers: Mapping[str, str],
        *,
        media_type: str | None = None,
        on_gone: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        super().__init__(headers=dict(headers), media_type=media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._on_gone = on_gone
        self._on_end = on_end
        self._is_over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the pieces end or the client is gone."""
        del scope
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_when_gone, receive, group.cancel_scope)
                await self._send(send)
                self._is_over = True
                group.cancel_scope.cancel()
        finally:
            (self._on_end if self._is_over else self._on_gone)()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def do_nothing() -> None:
    """Do nothing at the end of a stream that is no run."""


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
