"""A rerank service on this machine that answers as it is told."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator


@dataclass
class Script:
    """Passages with `favourite` in them are the best. `body` is answered instead if there is one, `held` delays all."""

    url: str = ""
    favourite: str = "best"
    status: int = 200
    body: bytes | None = None
    held: bool = False
    released: Event = field(default_factory=Event)
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def answer(self, request: dict[str, Any]) -> bytes:
        if self.body is not None:
            return self.body
        texts: list[str] = request["documents"]
        scored = [
            {"index": place, "relevance_score": float(self.favourite in text)} for place, text in enumerate(texts)
        ]
        return json.dumps({"results": scored}).encode()


@contextmanager
def rerank_server() -> Generator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.requests.append({"path": self.path, "key": self.headers.get("Authorization"), **request})
            if script.held:
                script.released.wait()
            body = script.answer(request)
            self.send_response(script.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield script
    finally:
        script.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
