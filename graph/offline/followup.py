"""Answers to what the assistant asked: "the second one", an address, a name."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.offline.reading.conversation import Conversation
from graph.offline.scripts.matching import NO_MATCH, closeness
from graph.offline.speech.wording import PHRASES
from graph.offline.understanding.intents import Intent
from graph.offline.understanding.language import has_han
from graph.offline.understanding.lexicon_en import SELECTION
from graph.offline.understanding.references import Ref
from graph.offline.understanding.requests import understand
from graph.offline.understanding.slots import number

LAST: Final = -1
_OFFERED = re.compile(r"^\d+\. `(?P<path>[^`]+)`", re.MULTILINE)
_ASKED: Final = {
    "name": ("missing_name",),
    "address": ("missing_address", "missing_address_of"),
    "destination": ("missing_destination", "which_folder", "not_found_folder"),
    "target": ("which_item", "which_document", "nothing_remembered", "not_found", "no_summary", "no_document"),
    "content": ("missing_content",),
    "version": ("which_version",),
}


def follow_up(conversation: Conversation, intents: Sequence[Intent]) -> tuple[Intent, ...]:
    """Return what is meant by a message that answers a question of the assistant; the intents as they are otherwise."""
    answers, before = conversation.answers(), conversation.requests_before()
    if conversation.sections.step or not answers or not before or not _is_fragment(intents):
        return tuple(intents)
    asked = understand(before[0], file_open=conversation.sections.file is not None)
    offered = _OFFERED.findall(answers[0].text)
    chosen = _chosen(conversation.asked, intents, offered)
    if chosen and asked:
        return tuple(_with_choice(intent, chosen) for intent in asked)
    wanted = _what_was_asked(answers[0].text)
    filled = tuple(_filled(intent, wanted, conversation.asked, intents) for intent in asked) if wanted else ()
    return filled or tuple(intents)


def _is_fragment(intents: Sequence[Intent]) -> bool:
    """Names, numbers and addresses alone are no request of their own."""
    return all(
        intent.kind in {"choose", "address"} or (intent.kind == "find" and intent.confidence < 0.5)
        for intent in intents
    )


def _chosen(said: str, intents: Sequence[Intent], offered: Sequence[str]) -> str:
    for intent in intents:
        if intent.kind == "choose" and intent.target and intent.target.text in offered:
            return intent.target.text
        if intent.kind == "choose":
            place = SELECTION.get(intent.query) or number(intent.query) or (LAST if intent.query == "最后" else 0)
            if place == LAST or 0 < place <= len(offered):
                return offered[place if place == LAST else place - 1] if offered else ""
    named = [path for path in offered if _speaks_of(said, path, offered)]
    return named[0] if len(named) == 1 else ""


def _speaks_of(said: str, path: str, offered: Sequence[str]) -> bool:
    """Say whether a message has a part of the path that no other path on offer has: "the one in Archive"."""
    others = {part for other in offered if other != path for part in other.split("/")}
    own = [part for part in path.split("/") if part and part not in others]
    words = set(re.findall(r"[\w.-]+", said.casefold()))
    return any(part.casefold() in words or (has_han(part) and part in said) or part in said.split("/") for part in own)


def _with_choice(intent: Intent, path: str) -> Intent:
    name = path.rstrip("/").rsplit("/", 1)[-1]
    chosen = Ref("path", text=path.rstrip("/"), whole=path)
    destination = intent.destination
    meant = destination and destination.form == "name" and closeness(name, destination.text) < NO_MATCH
    if meant and not (
        intent.target and intent.target.form == "name" and closeness(name, intent.target.text) < NO_MATCH
    ):
        return replace(intent, destination=chosen)
    if intent.kind == "find":
        return replace(intent, kind="read", target=chosen)
    return replace(intent, target=chosen)


def _what_was_asked(answer: str) -> str:
    """Return which part of the request the assistant's last sentence asked for."""
    for wanted, keys in _ASKED.items():
        for key in keys:
            if any(_is_phrase(answer, table[key]) for table in PHRASES.values()):
                return wanted
    return ""


def _is_phrase(answer: str, phrase: str) -> bool:
    pattern = re.sub(r"\\\{\w+\\\}", ".*?", re.escape(phrase))
    return re.search(rf"^{pattern}", answer.strip(), re.DOTALL) is not None


def _filled(intent: Intent, wanted: str, said: str, answered: Sequence[Intent]) -> Intent:
    given = next((one for one in answered), None)
    if wanted == "name" and not intent.names:
        return replace(intent, names=(said.strip().strip("“”\"'.。"),))
    if wanted == "address" and given and given.emails:
        return replace(intent, emails=given.emails, person="")
    if wanted == "version" and given:
        return replace(intent, version=number(given.query))
    if wanted == "content":
        return replace(intent, content=said.strip())
    if wanted in {"destination", "target"} and given and given.target:
        return _placed(intent, wanted, given.target)
    return intent


def _placed(intent: Intent, wanted: str, ref: Ref) -> Intent:
    if wanted == "destination" and intent.kind in {"move", "create_folder", "create_file", "save_summary"}:
        return replace(intent, destination=replace(ref, kind="folder"))
    return replace(intent, target=ref)
