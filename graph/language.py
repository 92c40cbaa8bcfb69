"""Tell which of the two languages a person writes."""

import re
from typing import Final

from graph.state import Language

NOT_THE_PERSONS: Final = re.compile(
    r"\"[^\"]*\"|“[^”]*”|「[^」]*」|《[^》]*》|`[^`]*`|(?<!\S)[^\s@]+@\S+|(?<![^\s/\\])[^\s/\\]*\.[A-Za-z0-9]{1,5}\b"
)
"""Quotes, addresses and file names: these are in whatever language the thing itself is in."""
HAN: Final = re.compile(r"[\u3400-\u9fff]")
READ_CHARACTERS: Final = 2_000
"""The first characters show the language of a long text."""
WORD: Final = re.compile(r"[A-Za-zÀ-ɏ]+")


def language_of(text: str, otherwise: Language = "en") -> Language:
    """Return the language of a message; `otherwise` if it has no word in either."""
    beginning = text[:READ_CHARACTERS]
    for part in (NOT_THE_PERSONS.sub(" ", beginning), beginning):
        han, words = len(HAN.findall(part)), len(WORD.findall(part))
        if han or words:
            return "zh" if han >= words else "en"
    return otherwise
