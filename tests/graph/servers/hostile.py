"""An MCP server over Streamable HTTP whose answers a test writes to the byte; and what it was sent."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.raw_server import listening, whole

Message = dict[str, Any]
Behaviour = Callable[[Message], "bytes | None"]
JSON = "content-type: application/json"
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
"""The beginning of an answer that ends with the connection."""


def result(message: Message, **fields: Any) -> bytes:
    """Return the answer of a well-behaved server."""
    return whole(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": fields}).encode(), JSON)


def text(message: Message, said: str) -> bytes:
    """Return the result of a tool."""
    return result(message, content=[{"type": "text", "text": said}])


@dataclass
class HostileHttp:
    """`behaviours` by method take the place of what is right. One that returns None leaves the client waiting.

    `heads` are the requests' heads, `messages` what was in them. `endless` follows an answer as long as anyone reads.
    """

    url: str = ""
    port: int = 0
    behaviours: dict[str, Behaviour] = field(default_factory=dict[str, Behaviour])
    heads: list[str] = field(default_factory=list[str])
    messages: list[Message] = field(default_factory=list[Message])
    tools: list[Message] = field(default_factory=list[Message])
    endless: bytes = b""
    sent: int = 0
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def wait_for(self, method: str, count: int = 1) -> Message:
        """Wait for so many messages with this method, and return the last one."""
        async with self.arrived:
            while len(found := self.calls(method)) < count:
                await self.arrived.wait()
        return found[-1]

    def calls(self, method: str = "tools/call") -> list[Message]:
        """Return the messages with this method."""
        return [message for message in self.messages if message.get("method") == method]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._answer(reader, writer):
                pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        length = next((line for line in head.lower().split("\r\n") if line.startswith("content-length:")), ":0")
        body = await reader.readexactly(int(length.partition(":")[2]))
        answer = self._reply(json.loads(body)) if body else self._without_body(head)
        async with self.arrived:
            self.arrived.notify_all()
        if answer is None:
            await reader.read()
            return False
        writer.write(answer)
        await writer.drain()
        if not answer.startswith(EVENTS) and b"content-length" in answer:
            return True
        while self.endless and not reader.at_eof():
            writer.write(self.endless)
            self.sent += len(self.endless)
            await writer.drain()
        return False

    def _without_body(self, head: str) -> bytes | None:
        behaviour = self.behaviours.get(head.partition(" ")[0])
        return behaviour({}) if behaviour else whole(b"", status="405 Method Not Allowed")

    def _reply(self, message: Message) -> bytes | None:
        self.messages.append(message)
        if behaviour := self.behaviours.get(message.get("method", "")):
            return behaviour(message)
        if "id" not in message or "method" not in message:
            return whole(b"", status="202 Accepted")
        return getattr(self, message["method"].replace("/", "_"))(message)

    def initialize(self, message: Message) -> bytes:
        """Introduce the server."""
        about = {"serverInfo": {"name": "hostile", "version": "1"}, "capabilities": {"tools": {"listChanged": True}}}
        answer = result(message, protocolVersion=message["params"]["protocolVersion"], **about)
        return answer.replace(b"content-type", b"mcp-session-id: hostile-1\r\ncontent-type", 1)

    def tools_list(self, message: Message) -> bytes:
        """List the tools."""
        return result(message, tools=self.tools)

    def tools_call(self, message: Message) -> bytes:
        """Do what a tool does: nothing."""
        return text(message, "done")

    def ping(self, message: Message) -> bytes:
        """Be alive."""
        return result(message)


@asynccontextmanager
async def hostile_http() -> AsyncGenerator[HostileHttp]:
    """Serve on a free port of this machine until the end of the block."""
    served = HostileHttp()
    async with listening(served.serve, limit=1 << 22) as server:
        served.port = server.sockets[0].getsockname()[1]
        served.url = f"http://127.0.0.1:{served.port}/mcp"
        yield served
