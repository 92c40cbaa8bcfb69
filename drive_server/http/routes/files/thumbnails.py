"""`GET /api/drive/files/{id}/thumbnail`: a small picture of an image, or of the first page of a PDF."""

from http import HTTPStatus
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request, Response

from drive_server.http.access import ActorDep, DriveDep
from drive_server.http.headers.bytes import matches_etag
from drive_server.http.headers.responses import CACHE, REVALIDATED
from drive_server.http.items.routes import ItemRoute
from drive_server.http.problem import problem_responses

router = APIRouter(prefix="/files", tags=["drive"], route_class=ItemRoute)

Size = Annotated[Literal["64", "128", "256", "512", "1024"], Query(description="Pixels at the longer side.")]
PICTURE: Final = {
    200: {
        "description": "A picture, no larger than asked for.",
        "content": {"image/webp": {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "The picture is the one of the etag in `If-None-Match`."},
}


@router.get(
    "/{file_ref:path}/thumbnail",
    name="thumbnail",
    response_class=Response,
    responses=PICTURE | problem_responses(403, 404, 409),
)
async def thumbnail(
    request: Request,
    file_ref: str,
    drive: DriveDep,
    actor: ActorDep,
    size: Annotated[
        Literal["64", "128", "256", "512", "1024"], Query(description="Pixels at the longer side.")
    ] = "256",
) -> Response:
    """Return a picture of an image or of a PDF's first page; 404 for other files, and for damaged ones."""
    picture = await drive.thumbnails.find(actor, file_ref, int(size))
    headers = {"ETag": picture.etag, CACHE: REVALIDATED}
    if matches_etag(request.headers.get("if-none-match"), picture.etag):
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    return Response(await drive.thumbnails.make(picture), HTTPStatus.OK, headers, media_type=picture.media_type)
