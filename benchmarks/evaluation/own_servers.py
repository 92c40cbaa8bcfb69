"""MCP servers of the people of the tasks, over Streamable HTTP (MCP 2025-11-25): tools that always answer the same.

One HTTP server has all of them, each at a path of its own, and answers every request with JSON, without sessions.
"""

import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks.evaluation.task import Call, ServerTool


class OwnServers:
    """Servers by path. `url` is where they are."""

    def __init__(self) -> None:
        self.url = ""
        self._tools: dict[str, tuple[str, Mapping[str, ServerTool]]] = {}
        self._sent: dict[str, list[Call]] = {}

    def open(self, name: str, tools: Mapping[str, ServerTool]) -> str:
        """Return the address of a new server with these tools."""
        key = uuid4().hex
        self._tools[key], self._sent[key] = (name, tools), []
        return f"{self.url}/{key}/mcp"

    def sent(self, address: str) -> list[Call]:
        """Return the calls, in order, that the server got of tools that change something, as `SERVER.TOOL`."""
        return self._sent[address.split("/")[-2]]

    async def serve(self, request: Request) -> Response:
        """Answer a request of a client."""
        key = request.path_params["key"]
        if request.method != "POST" or key not in self._tools:
            return Response(status_code=405 if key in self._tools else 404)
        message = await request.json()
        if "id" not in message:
            return Response(status_code=202)
        result = self._result(key, message["method"], message.get("params") or {})
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _result(self, key: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        name, tools = self._tools[key]
        if method == "initialize":
            about = {"serverInfo": {"name": name, "version": "1"}, "capabilities": {"tools": {}}}
            return {"protocolVersion": params["protocolVersion"], **about}
        if method == "tools/list":
            return {"tools": [_described(name, tool) for name, tool in tools.items()]}
        if method != "tools/call":
            return {}
        tool = tools.get(params["name"])
        if tool is None:
            return {"content": [{"type": "text", "text": "There is no such tool."}], "isError": True}
        if not tool.reads:
            self._sent[key].append(Call(name=f"{name}.{params['name']}", args=params.get("arguments") or {}))
        return {"content": [{"type": "text", "text": tool.answer}]}


def _described(name: str, tool: ServerTool) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {one: {"type": "string"} for one in tool.required},
        "required": [*tool.required],
    }
    hints = {"readOnlyHint": tool.reads}
    return {"name": name, "description": tool.description, "inputSchema": schema, "annotations": hints}


@contextmanager
def own_servers() -> Generator[OwnServers]:
    """Serve from a thread of this process until the end of the block."""
    servers = OwnServers()
    app = Starlette(routes=[Route("/{key}/mcp", servers.serve, methods=["GET", "POST", "DELETE"])])
    http = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=http.run, daemon=True)
    thread.start()
    while not http.started:
        if not thread.is_alive():
            raise RuntimeError("the servers did not start")
        time.sleep(0.01)
    servers.url = f"http://127.0.0.1:{http.servers[0].sockets[0].getsockname()[1]}"
    yield servers
    http.should_exit = True
    thread.join()
