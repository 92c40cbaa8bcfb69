"""Answers to the question which of several things is meant, and corrections of the last action."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.offline.conversation import Call, Conversation, items_in
from graph.offline.scripts.resolve import month_in
from graph.offline.understanding.arguments import role_in
from graph.offline.understanding.grammar import named_in, word
from graph.offline.understanding.intent import CHANGING, EMAIL, PREVIOUS, Intent, Ref, number_in, read_ref
from graph.offline.understanding.requests import NAMED, understand
from graph.routing.corrections import corrected_value

_FIGURE: Final = r"\d+(?:[.,:]\d+)*"
_TOKEN: Final = re.compile(rf"{_FIGURE}|[^\s\d]+")
SHORT, MAX_WORDS = 40, 4
"""Characters of a mere choice; words of a correction that only names the right value: "sorry, five weeks"."""
_VAGUE: Final = frozenset({"lookup", "find", "ask", "read"})
_AGAIN: Final = _VAGUE | {"summarise", "info", "list", "who_has_access", "list_versions"}
_ALSO: Final = frozenset({"share", "delete", "move", "copy", "restore", "link"})
_PLACING: Final = frozenset({"create_folder", "create_file", "move_item", "copy_item"})


def follow_up(conversation: Conversation, intents: Sequence[Intent]) -> tuple[Intent, ...]:
    """Return the request before with the choice that a message makes; the intents as they are otherwise."""
    if corrected := _placed_elsewhere(conversation) or _corrected(conversation):
        return (corrected,)
    said, step = word("softeners").sub("", conversation.asked), bool(conversation.sections.step)
    before, is_open = next(iter(conversation.earlier), ""), conversation.sections.shows_file
    answers = [one.text for one in conversation.answers() if one.turn == conversation.turn - 1]
    own = understand(said, file_open=is_open) if step else intents
    if step and not conversation.segment and [one.action for one in own] == ["decline"]:
        return tuple(own)
    if before and not step and (meant := _meant_otherwise(conversation, before, intents)):
        return (meant,)
    question, asked = "\n".join(answers), intents if step else understand(before, file_open=is_open)
    if before and word("offers_folder").search(question) and _accepts(said):
        return tuple(replace(intent, makes_folder=True) for intent in understand(before, file_open=is_open))
    if not answers or not before or not is_fragment(own, said) or (step and conversation.segment):
        return tuple(intents)
    offered = list(dict.fromkeys(word("offered").findall(question)))
    chosen = _chosen(said.strip(" .。!！?？"), offered)
    completed = [_completed(intent, said, chosen, question) for intent in asked]
    return tuple(new or old for new, old in zip(completed, asked, strict=True)) if any(completed) else tuple(intents)


def _completed(intent: Intent, said: str, chosen: str, question: str) -> Intent | None:
    """Return a request completed by the answer: the one of several, an address, a name."""
    if chosen:
        return _with_choice(intent, chosen)
    if intent.action == "share" and not intent.emails and EMAIL.search(said):
        return replace(intent, emails=tuple(EMAIL.findall(said)))
    name = (named_in("naming", said) or said).strip(' .。!！“”"')
    if word("asks_item").search(question) and (intent.target is None or intent.target.is_pronoun):
        return replace(intent, target=read_ref(said))
    return replace(intent, names=(name,)) if word("asks_name").search(question) and intent.action in NAMED else None


def _meant_otherwise(conversation: Conversation, before: str, intents: Sequence[Intent]) -> Intent | None:
    """Return the request before about another thing: "no, I meant the one from March", "and Mia?"; None if it is none.

    Only requests that read are repeated so; a change is corrected by its values.
    """
    said, known = conversation.asked.strip(" .?!。？！"), {one.action for one in intents}
    rest, added = named_in("instead", said), named_in("and_what", said)
    role = role_in(said.lower()) if len(said) <= SHORT and not rest else ""
    asked = understand(before) if (rest or added or role) and not known - _VAGUE else ()
    old = asked[0] if len(asked) == 1 else Intent("")
    if old.action in CHANGING:
        return _changed_too(old, said, added, role)
    bare = word("other_one").sub("", rest).strip()
    subject = old.target.text if old.target and old.target.form == "name" else old.query
    phrase = added or (f"{month_in(subject)[0]} {bare}" if bare != rest.strip() else rest)
    target = read_ref(phrase)
    if old.action not in _AGAIN or target is None or target.form not in {"name", "path", "which"}:
        return None
    if rest:
        return replace(old, said=phrase, query=before if old.action == "ask" else phrase, target=target)
    begins = word("plain_question").search(added) and not added.isascii()
    again = old.action in {"ask", "lookup"} and not begins and known <= {"lookup", "find"}
    return replace(old, action="ask_next", said=said, query=added) if again else None


def _changed_too(old: Intent, said: str, added: str, role: str) -> Intent | None:
    """Return the change before with another role, or of another thing too: "as an editor", "and the old ones too"."""
    if role and old.action == "share" and old.emails:
        return replace(old, action="set_role", said=said, role=role, target=Ref("it"))
    named = old.target.text.split() if old.target and old.target.form == "name" else []
    if not (word("too").search(added) and named and old.action in _ALSO):
        return None
    phrase = re.sub(r"\bones?\b", named[-1], word("too").sub("", added)).strip()
    return replace(old, said=said, target=read_ref(phrase))


def _done_before(conversation: Conversation) -> tuple[Call, Ref] | None:
    """Return the change that was made last in an earlier turn, and its item, if it worked; none within a plan."""
    done = [made for made in conversation.calls if made.turn < conversation.turn and not made.reads][-1:]
    items = [(made, item) for made in done if made.result and made.result.worked for item in items_in(made.result)]
    last = [(made, Ref("path", text=str(item.get("path", "")))) for made, item in items[:1]]
    return last[0] if last and not conversation.sections.step else None


def _placed_elsewhere(conversation: Conversation) -> Intent | None:
    """Return the move of the item just placed or made to the place that a correction names."""
    there = named_in("placed", named_in("instead", conversation.asked.strip(" .!。！")))
    done = _done_before(conversation)
    if not there or done is None or done[0].name not in _PLACING:
        return None
    return Intent("move", conversation.asked, target=done[1], destination=read_ref(there, kind="folder"))


def _corrected(conversation: Conversation) -> Intent | None:
    """Return the last change as the message corrects it: other words in the same file, or another name."""
    done, item = _done_before(conversation) or (None, None)
    bare, amount = named_in("instead", conversation.asked.strip(" .!。！")), word("amount")
    counts = done and done.name == "patch_file" and len(bare.split()) <= MAX_WORDS and amount.search(bare)
    value = corrected_value(conversation.asked) or (bare if counts else "")
    if done is None or not value:
        return None
    said = [one.text for one in reversed(conversation.said) if one.by_person and one.turn <= done.turn]
    requests = [text for text in said if not (corrected_value(text) or _accepts(text))]
    asked = next(filter(None, map(understand, requests)), ())
    if len(asked) != 1:
        return None
    old = replace(asked[0], target=item)
    if old.action == "replace" and done.name == "patch_file":
        was = corrected_value(said[0]) or old.edits[0][1]
        new = amount.sub(value, was, count=1) if amount.fullmatch(value) else value
        again = tuple((text, text.replace(was, new)) for edit in done.args["edits"] if (text := edit["replace"]))
        return replace(old, edits=((was, new),), anchor="", again=again)
    edits = done.args.get("edits") or [{"replace": done.args.get("content")}]
    written = "\n".join(str(edit.get("replace") or "") for edit in edits)
    if old.action in {"create_file", "add"} and written and not word("renames").search(conversation.asked):
        return replace(old, action="replace", edits=((_said_otherwise(written, value), value),))
    return replace(old, action="rename", names=(value,)) if old.action in NAMED else None


def _accepts(text: str) -> bool:
    """Say whether a message only accepts an offer."""
    return word("accepts").fullmatch(text.strip(" .。!！").lower()) is not None


def _said_otherwise(text: str, value: str) -> str:
    """Return the words of a text that say the same with another figure; empty if there are none or several."""
    tokens = _TOKEN.findall(value)
    pattern = r"\s*".join(_FIGURE if one[0].isdigit() else re.escape(one) for one in tokens)
    exact = rf"(?i)(?<![\da-z.,:]){pattern}(?![\da-z%])"
    found = {match[0] for match in re.finditer(exact, text)} if any(one[0].isdigit() for one in tokens) else set()
    return found.pop() if len(found) == 1 else ""


def is_fragment(intents: Sequence[Intent], said: str) -> bool:
    """Say whether a message is a name, a number or an address, and no request of its own."""
    return len(said) <= SHORT and all(intent.action in {"lookup", "find"} for intent in intents)


def _chosen(text: str, offered: Sequence[str]) -> str:
    """Return the path of those that were offered which a message means, by its number or by words of it."""
    if word("choice").fullmatch(text) and text not in offered:
        place = PREVIOUS if "最后" in text else number_in("choice", text)
        return offered[place if place == PREVIOUS else place - 1] if offered and place <= len(offered) else ""
    said = set(re.findall(r"[^\W_]+", text.casefold()))
    shared = [len(said & set(re.findall(r"[^\W_]+", path.casefold()))) for path in offered]
    named = [path for path in offered if text.casefold() in path.casefold()]
    named = named or [path for path, count in zip(offered, shared, strict=True) if count and count == max(shared)]
    return named[0] if len(named) == 1 else ""


def _with_choice(intent: Intent, path: str) -> Intent:
    chosen, name = Ref("path", text=path.rstrip("/")), path.rstrip("/").rpartition("/")[2].casefold()
    named = [ref and ref.form == "name" and ref.text.casefold() in name for ref in (intent.target, intent.destination)]
    if named[1] and not named[0]:
        return replace(intent, destination=chosen)
    return replace(intent, action="read" if intent.action in {"find", "lookup"} else intent.action, target=chosen)
