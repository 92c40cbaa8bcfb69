"""An MCP server in memory whose tools answer what a test says; it records each call with its `_meta`."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
from mcp import ClientSession
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import request_ctx
from mcp.shared.memory import create_client_server_memory_streams
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations

from drive_server.connect import META_FOREIGN, InProcessSession
from drive_server.mcp.server import GROUPS
from graph.context import RunContext

OPEN_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
RECORDS = {spec.name: spec for group in GROUPS for spec in group.specs()}


@dataclass(frozen=True)
class SeenCall:
    name: str
    args: dict[str, Any]
    meta: dict[str, Any]


Handler = Callable[[SeenCall], "CallToolResult | Awaitable[CallToolResult]"]


@dataclass
class ScriptedServer:
    """Tools by name with their handlers; `sessions` counts what was opened, `live` what is open.

    A tool with the name of one of the drive's publishes that one's record. Unless `is_foreign`, sessions are those of a
    drive in this process.
    """

    tools: dict[str, tuple[Tool, Handler]] = field(default_factory=dict[str, "tuple[Tool, Handler]"])
    calls: list[SeenCall] = field(default_factory=list[SeenCall])
    sessions: int = 0
    live: list[ClientSession] = field(default_factory=list[ClientSession])
    breaks_on_open: Exception | None = None
    is_foreign: bool = False

    def add(
        self,
        name: str,
        handler: Handler,
        schema: Mapping[str, Any] | None = None,
        annotations: ToolAnnotations | None = None,
    ) -> None:
        """Offer a tool."""
        meta = RECORDS[name].meta if name in RECORDS else None
        tool = Tool(
            name=name,
            description=name,
            inputSchema=dict(schema or OPEN_SCHEMA),
            annotations=annotations,
            _meta=meta,
        )
        self.tools[name] = (tool, handler)

    def called(self, name: str, *, dry: bool | None = None) -> list[SeenCall]:
        """Return the calls of a tool; `dry` selects dry runs or real ones."""
        return [
            call
            for call in self.calls
            if call.name == name and dry in {None, bool(call.meta.get("drive-agent/dry-run"))}
        ]

    @asynccontextmanager
    async def open_session(self, _who: RunContext) -> AsyncGenerator[ClientSession]:
        """Connect a client; what a pool of connections takes."""
        if self.breaks_on_open:
            raise self.breaks_on_open
        async with self._connected() as session:
            self.sessions += 1
            self.live.append(session)
            try:
                yield session
            finally:
                self.live.remove(session)

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[ClientSession]:
        server, kind = self._server(), ClientSession if self.is_foreign else InProcessSession
        async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
            group.start_soon(partial(server.run, *theirs, server.create_initialization_options()))
            async with kind(*ours) as session:
                await session.initialize()
                yield session
            group.cancel_scope.cancel()

    async def hang_up(self) -> None:
        """Close the wire of every session, as a server does that goes away."""
        for session in self.live:
            await session._write_stream.aclose()  # pyright: ignore[reportPrivateUsage]
            await session._read_stream.aclose()  # pyright: ignore[reportPrivateUsage]

    def reports_progress(self, name: str, steps: Sequence[float]) -> None:
        """Offer a tool that tells its progress in these steps before it answers."""

        async def handler(_call: SeenCall) -> CallToolResult:
            context = request_ctx.get()
            token = context.meta.progressToken if context.meta else None
            for step in steps:
                await context.session.send_progress_notification(token or "", step)
            return answer("at last")

        self.add(name, handler)

    def _server(self) -> Server[Any]:
        server: Server[Any] = Server("scripted")

        async def list_tools() -> list[Tool]:
            return [tool for tool, _ in self.tools.values()]

        async def call_tool(name: str, args: dict[str, Any]) -> CallToolResult:
            meta = server.request_context.meta
            seen = SeenCall(name, args, dict(meta.model_extra or {}) if meta else {})
            self.calls.append(seen)
            result = self.tools[name][1](seen)
            answered = result if isinstance(result, CallToolResult) else await result
            if not self.is_foreign:
                answered.meta = {META_FOREIGN: [], **(answered.meta or {})}
            return answered

        server.list_tools()(list_tools)
        server.call_tool(validate_input=False)(call_tool)
        return server


def answer(text: str = "Done.", data: Mapping[str, Any] | None = None, **meta: Any) -> CallToolResult:
    """Return a result that went well. `meta` keys get the prefix `drive-agent/` and dashes."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structuredContent=dict(data or {}),
        _meta={f"drive-agent/{key.replace('_', '-')}": value for key, value in meta.items()},
    )


def refusal(code: str, message: str = "No.", **details: Any) -> CallToolResult:
    """Return a refusal as the drive gives it."""
    return CallToolResult(
        content=[TextContent(type="text", text=f"{code}: {message} Try something else.")],
        structuredContent={"code": code, "message": message, "hint": "Try something else.", "details": details},
        isError=True,
    )
