"""From a pattern that matched to an intent."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, cast

from graph.offline.understanding.intents import PREVIOUS, Intent, Kind
from graph.offline.understanding.masking import FILE, PATH, QUOTE, Masked
from graph.offline.understanding.patterns.row import Row
from graph.offline.understanding.references import CURRENT_FILE, CURRENT_FOLDER, IT, Ref, split_list
from graph.offline.understanding.slots import EMAIL_MARK, FILE_MARK, Draft, name_of, number, role_in
from graph.offline.understanding.wishes import read_insertion, read_replacement
from graph.state import Language

OF_DOCUMENTS: Final = frozenset({"restore_version", "list_versions", "replace", "insert"})
OF_FOLDERS: Final = frozenset({"list_folder", "tree"})
OF_ITEMS: Final = frozenset(
    {"share", "revoke", "list_shares", "summarise", "move", "rename", "trash", "restore", "read"}
)

_OF_THINGS: Final = frozenset({"read", "list_folder", "move", "trash"})
_ASKS_FIRST = re.compile(r"(?:where|what|how|who|which|why|when|whether|if)\b", re.IGNORECASE)
_FILLER = re.compile(
    r"\s*[(\[]?(?:too|as well|directly|today|now|only|just|for me|via .{1,20}|也|直接|一下)?[)\]]?\s*", re.IGNORECASE
)
_NAMED = re.compile(f"{QUOTE[:-1]}{FILE[1:-1]}{PATH[1:]}")


def build(found: Row, slots: dict[str, str], clause: str, masked: Masked, language: Language) -> Intent | None:
    """Return the intent of a row whose slots are parts of the masked clause; None if the parts make no sense."""
    draft = Draft(slots, masked, language, {**found.fields})
    kind = cast("Kind", found.kind)
    intent = Intent(kind, said=masked.reveal(clause).strip(), **draft.common())
    if EMAIL_MARK.search(slots.get("target", "")) or (
        kind in _OF_THINGS and _ASKS_FIRST.match(slots.get("target", ""))
    ):
        return None
    special = _SPECIAL.get(kind)
    built = special(intent, draft) if special else intent
    return _with_defaults(built, draft) if built else None


def _share(intent: Intent, draft: Draft) -> Intent | None:
    said = " ".join(draft.slots.get(name, "") for name in ("role", "role_after"))
    person = draft.text("person")
    if "role" in draft.fields:
        return replace(intent, person=person)
    role = role_in(said)
    if role is None and not _FILLER.fullmatch(said):
        return None
    return replace(intent, role=role or "viewer", person=person)


def _role_hint(intent: Intent, draft: Draft) -> Intent | None:
    role = role_in(draft.slots.get("role", "") or intent.said)
    return replace(intent, role=role) if role else None


def _trash(intent: Intent, draft: Draft) -> Intent:
    emptied = IT if draft.fields.get("emptied_it") else draft.reference("emptied")
    if emptied is None or emptied.form in {"all", "current file"} or FILE_MARK.search(draft.slots.get("emptied", "")):
        return replace(intent, target=emptied or intent.target)
    if emptied.form not in {"name", "path", "current folder", "it", "there"}:
        return replace(intent, target=emptied)
    folder = replace(emptied, kind="folder")
    return replace(intent, target=Ref("all", inside=folder, whole=emptied.whole))


def _list(intent: Intent, draft: Draft) -> Intent:
    target = intent.target
    if target is None or draft.fields.get("here") or draft.slots.get("target") in {"这个", "当前", "本", "此", "这"}:
        return replace(intent, target=CURRENT_FOLDER)
    if target.form == "all":
        return replace(intent, target=target.inside)
    if target.form in {"current file", "about"} or FILE_MARK.search(draft.slots["target"]):
        return replace(intent, kind="summarise")
    return intent


_ASKS = re.compile(r"\b(?:where|which|what)\b|哪|什么", re.IGNORECASE)
_FOR_ME = re.compile(r"(?:me|us|(?:an? |the )?(?:overview|list|listing|look))\b", re.IGNORECASE)


def _move(intent: Intent, draft: Draft) -> Intent | None:
    origin, target = draft.reference("origin"), intent.target
    if _FOR_ME.match(draft.slots.get("target", "")) or _ASKS.search(draft.slots.get("destination", "")):
        return None
    if origin is None or target is None:
        return intent
    everything = target.form == "current folder" or (target.form == "all" and target.inside == CURRENT_FOLDER)
    if everything:
        return replace(intent, target=Ref("all", inside=replace(origin, kind="folder"), extension=target.extension))
    return replace(intent, target=replace(target, inside=origin)) if target.form == "name" else intent


def _find(intent: Intent, draft: Draft) -> Intent | None:
    topic = draft.text("topic")
    wanted = Ref("about", text=topic, whole=topic) if topic else draft.reference("query")
    if wanted is None:
        return replace(intent, target=IT)
    return replace(intent, target=wanted, query=wanted.text or intent.query)


_HOLDS_REQUEST = re.compile(
    r"\b(?:and|then)\b.*\b(?:folder|inside|in it|into it)\b|\b(?:and|or|then)$|里面再|然后|再建", re.IGNORECASE
)
"""A name that is longer than it should be: another request is in it."""

_ADJECTIVES: Final = frozenset({"new", "empty", "another", "fresh", "brand new", "新", "新的", "空"})
_PRONOUN_FIRST = re.compile(r"(?:it|that|this|them|sure)\s", re.IGNORECASE)


def _names(intent: Intent, draft: Draft) -> Intent | None:
    if draft.fields.get("names_missing"):
        return intent
    raw = draft.slots.get("names", "") or draft.slots.get("name", "")
    several = re.search(r"folders|directories|两|三|四|五|六|七|八|九|十|几|\d+个|分别|、", intent.said) is not None
    parts = split_list(raw, draft.language) if several or len(_NAMED.findall(raw)) > 1 else [raw]
    if _PRONOUN_FIRST.match(raw) or _HOLDS_REQUEST.search(raw):
        return None
    names = tuple(name for name in (name_of(part, draft.masked) for part in parts) if name)
    if names and all(name.lower() in _ADJECTIVES for name in names):
        return replace(intent, names=())
    return replace(intent, names=names) if names else None


def _file(intent: Intent, draft: Draft) -> Intent | None:
    named = _names(intent, draft)
    return replace(named, content=draft.text("content")) if named else None


def _version(intent: Intent, draft: Draft) -> Intent:
    if draft.slots.get("previous"):
        first = draft.slots["previous"].lower() in {"original", "first", "原来", "最初"}
        return replace(intent, version=1 if first else PREVIOUS)
    return replace(intent, version=number(draft.slots.get("n", "")))


_SAYS_WHAT = re.compile(r"(?:主要|大概|都|里面|里)*(?:讲|说|写)(?:了|的是|的)?(?:些)?(?:什么|啥|哪些内容)$")


def _summarise(intent: Intent, draft: Draft) -> Intent:
    topic = draft.text("topic")
    if intent.target and _SAYS_WHAT.search(intent.target.text):
        intent = replace(intent, target=replace(intent.target, text=_SAYS_WHAT.sub("", intent.target.text)))
    target = Ref("about", text=topic, whole=topic) if topic else intent.target
    if target and target.form == "all":
        return replace(intent, target=target.inside)
    if topic:
        return replace(intent, target=target)
    if target and target.form == "name" and draft.fields.get("topical") and not _is_file(target, draft):
        return replace(intent, target=Ref("about", text=target.text, whole=target.whole))
    return intent


def _is_file(target: Ref, draft: Draft) -> bool:
    return target.exact or target.kind == "file" or FILE_MARK.search(draft.slots.get("target", "")) is not None


def _ask(intent: Intent, draft: Draft) -> Intent:
    target = intent.target or draft.reference("source")
    asked = intent.query if intent.target is None else intent.said
    return replace(intent, target=target, query=asked or intent.said)


_SPECIAL: Final[dict[str, Callable[[Intent, Draft], Intent | None]]] = {
    "share": _share,
    "role_hint": _role_hint,
    "trash": _trash,
    "list_folder": _list,
    "find": _find,
    "move": _move,
    "create_folder": _names,
    "create_file": _file,
    "save_summary": lambda intent, draft: _names(intent, draft) or intent,
    "rename": _names,
    "restore_version": _version,
    "replace": read_replacement,
    "insert": read_insertion,
    "summarise": _summarise,
    "ask": _ask,
}


def _with_defaults(intent: Intent, draft: Draft) -> Intent:
    if intent.target is not None or draft.fields.get("bare"):
        return intent
    if intent.kind in OF_DOCUMENTS:
        return replace(intent, target=CURRENT_FILE)
    if intent.kind in OF_FOLDERS:
        return replace(intent, target=CURRENT_FOLDER)
    return replace(intent, target=IT) if intent.kind in OF_ITEMS else intent
