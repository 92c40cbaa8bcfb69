"""Routes for the contents of files: upload and download, streamed both ways, and edits of text."""

import re
from dataclasses import replace
from typing import Annotated, Final, Literal, Self

from fastapi import Header, Query, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.drive import Drive
from drive_server.http.access import CallerDep, DriveDep, WritingCallerDep, guarded
from drive_server.http.headers.bytes import chosen_type
from drive_server.http.headers.dates import DateDep
from drive_server.http.items.contents import (
    BYTES,
    RAW_BODY,
    InlineQuery,
    content_response,
    require_upload_fits,
    shown_content,
    store_body,
)
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.routes import ItemRoute
from drive_server.http.items.views import ItemView, reply_item, reply_new
from drive_server.http.items.writes import IfMatchDep
from drive_server.kernel.access import Actor
from drive_server.kernel.http.problem import problem_responses
from drive_server.kernel.messages import Message, render
from drive_server.mcp.tools.definition.arguments import (
    MAX_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    MAX_VERSION,
    EditArgument,
)
from drive_server.mcp.tools.documents import DocumentTools
from drive_server.services.documents.edits import MAX_EDITS, Edit
from drive_server.services.documents.service import Content
from drive_server.services.journal.service import has_recorded_sync
from drive_server.services.quota import Room
from drive_server.services.tree.ancestors import Reader
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = DriveRouter(prefix="/files", tags=["drive"], route_class=ItemRoute)

CONTENT_ETAG: Final = re.compile("[0-9a-f]{64}")


