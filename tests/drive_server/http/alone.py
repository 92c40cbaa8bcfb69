"""Requests of MCP 2026-07-28 by hand: each by itself, with its headers; answers are checked against the types."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from mcp_types import methods

from tests.drive_server.http.wire import answer_of
from tests.handshake import HEADERS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    import httpx

    from tests.drive_server.http.service import Service

REVISION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
ASKS: dict[str, Any] = {"elicitation": {"form": {}}}
TASKS: dict[str, Any] = {"extensions": {f"{PREFIX}tasks": {}}}
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NOT_IN_THE_CORE = ("tasks/",)
YES = {"action": "accept", "content": {"confirm": True}}
NO = {"action": "decline"}


@dataclass(slots=True)
class Alone:
    """A client that sends single requests. `capabilities` go along with each."""

    client: httpx.AsyncClient
    capabilities: dict[str, Any] = field(default_factory=dict[str, Any])
    meta: dict[str, Any] = field(default_factory=dict[str, Any])
    ids: Iterator[int] = field(default_factory=lambda: count(1))
    path: str = "/mcp"

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Return a request with the envelope that each has."""
        envelope = {
            f"{PREFIX}protocolVersion": REVISION,
            f"{PREFIX}clientInfo": {"name": "alone", "version": "1"},
            f"{PREFIX}clientCapabilities": self.capabilities,
        }
        meta = {**envelope, **self.meta, **params.pop("_meta", {})}
        return {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": {**params, "_meta": meta}}

    def headers(self, request: dict[str, Any]) -> dict[str, str]:
        """Return the headers that go with a request."""
        method, params = request["method"], request["params"]
        headers = {**HEADERS, "MCP-Protocol-Version": REVISION, "Mcp-Method": method}
        if name := NAMED.get(method):
            headers["Mcp-Name"] = str(params.get(name, ""))
        return headers

    async def send(self, request: dict[str, Any], **headers: str | None) -> httpx.Response:
        """POST a request; a header that is None is left out."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in {**self.headers(request), **named}.items() if value is not None}
        return await self.client.post(self.path, json=request, headers=sent)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request, which has the form that the protocol's types want."""
        message = await self.message(method, **params)
        assert "result" in message, message
        return message["result"]

    async def error(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the error that answers a request."""
        message = await self.message(method, **params)
        assert "error" in message, message
        return message["error"]

    async def message(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the message that answers a request."""
        request = self.request(method, **params)
        response = await self.send(request)
        message = answer_of(response)
        assert message["id"] == request["id"]
        if "result" in message:
            require_form(method, message["result"])
        return message

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a call of a tool."""
        return await self.ask("tools/call", name=tool, arguments=arguments)

    async def again(self, asked: dict[str, Any], answer: Any, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the message that answers the same call, with the answer of the person to what was asked."""
        state = {"requestState": asked["requestState"], "inputResponses": {"confirm": answer}}
        return await self.message("tools/call", name=tool, arguments=arguments, **state)

    @asynccontextmanager
    async def listening(self, **wishes: Any) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
        """Open a stream of notifications, and yield its messages as they come."""
        request = self.request("subscriptions/listen", notifications=wishes)
        async with self.client.stream("POST", "/mcp", json=request, headers=self.headers(request)) as response:
            assert response.status_code == 200, await response.aread()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield messages_of(response)


async def messages_of(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """Yield the messages of a stream of events."""
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def require_form(method: str, result: dict[str, Any]) -> None:
    """Require that a result has the form of this revision; the extension of tasks is not in the types."""
    if method.startswith(NOT_IN_THE_CORE) or result["resultType"] == "task":
        return
    methods.validate_server_result(method, REVISION, result)


@asynccontextmanager
async def alone(service: Service, key: str | None = None, /, **capabilities: Any) -> AsyncGenerator[Alone]:
    """Yield a client with these capabilities."""
    async with service.client(key) as client:
        yield Alone(client, capabilities)
