"""From a pattern that matched to an intent."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast

from graph.offline.intents import PREVIOUS, Intent, Kind, Role
from graph.offline.lexicon_en import NUMBERS
from graph.offline.lexicon_zh import DIGITS
from graph.offline.masking import EMAIL, FILE, PATH, QUOTE, Masked
from graph.offline.patterns.row import Row
from graph.offline.references import CURRENT_FILE, CURRENT_FOLDER, IT, Ref, parse_reference, split_list
from graph.state import Language

OF_DOCUMENTS: Final = frozenset({"restore_version", "list_versions", "replace", "insert"})
OF_FOLDERS: Final = frozenset({"list_folder", "tree"})
OF_ITEMS: Final = frozenset(
    {"share", "revoke", "list_shares", "summarise", "move", "rename", "trash", "restore", "read"}
)

_EDITOR = re.compile(r"edit|writ|chang|modif|collab|contribut|work on|update|full|编辑|修改|改|写|协作", re.IGNORECASE)
_VIEWER = re.compile(r"view|read|see|look|access|查看|看|读|访问|阅读|浏览", re.IGNORECASE)
_FILLER = re.compile(
    r"\s*[(\[]?(?:too|as well|directly|today|now|only|just|for me|via .{1,20}|也|直接|一下)?[)\]]?\s*", re.IGNORECASE
)
_EVERY = re.compile(
    r"^(?:(?:every|each|all|all of the|any|every single|all the|the)\s+)*"
    r"(?:(?:occurrences?|instances?|mentions?|appearances?|places?|words?|phrase|text|term|number|date|name|string|"
    r"sentence)s?"
    r"\s+(?:of\s+|that says?\s+|saying\s+)?)?(?:the (?:word|phrase|text) )?(?=\S)",
    re.IGNORECASE,
)
_EVERY_ZH = re.compile(r"^(?:所有的?|全部的?|每个|每一个|每一处的?|出现的)+")
_EVERYWHERE = re.compile(
    r"[\s,]*(?:\beverywhere|\bthroughout|\bthroughout the (?:text|document|file)|\ball over|\bglobally|\bin all places|"
    r"\bat once|\bwherever it (?:appears|occurs))$",
    re.IGNORECASE,
)
_NAMED = re.compile(f"{QUOTE[:-1]}{FILE[1:-1]}{PATH[1:]}")
_FILE_MARK = re.compile(FILE)
_ONE_QUOTE = re.compile(f"\\s*({QUOTE})[\\s.,;。，；!！]*")
_EMAILS = re.compile(EMAIL)
_INSIDE = re.compile(r"(?:里面|里头|里边|当中|之中|底下|下面|里|中|内|下)(?:去)?$")
_TRAILING = " \t,;，；、"


def build(found: Row, slots: dict[str, str], clause: str, masked: Masked, language: Language) -> Intent | None:
    """Return the intent of a row whose slots are parts of the masked clause; None if the parts make no sense."""
    draft = _Draft(slots, masked, language, {**found.fields})
    kind = cast("Kind", found.kind)
    intent = Intent(kind, said=masked.reveal(clause).strip(), **draft.common())
    if _EMAILS.search(slots.get("target", "")):
        return None
    special = _SPECIAL.get(kind)
    built = special(intent, draft) if special else intent
    return _with_defaults(built, draft) if built else None


class _Draft:
    """The slots of one match, read as what they hold."""

    def __init__(self, slots: dict[str, str], masked: Masked, language: Language, fields: dict[str, Any]) -> None:
        self.slots = slots
        self.masked = masked
        self.language = language
        self.fields = fields

    def text(self, name: str) -> str:
        """Return a slot as it was said, without quotation marks around it."""
        raw = self.slots.get(name, "").strip(_TRAILING)
        only = _ONE_QUOTE.fullmatch(raw)
        return self.masked.reveal(only[1] if only else raw).strip()

    def reference(self, *names: str) -> Ref | None:
        """Return the first of these slots that is filled, as a reference."""
        raw = next((self.slots[name] for name in names if self.slots.get(name)), "")
        return parse_reference(raw, self.masked, self.language)

    def folder(self) -> Ref | None:
        """Return the destination; "in" at its end says nothing about its name."""
        raw = self.slots.get("destination", "")
        cut = _INSIDE.sub("", raw) or raw
        return parse_reference(cut if cut not in {"那", "这"} else raw, self.masked, self.language)

    def common(self) -> dict[str, Any]:
        """Return the fields that mean the same in every kind."""
        emails = tuple(
            dict.fromkeys(self.masked.reveal(mark) for mark in _EMAILS.findall(self.slots.get("emails", "")))
        )
        fields = {name: value for name, value in self.fields.items() if name in _PLAIN_FIELDS}
        return {
            "target": self.reference("target", "target_after"),
            "destination": self.folder(),
            "query": self.text("query"),
            "anchor": self.text("anchor"),
            "emails": emails,
            **fields,
        }


_PLAIN_FIELDS: Final = frozenset({"role", "topic", "position"})


def _share(intent: Intent, draft: _Draft) -> Intent | None:
    said = " ".join(draft.slots.get(name, "") for name in ("role", "role_after"))
    person = draft.text("person")
    if "role" in draft.fields:
        return replace(intent, person=person)
    role = role_in(said)
    if role is None and not _FILLER.fullmatch(said):
        return None
    return replace(intent, role=role or "viewer", person=person)


def role_in(text: str) -> Role | None:
    """Return the role that a phrase speaks of, if it speaks of one."""
    if _EDITOR.search(text):
        return "editor"
    return "viewer" if _VIEWER.search(text) else None


def _role_hint(intent: Intent, draft: _Draft) -> Intent | None:
    role = role_in(draft.slots.get("role", "") or intent.said)
    return replace(intent, role=role) if role else None


def _trash(intent: Intent, draft: _Draft) -> Intent:
    emptied = draft.reference("emptied")
    if emptied is None or emptied.form in {"all", "current file"} or _FILE_MARK.search(draft.slots["emptied"]):
        return replace(intent, target=emptied or intent.target)
    if emptied.form not in {"name", "path", "current folder", "it", "there"}:
        return replace(intent, target=emptied)
    folder = replace(emptied, kind="folder")
    return replace(intent, target=Ref("all", inside=folder, whole=emptied.whole))


def _list(intent: Intent, draft: _Draft) -> Intent:
    target = intent.target
    if target is None or draft.fields.get("here") or draft.slots.get("target") in {"这个", "当前", "本", "此", "这"}:
        return replace(intent, target=CURRENT_FOLDER)
    if target.form == "all":
        return replace(intent, target=target.inside)
    if target.form == "current file" or _FILE_MARK.search(draft.slots["target"]):
        return replace(intent, kind="summarise")
    return intent


def _move(intent: Intent, draft: _Draft) -> Intent:
    origin, target = draft.reference("origin"), intent.target
    if origin is None or target is None:
        return intent
    everything = target.form == "current folder" or (target.form == "all" and target.inside == CURRENT_FOLDER)
    if everything:
        return replace(intent, target=Ref("all", inside=replace(origin, kind="folder"), extension=target.extension))
    return replace(intent, target=replace(target, inside=origin)) if target.form == "name" else intent


def _find(intent: Intent, draft: _Draft) -> Intent | None:
    topic = draft.text("topic")
    wanted = Ref("about", text=topic, whole=topic) if topic else draft.reference("query")
    return replace(intent, target=wanted, query=wanted.text or intent.query) if wanted else None


def _names(intent: Intent, draft: _Draft) -> Intent | None:
    if draft.fields.get("names_missing"):
        return intent
    raw = draft.slots.get("names", "") or draft.slots.get("name", "")
    several = re.search(r"folders|directories|两|三|四|五|六|七|八|九|十|几|\d+个|分别|、", intent.said) is not None
    parts = split_list(raw, draft.language) if several or len(_NAMED.findall(raw)) > 1 else [raw]
    names = tuple(name for name in (_name(part, draft.masked) for part in parts) if name)
    return replace(intent, names=names) if names else None


def _name(raw: str, masked: Masked) -> str:
    only = _ONE_QUOTE.fullmatch(raw)
    return masked.reveal(only[1] if only else raw).strip(" \t\n.,;:!?，。；：！？、\"'“”")


def _file(intent: Intent, draft: _Draft) -> Intent | None:
    named = _names(intent, draft)
    return replace(named, content=draft.text("content")) if named else None


def _version(intent: Intent, draft: _Draft) -> Intent:
    if draft.slots.get("previous"):
        first = draft.slots["previous"].lower() in {"original", "first", "原来", "最初"}
        return replace(intent, version=1 if first else PREVIOUS)
    return replace(intent, version=number(draft.slots.get("n", "")))


def number(word: str) -> int:
    """Read a small number in digits or as a word; 0 if it is none."""
    word = word.strip().lower()
    return int(word) if word.isdecimal() else NUMBERS.get(word, 0) or DIGITS.get(word, 0)


def _replace(intent: Intent, draft: _Draft) -> Intent | None:
    find = _EVERY_ZH.sub("", _EVERY.sub("", draft.slots.get("find", "").strip()))
    replacement = _EVERYWHERE.sub("", draft.slots.get("replace", ""))
    if not find:
        return None
    if "replace" not in draft.fields and _FILE_MARK.search(find) and _FILE_MARK.search(replacement):
        old = parse_reference(find, draft.masked, draft.language)
        return replace(intent, kind="rename", target=old, names=(_name(replacement, draft.masked),))
    inner = _Draft({"find": find, "replace": replacement}, draft.masked, draft.language, {})
    return replace(intent, edits=_edit_list(inner.text("find"), draft.fields.get("replace", inner.text("replace"))))


_AND_ANOTHER = re.compile(r"^(?P<first>.+?),? and (?P<find>.+?) (?:with|by|to|into) (?P<replace>.+)$", re.IGNORECASE)


def _edit_list(find: str, replacement: str) -> tuple[tuple[str, str], ...]:
    another = _AND_ANOTHER.match(replacement)
    if another:
        return ((find, another["first"]), *_edit_list(another["find"], another["replace"]))
    return ((find, replacement),)


_CALLED_TEXT = re.compile(
    r"^(?:(?:a|an|the|this|another|new|following|final|last|short)\s+)*(?:sentence|line|paragraph|text|words?|note|"
    r"remark|bullet|item|entry|comment|"
    rf"phrase|heading|title|section)s?(?:\s+(?:saying|that says|reading|that reads|with the text|containing)|\s*:|"
    rf"(?=\s*{QUOTE}))\s*"
    rf"|^(?:一|1|这)?(?:句话|句|行字|行|段话|段|段文字)[:]?(?={QUOTE})",
    re.IGNORECASE,
)


def _insert(intent: Intent, draft: _Draft) -> Intent | None:
    inner = _CALLED_TEXT.sub("", draft.slots.get("content", ""))
    content = _Draft({"content": inner}, draft.masked, draft.language, {}).text("content").lstrip(":：").strip()
    return replace(intent, content=content) if content and not content.startswith("@") else None


def _summarise(intent: Intent, draft: _Draft) -> Intent:
    topic = draft.text("topic")
    target = Ref("about", text=topic, whole=topic) if topic else intent.target
    if target and target.form == "all":
        return replace(intent, target=target.inside)
    if topic:
        return replace(intent, target=target)
    if target and target.form == "name" and draft.fields.get("topical") and not _is_file(target, draft):
        return replace(intent, target=Ref("about", text=target.text, whole=target.whole))
    return intent


def _is_file(target: Ref, draft: _Draft) -> bool:
    return target.exact or target.kind == "file" or _FILE_MARK.search(draft.slots.get("target", "")) is not None


def _ask(intent: Intent, draft: _Draft) -> Intent:
    target = intent.target or draft.reference("source")
    asked = intent.query if intent.target is None else intent.said
    return replace(intent, target=target, query=asked or intent.said)


_SPECIAL: Final[dict[str, Callable[[Intent, _Draft], Intent | None]]] = {
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
    "replace": _replace,
    "insert": _insert,
    "summarise": _summarise,
    "ask": _ask,
}


def _with_defaults(intent: Intent, draft: _Draft) -> Intent:
    if intent.target is not None or draft.fields.get("bare"):
        return intent
    if intent.kind in OF_DOCUMENTS:
        return replace(intent, target=CURRENT_FILE)
    if intent.kind in OF_FOLDERS:
        return replace(intent, target=CURRENT_FOLDER)
    return replace(intent, target=IT) if intent.kind in OF_ITEMS else intent
