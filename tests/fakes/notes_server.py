"""A person's MCP server over Streamable HTTP, on a port of this machine, that behaves as a test says."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import (
    CallToolResult,
    ContentBlock,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.applications import Starlette
from starlette.routing import Mount

from graph.servers.definition import ServerDefinition
from graph.servers.pins import hash_of

READS = ToolAnnotations(readOnlyHint=True)
START_SECONDS = 10


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    """Return a JSON schema of strings, and other properties as given."""
    texts = {name: {"type": "string"} for name in required}
    return {"type": "object", "properties": {**texts, **properties}, "required": list(required)}


@dataclass
class NotesServer:
    """`tools` can be changed at any time; `calls` lists what arrived.

    Calls wait while the `gate` is closed, lists of tools while the `list_gate` is. A call asks the person `asks`, one
    after the other, and `heard` has their answers; or it is refused until they have opened the addresses `required`.
    """

    tools: list[Tool] = field(default_factory=list[Tool])
    answer: str = "noted"
    fails: bool = False
    meta: dict[str, Any] | None = None
    data: dict[str, Any] | None = None
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    gate: threading.Event = field(default_factory=threading.Event)
    list_gate: threading.Event = field(default_factory=threading.Event)
    called: threading.Event = field(default_factory=threading.Event)
    asks: list[ElicitRequestParams] = field(default_factory=list[ElicitRequestParams])
    heard: list[ElicitResult] = field(default_factory=list[ElicitResult])
    required: list[ElicitRequestURLParams] = field(default_factory=list[ElicitRequestURLParams])
    port: int = 0

    def __post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Behave as at the beginning."""
        self.tools = [
            Tool(name="note", title="Note down", description="Write it.", inputSchema=schema("text"), annotations=READS)
        ]
        self.answer, self.fails, self.meta, self.data = "noted", False, None, None
        self.calls.clear()
        self.asks, self.required = [], []
        self.heard.clear()
        self.called.clear()
        self.gate.set()
        self.list_gate.set()

    def start(self) -> Self:
        """Listen on a free port."""
        app = Starlette(routes=[Mount("/", self._manager().handle_request)], lifespan=self._lifespan)
        self._http = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1))
        self._thread = threading.Thread(target=self._http.run, daemon=True)
        self._thread.start()
        for _ in range(START_SECONDS * 100):
            if self._http.started:
                break
            self._thread.join(0.01)
        self.port = self._http.servers[0].sockets[0].getsockname()[1]
        return self

    def stop(self) -> None:
        """End it, with what it is doing."""
        self.gate.set()
        self.list_gate.set()
        self._http.should_exit = True
        self._thread.join()

    def definition(self, **fields: Any) -> ServerDefinition:
        """Return its definition, by a person who has seen all its tools."""
        pins = {tool.name: hash_of(tool) for tool in self.tools}
        named: dict[str, Any] = {"id": "s1", "user_id": "u1", "name": "notes", "timeout": 10.0, "pins": pins, **fields}
        return ServerDefinition(type="streamableHttp", base_url=f"http://127.0.0.1:{self.port}/mcp", **named)

    def _manager(self) -> StreamableHTTPSessionManager:
        server = Server[Any]("notes")

        @server.list_tools()
        async def list_tools() -> list[Tool]:  # pyright: ignore[reportUnusedFunction] - the decorator takes it
            await asyncio.to_thread(self.list_gate.wait)
            return self.tools

        @server.call_tool(validate_input=False)
        async def call_tool(name: str, args: dict[str, Any]) -> CallToolResult:  # pyright: ignore[reportUnusedFunction]
            self.calls.append((name, args))
            self.called.set()
            await asyncio.to_thread(self.gate.wait)
            if self.required:
                raise UrlElicitationRequiredError(self.required)
            for question in self.asks:
                self.heard.append(await self._ask(server, question))
            text: list[ContentBlock] = [TextContent(type="text", text=self.answer)]
            return CallToolResult(content=text, structuredContent=self.data, isError=self.fails, _meta=self.meta)

        self._sessions = StreamableHTTPSessionManager(server)
        return self._sessions

    async def _ask(self, server: Server[Any], question: ElicitRequestParams) -> ElicitResult:
        context = server.request_context
        if isinstance(question, ElicitRequestURLParams):
            asked = question.message, question.url, question.elicitationId
            return await context.session.elicit_url(*asked, related_request_id=context.request_id)
        form = question.message, question.requestedSchema
        return await context.session.elicit_form(*form, related_request_id=context.request_id)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        del app
        async with self._sessions.run():
            yield
