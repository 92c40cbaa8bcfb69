"""The sentences that stand in an answer beside the assistant's own, in the person's language."""

from typing import Final

from drive_server.kernel.texts import Language, Texts

TEXTS: Final = Texts.beside(__file__)


def say(code: str, language: Language, **facts: str) -> str:
    """Return a sentence in the language, with the facts in it."""
    return TEXTS.say(code, language, **facts)
