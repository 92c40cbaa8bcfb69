"""Intents of one message seen together: what belongs to one request is joined, pronouns get what they stand for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.offline.understanding.intents import GUESS, TALK, Intent
from graph.offline.understanding.references import CURRENT_FILE, IT, Ref

_SMALL_TALK: Final = frozenset({"greet", "thanks", "confirm", "decline"})
_SUMMARY: Final = "the summary"


def join(intents: Sequence[Intent], *, file_open: bool) -> tuple[Intent, ...]:
    """Return the requests of one message with everything resolved that the message itself resolves."""
    merged: list[Intent] = []
    for intent in intents:
        if not merged or not _absorb(merged, intent):
            merged.append(intent)
    wanted = [intent for intent in merged if intent.kind not in _SMALL_TALK] or merged[-1:]
    wanted = [intent for intent in wanted if intent.kind != "role_hint"]
    resolved = _resolve([_settled(intent, file_open=file_open) for intent in wanted])
    requests = [intent for intent in resolved if intent.kind != "find" or intent.confidence > GUESS]
    return tuple(requests or resolved)


def _absorb(merged: list[Intent], intent: Intent) -> bool:
    """Take the intent into the one before it, if both are one request; say whether that was so."""
    last = merged[-1]
    together = (
        _with_name(last, intent)
        or _with_found(last, intent)
        or _with_role(last, intent)
        or _with_edits(last, intent)
        or _said_twice(last, intent)
    )
    if together:
        merged[-1] = together
    return together is not None


def _with_found(last: Intent, intent: Intent) -> Intent | None:
    same = intent.target in {last.target, IT, None}
    if last.kind == "read" and intent.kind == "summarise" and same:
        return replace(intent, target=last.target)
    if last.kind == "restore_version" and intent.kind == "restore" and (same or _is_version(intent)):
        return last
    if last.kind == "restore" and intent.kind in {"undo", "restore"} and (intent.target in {None, IT}):
        return last
    if last.kind != "find" or last.target is None:
        return None
    vague = intent.target is None or intent.target.form in {"it", "them"}
    if intent.kind in {"summarise", "read"} and vague:
        return replace(intent, target=last.target, said=f"{last.said}, {intent.said}")
    if intent.kind == "replace" and intent.edits and _means(intent.edits[0][0]):
        return replace(intent, edits=((last.query, intent.edits[0][1]),), said=f"{last.said}, {intent.said}")
    return None


def _said_twice(last: Intent, intent: Intent) -> Intent | None:
    again = last.kind == intent.kind and intent.target == IT and not intent.names and not intent.emails
    return last if again and last.kind in {"trash", "restore", "summarise", "read", "find"} else None


def _is_version(intent: Intent) -> bool:
    return intent.target is not None and any(word in intent.target.text for word in ("版本", "version", "one"))


def _means(word: str) -> bool:
    return word.lower() in {"it", "them", "that", "all", "它", "它们", "这个", "这些", "全部"}


def _with_name(last: Intent, intent: Intent) -> Intent | None:
    """Take "create a folder and call it X" as one request."""
    unnamed = last.kind == "rename" or (last.kind in {"create_folder", "create_file"} and not last.names)
    return replace(last, names=intent.names) if unnamed and intent.kind == "rename" and intent.target == IT else None


def _with_role(last: Intent, intent: Intent) -> Intent | None:
    return replace(last, role=intent.role) if last.kind == "share" and intent.kind == "role_hint" else None


def _with_edits(last: Intent, intent: Intent) -> Intent | None:
    same = intent.target in {last.target, IT, CURRENT_FILE}
    if last.kind == intent.kind == "replace" and same:
        return replace(last, edits=(*last.edits, *intent.edits), said=f"{last.said}, {intent.said}")
    return None


def _settled(intent: Intent, *, file_open: bool) -> Intent:
    if intent.kind == "summarise" and intent.target is None:
        return replace(intent, target=CURRENT_FILE if file_open else IT)
    if file_open and intent.kind in {"replace", "insert"} and _is_plain_word(intent.target):
        return replace(intent, target=CURRENT_FILE)
    return intent


def _is_plain_word(ref: Ref | None) -> bool:
    """ "In the letter" means the open document; "in plan.md" does not."""
    return ref is not None and ref.form == "name" and not ref.exact and not ref.kind and "." not in ref.text


def _resolve(intents: list[Intent]) -> list[Intent]:
    item: Ref | None = None
    folder: Ref | None = None
    resolved: list[Intent] = []
    for said in intents:
        intent = _as_saving(said, resolved)
        intent = replace(
            intent,
            target=_antecedent(intent.target, item, folder),
            destination=_antecedent(intent.destination, folder or item, folder),
        )
        resolved.append(intent)
        item, folder = _mentioned(intent, item, folder)
    return resolved


def _as_saving(intent: Intent, before: list[Intent]) -> Intent:
    """Moving a summary that this message only asks for means keeping it as a file."""
    summarised = any(earlier.kind == "summarise" for earlier in before)
    if intent.kind == "move" and summarised and intent.target and intent.target.form == _SUMMARY:
        return replace(intent, kind="save_summary", target=None)
    return intent


def _antecedent(ref: Ref | None, item: Ref | None, folder: Ref | None) -> Ref | None:
    if ref is None:
        return None
    if ref.form == "there":
        return folder or ref
    if ref.form in {"it", "them"}:
        return item or ref
    if ref.inside and ref.inside.is_pronoun:
        return replace(ref, inside=_antecedent(ref.inside, folder or item, folder))
    return ref


def _mentioned(intent: Intent, item: Ref | None, folder: Ref | None) -> tuple[Ref | None, Ref | None]:
    """Return what "it" and "there" mean after this intent."""
    if intent.kind == "create_folder" and intent.names:
        made = Ref("name", text=intent.names[-1], kind="folder", exact=True, whole=intent.names[-1])
        return made, made
    if intent.kind in {"create_file", "rename"} and intent.names:
        kind = intent.target.kind if intent.target else "file"
        made = Ref("name", text=intent.names[-1], kind=kind or "", exact=True, whole=intent.names[-1])
        return made, intent.destination or folder
    if intent.kind == "save_summary":
        return Ref(_SUMMARY, kind="file"), intent.destination or folder
    if intent.kind in TALK or intent.target is None:
        return item, folder
    if intent.kind == "list_folder":
        return intent.target, intent.target
    return intent.target, intent.destination or folder
