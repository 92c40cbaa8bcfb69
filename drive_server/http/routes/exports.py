"""Routes for an export: everything in the caller's own drive, and the bytes of each content."""

from typing import Annotated, Final

from fastapi import Path, Query, Request, Response
from pydantic import BaseModel

from drive_server.http.access import ActorDep, DriveDep
from drive_server.http.items.contents import content_response
from drive_server.http.items.routers import DriveRouter
from drive_server.kernel.http.problem import problem_responses
from drive_server.services.exports.inventory import MAX_ITEMS
from drive_server.services.exports.records import ExportedItem
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS

router = DriveRouter(prefix="/export", tags=["exports"])

Sha256 = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="The SHA-256 of the bytes in hex.")]
BYTES: Final = {
    200: {
        "description": "The bytes of the content.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ExportResult(BaseModel):
    """A page of a drive, by the ids of its items. `cursor` is null at the end; `total` counts all items."""

    items: list[ExportedItem]
    cursor: str | None
    total: int | None


@router.get("", name="export_drive", responses=problem_responses(403))
async def export_drive(
    drive: DriveDep,
    actor: ActorDep,
    limit: Annotated[int, Query(ge=1, le=MAX_ITEMS)] = 200,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
) -> ExportResult:
    """List all items of the caller's own drive, live and in the trash, with versions, shares, links and stars.

    Links are listed with their terms, without address and password. A folder may come after its items.
    """
    page = await drive.inventory.page(actor, limit, cursor)
    return ExportResult(items=list(page.items), cursor=page.cursor, total=page.total)


@router.head("/contents/{sha256}", name="export_content", include_in_schema=False)
@router.get(
    "/contents/{sha256}",
    name="export_content",
    response_class=Response,
    responses=BYTES | problem_responses(403, 404, 416),
)
async def export_content(request: Request, sha256: Sha256, drive: DriveDep, actor: ActorDep) -> Response:
    """Return a content that a file in the caller's own drive has or had, by its hash; single ranges are honoured."""
    return await content_response(request, await drive.inventory.content(actor, sha256))
