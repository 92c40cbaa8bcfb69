"""The authorization endpoint: a person is asked on a page whether a program may come in (OAuth 2.1, section 4.1)."""

from hashlib import sha256
from hmac import compare_digest
from typing import Final
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.drive import Drive
from drive_server.http.access import DriveDep
from drive_server.http.headers.responses import OPENER
from drive_server.http.logins import end_session, open_by_password, open_session
from drive_server.http.metadata import AUTHORIZE
from drive_server.http.oauth.consent import ConsentPage, bounce_page, refused_page
from drive_server.http.oauth.requests import AccessRequest, RefusedRequestError, read_request
from drive_server.http.pages.connect import DAYS
from drive_server.http.pages.forms import read_form
from drive_server.http.pages.layout import refused
from drive_server.kernel.access import Actor, Principal
from drive_server.kernel.errors import (
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    RateLimitError,
    UnauthenticatedError,
    UnavailableError,
)
from drive_server.kernel.http.credentials import COOKIE, require_same_origin
from drive_server.kernel.http.languages import language_of
from drive_server.services.identity.proofs.freshness import SESSION

PURPOSE: Final = "consent form"
ANSWERED: Final = 303
"""The browser must not send the form on (RFC 9700, section 4.12)."""

router = APIRouter(include_in_schema=False)


@router.get(AUTHORIZE)
async def ask(request: Request, drive: DriveDep) -> Response:
    """Ask the person: first who they are, then whether they let the program in."""
    return _as_window(await _asked(request, drive))


@router.post(AUTHORIZE)
async def answer(request: Request, drive: DriveDep) -> Response:
    """Take the person's answer from the page."""
    return _as_window(await _answered(request, drive))


def _as_window(response: Response) -> Response:
    """Let the host that opened this in a window know the window again once it leads back to the host."""
    response.headers[OPENER] = "unsafe-none"
    return response


async def _asked(request: Request, drive: Drive) -> Response:
    language = language_of(request)
    try:
        asked = await read_request(drive, request)
    except RefusedRequestError as refusal:
        return refused_page(language, refusal)
    if not request.cookies.get(COOKIE) and request.headers.get("sec-fetch-site") == "cross-site":
        return bounce_page(language, _here(request))
    return await _form_page(request, drive, asked)


async def _answered(request: Request, drive: Drive) -> Response:
    language = language_of(request)
    try:
        require_same_origin(request)
        form = await read_form(request)
        asked = await read_request(drive, request)
    except ForbiddenError:
        return refused(language)
    except RefusedRequestError as refusal:
        return refused_page(language, refusal)
    if form.get("action") == ["log_in"]:
        return await _log_in(request, drive, asked, form)
    return await _decide(request, drive, asked, form)


async def _form_page(
    request: Request, drive: Drive, asked: AccessRequest, key: str = "", status: int = 200
) -> HTMLResponse:
    view, person = _view(request, drive, asked), await _person(request, drive)
    if person is None:
        return view.log_in(key, status)
    if not drive.identity.is_fresh(person):
        return view.log_in(key or "stale_proof", status)
    return view.ask(person.email, person.scopes, _form_token(request, drive), key, status)


async def _person(request: Request, drive: Drive) -> Principal | None:
    """Return the person who is logged in with this browser; a key is no person in front of a page."""
    session = request.cookies.get(COOKIE)
    if not session:
        return None
    try:
        person = await drive.identity.authenticate(session)
    except UnauthenticatedError:
        return None
    return person if person.method == SESSION else None


async def _log_in(request: Request, drive: Drive, asked: AccessRequest, form: dict[str, list[str]]) -> Response:
    response, view = RedirectResponse(_here(request), ANSWERED), _view(request, drive, asked)
    token, email, password = ("".join(form.get(name, [])) for name in ("token", "email", "password"))
    try:
        if token:
            await open_session(drive, request, response, token)
        else:
            await open_by_password(drive, request, response, email, password)
    except RateLimitError as error:
        slow = view.log_in("wait" if token else "slow", error.status)
        slow.headers["Retry-After"] = str(error.details["retry_after_seconds"])
        return slow
    except UnavailableError as error:
        return view.log_in("unavailable", error.status)
    except UnauthenticatedError as error:
        wrong = "wrong_token" if token else "wrong"
        return view.log_in("disabled" if error.code == "account_disabled" else wrong, error.status)
    return response


async def _decide(request: Request, drive: Drive, asked: AccessRequest, form: dict[str, list[str]]) -> Response:
    person, shown = await _person(request, drive), "".join(form.get("form", []))
    if person is None or not compare_digest(shown.encode(), _form_token(request, drive).encode()):
        return await _form_page(request, drive, asked, "stale", 403)
    match form.get("action"):
        case ["switch"]:
            response = RedirectResponse(_here(request), ANSWERED)
            await end_session(drive, request, response)
            return response
        case ["decline"]:
            return RedirectResponse(asked.answered(error="access_denied"), ANSWERED)
        case ["allow"] if not drive.identity.is_fresh(person):
            return await _form_page(request, drive, asked, "stale_proof", 403)
        case ["allow"]:
            return await _let_in(request, drive, asked, person, form)
        case _:
            return await _form_page(request, drive, asked, "stale", 422)


async def _let_in(
    request: Request, drive: Drive, asked: AccessRequest, person: Principal, form: dict[str, list[str]]
) -> Response:
    days = {str(days): days for days in DAYS}.get("".join(form.get("days", [])))
    chosen = set(form.get("scope", []))
    if days is None or chosen - set(asked.scopes):
        return await _form_page(request, drive, asked, "stale", 422)
    try:
        code = await drive.grants.grant(Actor(person, tool="authorize"), asked.asked, chosen, days)
    except (InvalidInputError, MissingScopeError) as error:
        return await _form_page(request, drive, asked, "choose", error.status)
    return RedirectResponse(asked.answered(code=code), ANSWERED)


def _view(request: Request, drive: Drive, asked: AccessRequest) -> ConsentPage:
    return ConsentPage(language_of(request), asked, _here(request), has_issuer=drive.oidc is not None)


def _form_token(request: Request, drive: Drive) -> str:
    """Return a token that binds the form to this browser's session and to this request."""
    bound = (request.cookies.get(COOKIE, "").encode(), request.scope["query_string"])
    return drive.signer.sign(PURPOSE, b"".join(sha256(part).digest() for part in bound))


def _here(request: Request) -> str:
    """Return the address of this request, written anew: nothing in it ends a header or a quoted text."""
    return f"{AUTHORIZE}?{urlencode(parse_qsl(request.url.query, keep_blank_values=True))}"
