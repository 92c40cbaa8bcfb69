"""Progress of a call, sent to the host that asked for it without holding up the work."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, Final

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.session import ServerSession
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import (
    JSONRPCMessage,
    JSONRPCNotification,
    ProgressNotification,
    ProgressNotificationParams,
    ProgressToken,
    RequestId,
    ServerNotification,
)

from drive_server.mcp.sdk import write_stream

PAUSE_SECONDS: Final = 0.1
LAST_ATTEMPTS: Final = 10

SendProgress = Callable[[int, int], Awaitable[bool]]


class CallProgress:
    """Sends a call's progress, at most ten times a second and only when it grows; a dry run `is_muted`."""

    def __init__(self, send: SendProgress | None, clock: Callable[[], float] = monotonic) -> None:
        self.is_muted = False
        self._send = send
        self._clock = clock
        self._last = -1
        self._not_before = 0.0

    async def __call__(self, done: int, total: int) -> None:
        """Take note that `done` of `total` items are done. A cancelled call ends here."""
        await anyio.lowlevel.checkpoint()
        if self._send is None or self.is_muted or total <= 0 or done <= self._last:
            return
        is_last = done >= total
        if not is_last and self._clock() < self._not_before:
            return
        for _ in range(LAST_ATTEMPTS if is_last else 1):
            if await self._send(done, total):
                self._last, self._not_before = done, self._clock() + PAUSE_SECONDS
                return
            await anyio.lowlevel.checkpoint()


def progress_sender(
    session: ServerSession, token: ProgressToken | None, request_id: RequestId | None, **meta: Any
) -> SendProgress | None:
    """Return a function that sends a request's progress with `meta`; None if the request has no token."""
    if token is None:
        return None

    async def send(done: int, total: int) -> bool:
        params = ProgressNotificationParams(progressToken=token, progress=done, total=total)
        if meta:
            params.meta = ProgressNotificationParams.Meta(**meta)
        return await send_without_waiting(session, ServerNotification(ProgressNotification(params=params)), request_id)

    return send


async def send_without_waiting(
    session: ServerSession, notification: ServerNotification, request_id: RequestId | None
) -> bool:
    """Send the notification if the client takes it at this moment; return False if it is busy or gone."""
    content = notification.model_dump(by_alias=True, mode="json", exclude_none=True)
    # Not the session's `send_notification`: it waits, and takes the id 0 for none.
    metadata = None if request_id is None else ServerMessageMetadata(related_request_id=request_id)
    message = SessionMessage(JSONRPCMessage(JSONRPCNotification(jsonrpc="2.0", **content)), metadata)
    stream = write_stream(session)
    try:
        return await _sent_at_once(stream, message)
    except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return False


async def _sent_at_once(stream: Any, message: SessionMessage) -> bool:
    if isinstance(stream, MemoryObjectSendStream):
        stream.send_nowait(message)
        return True
    # One of the drive's own connections. In a scope that is cancelled already it goes as far as it need not wait.
    with anyio.CancelScope() as scope:
        scope.cancel()
        await stream.send(message)
        return True
    return False
