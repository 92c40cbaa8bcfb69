"""A proxy before both services: each request goes to the next one, but for those of an MCP session."""

from __future__ import annotations

from contextlib import asynccontextmanager, closing, contextmanager
from itertools import cycle
from socket import socket
from threading import Thread
from typing import TYPE_CHECKING, Final

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse
from starlette.routing import Route

from tests.prompt_server import PromptServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

SESSION: Final = "mcp-session-id"
BODIES: Final = frozenset({"content-length", "transfer-encoding"})
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "MKCOL", "PROPFIND")


class Proxy:
    """Passes requests on. `passed` are the services, by number, that got them."""

    def __init__(self, urls: Sequence[str]) -> None:
        self.passed: list[int] = []
        self._urls = urls
        self._turns = cycle(range(len(urls)))
        self._sessions: dict[str, int] = {}
        self._client: httpx.AsyncClient

    @contextmanager
    def running(self) -> Generator[str]:
        """Serve from a thread, and yield the address."""
        route = Route("/{path:path}", self._pass_on, methods=[*METHODS])
        app = Starlette(routes=[route], lifespan=self._connected)
        with closing(socket()) as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            server = PromptServer(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
            thread = Thread(target=server.run, args=([listening],))
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            server.should_exit = True
            thread.join()

    @asynccontextmanager
    async def _connected(self, app: Starlette) -> AsyncGenerator[None]:
        del app
        async with httpx.AsyncClient(timeout=None) as self._client:  # noqa: S113 - a stream is silent for long
            yield

    async def _pass_on(self, request: Request) -> Response:
        number = self._sessions.get(request.headers.get(SESSION, ""), -1)
        if number < 0:
            number = next(self._turns)
        self.passed.append(number)
        address = httpx.URL(self._urls[number]).copy_with(raw_path=request.scope["raw_path"] + _query(request))
        body = None if BODIES.isdisjoint(request.headers) else request.stream()
        sent = self._client.build_request(request.method, address, headers=request.headers.raw, content=body)
        answer = await self._client.send(sent, stream=True)
        if session := answer.headers.get(SESSION):
            self._sessions[session] = number
        passed = StreamingResponse(answer.aiter_raw(), answer.status_code, background=BackgroundTask(answer.aclose))
        passed.raw_headers = answer.headers.raw
        return passed


def _query(request: Request) -> bytes:
    query: bytes = request.scope["query_string"]
    return b"?" + query if query else b""
