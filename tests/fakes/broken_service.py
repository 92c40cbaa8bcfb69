"""A model's service that misbehaves in every way that services do, over real HTTP.

It is strict about what it is sent, as some services are: what it would refuse is recorded as a complaint.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
HEAD_END = b"\r\n\r\n"
OK = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Reply:
    """An answer: an HTTP head, then pieces of the body. `then`: `end` it well, `cut` the connection, or `wait`."""

    pieces: tuple[bytes, ...] = ()
    head: str = OK
    then: str = "end"


def delta(body: dict[str, Any], finish: str | None = None) -> bytes:
    """Return one chunk of a streamed answer."""
    choice = {"index": 0, "delta": body, "finish_reason": finish}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def call(name: str | None, arguments: str, key: str | None = "call_1", index: int = 0) -> dict[str, Any]:
    """Return one tool call of an answer."""
    return {"index": index, "id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*wanted: dict[str, Any], text: str | None = None) -> Reply:
    """Return an answer with these calls."""
    numbered = [{**one, "index": index} for index, one in enumerate(wanted)]
    parts = [delta({"role": "assistant", "content": text}), *(delta({"tool_calls": [one]}) for one in numbered)]
    return Reply((*parts, delta({}, "tool_calls"), DONE))


def says(*words: str | None) -> Reply:
    """Return an answer of text."""
    return Reply((delta({"role": "assistant"}), *(delta({"content": word}) for word in words), delta({}, "stop"), DONE))


def in_pieces(name: str, arguments: str, size: int) -> Reply:
    """Return an answer with one call whose arguments come in pieces of this size."""
    parts = [arguments[start : start + size] for start in range(0, len(arguments), size)]
    first = delta({"tool_calls": [call(name, "")]})
    rest = (delta({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}) for part in parts)
    return Reply((first, *rest, delta({}, "tool_calls"), DONE))


def refuses(status: int, body: object = None, **headers: str) -> Reply:
    """Return an HTTP error."""
    error = {"error": {"message": "scripted", "type": "scripted", "code": None}} if body is None else body
    data = body if isinstance(body, bytes) else json.dumps(error).encode()
    lines = [f"HTTP/1.1 {status} Scripted", "content-type: application/json", f"content-length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return Reply((data,), "\r\n".join(lines) + "\r\n\r\n")


@dataclass
class BrokenService:
    """The service's script, and what it was sent. Once the script is over, it says the last line again and again."""

    url: str = ""
    script: list[Reply] = field(default_factory=list[Reply])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    complaints: list[str] = field(default_factory=list[str])
    over: threading.Event = field(default_factory=threading.Event)

    def plays(self, *replies: Reply) -> None:
        """Set what comes next, and forget what was before."""
        self.script = [*replies]
        self.requests.clear()
        self.complaints.clear()

    def serve(self, connection: socket.socket) -> None:
        """Answer the requests of one connection until it ends."""
        with connection:
            while (body := _read_request(connection)) is not None:
                request: dict[str, Any] = json.loads(body or "{}")
                if "messages" not in request:  # it tells nothing of the model that it serves
                    self._send(connection, refuses(404))
                    continue
                self.requests.append(request)
                self.complaints += complaints_about(request)
                reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                if not self._send(connection, reply):
                    return

    def _send(self, connection: socket.socket, reply: Reply) -> bool:
        is_chunked = "chunked" in reply.head
        try:
            connection.sendall(reply.head.encode())
            for piece in reply.pieces:
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
            if reply.then == "wait":
                self.over.wait()
            if reply.then == "end" and is_chunked:
                connection.sendall(b"0\r\n\r\n")
        except OSError:
            return False  # the client has seen enough
        return reply.then == "end"


def complaints_about(request: dict[str, Any]) -> Iterable[str]:
    """Yield what a strict service would refuse the request for."""
    open_calls: set[str] = set()
    seen: set[str] = set()
    for message in request["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                yield f"a result for no call: {message['tool_call_id']}"
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            yield f"calls without a result: {open_calls}"
        for made in message.get("tool_calls") or ():
            yield from _complaints_about_call(made, seen)
            open_calls.add(made["id"])
        if message.get("content") is None and not message.get("tool_calls"):
            yield f"a message with nothing in it: {message}"


def _complaints_about_call(made: dict[str, Any], seen: set[str]) -> Iterable[str]:
    if not made["id"] or made["id"] in seen:
        yield f"an id that is missing or doubled: {made['id']!r}"
    seen.add(made["id"])
    if NAME.fullmatch(made["function"]["name"] or "") is None:
        yield f"no name of a tool: {made['function']['name']!r}"
    try:
        is_object = isinstance(json.loads(made["function"]["arguments"]), dict)
    except ValueError:
        is_object = False
    if not is_object:
        yield f"arguments that are no object: {made['function']['arguments'][:80]!r}"


def _read_request(connection: socket.socket) -> bytes | None:
    data = b""
    while HEAD_END not in data:
        piece = connection.recv(65_536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(HEAD_END)
    found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    length = int(found[1]) if found else 0
    pieces = [body]
    while sum(map(len, pieces)) < length:
        pieces.append(connection.recv(1 << 20))
    return b"".join(pieces)


@contextmanager
def broken_service() -> Generator[BrokenService]:
    """Serve on a free port until the end of the block, each connection in a thread."""
    service = BrokenService()
    listener = socket.create_server(("127.0.0.1", 0))
    service.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_serve_quietly, args=[service, connection], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield service
    finally:
        service.over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _serve_quietly(service: BrokenService, connection: socket.socket) -> None:
    try:
        service.serve(connection)
    except OSError:
        return  # the client went away in the middle of a request
