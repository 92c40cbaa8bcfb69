"""The page on which a person lets a host in that asked to sign in (MCP's elicitation in URL mode)."""

from hashlib import sha256
from hmac import compare_digest
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.access import Actor, Principal
from drive_server.drive import Drive
from drive_server.errors import (
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    RateLimitError,
    UnauthenticatedError,
    UnavailableError,
)
from drive_server.http.access import COOKIE, DriveDep, require_same_origin
from drive_server.http.pages.connect_texts import DAYS, ConnectPage, over
from drive_server.http.pages.forms import read_form
from drive_server.http.pages.layout import language_of, refused
from drive_server.http.routes.auth import end_session, open_session
from drive_server.services.identity.sign_ins import SignIn

PURPOSE: Final = "connect form"

router = APIRouter(include_in_schema=False)


@router.get("/connect/{token}")
async def ask(token: str, request: Request, drive: DriveDep) -> Response:
    """Ask the person: first who they are, then whether they let the host in."""
    try:
        sign_in = await drive.sign_ins.open(token)
    except NotFoundError:
        return over(language_of(request))
    return await _shown(request, drive, sign_in)


@router.post("/connect/{token}")
async def answer(token: str, request: Request, drive: DriveDep) -> Response:
    """Take what the person answered on the page."""
    try:
        require_same_origin(request)
        sign_in = await drive.sign_ins.open(token)
        form = await read_form(request)
        if form.get("action") == ["log_in"]:
            return await _log_in(request, drive, sign_in, form)
        return await _decide(request, drive, sign_in, token, form)
    except ForbiddenError:
        return refused(language_of(request))
    except NotFoundError:
        return over(language_of(request))


async def _shown(request: Request, drive: Drive, sign_in: SignIn, notice: str = "", status: int = 200) -> HTMLResponse:
    view = ConnectPage(language_of(request), sign_in)
    person = await _person(request, drive)
    if person is None:
        return view.log_in(notice, status)
    return view.consent(person.email, person.scopes, _form_token(request, drive, sign_in), notice, status)


async def _person(request: Request, drive: Drive) -> Principal | None:
    """Return who is logged in, in this browser: a bearer token is no person in front of a page."""
    session = request.cookies.get(COOKIE)
    if not session:
        return None
    try:
        return await drive.identity.authenticate(session)
    except UnauthenticatedError:
        return None


async def _log_in(request: Request, drive: Drive, sign_in: SignIn, form: dict[str, list[str]]) -> Response:
    response = RedirectResponse(request.url.path + _query(request), 303)
    token = "".join(form.get("token", []))
    try:
        await open_session(drive, request, response, token)
    except RateLimitError as error:
        return _with_retry(ConnectPage(language_of(request), sign_in).log_in("wait", error.status), error)
    except UnavailableError as error:
        return ConnectPage(language_of(request), sign_in).log_in("unavailable", error.status)
    except UnauthenticatedError as error:
        return ConnectPage(language_of(request), sign_in).log_in("wrong_token", error.status)
    return response


async def _decide(request: Request, drive: Drive, sign_in: SignIn, token: str, form: dict[str, list[str]]) -> Response:
    person = await _person(request, drive)
    shown = "".join(form.get("form", []))
    if person is None or not compare_digest(shown.encode(), _form_token(request, drive, sign_in).encode()):
        return await _shown(request, drive, sign_in, "stale", 403)
    view = ConnectPage(language_of(request), sign_in)
    match form.get("action"):
        case ["switch"]:
            response = RedirectResponse(request.url.path + _query(request), 303)
            await end_session(drive, request, response)
            return response
        case ["decline"]:
            await drive.sign_ins.decline(token)
            return view.declined()
        case ["allow"]:
            return await _let_in(request, drive, sign_in, token, person, form)
        case _:
            return await _shown(request, drive, sign_in, "stale", 422)


async def _let_in(
    request: Request, drive: Drive, sign_in: SignIn, token: str, person: Principal, form: dict[str, list[str]]
) -> Response:
    days = {str(days): days for days in DAYS}.get("".join(form.get("days", [])))
    if days is None:
        return await _shown(request, drive, sign_in, "stale", 422)
    try:
        await drive.sign_ins.accept(Actor(person, tool="connect"), token, form.get("scope", []), days)
    except (InvalidInputError, MissingScopeError) as error:
        return await _shown(request, drive, sign_in, "choose", error.status)
    return ConnectPage(language_of(request), sign_in).done()


def _form_token(request: Request, drive: Drive, sign_in: SignIn) -> str:
    """Return what only a page holds that was made for this browser's session and this request to sign in."""
    session = sha256(request.cookies.get(COOKIE, "").encode()).digest()
    return drive.signer.sign(PURPOSE, session + bytes.fromhex(sign_in.id))


def _query(request: Request) -> str:
    return f"?{request.url.query}" if request.url.query else ""


def _with_retry(response: HTMLResponse, error: RateLimitError) -> HTMLResponse:
    response.headers["Retry-After"] = str(error.details["retry_after_seconds"])
    return response
