"""Log in at an issuer: two redirects, and a page that says how it went."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from html import escape
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from drive_server.drive import Drive
from drive_server.http.access import DriveDep, principal_of_request
from drive_server.http.logins import OIDC_START as START
from drive_server.http.logins import recorded_refusals, require_session, set_session
from drive_server.http.pages.layout import TEXTS, Words, page, sentence, words_of
from drive_server.kernel.access import Principal
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import (
    DriveError,
    ForbiddenError,
    NotFoundError,
    StateConflictError,
    UnauthenticatedError,
    UnavailableError,
)
from drive_server.kernel.http.credentials import secret_of_request
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.messages import Message

if TYPE_CHECKING:
    from drive_server.services.identity.oidc import OidcService

CALLBACK: Final = f"{START}/callback"
COOKIE: Final = "drive_oidc"
BACK_COOKIE: Final = "drive_oidc_back"
BACK: Final = re.compile(r"/authorize\?[A-Za-z0-9_.~%+&=*-]{1,2900}")
"""The only pages that a login leads back to: those on which a program waits for the person."""
SECONDS: Final = 600
FIELDS: Final = ("state", "code", "iss")
MAX_CHARACTERS: Final = 4096
WORDS: Final[Words] = words_of(TEXTS, "oidc")

router = APIRouter(include_in_schema=False)


@router.get(START)
async def start(request: Request, drive: DriveDep, *, again: bool = False, back: str = "") -> Response:
    """Lead to the issuer; the browser keeps a signed note of this login for ten minutes.

    With `again` the person who is logged in proves anew who they are; `back` is the page to go on at afterwards.
    """
    try:
        session = await _session_of(drive, request) if again else ("", "")
        beginning = await _oidc(drive).begin(_callback(drive), session)
    except (StateConflictError, UnauthenticatedError, UnavailableError) as error:
        return _failed(request, error)
    response = RedirectResponse(beginning.url, 303)
    _remember(request, response, COOKIE, beginning.memory)
    if BACK.fullmatch(back):
        _remember(request, response, BACK_COOKIE, urlsafe_b64encode(back.encode()).decode())
    else:
        response.delete_cookie(BACK_COOKIE, path=START)
    return response


@router.get(CALLBACK)
async def callback(request: Request, drive: DriveDep) -> Response:
    """Log the browser in, or prove its session anew, if this is the answer to the login that it began."""
    answer = {name: request.query_params.get(name, "")[:MAX_CHARACTERS] for name in FIELDS}
    found = {name: value for name, value in answer.items() if value}
    memory, language = request.cookies.get(COOKIE, ""), language_of(request)
    try:
        with recorded_refusals("oidc"):
            principal = await _oidc(drive).finish(memory, _callback(drive), found)
        session_id = _oidc(drive).session_of(memory)
        if session_id:
            await drive.sessions.prove_by_issuer(session_id, principal)
    except (ForbiddenError, UnauthenticatedError, UnavailableError) as error:
        return _failed(request, error)
    if session_id:
        response = page(language, WORDS["title"][language], f"<p>{sentence(WORDS, language, 'proved')}</p>")
    else:
        response = await _logged_in(drive, request, principal)
    response.delete_cookie(COOKIE, path=START)
    response.delete_cookie(BACK_COOKIE, path=START)
    return response


def _remember(request: Request, response: Response, name: str, value: str) -> None:
    # Lax: the issuer's redirect has to bring it back.
    is_secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=SECONDS, path=START, httponly=True, samesite="lax", secure=is_secure)


def _page_to_go_on(request: Request) -> str:
    try:
        back = urlsafe_b64decode(request.cookies.get(BACK_COOKIE, "")).decode()
    except (Base64Error, ValueError):
        return "/"
    return back if BACK.fullmatch(back) else "/"


async def _logged_in(drive: Drive, request: Request, principal: Principal) -> Response:
    language, on = language_of(request), _page_to_go_on(request)
    # A page, no redirect: after one that another site began, browsers send no cookie that is strictly of this site.
    body = f"<p><a class='button' href='{escape(on)}'>{sentence(WORDS, language, 'on')}</a></p>"
    response = page(language, WORDS["title"][language], body)
    response.headers["Refresh"] = f"0; url={on}"
    await set_session(drive, request, response, principal)
    return response


async def _session_of(drive: Drive, request: Request) -> tuple[str, str]:
    principal = await principal_of_request(drive, request)
    require_session(principal)
    return principal.user_id, await drive.sessions.id_of(secret_of_request(request))


def _oidc(drive: Drive) -> "OidcService":
    if drive.oidc is None:
        raise NotFoundError(Message.of("nothing_here"))
    return drive.oidc


def _callback(drive: Drive) -> str:
    return public_address(drive.settings.resolved_public_url) + CALLBACK


def _failed(request: Request, error: DriveError) -> Response:
    language = language_of(request)
    again = f"<p><a class='button' href='{START}'>{WORDS['again'][language]}</a></p>"
    text = f"<p>{escape(' '.join(error.texts(language)))}</p>{again}"
    response = page(language, WORDS["failed"][language], text, error.status)
    response.delete_cookie(COOKIE, path=START)
    return response
