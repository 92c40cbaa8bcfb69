"""Answers to what the assistant asked ("the second one", an address, a name), and requests that go on from the last."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.offline.reading.conversation import Conversation
from graph.offline.understanding.grammar import word
from graph.offline.understanding.references import Ref, read_ref
from graph.offline.understanding.requests import EMAIL, PREVIOUS, Intent, number_in, understand
from graph.offline.wording import sides

LONGEST: Final = 40
_OFFERED: Final = re.compile(r"^\d+\. `(?P<path>[^`]+)`", re.MULTILINE)
_ASKED: Final = {
    "names": ("missing_name",),
    "emails": ("missing_address", "missing_address_of"),
    "destination": ("missing_destination", "which_folder", "not_found_folder"),
    "target": ("which_item", "nothing_remembered", "not_found", "no_summary", "no_document"),
    "content": ("missing_content",),
    "number": ("which_version",),
}
"""The sentences that ask for a part of a request."""


def follow_up(conversation: Conversation, intents: Sequence[Intent]) -> tuple[Intent, ...]:
    """Return what is meant by a message that goes on from the last one; the intents as they are otherwise."""
    answers, before, said = conversation.answers(), conversation.requests_before(), conversation.asked
    if conversation.sections.step or not answers or not before:
        return tuple(intents)
    file_open = conversation.sections.file is not None
    if not is_fragment(intents, said):
        return tuple(_completed(intent, before, file_open=file_open) for intent in intents)
    asked = understand(before[0], file_open=file_open)
    chosen = _chosen(said, _OFFERED.findall(answers[0].text))
    if chosen and asked:
        return tuple(_with_choice(intent, chosen) for intent in asked)
    wanted = next(
        (part for part, codes in _ASKED.items() if any(_is_said(code, answers[0].text) for code in codes)), ""
    )
    return tuple(_filled(intent, wanted, said) for intent in asked) if wanted and asked else tuple(intents)


def is_fragment(intents: Sequence[Intent], said: str) -> bool:
    """Say whether a message is a name, a number or an address, and no request of its own."""
    return len(said) <= LONGEST and all(intent.action in {"lookup", "find"} for intent in intents)


def _is_said(code: str, answer: str) -> bool:
    shapes = [re.sub(r"\\\{\w+\\\}", ".*?", re.escape(side)) for side in sides(code)]
    return any(re.match(shape, answer.strip(), re.DOTALL) for shape in shapes)


def _completed(intent: Intent, before: Sequence[str], *, file_open: bool) -> Intent:
    """Return "make it 11 days" with what the last replacement of this conversation put there."""
    new = intent.edits[0][1] if intent.action == "replace" and intent.edits and not intent.edits[0][0] else ""
    for text in before if new else ():
        for earlier in understand(text, file_open=file_open):
            if earlier.action == "replace" and earlier.edits:
                there = earlier.edits[0][1]
                rest = re.sub(r"^[\d.,\s]+\S?", "", there) if re.fullmatch(r"\d[\d.,]*\s?\S", new) else ""
                target = intent.target or (Ref("it") if earlier.target else None)
                return replace(intent, edits=((there, new + rest),), target=target, anchor=earlier.anchor)
    return intent


def _chosen(said: str, offered: Sequence[str]) -> str:
    text = said.strip(" .。!！?？")
    if text in offered:
        return text
    if word("choice").fullmatch(text):
        place = PREVIOUS if "最后" in text else number_in("choice", text)
        return offered[place if place == PREVIOUS else place - 1] if offered and place <= len(offered) else ""
    words = re.findall(r"[^\W_]+", said.casefold())
    named = [path for path in offered if set(words) & {part.casefold() for part in path.split("/")[1:-1]}]
    return named[0] if len(named) == 1 else ""


def _with_choice(intent: Intent, path: str) -> Intent:
    chosen, name = Ref("path", text=path.rstrip("/")), path.rstrip("/").rpartition("/")[2].casefold()
    meant = [
        ref is not None and ref.form == "name" and ref.text.casefold() in name
        for ref in (intent.destination, intent.target)
    ]
    if meant == [True, False]:
        return replace(intent, destination=chosen)
    return replace(intent, action="read" if intent.action in {"find", "lookup"} else intent.action, target=chosen)


def _filled(intent: Intent, wanted: str, said: str) -> Intent:
    text = said.strip().strip("“”\"'.。!！?？")
    emails = tuple(EMAIL.findall(said))
    if wanted == "names" and not intent.names:
        return replace(intent, names=(text,))
    if wanted == "emails" and emails:
        return replace(intent, emails=emails, person="")
    if wanted == "number":
        return replace(intent, number=number_in("version", said) or number_in("choice", text))
    if wanted == "content":
        return replace(intent, content=said.strip())
    if wanted == "destination" and intent.action in {"move", "copy", "create_folder", "create_file", "save"}:
        return replace(intent, destination=read_ref(text, kind="folder"))
    return replace(intent, target=read_ref(text)) if wanted in {"destination", "target"} else intent
