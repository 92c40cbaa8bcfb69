"""The page that a one-time address opens: it logs the browser in, and leads away from the address."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.drive import Drive
from drive_server.http.access import DriveDep
from drive_server.http.logins import recorded_refusals, set_session
from drive_server.http.pages.layout import TEXTS, Words, page, refused, sentence, words_of
from drive_server.kernel.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from drive_server.kernel.http.credentials import OWN_FETCH_SITES, require_same_origin
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.messages import Language
from drive_server.services.identity.login_links import PAGE

HOME: Final = "/"
WORDS: Final[Words] = words_of(TEXTS, "login")

router = APIRouter(include_in_schema=False)


@router.get(f"{PAGE}/{{secret}}")
async def open_link(secret: str, request: Request, drive: DriveDep) -> Response:
    """Log the browser in; ask first if another site led here, or the browser only looks ahead."""
    if _was_opened_by_a_person(request):
        return await _log_in(request, drive, secret)
    language = language_of(request)
    try:
        email = (await drive.login_links.find(secret)).email
    except NotFoundError:
        return _gone(language)
    form = f"<form method='post'><button class='main'>{sentence(WORDS, language, 'button')}</button></form>"
    return page(language, WORDS["title"][language], f"<p>{sentence(WORDS, language, 'asks', email=email)}</p>{form}")


@router.post(f"{PAGE}/{{secret}}")
async def confirm(secret: str, request: Request, drive: DriveDep) -> Response:
    """Log the browser in, as the person chose on the page."""
    try:
        require_same_origin(request)
    except ForbiddenError:
        return refused(language_of(request))
    return await _log_in(request, drive, secret)


async def _log_in(request: Request, drive: Drive, secret: str) -> Response:
    try:
        with recorded_refusals("login_link"):
            principal = await drive.login_links.redeem(secret)
    except (NotFoundError, UnauthenticatedError):
        return _gone(language_of(request))
    response = RedirectResponse(HOME, 303)
    await set_session(drive, request, response, principal)
    return response


def _was_opened_by_a_person(request: Request) -> bool:
    is_ahead = "prefetch" in f"{request.headers.get('sec-purpose', '')} {request.headers.get('purpose', '')}"
    return not is_ahead and request.headers.get("sec-fetch-site", "none") in OWN_FETCH_SITES


def _gone(language: Language) -> HTMLResponse:
    return page(language, WORDS["gone_title"][language], f"<p>{sentence(WORDS, language, 'gone')}</p>", 404)
