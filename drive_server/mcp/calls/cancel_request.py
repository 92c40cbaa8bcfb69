"""Requests of ours to a host that are over before it answered them."""

from typing import Final

import anyio
from mcp.server.session import ServerSession
from mcp.types import CancelledNotification, CancelledNotificationParams, RequestId, ServerNotification

WITHDRAWN_WITHIN_SECONDS: Final = 0.5


async def withdraw(session: ServerSession, asked: RequestId, request_id: RequestId | None) -> None:
    """Tell the host, if it listens, that nobody waits for the answer any more; also while the call is cancelled."""
    params = CancelledNotificationParams(requestId=asked, reason="The question is over.")
    notification = ServerNotification(CancelledNotification(params=params))
    with anyio.move_on_after(WITHDRAWN_WITHIN_SECONDS, shield=True):
        try:
            await session.send_notification(notification, request_id)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the host is gone, and so is its question
