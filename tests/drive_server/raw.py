"""A client that speaks JSON-RPC by hand, inside this process: it sees every message, in its order."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from drive_server.kernel.context import current_principal
from tests.handshake import INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

PATIENCE = 20


class RawClient:
    """Sends messages and receives them."""

    def __init__(self, reading: Any, writing: Any) -> None:
        self.reading = reading
        self.writing = writing

    async def ask(self, request_id: int | str, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a request."""
        await self._send(JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=params))

    async def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        await self._send(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))

    async def answer(self, request_id: int | str, result: dict[str, Any]) -> None:
        """Answer a request of the server."""
        await self._send(JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result))

    async def until_answered(self, *request_ids: int | str) -> list[Any]:
        """Return what comes until all these requests have their answers, the last of these last."""
        messages: list[Any] = []
        waiting = set(request_ids)
        with anyio.fail_after(PATIENCE):
            while waiting:
                message = (await self.reading.receive()).message.root
                messages.append(message)
                if not hasattr(message, "method"):
                    waiting.discard(message.id)
        return messages

    async def call(
        self, request_id: int | str, tool: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None
    ) -> list[Any]:
        """Call a tool and return what comes up to its answer, the answer last."""
        params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        await self.ask(request_id, "tools/call", params)
        return await self.until_answered(request_id)

    async def _send(self, message: JSONRPCRequest | JSONRPCNotification | JSONRPCResponse) -> None:
        await self.writing.send(SessionMessage(JSONRPCMessage(message)))


@asynccontextmanager
async def raw_client(drive: Drive, actor: Actor, **capabilities: Any) -> AsyncGenerator[RawClient]:
    """Open a session and introduce the client. Enter and leave it within one test."""
    token = current_principal.set(actor.principal)
    try:
        async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
            protocol = drive.server.protocol
            group.start_soon(protocol.run, *theirs, protocol.create_initialization_options())
            client = RawClient(*ours)
            await client.ask(0, "initialize", {**INTRODUCTION, "capabilities": capabilities})
            await client.until_answered(0)
            await client.tell("notifications/initialized")
            yield client
            group.cancel_scope.cancel()
    finally:
        current_principal.reset(token)
