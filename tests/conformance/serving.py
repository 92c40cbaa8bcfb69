"""The drive over HTTP as the conformance suite can reach it: it has no way to send a key."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.drive_server.http.service import running

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service


class KeyAdded:
    """Stands before the application and gives each request the key, once it is known."""

    def __init__(self) -> None:
        self.key = ""
        self._application: ASGIApp | None = None

    def before(self, application: ASGIApp) -> ASGIApp:
        """Stand before this application."""
        self._application = application
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        assert self._application is not None
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {self.key}".encode())]
        await self._application(scope, receive, send)


@asynccontextmanager
async def serving_without_key(settings: DriveSettings) -> AsyncGenerator[Service]:
    """Serve a drive whose clients need no key: every request is the owner's."""
    doorman = KeyAdded()
    async with running(settings, before=doorman.before) as service:
        doorman.key = service.token
        yield service
