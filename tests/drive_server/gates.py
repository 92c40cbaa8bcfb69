"""Gates: places where work stands still until a test lets it go on, or sees it end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp import ClientSession


class Gate:
    """Whoever calls it waits there. `reached` says that somebody does, `left` that they were cancelled there."""

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.left = anyio.Event()
        self._opened = anyio.Event()

    def open(self) -> None:
        """Let everybody through from now on."""
        self._opened.set()

    async def __call__(self) -> None:
        """Wait at the gate."""
        self.reached.set()
        try:
            await self._opened.wait()
        except anyio.get_cancelled_exc_class():
            self.left.set()
            raise

    def after(self, work: Callable[..., Awaitable[Any]]) -> Any:
        """Return the same work with the gate at its end."""

        async def gated(*args: Any, **kwargs: Any) -> Any:
            result = await work(*args, **kwargs)
            await self()
            return result

        return gated


def next_id(session: ClientSession) -> int:
    """Return the id of the request that the session sends next."""
    return session._request_id  # pyright: ignore[reportPrivateUsage] - nothing public tells


async def cancel(session: ClientSession, request_id: int) -> None:
    """Tell the server that the request is cancelled."""
    params = CancelledNotificationParams(requestId=request_id, reason="Not wanted any more.")
    await session.send_notification(ClientNotification(CancelledNotification(params=params)))
