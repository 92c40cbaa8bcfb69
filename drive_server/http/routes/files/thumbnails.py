"""`GET /api/drive/files/{id}/thumbnail`: a small picture of an image, or of the first page of a PDF."""

from fastapi import Request, Response

from drive_server.http.access import ActorDep, DriveDep
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.routes import ItemRoute
from drive_server.http.items.thumbnails import PICTURE, SizeQuery, thumbnail_response
from drive_server.kernel.http.problem import problem_responses

router = DriveRouter(prefix="/files", tags=["drive"], route_class=ItemRoute)


@router.get(
    "/{file_ref:path}/thumbnail",
    name="thumbnail",
    response_class=Response,
    responses=PICTURE | problem_responses(403, 404, 409),
)
async def thumbnail(
    request: Request, file_ref: str, drive: DriveDep, actor: ActorDep, size: SizeQuery = "256"
) -> Response:
    """Return a picture of an image or of a PDF's first page; 404 for other files, and for damaged ones."""
    return await thumbnail_response(request, drive, actor, file_ref, size)
