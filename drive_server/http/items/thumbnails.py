"""Thumbnails of files as answers, which a browser may keep and has to ask about."""

from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, Response

from drive_server.drive import Drive
from drive_server.http.headers.bytes import matches_etag
from drive_server.http.headers.responses import CACHE, REVALIDATED
from drive_server.kernel.access import Actor

SizeQuery = Annotated[Literal["64", "128", "256", "512", "1024"], Query(description="Pixels at the longer side.")]
PICTURE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "A picture, no larger than asked for.",
        "content": {"image/webp": {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "The picture is the one of the etag in `If-None-Match`."},
}


async def thumbnail_response(request: Request, drive: Drive, actor: Actor, ref: str, size: str) -> Response:
    """Answer with the thumbnail of a file. Raises `NotFoundError` for one that has none."""
    picture = await drive.thumbnails.find(actor, ref, int(size))
    headers = {"ETag": picture.etag, CACHE: REVALIDATED}
    if matches_etag(request.headers.get("if-none-match"), picture.etag):
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    return Response(await drive.thumbnails.make(picture), HTTPStatus.OK, headers, media_type=picture.media_type)
