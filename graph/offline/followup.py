"""Answers to the question which of several things is meant: "the second one", or the folder it is in."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.offline.reading.conversation import Conversation
from graph.offline.understanding.grammar import word
from graph.offline.understanding.intent import PREVIOUS, Intent, Ref, number_in
from graph.offline.understanding.requests import understand

LONGEST: Final = 40
_OFFERED: Final = re.compile(r"^\d+\. `(?P<path>[^`]+)`", re.MULTILINE)


def follow_up(conversation: Conversation, intents: Sequence[Intent]) -> tuple[Intent, ...]:
    """Return the request before with the choice that a message makes; the intents as they are otherwise."""
    answers, before, said = conversation.answers(), conversation.requests_before(), conversation.asked
    if conversation.sections.step or not answers or not before or not is_fragment(intents, said):
        return tuple(intents)
    chosen = _chosen(said.strip(" .。!！?？"), _OFFERED.findall(answers[0].text))
    asked = understand(before[0], file_open=conversation.sections.file is not None) if chosen else ()
    return tuple(_with_choice(intent, chosen) for intent in asked) or tuple(intents)


def is_fragment(intents: Sequence[Intent], said: str) -> bool:
    """Say whether a message is a name, a number or an address, and no request of its own."""
    return len(said) <= LONGEST and all(intent.action in {"lookup", "find"} for intent in intents)


def _chosen(text: str, offered: Sequence[str]) -> str:
    if text in offered or not word("choice").fullmatch(text):
        words = set(re.findall(r"[^\W_]+", text.casefold()))
        named = [path for path in offered if path == text or words & set(path.casefold().split("/")[1:-1])]
        return named[0] if len(named) == 1 else ""
    place = PREVIOUS if "最后" in text else number_in("choice", text)
    return offered[place if place == PREVIOUS else place - 1] if offered and place <= len(offered) else ""


def _with_choice(intent: Intent, path: str) -> Intent:
    chosen, name = Ref("path", text=path.rstrip("/")), path.rstrip("/").rpartition("/")[2].casefold()
    named = [ref and ref.form == "name" and ref.text.casefold() in name for ref in (intent.target, intent.destination)]
    if named[1] and not named[0]:
        return replace(intent, destination=chosen)
    return replace(intent, action="read" if intent.action in {"find", "lookup"} else intent.action, target=chosen)
