"""The forms of our own pages: the one to log in with, and the fields that come back."""

from typing import Final
from urllib.parse import parse_qs

from fastapi import Request

from drive_server.http.pages.layout import TEXTS, Language, Words, notice, sentence, words_of
from drive_server.kernel.errors import ForbiddenError, TooLargeError

FORM_TYPE: Final = "application/x-www-form-urlencoded"
MAX_FORM_BYTES: Final = 32 * 1024
MAX_FIELDS: Final = 20
LOG_IN_WORDS: Final[Words] = words_of(TEXTS, "forms")


def log_in_form(language: Language, key: str = "") -> str:
    """Return the form, as HTML, in which a person gives a token; `key` names a sentence before it."""

    def say(name: str) -> str:
        return sentence(LOG_IN_WORDS, language, name)

    return (
        f"{notice(LOG_IN_WORDS, language, key)}<h2>{say('log_in')}</h2>"
        f"<form method='post'><label>{say('token')}"
        "<input type='password' name='token' required autocomplete='off' maxlength='16384' autofocus></label>"
        f"<button class='main' name='action' value='log_in'>{say('log_in_button')}</button></form>"
    )


async def read_form(request: Request) -> dict[str, list[str]]:
    """Return the fields of the form. Raises `ForbiddenError` for a body that no form of ours sends."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        raise ForbiddenError("The body is no form.", hint="Use the page.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise TooLargeError("The form is too large.", details={"limit": MAX_FORM_BYTES})
    try:
        return parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise ForbiddenError("The body is no form.", hint="Use the page.") from error
