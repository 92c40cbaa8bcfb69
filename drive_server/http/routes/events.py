"""`GET /api/drive/events`: changes below a folder, as server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, Field

from drive_server.http.access import ActorDep, DriveDep
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.http.event_streams import HEARTBEAT_SECONDS, UNBUFFERED, EventStream, OpenStreams
from drive_server.kernel.http.problem import problem_responses
from drive_server.services.journal.following import FolderChange, FolderWatch
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = APIRouter(tags=["drive"])


class ChangeEvent(BaseModel):
    """A change below the folder; `id` is its number in the journal, `mine` says that the caller made it.

    `item_ids` changed themselves; the direct content of `folder_ids` changed: list them again. `complete` is false if
    there are more of them than 100 each.
    """

    type: Literal["change"] = "change"
    id: int
    at: datetime
    mine: bool
    item_ids: list[str]
    folder_ids: list[str]
    complete: bool


class ResetEvent(BaseModel):
    """Too much changed since `Last-Event-ID`: list the folder again, and go on from here."""

    type: Literal["reset"] = "reset"
    id: int


EXAMPLE: Final = (
    'id: 41\n\nid: 42\nevent: change\ndata: {"type":"change","id":42,"at":"2026-11-23T09:30:00Z","mine":false,'
    '"item_ids":["7b1c..."],"folder_ids":["1c9a..."],"complete":true}\n\n: heartbeat\nid: 42\n\n'
)
STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Server-sent events until the key ends or the folder is gone; the schema is that of `data`.",
        "model": Annotated[ChangeEvent | ResetEvent, Field(discriminator="type")],
        "content": {"text/event-stream": {"schema": {"type": "object"}, "example": EXAMPLE}},
    }
}


@router.get("/events", name="events", response_class=EventStream, responses=STREAM | problem_responses(403, 404, 409))
async def folder_events(
    request: Request,
    drive: DriveDep,
    actor: ActorDep,
    folder_id: Annotated[str, Query(max_length=MAX_REF_CHARACTERS)] = "root",
    last_event_id: Annotated[str | None, Header(pattern="^[0-9]{1,18}$")] = None,
) -> EventStream:
    """Follow the changes in a folder and below it: names, places, contents, the trash, who has access.

    Only changes that the caller may see are told. With `Last-Event-ID`, which an `EventSource` sends by itself, the
    stream goes on after that change.
    """
    after = int(last_event_id) if last_event_id is not None else None
    watch = await drive.follower.watch(actor, folder_id, after)
    return EventStream(_frames(request, actor.user_id, watch), headers=UNBUFFERED)


async def _frames(request: Request, user_id: str, watch: FolderWatch) -> AsyncGenerator[bytes]:
    streams: OpenStreams = request.app.state.open_streams
    yield b"id: %d\n\n" % watch.last  # where to go on, if the connection breaks before anything changes
    with suppress(NotFoundError), streams.opened(request, user_id) as stream:
        while stream.is_open:
            found: list[FolderChange] = []
            with stream.waiting():
                found = await watch.next(HEARTBEAT_SECONDS)
            for change in found:
                yield _frame(change)
            if not found and stream.is_open:
                yield b": heartbeat\nid: %d\n\n" % watch.last


def _frame(change: FolderChange) -> bytes:
    if change.reset or change.at is None:
        event: ChangeEvent | ResetEvent = ResetEvent(id=change.id)
    else:
        event = ChangeEvent(
            id=change.id,
            at=change.at,
            mine=change.mine,
            item_ids=list(change.item_ids),
            folder_ids=list(change.folder_ids),
            complete=change.complete,
        )
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (change.id, event.type.encode(), event.model_dump_json().encode())
