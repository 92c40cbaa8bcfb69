"""The page for people, and its files."""

from functools import cache
from typing import Final
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match
from starlette.types import Scope
from typing_extensions import override

from api.page.files import PREFIX, PageFiles
from api.page.first_load import first_page
from drive_server.errors import NotFoundError

PLAIN: Final = frozenset({"plain", "item", "cursor"})
"""Who names one of these in the address of a link is on the page without scripts."""
WITHOUT_SCRIPTS: Final = (
    '<p><a lang="en" href="?plain=1">Go on without scripts</a> · <a lang="zh" href="?plain=1">不使用脚本继续</a></p>'
)


class GuestRoute(APIRoute):
    """What only a browser that opens a page matches: programs, and the plain page, go on to the drive's own routes."""

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_page = scope["type"] == "http" and scope["method"] == "GET"
        if not is_page or not any(name == b"accept" and b"text/html" in value for name, value in scope["headers"]):
            return Match.NONE, {}
        # As Latin-1: clients send any bytes, and `parse_qs` takes bytes of ASCII alone.
        if not PLAIN.isdisjoint(parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)):
            return Match.NONE, {}
        return super().matches(scope)


router = APIRouter(tags=["page"], include_in_schema=False)
guests = APIRouter(tags=["page"], include_in_schema=False, route_class=GuestRoute)

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


@guests.get("/s/{token}")
async def guest(token: str) -> HTMLResponse:
    """Return the page for who came by a link; it asks for what the link leads to."""
    del token
    content = (await run_in_threadpool(_first_page)).replace("<noscript>", f"<noscript>{WITHOUT_SCRIPTS}", 1)
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
