"""The language of an answer over HTTP: the request's, else that of its message, else English."""

from typing import Final

from fastapi import Request

from drive_server.kernel.messages import LANGUAGES, TEXTS, Language
from drive_server.kernel.texts import ORIGINAL

LANGUAGE_FIELD: Final = "lang"
CONTENT_LANGUAGE: Final = "Content-Language"
TAGS: Final[dict[Language, str]] = {language: TEXTS.template("language.tag", language) for language in LANGUAGES}
"""The tags of the languages (BCP 47)."""
MAX_ENTRIES: Final = 20


def language_of(request: Request) -> Language:
    """Return the language that the address asks for, or else the person's profile, or else the client.

    Without any of ours it is the one that a route found the person to write (`request.state.language`), or English.
    """
    for chosen in (request.query_params.get(LANGUAGE_FIELD), getattr(request.state, "own_language", "")):
        if chosen in LANGUAGES:
            return chosen
    weighed = [_weighed(part) for part in request.headers.get("accept-language", "").split(",")[:MAX_ENTRIES]]
    ours = [(weight, word) for weight, word in weighed if word in LANGUAGES and weight > 0]
    if not ours:
        return getattr(request.state, "language", ORIGINAL)
    return max(ours, key=lambda found: found[0])[1]


def _weighed(part: str) -> tuple[float, str]:
    """Read one entry of Accept-Language (RFC 9110, section 12.5.4): its weight, and the language without region."""
    tag, _, parameters = part.partition(";")
    _, _, weight = parameters.partition("q=")
    try:
        value = float(weight) if weight else 1.0
    except ValueError:
        value = 0.0
    return value, tag.strip().lower().partition("-")[0]
