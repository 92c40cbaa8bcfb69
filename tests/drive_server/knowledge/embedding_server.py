"""An OpenAI-compatible embedding service on this machine that answers as it is told."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

DIMENSIONS = 6


@dataclass
class Answer:
    """An answer in the place of the proper one."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Script:
    """The next answers, each used once, and the requests that came. Without a scripted answer it gives a proper one."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list[Answer])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    connections: int = 0
    is_down: bool = False

    @property
    def texts(self) -> list[str]:
        return [text for request in self.requests for text in request["body"]["input"]]

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        self.requests.append({"path": path, "headers": headers, "body": body})
        if self.is_down:
            return Answer(503)
        return self.answers.pop(0) if self.answers else proper(body["input"])


def vector(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()[:DIMENSIONS]
    return [float(value) - 127 for value in digest]


def proper(texts: list[str]) -> Answer:
    """Answer in the reverse order: the index counts."""
    data = [{"object": "embedding", "index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    return Answer(body=json.dumps({"object": "list", "data": data[::-1], "model": "m"}).encode())


@contextmanager
def embedding_server() -> Generator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            script.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = script.answer(self.path, dict(self.headers), body)
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        script.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield script
        server.shutdown()
