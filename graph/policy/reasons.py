"""The reasons why a call runs, waits for the person or never runs: a code for programs, a sentence for the person."""

from typing import Final, Literal

from drive_server.kernel.texts import Texts
from graph.language import Language

Code = Literal[
    "looks",
    "reads",
    "adds",
    "organises",
    "writes",
    "trashes",
    "replaces",
    "final",
    "revokes",
    "shares",
    "links",
    "previews",
    "undoes",
    "never",
    "unknown",
    "misdeclared",
    "outside",
    "outside_tainted",
    "outside_leaves",
    "outside_allowed",
    "question",
    "unclear",
    "gains_access",
    "not_mine",
    "outside_plan",
    "unattended",
    "tainted",
    "tainted_outward",
    "tainted_removal",
    "tainted_others",
    "memory",
    "tainted_memory",
    "in_your_words",
    "within_plan",
    "within_grant",
    "changed",
]

TEXTS: Final = Texts.beside(__file__)


def sentence(code: Code, language: Language) -> str:
    """Return the reason in the person's language."""
    return TEXTS.say(f"reasons.{code}", language)
