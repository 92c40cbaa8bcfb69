"""Routes for bytes: upload and download, streamed both ways."""

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request, Response, status

from drive_server.errors import TooLargeError
from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.http.contents import RAW_BODY, body_of, content_response
from drive_server.http.headers import chosen_type
from drive_server.mcp.tools.arguments import MAX_NAME_CHARACTERS, MAX_VERSION
from drive_server.models import Item
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = APIRouter(prefix="/files", tags=["drive"])


@router.post("", name="upload_file", status_code=status.HTTP_201_CREATED, openapi_extra=RAW_BODY)
async def upload(
    request: Request,
    drive: DriveDep,
    actor: WriterDep,
    name: Annotated[str, Query(max_length=MAX_NAME_CHARACTERS)],
    parent_id: Annotated[str, Query(max_length=MAX_REF_CHARACTERS)] = "root",
    on_conflict: Literal["fail", "rename", "replace"] = "fail",
    content_type: Annotated[str, Header()] = "",
    content_length: Annotated[int | None, Header(ge=0)] = None,
) -> Item:
    """Make a file of the request's body, as it is.

    If the name is taken: `fail` answers 409, `rename` takes the next free name, `replace` makes a new version.
    """
    limit = drive.settings.max_upload_bytes
    if content_length is not None and content_length > limit:
        raise TooLargeError("The file is too large.", hint=f"The limit is {limit} bytes.", details={"limit": limit})
    chunks = body_of(request)
    # A repeated request is answered as it was, also if there is no room left by now: its bytes tell whether it is one.
    if not await drive.journal.has_recorded(actor):
        room = await drive.documents.check_place(actor, parent_id, name, content_length or 0)
        chunks = room.limited(chunks)
    blob = await drive.blobs.put_stream(chunks, limit)
    outcome = await drive.documents.create_from_blob(
        actor, parent_id, name, blob, chosen_type(content_type), on_conflict
    )
    return outcome.value


@router.head("/{file_ref:path}/content", name="download_file", include_in_schema=False)
@router.get("/{file_ref:path}/content", name="download_file", response_class=Response)
async def download(
    request: Request,
    file_ref: str,
    drive: DriveDep,
    actor: ActorDep,
    version: Annotated[int | None, Query(ge=1, le=MAX_VERSION)] = None,
) -> Response:
    """Return the bytes of a file, or of an earlier version of it; single ranges and If-None-Match are honoured."""
    return await content_response(request, await drive.documents.open_content(actor, file_ref, version))
