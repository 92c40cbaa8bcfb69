"""`GET /api/drive/archive`: items as one zip file, made while it is sent."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from drive_server.drive import Drive
from drive_server.http.access import ActorDep, DriveDep
from drive_server.kernel.escaping.media import attachment
from drive_server.kernel.http.problem import problem_responses
from drive_server.services.files.archives import MAX_NAMED, Archive
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = APIRouter(tags=["drive"])

MEDIA_TYPE: Final = "application/zip"
ZIP: Final = {
    200: {
        "description": "The zip file. One that is cut off has no end: programs find it damaged.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get(
    "/archive",
    name="archive",
    response_class=StreamingResponse,
    responses=ZIP | problem_responses(403, 404, 409, 413),
)
async def archive(
    drive: DriveDep,
    actor: ActorDep,
    ids: Annotated[
        list[Annotated[str, Query(max_length=MAX_REF_CHARACTERS)]],
        Query(min_length=1, max_length=MAX_NAMED, description="The items: the id or the path of each, several times."),
    ],
) -> StreamingResponse:
    """Download items as one zip file, folders with all that is in them: 100,000 items at most, of any size (ZIP64).

    Names are UTF-8, and such as Windows takes: characters that it refuses are replaced, and two of one name get
    numbers. An item in a folder that is named as well is there once. Dates are those of the contents.
    """
    chosen = await drive.archives.choose(actor, ids)
    headers = {"Content-Disposition": attachment(chosen.name), "X-Accel-Buffering": "no"}
    return StreamingResponse(_bytes(drive, chosen), media_type=MEDIA_TYPE, headers=headers)


async def _bytes(drive: Drive, chosen: Archive) -> AsyncGenerator[bytes]:
    async with aclosing(drive.archives.stream(chosen)) as chunks:
        async for chunk in chunks:
            yield chunk
