"""`GET /api/drive/index/events`: the progress of the caller's index as server-sent events."""

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import Any, Final, Literal

import anyio
import orjson
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from drive_server.access import Scope, require_person, require_scope
from drive_server.drive import Drive
from drive_server.errors import DriveError
from drive_server.http.access import ActorDep, DriveDep, principal_of_request
from drive_server.knowledge.ingest.ingester import IndexWatch
from drive_server.mcp.tools.index import IndexResult
from drive_server.models import IndexStatus

router = APIRouter(tags=["drive"])

HEARTBEAT: Final = b": heartbeat\n\n"
HEARTBEAT_SECONDS: Final = 15.0
EXAMPLE: Final = (
    'id: 1\nevent: index\ndata: {"counts":{"indexed":12},"summary":{"pending":0,"indexing":0,"indexed":12,"skipped":0,'
    '"failed":0},"problems":[],"awaiting_vectors":0,"type":"index"}\n\n: heartbeat\n\n'
)


class IndexEvent(IndexResult):
    """The state of the index, at once and at each change."""

    type: Literal["index"] = "index"


class ServerSentEvents(StreamingResponse):
    """A stream of server-sent events (WHATWG HTML, 9.2)."""

    media_type = "text/event-stream"


STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Server-sent events; the schema is of `data`. Comments are heartbeats.",
        "model": IndexEvent,
        "content": {"text/event-stream": {"schema": {"type": "object"}, "example": EXAMPLE}},
    }
}


class IndexStreams:
    """The open streams, which end only by `end`."""

    def __init__(self) -> None:
        self.is_ending = False
        self._scopes: set[anyio.CancelScope] = set()

    def end(self) -> None:
        """End them all, so that the server can shut down."""
        self.is_ending = True
        for scope in self._scopes:
            scope.cancel()

    @contextmanager
    def cancellable(self) -> Generator[None]:
        """Cancel the block when `end` is called."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            if self.is_ending:
                scope.cancel()
            try:
                yield
            finally:
                self._scopes.discard(scope)


@router.get("/index/events", name="index_events", response_class=ServerSentEvents, responses=STREAM)
async def index_events(request: Request, drive: DriveDep, actor: ActorDep) -> ServerSentEvents:
    """Send the state of the index as the event `index`, at once and at each change.

    `data` is the answer of `GET /index` with the type. The stream ends when the caller's key does.
    """
    require_person(actor.principal)
    require_scope(actor.principal, Scope.READ)
    watch = IndexWatch(drive.ingester, actor.user_id)
    headers = {"X-Accel-Buffering": "no"}
    return ServerSentEvents(_frames(request, drive, watch), headers=headers)


async def _frames(request: Request, drive: Drive, watch: IndexWatch) -> AsyncGenerator[bytes]:
    streams: IndexStreams = request.app.state.index_streams
    number = 0
    while not streams.is_ending and await _is_allowed(drive, request):
        status = None
        with streams.cancellable():
            status = await watch.next(HEARTBEAT_SECONDS)
        if status is not None:
            number += 1
            yield _frame(number, status)
        elif not streams.is_ending:
            yield HEARTBEAT


async def _is_allowed(drive: Drive, request: Request) -> bool:
    try:
        require_scope(await principal_of_request(drive, request), Scope.READ)
    except DriveError:
        return False
    return True


def _frame(number: int, status: IndexStatus) -> bytes:
    event = IndexEvent(**IndexResult.of(status).model_dump())
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, event.type.encode(), orjson.dumps(event.model_dump()))
