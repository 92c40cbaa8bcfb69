"""The pages of a sign-in by OAuth: who is there, and whether a program may come in. Without scripts."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.responses import HTMLResponse

from drive_server.http.logins import OIDC_START
from drive_server.http.oauth.requests import AccessRequest, RefusedRequestError
from drive_server.http.pages.connect import DAYS
from drive_server.http.pages.connect import WORDS as CONNECT_WORDS
from drive_server.http.pages.layout import Words, notice, page, sentence, words_of
from drive_server.http.pages.password import WORDS as PASSWORD_WORDS
from drive_server.kernel.access import Scope
from drive_server.kernel.errors import DriveError, InvalidInputError
from drive_server.kernel.messages import Language
from drive_server.kernel.texts import Texts
from drive_server.services.identity.passwords import MAX_CHARACTERS
from drive_server.services.identity.programs.redirects import source_of

CHOSEN_DAYS: Final = 30
TEXTS: Final = Texts.beside(__file__)
WORDS: Final[Words] = {
    **CONNECT_WORDS,
    **{key: PASSWORD_WORDS[key] for key in ("email", "password", "wrong", "disabled", "slow", "elsewhere")},
    **words_of(TEXTS, "consent"),
}


@dataclass(frozen=True, slots=True)
class ConsentPage:
    """The page in one language, for one request; `here` is its address."""

    language: Language
    request: AccessRequest
    here: str
    has_issuer: bool = False

    def log_in(self, key: str = "", status: int = 200) -> HTMLResponse:
        """Ask who is there: by password, by token, or in another tab."""
        button = f"<button class='main' name='action' value='log_in'>{self._say('log_in_button')}</button>"
        by_password = (
            f"<form method='post'><label>{self._say('email')} <input name='email' required autocomplete='username' "
            f"autofocus></label><label>{self._say('password')} <input type='password' name='password' required "
            f"maxlength='{MAX_CHARACTERS}' autocomplete='current-password'></label>{button}</form>"
        )
        by_token = (
            f"<form method='post'><fieldset><legend>{self._say('or_token')}</legend><label>{self._say('token')}"
            f"<input type='password' name='token' required autocomplete='off' maxlength='16384'></label>{button}"
            "</fieldset></form>"
        )
        issuer = f"{OIDC_START}?back={quote(self.here, safe='')}"
        elsewhere = f"<p><a class='button' href='{escape(issuer)}'>{self._say('elsewhere')}</a></p>"
        others = (
            f"<p class='small'><a href='/' target='_blank' rel='noopener'>{self._say('otherwise')}</a> · "
            f"<a href='{escape(self.here)}'>{self._say('logged_in')}</a></p>"
        )
        forms = by_password + by_token + (elsewhere if self.has_issuer else "") + others
        body = f"{self._asks()}{notice(WORDS, self.language, key)}<h2>{self._say('log_in')}</h2>{forms}"
        return page(self.language, WORDS["title"][self.language], body, status)

    def ask(
        self, email: str, scopes: Iterable[Scope], form_token: str, key: str = "", status: int = 200
    ) -> HTMLResponse:
        """Ask whether, with which scopes and for how long the program may come in; `scopes` are those of the person."""
        own = set(scopes)
        boxes = "".join(
            f"<label><input type='checkbox' name='scope' value='{scope}' checked> {self._say(scope)}</label>"
            for scope in self.request.scopes
            if scope in own
        )
        days = "".join(
            f"<option value='{count}'{' selected' if count == CHOSEN_DAYS else ''}>"
            f"{self._say('one_day' if count == 1 else 'more_days', days=str(count))}</option>"
            for count in DAYS
        )
        form = (
            f"<form method='post'><input type='hidden' name='form' value='{escape(form_token)}'>"
            f"<fieldset><legend>{self._say('may')}</legend>{boxes}"
            f"<p class='small'>{self._say('whole')}</p></fieldset>"
            f"<label>{self._say('days')}<select name='days'>{days}</select></label>"
            f"<button class='main' name='action' value='allow'>{self._say('allow')}</button>"
            f"<button name='action' value='decline'>{self._say('decline')}</button>"
            f"<p class='small'>{self._say('revoke')}</p>"
            f"<p>{self._say('account', email=email)} "
            f"<button name='action' value='switch'>{self._say('switch')}</button></p></form>"
        )
        body = self._asks() + notice(WORDS, self.language, key) + form
        leads_to = source_of(self.request.asked.redirect_uri)
        return page(self.language, WORDS["title"][self.language], body, status, leads_to)

    def _asks(self) -> str:
        asked = self.request.asked
        host, scheme = asked.program.source(asked.redirect_uri), urlsplit(asked.redirect_uri).scheme
        if host:
            goes = self._say("to_host", host=host)
        else:
            goes = self._say("to_computer") if scheme == "http" else self._say("to_scheme", scheme=scheme)
        is_described = bool(asked.program.host)
        origin = self._say("described", address=asked.program.id) if is_described else self._say("claimed")
        return f"<p>{self._say('asks', name=asked.program.name)}</p><p>{goes}</p><p class='small'>{origin}</p>"

    def _say(self, key: str, **parts: str) -> str:
        return sentence(WORDS, self.language, key, **parts)


def refused_page(language: Language, refusal: RefusedRequestError) -> HTMLResponse:
    """Say why no person is asked. It leads back by a link alone: a redirect would let strangers lead anywhere."""
    if isinstance(refusal.reason, DriveError):
        # 422 is the drive's; to a browser it is a bad request.
        status = 400 if isinstance(refusal.reason, InvalidInputError) else refusal.reason.status
        text = escape(" ".join(refusal.reason.texts(language)))
    else:
        text, status = sentence(WORDS, language, "refused_protocol", reason=refusal.reason), 400
    link = ""
    if refusal.back:
        host = urlsplit(refusal.back).netloc or f"{urlsplit(refusal.back).scheme}:"
        words = sentence(WORDS, language, "back", host=host)
        link = f"<p><a class='button' rel='noreferrer' href='{escape(refusal.back)}'>{words}</a></p>"
    return page(language, WORDS["refused_title"][language], f"<p>{text}</p>{link}", status)


def bounce_page(language: Language, here: str) -> HTMLResponse:
    """Lead to the same address once more: after a link of another site, browsers keep back our strict cookie."""
    link = f"<p><a class='button' href='{escape(here)}'>{WORDS['bounce'][language]}</a></p>"
    response = page(language, WORDS["title"][language], link)
    response.headers["Refresh"] = f"0; url={here}"
    return response
