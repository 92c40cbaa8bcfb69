"""Answers to what the assistant asked ("the second one", an address, a name), and corrections of the last edit."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.offline.reading.conversation import Conversation
from graph.offline.understanding.grammar import word
from graph.offline.understanding.intent import EMAIL, PREVIOUS, Intent, number_in
from graph.offline.understanding.references import Ref, read_ref
from graph.offline.understanding.requests import understand
from graph.offline.wording import sides

LONGEST: Final = 40
_OFFERED: Final = re.compile(r"^\d+\. `(?P<path>[^`]+)`", re.MULTILINE)
_ASKED: Final = {
    "names": ("missing_name",),
    "emails": ("missing_address", "missing_address_of"),
    "destination": ("missing_destination", "which_folder"),
    "target": ("which_item", "nothing_remembered", "not_found", "no_summary", "no_document"),
    "number": ("which_version",),
}
"""The sentences that ask for a part of a request."""


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
    wanted = next((part for part, codes in _ASKED.items() if any(_is_said(code, answer) for code in codes)), "")
    return tuple(_filled(intent, wanted, said) for intent in asked) if wanted and asked else tuple(intents)


def is_fragment(intents: Sequence[Intent], said: str) -> bool:
    """Say whether a message is a name, a number or an address, and no request of its own."""
    return len(said) <= LONGEST and all(intent.action in {"lookup", "find"} for intent in intents)


def _is_said(code: str, answer: str) -> bool:
    shapes = [re.sub(r"\\\{\w+\\\}", ".*?", re.escape(side)) for side in sides(code)]
    return any(re.match(shape, answer.strip(), re.DOTALL) for shape in shapes)


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


def _filled(intent: Intent, wanted: str, said: str) -> Intent:
    text = said.strip().strip("“”\"'.。!！?？")
    if wanted == "names":
        return replace(intent, names=intent.names or (text,))
    if wanted == "emails":
        return replace(intent, emails=tuple(EMAIL.findall(said)), person="") if EMAIL.search(said) else intent
    if wanted == "number":
        return replace(intent, number=number_in("version", said) or number_in("choice", text))
    if wanted == "destination" and intent.action in {"move", "copy", "create_folder", "create_file"}:
        return replace(intent, destination=read_ref(text, kind="folder"))
    return replace(intent, target=read_ref(text))
