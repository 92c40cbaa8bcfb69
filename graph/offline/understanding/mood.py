"""Whether a change is asked for or only spoken of: advice, plans, conditions, other people's words, no longer meant."""

import re
from typing import Final

from graph.offline.understanding.grammar import table, word
from graph.routing.cues import TAKEN_BACK
from graph.routing.intent_table import ROWS, VERBS
from graph.routing.intents import row_of
from graph.routing.placing import CHANGES

_MOODS: Final = table("mood")
_ITSELF: Final = re.compile(r"\b(?:by mistake|by accident|accidentally|mistakenly)\b|不小心|误删")
"""Tells what happened, and asks to have it back."""
_CORRECTS: Final = re.compile(
    r"^(?:no|nope|sorry|wait)?[,.!\s]*(?:不对|不是|等等|no,? wait|wait|actually|i mean)[,.，。!！\s]+"
)
_CHINESE: Final = tuple(
    (row.action, re.compile("|".join(filter(None, (row.verbs, row.endings)))))
    for row in ROWS
    if row.group in CHANGES and (row.verbs or row.endings)
)


def mood_of(clause: str) -> str:
    """Return how a clause speaks of what it names: asked, supposed or reported; empty if it may ask for it."""
    return "" if _ITSELF.search(clause) else next((mood for mood, pattern in _MOODS if pattern.search(clause)), "")


def is_taken_back(message: str) -> bool:
    """Say whether a message takes its own first words back; "no, make it 11" corrects what was said before it."""
    return TAKEN_BACK.search(_CORRECTS.sub("", message)) is not None


def spoken_of(clause: str) -> str:
    """Return the change that a clause names anywhere, as an action of the router's table; empty if none."""
    if word("emptying").search(clause):
        return "empty_trash"
    words = clause.split()
    for at, one in enumerate(words):
        cut = one.removesuffix("ing") if one.endswith("ing") else one.removesuffix("ed")
        verb = next((verb for verb in (one, cut, f"{cut}e", cut[:-1]) if verb in VERBS), "")
        row = row_of(" ".join([verb, *words[at + 1 :]])) if verb else None
        if row and row.group in CHANGES:
            return row.action
    return next((action for action, pattern in _CHINESE if pattern.search(clause)), "")
