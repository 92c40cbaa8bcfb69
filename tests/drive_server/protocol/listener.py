"""A client that listens: it keeps what it is told besides answers, and waits for it without a clock."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import (
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    ServerNotification,
)
from pydantic import AnyUrl

from drive_server.kernel.context import current_principal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

PATIENCE = 20
END = "test://end"
END_REACHED = ServerNotification(ResourceUpdatedNotification(params=ResourceUpdatedNotificationParams(uri=AnyUrl(END))))


class Listener:
    """Hears notifications. Give it to a session as its message handler."""

    def __init__(self) -> None:
        self.updated: list[str] = []
        self.lists = 0
        self.messages: list[LoggingMessageNotificationParams] = []
        self._heard = anyio.Event()

    async def __call__(self, message: Any) -> None:
        """Take note of a message."""
        if isinstance(message, ServerNotification):
            match message.root:
                case ResourceUpdatedNotification(params=params):
                    self.updated.append(str(params.uri))
                case ResourceListChangedNotification():
                    self.lists += 1
                case LoggingMessageNotification(params=params):
                    self.messages.append(params)
                case _:
                    pass
        self._heard.set()
        self._heard = anyio.Event()

    async def until(self, holds: Callable[[Listener], bool]) -> None:
        """Wait until something was heard that makes this hold."""
        with anyio.fail_after(PATIENCE):
            while not holds(self):
                await self._heard.wait()


async def settled(drive: Drive, *listeners: Listener) -> None:
    """Wait until all that was recorded before has been told, and has arrived."""
    await drive.feed.catch_up()
    for session in drive.server.sessions:
        session.post(END, END_REACHED)
    for listener in listeners:
        await listener.until(lambda heard: END in heard.updated)
        listener.updated.remove(END)


@asynccontextmanager
async def listening(drive: Drive, actor: Actor) -> AsyncGenerator[tuple[ClientSession, Listener]]:
    """Open a session inside this process that listens. Enter and leave it within one test."""
    listener = Listener()
    token = current_principal.set(actor.principal)
    try:
        async with create_connected_server_and_client_session(drive.server, message_handler=listener) as session:
            yield session, listener
    finally:
        current_principal.reset(token)
