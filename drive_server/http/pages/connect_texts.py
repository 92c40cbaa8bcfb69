"""What the page says on which a person lets a host in, in English and Chinese."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from starlette.responses import HTMLResponse

from drive_server.access import Scope
from drive_server.http.pages.layout import Language, page
from drive_server.services.identity.sign_ins import SignIn

DAYS: Final = (1, 7, 30, 90)
CHOSEN_DAYS: Final = 7
CHOSEN_SCOPES: Final = frozenset({Scope.READ, Scope.WRITE})

WORDS: Final[dict[str, dict[Language, str]]] = {
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
    "log_in": {"en": "Log in first", "zh": "请先登录"},
    "token": {
        "en": "Access token or API key. It stays between you and your drive: the program does not see it.",
        "zh": "访问令牌或 API 密钥。它只在您和您的云盘之间使用，程序看不到它。",
    },
    "log_in_button": {"en": "Log in", "zh": "登录"},
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
    "wrong_token": {"en": "That token is not valid.", "zh": "该令牌无效。"},
    "wait": {
        "en": "Too many wrong tokens came from your address. Wait a minute.",
        "zh": "来自您的地址的错误令牌过多。请等待一分钟。",
    },
    "unavailable": {
        "en": "The issuer of that token can't be reached. Try again in a minute, or use an API key.",
        "zh": "无法连接该令牌的签发者。请稍后重试，或使用 API 密钥。",
    },
    "stale": {"en": "This page was out of date. Please choose again.", "zh": "此页面已过期，请重新选择。"},
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

    def log_in(self, notice: str = "", status: int = 200) -> HTMLResponse:
        """Ask who is there."""
        return self._page("title", self._asks() + log_in_form(self.language, notice), status)

    def consent(
        self, email: str, scopes: Iterable[Scope], form_token: str, notice: str = "", status: int = 200
    ) -> HTMLResponse:
        """Ask whether, for what and for how long the host may come in; `scopes` are those that the person can give."""
        given = [scope for scope in Scope if scope in set(scopes)]
        form = (
            f"<form method='post'><input type='hidden' name='form' value='{escape(form_token)}'>"
            f"<fieldset><legend>{self._say('may')}</legend>{self._checkboxes(given)}</fieldset>"
            f"<label>{self._say('days')}<select name='days'>{self._durations()}</select></label>"
            f"<button class='main' name='action' value='allow'>{self._say('allow')}</button>"
            f"<button name='action' value='decline'>{self._say('decline')}</button>"
            f"<p class='small'>{self._say('revoke')}</p>"
            f"<p>{self._say('account', email=email)} "
            f"<button name='action' value='switch'>{self._say('switch')}</button></p></form>"
        )
        return self._page("title", self._asks() + self._notice(notice) + form, status)

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

    def _notice(self, notice: str) -> str:
        return f"<p class='notice' role='alert'>{self._say(notice)}</p>" if notice else ""

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
        return said(self.language, key, **parts)


def log_in_form(language: Language, notice: str = "") -> str:
    """Return the form, as HTML, in which a person gives a token; `notice` is the key of a sentence before it."""
    warning = f"<p class='notice' role='alert'>{said(language, notice)}</p>" if notice else ""
    return (
        f"{warning}<h2>{said(language, 'log_in')}</h2><form method='post'><label>{said(language, 'token')}"
        "<input type='password' name='token' required autocomplete='off' maxlength='16384' autofocus></label>"
        f"<button class='main' name='action' value='log_in'>{said(language, 'log_in_button')}</button></form>"
    )


def over(language: Language) -> HTMLResponse:
    """Say that there is no such request, or none any more."""
    return page(language, WORDS["over_title"][language], f"<p>{said(language, 'over')}</p>", 404)


def said(language: Language, key: str, **parts: str) -> str:
    """Return the sentence as HTML; the parts are escaped."""
    return WORDS[key][language].format(**{name: escape(value) for name, value in parts.items()})
