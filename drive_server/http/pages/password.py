"""Pages for passwords, without scripts: log in with one, and set a new one at an address that holds once."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from drive_server.http.access import DriveDep
from drive_server.http.logins import open_by_password, set_session
from drive_server.http.pages.forms import read_form
from drive_server.http.pages.layout import TEXTS, Words, notice, page, refused, sentence, words_of
from drive_server.kernel.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    RateLimitError,
    UnauthenticatedError,
)
from drive_server.kernel.http.credentials import require_same_origin
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.messages import Language
from drive_server.services.identity.passwords import MAX_CHARACTERS, MIN_CHARACTERS, PAGE

HOME: Final = "/"
LOGIN: Final = "/login"
WORDS: Final[Words] = words_of(TEXTS, "password")

router = APIRouter(include_in_schema=False)


@router.get(LOGIN)
async def log_in_page(request: Request, drive: DriveDep) -> Response:
    """Ask for email and password, or lead to the issuer in the settings."""
    language = language_of(request)
    elsewhere = f"<p><a class='button' href='{LOGIN}/oidc'>{WORDS['elsewhere'][language]}</a></p>"
    return _log_in(language, after=elsewhere if drive.oidc else "")


@router.post(LOGIN)
async def log_in(request: Request, drive: DriveDep) -> Response:
    """Log the browser in."""
    language = language_of(request)
    try:
        require_same_origin(request)
    except ForbiddenError:
        return refused(language)
    form = await read_form(request)
    email, password = "".join(form.get("email", [])), "".join(form.get("password", []))
    response = RedirectResponse(HOME, 303)
    try:
        await open_by_password(drive, request, response, email, password)
    except RateLimitError:
        return _log_in(language, "slow", 429)
    except UnauthenticatedError as error:
        return _log_in(language, "disabled" if error.code == "account_disabled" else "wrong", 401)
    return response


@router.get(f"{PAGE}/{{token}}")
async def reset_page(token: str, request: Request, drive: DriveDep) -> Response:
    """Ask for a new password."""
    language = language_of(request)
    try:
        return _reset(language, await drive.passwords.find(token))
    except NotFoundError:
        return _gone(language)


@router.post(f"{PAGE}/{{token}}")
async def reset(token: str, request: Request, drive: DriveDep) -> Response:
    """Set the password, and log the browser in."""
    language = language_of(request)
    try:
        require_same_origin(request)
        principal = await drive.passwords.reset(token, "".join((await read_form(request)).get("password", [])))
    except ForbiddenError:
        return refused(language)
    except NotFoundError:
        return _gone(language)
    except InvalidInputError:
        return _reset(language, await drive.passwords.find(token), "bad", 422)
    response = RedirectResponse(HOME, 303)
    await set_session(drive, request, response, principal)
    return response


def _log_in(language: Language, key: str = "", status: int = 200, after: str = "") -> Response:
    title = WORDS["log_in"][language]
    fields = (
        f"<label>{WORDS['email'][language]} <input name='email' required autocomplete='username' autofocus></label>"
        f"<label>{WORDS['password'][language]} <input type='password' name='password' required "
        f"maxlength='{MAX_CHARACTERS}' autocomplete='current-password'></label>"
    )
    form = f"<form method='post'>{fields}<button class='main'>{title}</button></form>"
    return page(language, title, notice(WORDS, language, key) + form + after, status)


def _reset(language: Language, email: str, key: str = "", status: int = 200) -> Response:
    words = sentence(WORDS, language, "for", email=email, least=str(MIN_CHARACTERS))
    field = (
        f"<label>{WORDS['new'][language]} <input type='password' name='password' required minlength='{MIN_CHARACTERS}' "
        f"maxlength='{MAX_CHARACTERS}' autocomplete='new-password' autofocus></label>"
    )
    form = f"<form method='post'>{field}<button class='main'>{WORDS['set'][language]}</button></form>"
    return page(language, WORDS["title"][language], f"{notice(WORDS, language, key)}<p>{words}</p>{form}", status)


def _gone(language: Language) -> Response:
    return page(language, WORDS["gone_title"][language], f"<p>{WORDS['gone'][language]}</p>", 404)
