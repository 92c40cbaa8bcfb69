"""A program that takes webhooks: a real HTTP server in a thread that keeps what it was sent."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from email.message import Message


@dataclass
class Delivery:
    path: str
    headers: Message
    body: bytes


class Hooked:
    """Answers with `statuses` in turn, the last one again and again; a redirect leads to `/elsewhere`."""

    def __init__(self, *statuses: int) -> None:
        self.deliveries: list[Delivery] = []
        self._statuses = list(statuses) or [204]
        self._came = threading.Semaphore(0)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Return the address of the webhook."""
        return f"http://127.0.0.1:{self._server.server_port}/hook"

    def wait(self) -> Delivery:
        """Return the next delivery."""
        assert self._came.acquire(timeout=20), "no webhook came"
        return self.deliveries[-1]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def _take(self, delivery: Delivery) -> int:
        self.deliveries.append(delivery)
        return self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status = outer._take(Delivery(self.path, self.headers, body))
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()
                outer._came.release()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
                """Print nothing."""

        return Handler
