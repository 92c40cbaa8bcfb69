"""The drive's HTTP service on a real socket, in this process."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import uvicorn

from drive_server.http.app import create_app
from drive_server.transports.runner import KEEP_ALIVE_SECONDS
from tests.prompt_server import PromptServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from starlette.types import ASGIApp

    from drive_server.drive import Drive
    from drive_server.http.streamable_http.endpoint import McpEndpoint
    from drive_server.kernel.http.event_streams import OpenStreams
    from drive_server.kernel.settings import DriveSettings


class Server(PromptServer):
    """Says when it has started, and leaves the test runner's signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does."""
        await super().startup(sockets)
        self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: its address, the local access token, and what is behind it."""

    url: str
    token: str
    drive: Drive
    streams: OpenStreams
    mcp: McpEndpoint

    def client(self, key: str | None = None) -> httpx.AsyncClient:
        """Return a client with the key, by default the local access token; an empty key sends none."""
        secret = self.token if key is None else key
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=20)

    async def add_person(self, email: str) -> str:
        """Make an account and return its key."""
        async with self.client() as owner:
            response = await owner.post("/api/users", json={"email": email})
        assert response.status_code == httpx.codes.CREATED, response.text
        return response.json()["key"]


@asynccontextmanager
async def running(
    settings: DriveSettings, *, before: Callable[[ASGIApp], ASGIApp] = lambda app: app
) -> AsyncGenerator[Service]:
    """Serve a drive with these settings on a free port; `before` may put something before the application."""
    app = create_app(settings)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        before(app),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        # As it is in production: a client that uses a connection just as it is closed for idleness sees an error.
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    server = Server(config)
    task = asyncio.create_task(server.serve([listener]))
    up = asyncio.create_task(server.is_up.wait())
    try:
        await asyncio.wait({task, up}, return_when=asyncio.FIRST_COMPLETED)
        assert server.started, "the service did not start"
        port = listener.getsockname()[1]
        # With a database of several services, nobody has a token unless it is asked for.
        _, token = await app.state.drive.identity.ensure_local_user()
        yield Service(
            f"http://127.0.0.1:{port}",
            token,
            app.state.drive,
            app.state.open_streams,
            app.state.mcp,
        )
    finally:
        server.should_exit = True
        up.cancel()
        await task
        listener.close()
