"""Routes for notices: items that others shared with the caller, and people who left the caller's shares."""

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request, status
from pydantic import BaseModel, ConfigDict, Field

from drive_server.http.access import ActorDep, DriveDep
from drive_server.kernel.http.event_streams import (
    HEARTBEAT,
    HEARTBEAT_SECONDS,
    UNBUFFERED,
    EventStream,
    stream_responses,
)
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import problem_responses
from drive_server.kernel.messages import Language, Message, render
from drive_server.kernel.sql.shared_poll import Watch
from drive_server.models.items import Item
from drive_server.services.sharing.notices import Notice, NoticeKind
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT

router = APIRouter(prefix="/notices", tags=["people"])

MAX_IDS: Final = 1000


class NoticeResult(BaseModel):
    """A notice: `by` (an email) shared `item`, which is as it is now, or has left it (`left`).

    Of the kind `deleted`: a program of the caller's deleted something for good without asking; there is no `item`.
    `text` says so in the caller's language.
    """

    id: int
    kind: NoticeKind
    by: str
    item: Item | None
    text: str
    created_at: datetime
    read_at: datetime | None

    @classmethod
    def of(cls, notice: Notice, language: Language) -> "NoticeResult":
        """Return the notice as it is on the wire."""
        message = notice.message
        return cls(
            id=notice.id,
            kind=notice.kind,
            by=notice.by,
            item=notice.item,
            text=render(message, language) if isinstance(message, Message) else message,
            created_at=notice.created_at,
            read_at=notice.read_at,
        )


class NoticesResult(BaseModel):
    """Notices about items that the caller can see now, newest first; `unread` counts all that were not read."""

    items: list[NoticeResult]
    unread: int
    cursor: str | None


class NoticesEvent(BaseModel):
    """How many notices are unread, at once and at each change."""

    type: Literal["notices"] = "notices"
    unread: int


EXAMPLE: Final = 'id: 1\nevent: notices\ndata: {"type":"notices","unread":2}\n\n: heartbeat\n\n'
STREAM: Final = stream_responses(NoticesEvent, EXAMPLE)


class ReadNotices(BaseModel):
    """Which notices were read; without `ids` all of them."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"ids": [7]}]})

    ids: Annotated[list[Annotated[int, Field(ge=0, lt=1 << 62)]] | None, Field(max_length=MAX_IDS)] = None


@router.get("", responses=problem_responses(403))
async def list_notices(
    request: Request,
    drive: DriveDep,
    actor: ActorDep,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 100,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
    *,
    unread: bool = False,
) -> NoticesResult:
    """List others' shares with the caller, people who left the caller's shares, and deletions nobody was asked about.

    With `unread` only unread ones.
    """
    page = await drive.notices.list(actor, unread=unread, limit=limit, cursor=cursor)
    items = [NoticeResult.of(notice, language_of(request)) for notice in page.items]
    return NoticesResult(items=items, unread=await drive.notices.unread(actor), cursor=page.cursor)


@router.post("/read", status_code=status.HTTP_204_NO_CONTENT, responses=problem_responses(403))
async def read_notices(read: ReadNotices, drive: DriveDep, actor: ActorDep) -> None:
    """Mark notices as read."""
    await drive.notices.mark_read(actor, read.ids)


@router.get("/events", response_class=EventStream, responses=STREAM | problem_responses(403))
async def notice_events(request: Request, drive: DriveDep, actor: ActorDep) -> EventStream:
    """Send how many notices are unread as the event `notices`, at once and at each change, until the key ends."""
    watch = drive.notices.watch(actor)
    return EventStream(_frames(request, actor.user_id, watch), headers=UNBUFFERED)


async def _frames(request: Request, user_id: str, watch: Watch[int]) -> AsyncGenerator[bytes]:
    number = 0
    with request.app.state.open_streams.opened(request, user_id) as stream:
        while stream.is_open:
            unread = None
            with stream.waiting():
                unread = await watch.next(HEARTBEAT_SECONDS)
            if unread is not None:
                number += 1
                yield _frame(number, unread)
            elif stream.is_open:
                yield HEARTBEAT


def _frame(number: int, unread: int) -> bytes:
    event = NoticesEvent(unread=unread)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, event.type.encode(), event.model_dump_json().encode())
