"""The page on which a person lets a host in that asked to sign in (MCP's elicitation in URL mode)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from html import escape
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.access import Actor, Principal, Scope
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
from drive_server.http.languages import language_of
from drive_server.http.logins import end_session, open_session
from drive_server.http.pages.forms import LOG_IN_WORDS, log_in_form, read_form
from drive_server.http.pages.layout import Words, notice, page, refused, sentence
from drive_server.messages import Language
from drive_server.services.identity.sign_ins import SignIn

PURPOSE: Final = "connect form"
DAYS: Final = (1, 7, 30, 90)
CHOSEN_DAYS: Final = 7
CHOSEN_SCOPES: Final = frozenset({Scope.READ, Scope.WRITE})

WORDS: Final[Words] = {
    **LOG_IN_WORDS,
    "title": {"en": "Let a program into your drive?", "zh": "允许程序访问您的云盘吗？"},
    "asks": {
        "en": "A program that calls itself <strong><bdi>{name}</bdi></strong> wants to work in your drive.",
        "zh": "一个自称 <strong><bdi>{name}</bdi></strong> 的程序想要使用您的云盘。",
    },
    "code": {
        "en": "Go on only if you have just started this in a program of yours, and it shows the same code: "
        "<code>{code}</code>",
        "zh": "只有当这是您刚刚在自己的程序中发起的操作，并且程序显示同样的代码时，才继续：<code>{code}</code>",
    },
    "account": {"en": "You are logged in as <bdi>{email}</bdi>.", "zh": "您已登录为 <bdi>{email}</bdi>。"},
    "switch": {"en": "Use another account", "zh": "换一个账户"},
    "may": {"en": "It may", "zh": "允许它"},
    "read": {"en": "read and search files", "zh": "读取和搜索文件"},
    "write": {"en": "make, change, move and rename files", "zh": "新建、修改、移动和重命名文件"},
    "share": {"en": "share files with others", "zh": "与他人共享文件"},
    "delete": {"en": "delete files", "zh": "删除文件"},
    "days": {"en": "For", "zh": "有效期"},
    "one_day": {"en": "one day at most", "zh": "最多 1 天"},
    "more_days": {"en": "{days} days at most", "zh": "最多 {days} 天"},
    "allow": {"en": "Let it in", "zh": "允许"},
    "decline": {"en": "Decline", "zh": "拒绝"},
    "revoke": {
        "en": "You can end this at any time: it is listed under your API keys.",
        "zh": "您可以随时终止：它会列在您的 API 密钥中。",
    },
    "done_title": {"en": "Done", "zh": "完成"},
    "done": {
        "en": "<bdi>{name}</bdi> may now work in your drive. Go back to it; this page can be closed.",
        "zh": "<bdi>{name}</bdi> 现在可以使用您的云盘了。请回到该程序；可以关闭此页面。",
    },
    "declined_title": {"en": "Declined", "zh": "已拒绝"},
    "declined": {
        "en": "<bdi>{name}</bdi> was not let in. This page can be closed.",
        "zh": "<bdi>{name}</bdi> 未获允许。可以关闭此页面。",
    },
    "over_title": {"en": "This request is over", "zh": "此请求已结束"},
    "over": {
        "en": "It was answered already, or it is older than ten minutes. Go back to the program, and try there again.",
        "zh": "它已经被处理，或者已超过十分钟。请回到程序中重试。",
    },
    "choose": {
        "en": "Choose at least one thing that it may do, of those that you may do yourself.",
        "zh": "请至少选择一项，并且是您自己拥有的权限。",
    },
}


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
