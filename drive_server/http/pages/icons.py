"""The icons of tools, resources and prompts, for MCP hosts that show them: `/icons/NAME.svg`, without a key."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.messages import Message
from drive_server.mcp.icons import DRAWINGS, MEDIA_TYPE, PATH

SUFFIX: Final = ".svg"
HEADERS: Final = {"Cache-Control": "public, max-age=604800", "Cross-Origin-Resource-Policy": "cross-origin"}
"""A week. Pages of other sites may show them: a host in a browser is one."""

router = APIRouter(include_in_schema=False)


@router.get(PATH + "/{name}")
async def icon(name: str) -> Response:
    """Return a drawing. Raises `NotFoundError` if there is none of this name."""
    drawing = DRAWINGS.get(name.removesuffix(SUFFIX)) if name.endswith(SUFFIX) else None
    if drawing is None:
        raise NotFoundError(Message.of("no_icon"))
    return Response(drawing, media_type=MEDIA_TYPE, headers=HEADERS)
