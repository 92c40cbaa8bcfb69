"""An OpenAI-compatible server over real HTTP that answers as scripted, also badly."""

import json
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.prompt_server import PromptServer

STARTED_WITHIN_SECONDS = 10
GATE_SECONDS = 0.05
"""Between two looks whether a gate is open."""
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat")
"""The last two are Anthropic's and Ollama's: answer them with `Pieces`."""
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@dataclass(frozen=True)
class Stream:
    """A streamed answer: its deltas, whether it falls silent instead of ending, and where it reports its usage.

    It begins when the file `gate` is there, if one is named.
    """

    deltas: Sequence[dict[str, Any]]
    stalls: bool = False
    finish: str = "stop"
    usage: Literal["own chunk", "last chunk", "none"] = "own chunk"
    gate: Path | None = None


@dataclass(frozen=True)
class Failure:
    """An HTTP error with the service's error body."""

    status: int
    message: str = "scripted failure"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    code: str | None = None


@dataclass(frozen=True)
class Garbage:
    """A body that is no answer, sent with status 200."""

    body: str
    media_type: str = "text/event-stream"


@dataclass(frozen=True)
class Pieces:
    """A body in exactly these pieces, with status 200. `cut`: the connection is lost after the last one."""

    pieces: Sequence[bytes]
    cut: bool = False
    media_type: str = "text/event-stream"


Reply = Stream | Failure | Garbage | Pieces


def text(*pieces: str) -> Stream:
    """Return an answer of text in these pieces."""
    return Stream([{"content": piece} for piece in pieces])


def split_call(name: str, arguments: str, *, key: str = "call_1", pieces: int = 3) -> Stream:
    """Return a tool call whose arguments arrive in several deltas; `arguments` may be malformed."""
    size = max(1, -(-len(arguments) // pieces))
    parts = [arguments[start : start + size] for start in range(0, len(arguments), size)]
    first = {"index": 0, "id": key, "type": "function", "function": {"name": name, "arguments": ""}}
    later = [{"index": 0, "function": {"arguments": part}} for part in parts]
    return Stream([{"tool_calls": [delta]} for delta in (first, *later)], finish="tool_calls")


def calls(*wanted: tuple[str, dict[str, Any]], said: str = "") -> Stream:
    """Return an answer that calls several tools at once, after some text."""
    made = [
        {"index": n, "id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for n, (name, args) in enumerate(wanted)
    ]
    return Stream([{"content": said}, {"tool_calls": made}], finish="tool_calls")


@dataclass
class OpenAIServer:
    """The server's script and record. `arrivals` are monotonic times in seconds, one per request.

    `connections` are the clients' ports; `left` is set when one goes in the middle of a streamed answer.

    `brain`, if there is one, answers what the script has no reply for.
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=list[Reply])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    brain: Callable[[dict[str, Any]], Reply] | None = None
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    arrivals: list[float] = field(default_factory=list[float])
    connections: set[int] = field(default_factory=set[int])
    left: threading.Event = field(default_factory=threading.Event)

    def forget(self) -> None:
        """Drop the script and the record."""
        for each in (self.replies, self.requests, self.headers, self.arrivals, self.connections):
            each.clear()
        self.left.clear()

    async def chat(self, request: Request) -> Response:
        """Answer one request with the next reply; 500 once there is none, and no brain."""
        self.arrivals.append(time.monotonic())
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        if request.client:
            self.connections.add(request.client.port)
        reply = self._reply(self.requests[-1])
        if isinstance(reply, Failure):
            error = {"message": reply.message, "type": "scripted", "code": reply.code}
            return JSONResponse({"error": error}, reply.status, reply.headers)
        if isinstance(reply, Garbage):
            return Response(reply.body, media_type=reply.media_type)
        if isinstance(reply, Pieces):
            return StreamingResponse(_pieces(reply), media_type=reply.media_type)
        return StreamingResponse(self._stream(reply), media_type="text/event-stream")

    def _reply(self, request: dict[str, Any]) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        return self.brain(request) if self.brain else Failure(500, "the script is over")

    async def _stream(self, reply: Stream) -> AsyncGenerator[str]:
        yield _chunk({"role": "assistant", "content": ""})
        while reply.gate and not await anyio.Path(reply.gate).exists():  # noqa: ASYNC110 - who opens it may be another process
            await anyio.sleep(GATE_SECONDS)
        for delta in reply.deltas:
            yield _chunk(delta)
        if reply.stalls:
            await self._until_left()
        yield _chunk({}, finish=reply.finish, usage=USAGE if reply.usage == "last chunk" else None)
        if reply.usage == "own chunk":
            yield _line({"choices": [], "usage": USAGE})
        yield "data: [DONE]\n\n"

    async def _until_left(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self.left.set()


async def _pieces(reply: Pieces) -> AsyncGenerator[bytes]:
    for piece in reply.pieces:
        yield piece
    if reply.cut:
        raise ConnectionAbortedError


def _chunk(delta: dict[str, Any], finish: str | None = None, usage: dict[str, int] | None = None) -> str:
    reported = {"usage": usage} if usage else {}
    return _line({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **reported})


def _line(body: dict[str, Any]) -> str:
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **body}
    return f"data: {json.dumps(chunk)}\n\n"


@contextmanager
def running_server() -> Generator[OpenAIServer]:
    """Serve on a free port in a thread until the end of the block."""
    scripted = OpenAIServer()
    app = Starlette(routes=[Route(path, scripted.chat, methods=["POST"]) for path in PATHS])
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="off", timeout_graceful_shutdown=0)
    server = PromptServer(config)
    started = threading.Event()
    thread = threading.Thread(target=_serve, args=(server, started), daemon=True)
    thread.start()
    if not started.wait(STARTED_WITHIN_SECONDS):
        raise TimeoutError("the scripted server did not start")
    port = server.servers[0].sockets[0].getsockname()[1]
    scripted.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield scripted
    finally:
        server.should_exit = True
        thread.join(STARTED_WITHIN_SECONDS)


def _serve(server: uvicorn.Server, started: threading.Event) -> None:
    startup = server.startup

    async def startup_and_tell(*args: Any, **kwargs: Any) -> None:
        await startup(*args, **kwargs)
        started.set()

    server.startup = startup_and_tell
    server.run()
