"""`GET /api/drive/index/events`: the progress of the caller's index as server-sent events."""

from collections.abc import AsyncGenerator
from typing import Final, Literal

import orjson
from fastapi import APIRouter, Request

from drive_server.http.access import ActorDep, DriveDep
from drive_server.kernel.access import Scope, require_person, require_scope
from drive_server.kernel.http.event_streams import (
    HEARTBEAT,
    HEARTBEAT_SECONDS,
    UNBUFFERED,
    EventStream,
    OpenStreams,
    stream_responses,
)
from drive_server.kernel.sql.shared_poll import Watch
from drive_server.mcp.tools.index import IndexResult
from drive_server.models.search import IndexStatus

router = APIRouter(tags=["drive"])

EXAMPLE: Final = (
    'id: 1\nevent: index\ndata: {"counts":{"indexed":12},"summary":{"pending":0,"indexing":0,"indexed":12,"skipped":0,'
    '"failed":0},"problems":[],"awaiting_vectors":0,"type":"index"}\n\n: heartbeat\n\n'
)


class IndexEvent(IndexResult):
    """The state of the index, at once and at each change."""

    type: Literal["index"] = "index"


STREAM: Final = stream_responses(IndexEvent, EXAMPLE)


@router.get("/index/events", name="index_events", response_class=EventStream, responses=STREAM)
async def index_events(request: Request, drive: DriveDep, actor: ActorDep) -> EventStream:
    """Send the state of the index as the event `index`, at once and at each change.

    `data` is the answer of `GET /index` with the type. The stream ends when the caller's key does.
    """
    require_person(actor.principal)
    require_scope(actor.principal, Scope.READ)
    watch = drive.index_statuses.watch(actor.user_id)
    return EventStream(_frames(request, actor.user_id, watch), headers=UNBUFFERED)


async def _frames(request: Request, user_id: str, watch: Watch[IndexStatus]) -> AsyncGenerator[bytes]:
    streams: OpenStreams = request.app.state.open_streams
    number = 0
    with streams.opened(request, user_id) as stream:
        while stream.is_open:
            status = None
            with stream.waiting():
                status = await watch.next(HEARTBEAT_SECONDS)
            if status is not None:
                number += 1
                yield _frame(number, status)
            elif stream.is_open:
                yield HEARTBEAT


def _frame(number: int, status: IndexStatus) -> bytes:
    event = IndexEvent(**IndexResult.of(status).model_dump())
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, event.type.encode(), orjson.dumps(event.model_dump()))
