"""The texts of the command line in the terminal's language, by code.

`.hint` names the next step. `help` has the texts of `--help`, and `argparse` the messages of the parser, each by its
English text.
"""

import os
import re
from typing import Any, Final

from drive_server.texts import ORIGINAL, Language, Texts

VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Where a terminal names its language, the first one that is set (POSIX, 8.2)."""

TEXTS: Final = Texts.beside(__path__[0])
_LANGUAGE: Final = re.compile("[a-z]*")


def language() -> Language:
    """Return the language that the terminal asks for, or English if there are no texts in it."""
    named = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), "")
    found = _LANGUAGE.match(named.lower())
    return found[0] if found and found[0] in TEXTS.languages else ORIGINAL


def text(code: str, **params: Any) -> str:
    """Return a sentence in the terminal's language."""
    return text_in(language(), code, **params)


def text_in(language: Language, code: str, **params: Any) -> str:
    """Return a sentence in a language."""
    return TEXTS.say(code, language, **params)


def hint_of(code: str, **params: Any) -> str:
    """Return the hint after the sentence of that code; empty if there is none."""
    return text(f"{code}.hint", **params) if f"{code}.hint" in TEXTS else ""


def word(kind: str, said: str) -> str:
    """Return a word of the service, such as a status, in the terminal's language; one without a text as it is."""
    code = f"{kind}.{said}"
    return text(code) if code in TEXTS else said


def translated(table: str, english: str) -> str:
    """Return the text that the table has for an English one; one that it lacks as it is."""
    return str(TEXTS.value(table, language()).get(english, english))
