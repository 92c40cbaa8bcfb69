"""Answers to what the assistant asked ("the second one", an address, a name), and corrections of the last edit."""

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
    """Return what is meant by a message that goes on from the last one; the intents as they are otherwise."""
    answers, before, said = conversation.answers(), conversation.requests_before(), conversation.asked
    if conversation.sections.step or not answers or not before:
        return tuple(intents)
    if not is_fragment(intents, said):
        return tuple(_corrected(intent, before) for intent in intents)
    asked, answer = understand(before[0], file_open=conversation.sections.file is not None), answers[0].text
    chosen = _chosen(said.strip(" .。!！?？"), _OFFERED.findall(answer))
    if chosen and asked:
        return tuple(_with_choice(intent, chosen) for intent in asked)
    return tuple(intents)


def is_fragment(intents: Sequence[Intent], said: str) -> bool:
    """Say whether a message is a name, a number or an address, and no request of its own."""
    return len(said) <= LONGEST and all(intent.action in {"lookup", "find"} for intent in intents)


def _corrected(intent: Intent, before: Sequence[str]) -> Intent:
    """Return "make it 11 days" with what the last replacement of this conversation put there."""
    if intent.action != "replace" or not intent.edits or intent.edits[0][0] or not intent.edits[0][1]:
        return intent
    earlier = [one for text in before for one in understand(text) if one.action == "replace" and one.edits]
    if not earlier:
        return intent
    there, new = earlier[0].edits[0][1], intent.edits[0][1]
    rest = re.sub(r"^[\d.,\s]+\S?", "", there) if re.fullmatch(r"\d[\d.,]*\s?\S", new) else ""
    target = intent.target or (Ref("it") if earlier[0].target else None)
    return replace(intent, edits=((there, new + rest),), target=target, anchor=earlier[0].anchor)


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
