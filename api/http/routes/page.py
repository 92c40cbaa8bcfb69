"""The page for people, and its files."""

from functools import cache
from typing import Final
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope
from typing_extensions import override

from api.http.views import TEXTS
from api.page.files import PREFIX, PageFile, PageFiles
from api.page.first_load import first_page
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.messages import Language

PLAIN: Final = frozenset({"plain", "item", "cursor"})
"""Who names one of these in the address of a link is on the page without scripts."""
_LINKS: Final = " · ".join(
    f'<a lang="{language}" href="?plain=1">{TEXTS.say("without_scripts", language)}</a>' for language in TEXTS.languages
)
WITHOUT_SCRIPTS: Final = f"<p>{_LINKS}</p>"


class GuestRoute(APIRoute):
    """A route that only a browser opening a page matches: programs, and the plain page, go on to the drive's routes."""

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
def page_files() -> PageFiles:
    """Return the files of the page, read when the first browser comes."""
    return PageFiles()


@cache
def _first_page(files: PageFiles, language: Language, without_scripts: str) -> PageFile:
    page = first_page(files, language).replace("<noscript>", f"<noscript>{without_scripts}", 1)
    return PageFile.of(page.encode(), "text/html; charset=utf-8")


def _answer(request: Request, found: PageFile, caching: str) -> Response:
    headers = {"cache-control": caching, "vary": "accept-encoding", "content-security-policy": POLICY}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.compressed, media_type=found.media_type, headers={**headers, "content-encoding": "gzip"})
    return Response(found.content, media_type=found.media_type, headers=headers)


async def _shell(request: Request, without_scripts: str = "") -> Response:
    files = await run_in_threadpool(page_files)
    page = await run_in_threadpool(_first_page, files, language_of(request), without_scripts)
    answer = _answer(request, page, BRIEF)
    answer.headers["vary"] = "accept-encoding, accept-language"
    return answer


@router.get("/")
async def index(request: Request) -> Response:
    """Return the page."""
    return await _shell(request)


@guests.get("/s/{token}")
async def guest(token: str, request: Request) -> Response:
    """Return the page for who came by a link; it asks for the item of the link."""
    del token
    return await _shell(request, WITHOUT_SCRIPTS)


@router.get(PREFIX + "/{version}/{name:path}")
async def asset(version: str, name: str, request: Request) -> Response:
    """Return a file of the page; of another version than this one only a file of the same name here."""
    files = await run_in_threadpool(page_files)
    found = await run_in_threadpool(files.get, name)
    if found is None:
        raise NotFoundError("The page has no such file.")
    return _answer(request, found, FOR_EVER if version == files.version else BRIEF)
