"""Tell which of the two languages a person writes."""

import re
from collections.abc import Iterable
from typing import Final

from drive_server.kernel.texts import Language as Language
from drive_server.kernel.texts import Texts

TEXTS: Final = Texts.beside(__file__)
"""The texts of the whole package: errors, and the signs in lists."""
NOT_THE_PERSONS: Final = re.compile(
    r"\"[^\"]*\"|“[^”]*”|「[^」]*」|《[^》]*》|`[^`]*`|(?<!\S)[^\s@]+@\S+|(?<![^\s/\\])[^\s/\\]*\.[A-Za-z0-9]{1,5}\b"
)
"""Quotes, addresses and file names: these are in the language of the thing itself."""
HAN: Final = re.compile(r"[\u3400-\u9fff]")
READ_CHARACTERS: Final = 2_000
"""The first characters show the language of a long text."""
WORD: Final = re.compile(r"[A-Za-zÀ-ɏ]+")


def language_of(text: str, otherwise: Language | None = None) -> Language:
    """Return the language of a message; of one without a word of the person's own, such as an address: `otherwise`."""
    beginning = text[:READ_CHARACTERS]
    own = NOT_THE_PERSONS.sub(" ", beginning)
    return _language_in(own) or otherwise or _language_in(beginning) or "en"


def _language_in(text: str) -> Language | None:
    han, words = len(HAN.findall(text)), len(WORD.findall(text))
    return ("zh" if han >= words else "en") if han or words else None


def join_names(names: Iterable[str], language: Language) -> str:
    """Return a list of names in a sentence, with the separators of the language."""
    return str(TEXTS.value("list.separator", language)).join(names)
