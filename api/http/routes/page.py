"""The page for people, and its files."""

from functools import cache
from typing import Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response

from api.page.files import PREFIX, PageFiles
from api.page.first_load import first_page
from drive_server.errors import NotFoundError

router = APIRouter(tags=["page"], include_in_schema=False)

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; "
    "img-src 'self' blob: data:; media-src 'self' blob:; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FOR_EVER: Final = "public, max-age=31536000, immutable"
BRIEF: Final = "no-cache"


@cache
def _files() -> PageFiles:
    return PageFiles()


@cache
def _first_page() -> str:
    return first_page(_files())


@router.get("/")
async def index() -> HTMLResponse:
    """Return the page."""
    content = await run_in_threadpool(_first_page)
    return HTMLResponse(content, headers={"content-security-policy": POLICY, "cache-control": BRIEF})


@router.get(PREFIX + "/{version}/{name:path}")
async def asset(version: str, name: str, request: Request) -> Response:
    """Return a file of the page; of another version than this one only what has the same name here."""
    files = await run_in_threadpool(_files)
    found = await run_in_threadpool(files.get, name)
    if found is None:
        raise NotFoundError("The page has no such file.")
    headers = {
        "cache-control": FOR_EVER if version == files.version else BRIEF,
        "vary": "accept-encoding",
        "content-security-policy": POLICY,
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.compressed, media_type=found.media_type, headers={**headers, "content-encoding": "gzip"})
    return Response(found.content, media_type=found.media_type, headers=headers)
