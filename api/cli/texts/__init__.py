"""The texts of the command line in the terminal's language, by code.

`.hint` names the next step. `help` has the texts of `--help`, and `argparse` the messages of the parser, each by its
English text.
"""

from typing import Any, Final

from drive_server.kernel.messages import terminal_language
from drive_server.kernel.texts import Language, Texts

TEXTS: Final = Texts.beside(__path__[0])


def language() -> Language:
    """Return the language that the terminal asks for."""
    return terminal_language()


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


def words(kind: str) -> frozenset[str]:
    """Return the words that mean this in an answer, those of every language."""
    return frozenset(one for name in TEXTS.languages for one in TEXTS.value(f"words.{kind}", name))