class TextChange(BaseModel):
    """An edit of a text file: either replacements, each of a text that occurs once, or a text to append."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"edits": [{"find": "Status: draft", "replace": "Status: final"}]},
                {"append": "- 2026-11-23 Agreed."},
            ]
        },
    )

    edits: Annotated[list[EditArgument], Field(max_length=MAX_EDITS)] = []
    append: Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)] = ""

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if bool(self.edits) == bool(self.append):
            raise ValueError(render(Message.of("one_kind_of_edit"), "en"))
        return self


@router.post(
    "",
    name="upload_file",
    status_code=status.HTTP_201_CREATED,
    openapi_extra=RAW_BODY,
    responses=problem_responses(403, 404, 409, 413, 507),
)
async def upload(
    request: Request,
    response: Response,
    drive: DriveDep,
    caller: WritingCallerDep,
    modified_at: DateDep,
    name: Annotated[str, Query(max_length=MAX_NAME_CHARACTERS)],
    parent_id: Annotated[str, Query(max_length=MAX_REF_CHARACTERS)] = "root",
    on_conflict: Literal["fail", "rename", "replace"] = "fail",
    content_type: Annotated[str, Header()] = "",
    content_length: Annotated[int | None, Header(ge=0)] = None,
) -> ItemView:
    """Make a file of the request's body, as it is.

    If the name is taken: `fail` answers 409, `rename` takes the next free name, `replace` makes a new version.
    """

    async def begin(session: AsyncSession, actor: Actor) -> tuple[Actor, Room | None]:
        require_upload_fits(drive, content_length)
        # A repeated request is answered as it was, also if no room is left by now: its bytes tell whether it is one.
        if await session.run_sync(has_recorded_sync, actor):
            return actor, None
        return actor, await drive.documents.check_place_in(session, actor, parent_id, name, content_length or 0)

    actor, room = await caller.look(begin)
    blob = await store_body(request, drive, room)
    actor = await guarded(drive, request, actor)
    outcome = await drive.documents.create_from_blob(
        actor, parent_id, name, blob, chosen_type(content_type), on_conflict, modified_at=modified_at
    )
    if outcome.value.version == 1:
        return await reply_new(response, drive, actor, outcome)
    return await reply_item(response, drive, actor, outcome)


@router.head("/{file_ref:path}/content", name="download_file", include_in_schema=False)
@router.get(
    "/{file_ref:path}/content",
    name="download_file",
    response_class=Response,
    responses=BYTES | problem_responses(403, 404, 409, 416),
)
async def download(
    request: Request,
    file_ref: str,
    drive: DriveDep,
    caller: CallerDep,
    version: Annotated[int | None, Query(ge=1, le=MAX_VERSION)] = None,
    *,
    inline: InlineQuery = False,
) -> Response:
    """Return the bytes of a file, or of an earlier version of it; single ranges and If-None-Match are honoured."""

    def opened(connection: Connection, actor: Actor) -> tuple[Content, Actor]:
        return drive.documents.open_content_sync(connection, actor, file_ref, version), actor

    content, actor = await caller.read(opened)
    if request.method == "GET":
        drive.recents.note_read(actor, content.item.id)
    return await (shown_content if inline else content_response)(request, content)


@router.put(
    "/{file_ref:path}/content",
    name=DocumentTools.write_file.__name__,
    openapi_extra=RAW_BODY,
    responses=problem_responses(403, 404, 409, 413, 507),
)
async def replace_content(
    request: Request,
    response: Response,
    file_ref: str,
    drive: DriveDep,
    caller: WritingCallerDep,
    if_match: IfMatchDep,
    modified_at: DateDep,
    content_type: Annotated[str, Header()] = "",
    content_length: Annotated[int | None, Header(ge=0)] = None,
) -> ItemView:
    """Make the request's body, as it is, the newest version of a file of any kind.

    `If-Match` takes the item's etag, or the `ETag` that the content was downloaded with.
    """
    size = content_length or 0

    async def begin(session: AsyncSession, actor: Actor) -> tuple[Actor, Room | None, str | None]:
        require_upload_fits(drive, content_length)
        if await session.run_sync(has_recorded_sync, actor):
            return actor, None, if_match
        etag = await session.run_sync(lambda reader: _etag_of_item(drive, reader, actor, file_ref, if_match))
        return actor, await drive.documents.check_file_in(session, actor, file_ref, size, if_match=etag), etag

    actor, room, etag = await caller.look(begin)
    blob = await store_body(request, drive, room)
    actor = await guarded(drive, request, actor)
    media_type = chosen_type(content_type)
    outcome = await drive.documents.replace_from_blob(
        actor, file_ref, blob, media_type, if_match=etag, modified_at=modified_at
    )
    return await reply_item(response, drive, actor, outcome)


@router.patch(
    "/{file_ref:path}/content",
    name=DocumentTools.patch_file.__name__,
    responses=problem_responses(403, 404, 409, 413, 415, 507),
)
async def change_text(
    file_ref: str,
    change: TextChange,
    drive: DriveDep,
    caller: WritingCallerDep,
    if_match: IfMatchDep,
    response: Response,
) -> ItemView:
    """Replace passages of a text file, or append to it; the rest of the file, its encoding and line ends stay.

    Replacements are made in their order, each in the text that the ones before left. If a `find` occurs nowhere or more
    than once, nothing is changed (409 `edit_mismatch`, with the nearest lines).
    """

    def begin(connection: Connection, actor: Actor) -> tuple[Actor, str | None]:
        if change.append:
            actor = replace(actor, tool=DocumentTools.append_to_file.__name__)
        if has_recorded_sync(connection, actor):
            return actor, if_match
        return actor, _etag_of_item(drive, connection, actor, file_ref, if_match)

    actor, if_match = await caller.read(begin)
    if change.append:
        outcome = await drive.documents.append(actor, file_ref, change.append, if_match=if_match)
    else:
        edits = [Edit(edit.find, edit.replace) for edit in change.edits]
        outcome = await drive.documents.patch(actor, file_ref, edits, if_match=if_match)
    return await reply_item(response, drive, actor, outcome)


def _etag_of_item(drive: Drive, reader: Reader, actor: Actor, ref: str, etag: str | None) -> str | None:
    """Return the item's etag for that of its content as it is now; a stale one of either kind stays as it is."""
    if etag is None or not CONTENT_ETAG.fullmatch(etag):
        return etag
    content = drive.documents.open_content_sync(reader, actor, ref)
    return content.item.etag if content.blob == etag else etag
