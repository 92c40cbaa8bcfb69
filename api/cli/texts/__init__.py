"""The sentences of the command line by code, in English and in Chinese; a table for each noun.

`.hint` names the next step, `.one` is said of one thing.
"""

from typing import Any, Final

from api.cli.texts.chat import CHAT
from api.cli.texts.checks import CHECKS
from api.cli.texts.imports import IMPORTS
from api.cli.texts.items import ITEMS
from api.cli.texts.people import PEOPLE
from api.cli.texts.runs import RUNS
from api.cli.texts.servers import SERVERS
from api.cli.texts.service import SERVICE
from api.cli.texts.usage import USAGE
from api.cli.texts.whole_drive import WHOLE_DRIVE
from api.cli.texts.words import WORDS
from drive_server.messages import terminal_language
from graph.language import Language

TABLES: Final = (SERVICE, ITEMS, WHOLE_DRIVE, IMPORTS, CHAT, RUNS, SERVERS, PEOPLE, CHECKS, USAGE, WORDS)
TEXTS: Final[dict[str, tuple[str, str]]] = {code: pair for table in TABLES for code, pair in table.items()}


def language() -> Language:
    """Return the language that the terminal asks for."""
    return terminal_language()


def text(code: str, **params: Any) -> str:
    """Return a sentence in the terminal's language."""
    return text_in(language(), code, **params)


def text_in(language: Language, code: str, **params: Any) -> str:
    """Return a sentence in a language."""
    return TEXTS[code][language == "zh"].format(**params)


def hint_of(code: str, **params: Any) -> str:
    """Return the hint after the sentence of that code; empty if there is none."""
    return text(f"{code}.hint", **params) if f"{code}.hint" in TEXTS else ""


def counted(code: str, count: int, **params: Any) -> str:
    """Return a sentence about a number of things."""
    return text(f"{code}.one" if count == 1 else code, count=count, **params)


def word(kind: str, said: str) -> str:
    """Return a word of the service, such as a status, in the terminal's language; one without a text as it is."""
    code = f"{kind}.{said}"
    return text(code) if code in TEXTS else said
