"""Routes for the contents that a file had: list, download, compare, bring back."""

from typing import Annotated

from fastapi import Path, Query, Request, Response

from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.http.items.contents import BYTES, content_response
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.routes import ItemRoute
from drive_server.http.items.views import ItemView, reply_item
from drive_server.http.items.writes import IfMatchDep
from drive_server.http.lists import VersionList
from drive_server.kernel.http.problem import problem_responses
from drive_server.mcp.tools.definition.arguments import MAX_VERSION
from drive_server.mcp.tools.documents import DocumentTools
from drive_server.models.contents import VersionDiff
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT

router = DriveRouter(prefix="/files/{file_ref:path}/versions", tags=["drive"], route_class=ItemRoute)

Number = Annotated[int, Path(ge=1, le=MAX_VERSION, description="The number of a version; the first one is 1.")]


@router.get("", responses=problem_responses(403, 404, 409))
async def list_file_versions(
    file_ref: str,
    drive: DriveDep,
    actor: ActorDep,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 50,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
) -> VersionList:
    """List the contents that a file had, newest first. Needs the role editor, as do the routes below."""
    return VersionList.of(await drive.documents.list_versions(actor, file_ref, limit, cursor))


@router.head("/{number}/content", name="download_version", include_in_schema=False)
@router.get(
    "/{number}/content",
    name="download_version",
    response_class=Response,
    responses=BYTES | problem_responses(403, 404, 409, 416),
)
async def download_version(
    request: Request, file_ref: str, number: Number, drive: DriveDep, actor: ActorDep
) -> Response:
    """Return the bytes of a version; single ranges and If-None-Match are honoured."""
    return await content_response(request, await drive.documents.open_content(actor, file_ref, number))


@router.get(
    "/{number}/diff", name=DocumentTools.diff_versions.__name__, responses=problem_responses(403, 404, 409, 415)
)
async def diff_version(
    file_ref: str,
    number: Number,
    drive: DriveDep,
    actor: ActorDep,
    to: Annotated[int | None, Query(ge=1, le=MAX_VERSION, description="The other version; else the newest.")] = None,
) -> VersionDiff:
    """Compare the texts of two versions: a unified diff of 20,000 characters at most."""
    return await drive.documents.diff_versions(actor, file_ref, number, to)


@router.post(
    "/{number}/restore",
    name=DocumentTools.restore_version.__name__,
    responses=problem_responses(403, 404, 409, 507),
)
async def restore_version(
    file_ref: str, number: Number, drive: DriveDep, actor: WriterDep, if_match: IfMatchDep, response: Response
) -> ItemView:
    """Make an earlier content the newest version of the file; the versions in between stay."""
    return await reply_item(
        response, drive, actor, await drive.documents.restore_version(actor, file_ref, number, if_match=if_match)
    )
