"""A person's MCP server that is as small as can be, over stdio or HTTP; its tools may change while it runs.

As a program (`python small_mcp.py FOLDER`) it reads its tools from `tools.json` in the folder at each list, and writes
its environment to `environment.json`.
"""

import json
import os
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]
ECHO: Json = {
    "name": "echo",
    "description": "Say it back.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


def answer(message: Json, tools: list[Json]) -> Json | None:
    """Return the answer to a message, None for a notification."""
    if "id" not in message:
        return None
    results: dict[str, Json] = {
        "initialize": {
            "protocolVersion": message.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        },
        "tools/list": {"tools": tools},
        "tools/call": {"content": [{"type": "text", "text": json.dumps(message.get("params"))}]},
        "ping": {},
    }
    found = results.get(message["method"])
    outcome = {"result": found} if found is not None else {"error": {"code": -32601, "message": "no such method"}}
    return {"jsonrpc": "2.0", "id": message["id"], **outcome}


class Handler(BaseHTTPRequestHandler):
    """Answers one message a request, and records the headers."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        assert isinstance(self.server, SmallServer)
        self.server.seen.append(dict(self.headers.items()))
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = answer(message, self.server.tools)
        self._send(202 if found is None else 200, b"" if found is None else json.dumps(found).encode())

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(200, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it has in the base
        del format, args


class SmallServer(ThreadingHTTPServer):
    """The server over HTTP; `seen` are the headers of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.tools = [ECHO]
        self.seen: list[Mapping[str, str]] = []

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.server_port}/mcp"


@contextmanager
def small_server() -> Generator[SmallServer]:
    """Serve over HTTP until the end of the block."""
    with SmallServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def program(folder: Path) -> list[str]:
    """Return the command line of the server over stdio; `tools.json` in the folder begins with one tool."""
    (folder / "tools.json").write_text(json.dumps([ECHO]))
    return [sys.executable, "-I", __file__, str(folder)]


def main(folder: Path) -> None:
    """Answer over stdio."""
    (folder / "environment.json").write_text(json.dumps(dict(os.environ)))
    for line in sys.stdin:
        tools = json.loads((folder / "tools.json").read_text())
        if found := answer(json.loads(line), tools):
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
