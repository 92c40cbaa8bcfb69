"""MCP over HTTP by hand, for what the SDK's client does not do: odd requests, broken connections, slow readers."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from mcp.server.fastmcp import Context

from tests.handshake import HEADERS, INTRODUCTION, VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    import httpx

    from drive_server.drive import Drive
    from tests.drive_server.http.service import Service

AnyContext = Context[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    id: str
    data: str
    retry: str

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message in it."""
        return json.loads(self.data)


@dataclass(slots=True)
class Wire:
    """One session. Every request goes out as it is told to."""

    client: httpx.AsyncClient
    session_id: str = ""
    ids: Iterator[int] = field(default_factory=lambda: count(100))
    path: str = "/mcp"

    def headers(self, **more: str) -> dict[str, str]:
        """Return what every request of the session carries."""
        session = {"Mcp-Session-Id": self.session_id} if self.session_id else {}
        return {**HEADERS, "MCP-Protocol-Version": VERSION, **session, **more}

    async def open(self) -> httpx.Response:
        """Send `initialize`, and what follows on it."""
        response = await self.post("initialize", INTRODUCTION)
        self.session_id = response.headers.get("mcp-session-id", "")
        if self.session_id:
            await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return response

    async def send(self, message: Any, **headers: str) -> httpx.Response:
        """POST a message, or whatever else."""
        return await self.client.post(self.path, json=message, headers=self.headers(**headers))

    def request(self, method: str, params: dict[str, Any] | None = None, number: Any = None) -> dict[str, Any]:
        """Return a request with an id of its own."""
        named = next(self.ids) if number is None else number
        return {"jsonrpc": "2.0", "id": named, "method": method} | ({"params": params} if params is not None else {})

    async def post(self, method: str, params: dict[str, Any] | None = None, number: Any = None) -> httpx.Response:
        """POST a request and read its answer to the end."""
        return await self.send(self.request(method, params, number))

    async def call(self, tool: str, number: Any = None, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the message that answers."""
        response = await self.post("tools/call", {"name": tool, "arguments": arguments}, number)
        assert response.status_code == 200, response.text
        return answer_of(response)

    @asynccontextmanager
    async def stream(self, after: str = "") -> AsyncGenerator[AsyncIterator[Event]]:
        """GET the session's own stream, or the one of an event, from there on."""
        headers = self.headers(**({"Last-Event-ID": after} if after else {}))
        async with self.client.stream("GET", "/mcp", headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            yield _events(response)

    @asynccontextmanager
    async def calling(self, tool: str, number: Any = None, **arguments: Any) -> AsyncGenerator[AsyncIterator[Event]]:
        """Call a tool and yield what comes as it comes."""
        request = self.request("tools/call", {"name": tool, "arguments": arguments}, number)
        async with self.client.stream("POST", "/mcp", json=request, headers=self.headers()) as response:
            assert response.status_code == 200, await response.aread()
            yield _events(response)


@asynccontextmanager
async def wired(service: Service, key: str | None = None) -> AsyncGenerator[Wire]:
    """Open a session by hand."""
    async with service.client(key) as client:
        wire = Wire(client)
        response = await wire.open()
        assert response.status_code == 200, response.text
        yield wire


def answer_of(response: httpx.Response) -> dict[str, Any]:
    """Return the message that answers: it comes by itself, or as the last of a stream."""
    if response.headers["content-type"].startswith("application/json"):
        return response.json()
    return events_of(response.text)[-1].message


def events_of(text: str) -> list[Event]:
    """Return the events of a stream that was read to its end, those without a message left out."""
    return [event for part in text.split("\n\n") if (event := _event(part)).data]


async def _events(response: httpx.Response) -> AsyncIterator[Event]:
    lines: list[str] = []
    async for line in response.aiter_lines():
        if line:
            lines.append(line)
            continue
        yield _event("\n".join(lines))
        lines.clear()


def _event(part: str) -> Event:
    fields = dict(line.split(": ", 1) for line in part.split("\n") if ": " in line)
    return Event(fields.get("id", ""), fields.get("data", ""), fields.get("retry", ""))


class Gate:
    """Tools of a server that wait to be let on, and count what became of their calls."""

    def __init__(self, drive: Drive) -> None:
        self.entered = asyncio.Semaphore(0)
        self.is_open = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.passed = 0
        for tool in (self.wait_at_the_gate, self.let_go_and_wait, self.talk):
            drive.server.add_tool(tool)

    async def wait_at_the_gate(self) -> str:
        """Wait until the gate is opened."""
        self.entered.release()
        try:
            await self.is_open.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        self.passed += 1
        return "through"

    async def let_go_and_wait(self, ctx: AnyContext) -> str:
        """Close the connection of the call, then wait until the gate is opened."""
        await ctx.info("before")
        await ctx.close_sse_stream()
        await ctx.info("meanwhile")
        return await self.wait_at_the_gate()

    async def talk(self, lines: int, ctx: AnyContext) -> str:
        """Say so many lines of 1,000 characters."""
        for number in range(lines):
            await ctx.info(f"{number} " + "x" * 1000)
        return "done"
