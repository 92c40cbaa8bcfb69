"""Pages on which a file opens at a passage, for people who follow a citation: `/f/ID?version=3&start=120&end=480`."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.access import Actor
from drive_server.drive import Drive
from drive_server.errors import (
    DriveError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    RateLimitError,
    StateConflictError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnsupportedContentError,
)
from drive_server.http.access import DriveDep, principal_of_request, require_same_origin
from drive_server.http.contents import content_response
from drive_server.http.pages.connect_texts import log_in_form
from drive_server.http.pages.forms import read_form
from drive_server.http.pages.layout import language_of, page, refused
from drive_server.http.pages.passage_texts import PDF, WORDS, PassagePage, problem_page
from drive_server.http.routes.auth import open_session
from drive_server.mcp.tools.arguments import MAX_INTEGER, MAX_VERSION
from drive_server.models import TextRange
from drive_server.services.text.addresses import PAGE, Passage

MOST_MARKED: Final = 50_000
AROUND: Final = 20_000
"""Characters that are shown before and after the passage."""

router = APIRouter(include_in_schema=False)

Version = Annotated[int | None, Query(ge=1, le=MAX_VERSION)]
Offset = Annotated[int | None, Query(ge=0, le=MAX_INTEGER)]


@router.get(f"{PAGE}/{{file_id}}")
async def open_passage(
    request: Request, file_id: str, drive: DriveDep, version: Version = None, start: Offset = None, end: Offset = None
) -> Response:
    """Show the text of a version with the passage marked and scrolled to; ask who is there first."""
    try:
        actor = Actor(await principal_of_request(drive, request), tool="open_passage")
    except UnauthenticatedError:
        return _log_in_page(request)
    try:
        found = await _passage(drive, actor, file_id, version, start, end)
        around = await _around(drive, actor, found)
    except DriveError as error:
        return _problem(request, error)
    drive.recents.note_read(actor, found.item.id)
    return PassagePage(language_of(request), found, around, is_marked=start is not None).response()


@router.post(f"{PAGE}/{{file_id}}")
async def log_in(
    request: Request, file_id: str, drive: DriveDep, version: Version = None, start: Offset = None, end: Offset = None
) -> Response:
    """Let the person in, and go on to the passage."""
    response = RedirectResponse(f"{request.url.path}?{request.url.query}", 303)
    try:
        require_same_origin(request)
        token = "".join((await read_form(request)).get("token", []))
        principal = await open_session(drive, request, response, token)
    except ForbiddenError:
        return refused(language_of(request))
    except (RateLimitError, UnavailableError, UnauthenticatedError) as error:
        return _log_in_page(request, error)
    # A form drops the fragment of the page's address, by which the browser would scroll to the passage.
    try:
        found = await _passage(drive, Actor(principal), file_id, version, start, end)
    except DriveError:
        return response
    if start is not None:
        passage = Passage(found.item.id, found.version, found.start, found.end, found.place)
        response.headers["location"] = passage.address("")
    return response


@router.get(f"{PAGE}/{{file_id}}/document")
async def open_document(request: Request, file_id: str, drive: DriveDep, version: Version = None) -> Response:
    """Show a PDF in the browser, which opens it at the page that the address names; other files are downloaded."""
    try:
        actor = Actor(await principal_of_request(drive, request), tool="open_document")
        content = await drive.documents.open_content(actor, file_id, version)
    except UnauthenticatedError:
        return _log_in_page(request)
    except DriveError as error:
        return _problem(request, error)
    response = await content_response(request, content)
    if content.media_type == PDF and "content-disposition" in response.headers:
        shown = response.headers["content-disposition"].replace("attachment", "inline", 1)
        response.headers["content-disposition"] = shown
        # A sandbox keeps browsers from showing a PDF; its scripts never run in the page's origin.
        del response.headers["content-security-policy"]
        response.headers["x-frame-options"] = "DENY"
    return response


async def _passage(
    drive: Drive, actor: Actor, file_id: str, version: int | None, start: int | None, end: int | None
) -> TextRange:
    return await drive.documents.read_text(
        actor, file_id, start=start or 0, end=end, limit=MOST_MARKED, version=version
    )


async def _around(drive: Drive, actor: Actor, found: TextRange) -> TextRange:
    begin = max(0, found.start - AROUND)
    return await drive.documents.read_text(
        actor,
        found.item.id,
        start=begin,
        end=found.end + AROUND,
        limit=MOST_MARKED + 2 * AROUND,
        version=found.version,
    )


def _problem(request: Request, error: DriveError) -> HTMLResponse:
    language = language_of(request)
    if isinstance(error, ForbiddenError):
        return problem_page(language, "forbidden", error.status, request.url.path)
    if isinstance(error, UnsupportedContentError | TooLargeError):
        return problem_page(language, "no_text", error.status)
    if isinstance(error, NotFoundError | StateConflictError | InvalidInputError):
        return problem_page(language, "gone", 404)
    raise error


def _log_in_page(request: Request, error: DriveError | None = None) -> HTMLResponse:
    language = language_of(request)
    notice = {"rate_limited": "wait", "unavailable": "unavailable"}.get(error.code, "wrong_token") if error else ""
    status = error.status if error else 401
    response = page(language, WORDS["log_in_title"][language], log_in_form(language, notice), status)
    if isinstance(error, RateLimitError):
        response.headers["Retry-After"] = str(error.details["retry_after_seconds"])
    return response
