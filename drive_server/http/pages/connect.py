"""The page on which a person lets a host in that asked to sign in (MCP's elicitation in URL mode)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from html import escape
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.drive import Drive
from drive_server.http.access import DriveDep
from drive_server.http.logins import end_session, open_session
from drive_server.http.pages.forms import LOG_IN_WORDS, log_in_form, read_form
from drive_server.http.pages.layout import TEXTS, Words, notice, page, refused, sentence, words_of
from drive_server.kernel.access import Actor, Principal, Scope
from drive_server.kernel.errors import (
    ForbiddenError,
    InvalidInputError,
    MissingScopeError,
    NotFoundError,
    RateLimitError,
    UnauthenticatedError,
    UnavailableError,
)
from drive_server.kernel.http.credentials import COOKIE, require_same_origin
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.messages import Language
from drive_server.services.identity.sign_ins import SignIn

PURPOSE: Final = "connect form"
DAYS: Final = (1, 7, 30, 90)
CHOSEN_DAYS: Final = 7
CHOSEN_SCOPES: Final = frozenset({Scope.READ, Scope.WRITE})

WORDS: Final[Words] = {**LOG_IN_WORDS, **words_of(TEXTS, "connect")}


@dataclass(frozen=True, slots=True)
class ConnectPage:
    """The page in one language, for one request to sign in."""

    language: Language
    sign_in: SignIn

    def log_in(self, key: str = "", status: int = 200) -> HTMLResponse:
        """Ask who is there."""
        return self._page("title", self._asks() + log_in_form(self.language, key), status)

    def consent(
        self, email: str, scopes: Iterable[Scope], form_token: str, key: str = "", status: int = 200
    ) -> HTMLResponse:
        """Ask whether, for which scopes and for how long the host may enter; `scopes` are those the person has."""
        scopes_to_grant = [scope for scope in Scope if scope in set(scopes)]
        form = (
            f"<form method='post'><input type='hidden' name='form' value='{escape(form_token)}'>"
            f"<fieldset><legend>{self._say('may')}</legend>{self._checkboxes(scopes_to_grant)}</fieldset>"
            f"<label>{self._say('days')}<select name='days'>{self._durations()}</select></label>"
            f"<button class='main' name='action' value='allow'>{self._say('allow')}</button>"
            f"<button name='action' value='decline'>{self._say('decline')}</button>"
            f"<p class='small'>{self._say('revoke')}</p>"
            f"<p>{self._say('account', email=email)} "
            f"<button name='action' value='switch'>{self._say('switch')}</button></p></form>"
        )
        return self._page("title", self._asks() + notice(WORDS, self.language, key) + form, status)

    def done(self) -> HTMLResponse:
        """Say that the host is in."""
        return self._page("done_title", self._paragraph("done", name=self.sign_in.client_name))

    def declined(self) -> HTMLResponse:
        """Say that the host was sent away."""
        return self._page("declined_title", self._paragraph("declined", name=self.sign_in.client_name))

    def _page(self, title: str, body: str, status: int = 200) -> HTMLResponse:
        return page(self.language, WORDS[title][self.language], body, status)

    def _asks(self) -> str:
        return self._paragraph("asks", name=self.sign_in.client_name) + self._paragraph("code", code=self.sign_in.code)

    def _checkboxes(self, scopes: Sequence[Scope]) -> str:
        return "".join(
            f"<label><input type='checkbox' name='scope' value='{scope}'"
            f"{' checked' if scope in CHOSEN_SCOPES else ''}> {self._say(scope)}</label>"
            for scope in scopes
        )

    def _durations(self) -> str:
        return "".join(
            f"<option value='{days}'{' selected' if days == CHOSEN_DAYS else ''}>"
            f"{self._say('one_day' if days == 1 else 'more_days', days=str(days))}</option>"
            for days in DAYS
        )

    def _paragraph(self, key: str, **parts: str) -> str:
        return f"<p>{self._say(key, **parts)}</p>"

    def _say(self, key: str, **parts: str) -> str:
        return sentence(WORDS, self.language, key, **parts)


def over(language: Language) -> HTMLResponse:
    """Say that there is no such request, or none any more."""
    return page(language, WORDS["over_title"][language], f"<p>{sentence(WORDS, language, 'over')}</p>", 404)


router = APIRouter(include_in_schema=False)


@router.get("/connect/{token}")
async def ask(token: str, request: Request, drive: DriveDep) -> Response:
    """Ask the person: first who they are, then whether they let the host in."""
    try:
        sign_in = await drive.sign_ins.open(token)
    except NotFoundError:
        return over(language_of(request))
    return await _form_page(request, drive, sign_in)


@router.post("/connect/{token}")
async def answer(token: str, request: Request, drive: DriveDep) -> Response:
    """Take the person's answer from the page."""
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


async def _form_page(request: Request, drive: Drive, sign_in: SignIn, key: str = "", status: int = 200) -> HTMLResponse:
    view = ConnectPage(language_of(request), sign_in)
    person = await _person(request, drive)
    if person is None:
        return view.log_in(key, status)
    if not drive.identity.is_fresh(person):
        return view.log_in(key or "stale_proof", status)
    return view.consent(person.email, person.scopes, _form_token(request, drive, sign_in), key, status)


async def _person(request: Request, drive: Drive) -> Principal | None:
    """Return the person who is logged in with this browser; a bearer token is no person in front of a page."""
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
        return await _form_page(request, drive, sign_in, "stale", 403)
    view = ConnectPage(language_of(request), sign_in)
    match form.get("action"):
        case ["switch"]:
            response = RedirectResponse(request.url.path + _query(request), 303)
            await end_session(drive, request, response)
            return response
        case ["decline"]:
            await drive.sign_ins.decline(token)
            return view.declined()
        case ["allow"] if not drive.identity.is_fresh(person):
            return await _form_page(request, drive, sign_in, "stale_proof", 403)
        case ["allow"]:
            return await _let_in(request, drive, sign_in, token, person, form)
        case _:
            return await _form_page(request, drive, sign_in, "stale", 422)


async def _let_in(
    request: Request, drive: Drive, sign_in: SignIn, token: str, person: Principal, form: dict[str, list[str]]
) -> Response:
    days = {str(days): days for days in DAYS}.get("".join(form.get("days", [])))
    if days is None:
        return await _form_page(request, drive, sign_in, "stale", 422)
    try:
        await drive.sign_ins.accept(Actor(person, tool="connect"), token, form.get("scope", []), days)
    except (InvalidInputError, MissingScopeError) as error:
        return await _form_page(request, drive, sign_in, "choose", error.status)
    return ConnectPage(language_of(request), sign_in).done()


def _form_token(request: Request, drive: Drive, sign_in: SignIn) -> str:
    """Return a token that binds the form to this browser's session and this sign-in."""
    session = sha256(request.cookies.get(COOKIE, "").encode()).digest()
    return drive.signer.sign(PURPOSE, session + bytes.fromhex(sign_in.id))


def _query(request: Request) -> str:
    return f"?{request.url.query}" if request.url.query else ""


def _with_retry(response: HTMLResponse, error: RateLimitError) -> HTMLResponse:
    response.headers["Retry-After"] = str(error.details["retry_after_seconds"])
    return response
