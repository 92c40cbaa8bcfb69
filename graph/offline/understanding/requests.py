"""The intents of a message, each an action with its arguments. The verbs are the router's.

A change is only an intent where a clause begins with its verb (or, in Chinese, names an object for it), and nothing in
the message puts it in doubt. Anything else is no intent.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from graph.offline.understanding.clauses import Clause, Message, is_taken_back, mood_of, spoken_of
from graph.offline.understanding.grammar import named_in, slots, table, word
from graph.offline.understanding.references import Ref, read_ref
from graph.offline.understanding.terms import has_han, terms
from graph.routing.intent_table import VERBS

PREVIOUS: Final = -1
LONGEST_READ: Final = 4_000
MARK: Final = "[\ue000-\uf8ff]"
"""Stands for what was quoted or dictated."""
_ORDINALS: Final = (
    "one first 一 original 最初 最早 原来", "two second 二 两", "three third 三", "four fourth 四", "five fifth 五",
    "six sixth 六", "seven seventh 七", "eight eighth 八", "nine ninth 九", "ten tenth 十",
)  # fmt: skip
NUMBERS: Final = {word: number for number, words in enumerate(_ORDINALS, 1) for word in words.split()} | dict.fromkeys(
    ("last", "previous", "prior", "earlier", "上一", "上个", "之前", "前一", "以前"), PREVIOUS
)
EMAIL: Final = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_FIGURE: Final = r"\d[\d.,]*\s?(?:个月|小时|分钟|[天年月周日个元%])?"
EDITING: Final = frozenset({"replace", "remove_text", "add", "list_versions", "restore_version"})
_CHANGING_WORDS: Final = (
    "create_folder create_file rename move copy share revoke set_role link end_link download"
    " delete delete_for_good empty_trash restore restore_version undo redo replace remove_text add save"
)
CHANGING: Final = frozenset(_CHANGING_WORDS.split())
NAMING: Final = frozenset({"create_folder", "create_file", "add", "replace", "rename"})
"""Shapes that take the person's own words, which may sound like anything."""
VAGUE: Final = frozenset({"ask", "lookup", "cannot"})
"""Fallback actions, for want of a better one; a change that the message names is mentioned."""
IN_FOLDERS: Final = frozenset({"count", "list", "tree", "newest"})
OF_ITEMS: Final = frozenset({"who_has_access", "list_versions", "info", "list_changes", "related", "diff_versions"})
_LOOKUPS: Final = table("lookup")
_TALK: Final = table("talk")
_SPECIAL: Final = (
    ("undo", "as_it_was"), ("redo", "redo"), ("restore", "back"), ("cannot", "many_names"), ("cannot", "sorts"),
)  # fmt: skip
_BY_ROW: Final = frozenset([
    "who_has_access", "list_versions", "restore_version", "undo", "restore", "list_changes",
    "create_folder", "create_file", "copy", "rename", "move",
])  # fmt: skip
_NUMBERED: Final = dict.fromkeys(("restore_version", "diff_versions", "list_versions", "download"), "version") | (
    dict.fromkeys(("newest", "list_changes"), "counted")
)


@dataclass(frozen=True, slots=True)
class Intent:
    """One request. What an action has no use for stays empty."""

    action: str
    said: str = ""
    target: Ref | None = None
    destination: Ref | None = None
    names: tuple[str, ...] = ()
    content: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    emails: tuple[str, ...] = ()
    person: str = ""
    role: str = ""
    number: int = 0
    query: str = ""
    position: str = "end"
    anchor: str = ""
    topic: str = ""


def memory_intent(text: str) -> Intent | None:
    """Return what a message wants of the long-term memory: remember, forget or list; None if nothing."""
    said = " ".join(text.split())
    for name, pattern in table("memory"):
        match = pattern.match(said)
        fact = next(filter(None, match.groups()), "").strip().rstrip(".。!！") if match else ""
        if match and (name == "list" or not word("no_fact").match(fact)):
            return Intent(f"{name}_memories" if name == "list" else name, text, content=fact)
    return None


@lru_cache(maxsize=256)
def understand(text: str, *, file_open: bool = False) -> tuple[Intent, ...]:
    """Return what a message asks for, in order; empty if that is not clear."""
    if len(text) > LONGEST_READ or not text.strip():
        return ()
    message = Message(text)
    talk = next((kind for kind, pattern in _TALK if pattern.fullmatch(message.text.strip(" !?.。！？~,，"))), "")
    if talk:
        return (Intent(talk, text),)
    clauses = list(message.clauses())
    intents = [_intent(message, clause, file_open=file_open) for clause in clauses]
    spoken = _only_spoken_of(message, clauses, intents)
    if spoken:
        return (spoken,)
    found = _joined(clauses, intents)
    meant = [intent for intent in found if intent.action not in {"ask", "lookup"}] or found
    if not meant and clauses and all(clause.negated for clause in clauses):
        return (Intent("decline", text),)
    if meant and all(intent.action == "ask" for intent in meant):
        return (replace(meant[0], query=" ".join(message.restored(message.text).split())),)
    return tuple(meant)


def _joined(clauses: Sequence[Clause], intents: Sequence[Intent | None]) -> list[Intent]:
    """Return the intents, each with what later clauses add to it: "share it with Bob, as editor"."""
    found: list[Intent] = []
    for clause, intent in zip(clauses, intents, strict=True):
        last, action = found[-1] if found else Intent(""), intent.action if intent else "lookup"
        pointing = intent is None or intent.target is None or intent.target.is_pronoun
        role = _role(clause.plain) if not (intent and (intent.emails or intent.target)) else ""
        if role and action in VAGUE | {"set_role", "share"} and last.action in {"share", "link"}:
            found[-1] = replace(last, role=role)
        elif action == "lookup" and last.action == "create_folder" and not clause.negated:
            found[-1] = replace(last, names=(*last.names, *re.split(r"\s+and\s+|和", clause.said.removeprefix("and "))))
        elif intent and action in {"summarise", "read"} and pointing and last.action == "find":
            found[-1] = replace(intent, target=Ref("name", text=last.query))
        elif intent:
            found.append(intent)
    return found


def _only_spoken_of(message: Message, clauses: Sequence[Clause], intents: Sequence[Intent | None]) -> Intent | None:
    changes = [intent for intent in intents if intent and intent.action in CHANGING]
    both = list(zip(clauses, intents, strict=True))
    moods = [_mood(clause, intent) for clause, intent in both]
    named = [spoken_of(clause.plain) for (clause, _), mood in zip(both, moods, strict=True) if mood]
    action = changes[0].action if changes else next(filter(None, named), "")
    taken_back = bool(changes) and is_taken_back(message.text.lower())
    mood = "taken_back" if taken_back else next(filter(None, moods), "")
    if {intent.action for intent in changes} - NAMING and word("depends").search(message.prepared):
        mood = "supposed"
    if not action or not mood:
        return None
    text = message.restored(message.text)
    looks = any(intent and intent.action in {"ask", "find"} and not spoken_of(clause.plain) for clause, intent in both)
    if looks and not changes and mood == "reported":
        return Intent("ask", text, query=text)
    return Intent("explain", text, topic=action, query=mood)


def _mood(clause: Clause, intent: Intent | None) -> str:
    plain, action = clause.plain, intent.action if intent else "lookup"
    if clause.negated or action not in VAGUE | CHANGING:
        return ""
    if action in NAMING:
        return "supposed" if re.match(r"(?:if|when|unless)\b|如果|要是|假如|万一", plain) else ""
    if clause.ends_in_colon and action not in CHANGING:
        return "reported"
    if action in {"share", "link", "set_role"}:
        plain = word("so_that").sub("", plain)
    for ref in (intent.target, intent.destination) if intent else ():
        # A name may sound like advice; what stands before it may not.
        plain = plain.replace(ref.text.lower(), " ") if ref and plain.find(ref.text.lower()) > 0 else plain
    return mood_of(plain)


def _intent(message: Message, clause: Clause, *, file_open: bool) -> Intent | None:
    if clause.negated or not clause.plain:
        return None
    looked_up = next((action for action, pattern in _LOOKUPS if pattern.search(clause.plain)), "")
    action = looked_up or _change(clause, file_open=file_open) or _reading(clause) or _otherwise(clause)
    intent = _filled(message, action, clause, file_open=file_open) if action else None
    named = intent.target if intent and intent.action in CHANGING else None
    if intent and named and named.form == "name" and word("kinds").fullmatch(named.text):
        return Intent("explain", intent.said, topic=intent.action)
    return intent


def _change(clause: Clause, *, file_open: bool) -> str:
    plain, action = clause.plain, clause.row.action if clause.row else ""
    open_row = action in {"", "edit", "unknown"}
    if word("trash").search(plain):
        return "" if mood_of(plain) == "asked" else "empty_trash"
    special = next((name for name, pattern in _SPECIAL if word(pattern).search(plain)), "")
    if special:
        return special
    access = _access(plain, action, open_row=open_row)
    if access:
        return access
    if word("cannot").search(plain) and (open_row or action == "create_file"):
        return "cannot"
    if action in {"move", "create_file"} and re.search(r"\bcop(?:y|ies) of\b|副本|复制", plain):
        return "copy"
    if action == "create_file" and re.match(r"(?:write|add|put)\b.*\b(?:to|into|in) FILE", plain):
        return "add"
    action = "list_changes" if action == "history" else action
    return action if action in _BY_ROW else _edit(clause, action, file_open=file_open)


def _access(plain: str, action: str, *, open_row: bool) -> str:
    if word("download").search(plain) and action in {"", "share", "unknown"}:
        return "download"
    named = word("sets_role").search(plain) or ("MAIL" in plain and word("stops").match(plain))
    if action == "share" or (open_row and named):
        return _sharing(plain)
    if re.match(r"make .+ (?:private|public)\b", plain):
        return "revoke" if "private" in plain else "link"
    return "end_link" if open_row and word("ends_link").search(plain) else ""


def _sharing(plain: str) -> str:
    if word("link").search(plain):
        return "end_link" if word("stops").search(plain) else "link"
    gives = re.search(r"access to\b.*\bMAIL|MAIL.*\baccess\b|^(?:let|give|allow) MAIL|共享|分享", plain)
    if word("sets_role").search(plain) and not gives:
        return "set_role"
    ends = re.search(r"取消|停止|收回|撤回|移除|解除|不再|别再|\bprivate\b|unshare", plain)
    return "revoke" if ends or word("stops").match(plain) else "share"


def _edit(clause: Clause, action: str, *, file_open: bool) -> str:
    plain = clause.plain
    if action == "delete":
        part = file_open and re.search(r"QUOTE|\b(?:line|sentence|paragraph|word)\b|[句段行]", plain)
        if part or word("names_part").search(plain):
            return "remove_text"
        return "delete_for_good" if clause.for_good else "delete"
    if action not in {"", "edit", "unknown"}:
        return ""
    if re.match(r"(?:put|place|stick|drop|file) (?!.*(?:QUOTE|\bline\b|\bsentence\b)).+ (?:in|into|under|to) ", plain):
        return "move"
    for name, pattern in (("replace", "replaces"), ("add", "adds"), ("remove_text", "removes")):
        if word(pattern).search(plain) and (name != "remove_text" or action == "edit"):
            return name
    return "cannot" if action == "edit" else ""


def _reading(clause: Clause) -> str:
    plain, action = clause.plain, clause.row.action if clause.row else ""
    if action == "list":
        return "list"
    if word("sum_of").fullmatch(plain) and not re.search(r"\bwhat does .+ say about\b|(?<!总结)关于", plain):
        return "summarise"
    if word("lists").match(plain) and not word("about").search(plain):
        return "lookup"
    if word("where").search(plain):
        return "find"
    if word("opens").search(plain) and not word("question").search(plain):
        return "read"
    return ("ask" if word("question").search(plain) else "summarise") if action == "read" else ""


def _otherwise(clause: Clause) -> str:
    plain = clause.plain
    if word("question").search(plain):
        return "ask"
    short = len(plain.split()) <= 5 if plain.isascii() else len(plain) <= 12
    tells = re.search(r"^(?:i|we|he|she|they|it|you)\b|[我你他她](?!的)|[了吧]$|^(?:把|将)", plain)
    has_verb = clause.row is not None or any(one in VERBS for one in plain.split()[:3])
    return "lookup" if short and not tells and not has_verb and terms(plain) else ""


def _filled(message: Message, action: str, clause: Clause, *, file_open: bool) -> Intent:
    said = clause.said
    named = _slots(message, action, said)
    target = re.sub(r"^(?:the|that|this|its|那个?|这个?)$", "", named.get("target", ""))
    place, text = named.get("destination", ""), said.strip(" ?？。.!！")
    pattern = {"find": "where", "lookup": "lists", "summarise": "sum_of", "read": "opens"}.get(action)
    intent = Intent(
        action,
        message.restored(said),
        target=_ref(message, target, file_open=file_open),
        destination=_folder(message, place) if place else None,
        emails=tuple(EMAIL.findall(message.restored(said))),
        role=_role(clause.plain),
        number=number_in(_NUMBERED[action], clause.plain) if action in _NUMBERED else 0,
        query=message.restored((named_in(pattern, text) if pattern else "") or text),
    )
    form = intent.target.form if intent.target else ""
    if action == "delete" and word("empties").search(clause.plain) and form in {"name", "there", "it"}:
        intent = replace(intent, target=Ref("all", inside=intent.target))
    if form == "there" and action in EDITING:
        intent = replace(intent, target=Ref("open" if file_open else "it"))
    if action in _FILL:
        intent = _FILL[action](message, intent, named)
    return intent if intent.target else replace(intent, target=_subject(message, intent, text, file_open=file_open))


def _slots(message: Message, action: str, said: str) -> Mapping[str, str]:
    shape = {"end_link": "link", "delete_for_good": "delete"}.get(action, action)
    first = has_han(re.sub(MARK, "", said))
    found = slots(shape, said, chinese=first)
    return found or (slots(shape, said, chinese=not first) if has_han(message.restored(said)) else {})


def _ref(message: Message, phrase: str, *, file_open: bool = False, kind: str = "") -> Ref | None:
    text = message.restored(phrase)
    if re.fullmatch(MARK, phrase):
        return Ref("path" if text.startswith("/") else "name", text=text, kind=kind)
    return read_ref(text, kind=kind, file_open=file_open) if phrase else None


def _folder(message: Message, phrase: str) -> Ref | None:
    there = read_ref(message.restored(phrase), kind="folder")
    if there and there.is_pronoun:
        return Ref("there")
    text = message.restored(re.sub(r"(?:里面|里边|里|中|下面|下|内|去|吧)$", "", phrase) or phrase)
    ref = read_ref((named_in("named", text) or text).strip(" .。,"), kind="folder")
    return Ref("there") if ref and ref.form in {"it", "open"} else ref


def _role(plain: str) -> str:
    found = list(word("role").finditer(plain))
    if not found:
        return ""
    last = found[0] if found[0]["reader"] or found[0]["viewer"] else found[-1]
    return "editor" if last["editor"] or last["writer"] else "viewer"


def number_in(name: str, text: str) -> int:
    """Return the number that a pattern finds in a text, 0 if there is none."""
    found = named_in(name, text).lower()
    return int(found) if found.isdigit() else NUMBERS.get(found, 0)


def _subject(message: Message, intent: Intent, text: str, *, file_open: bool) -> Ref | None:
    if intent.action in {"summarise", "read"}:
        return _ref(message, intent.query if intent.query != message.restored(text) else "", file_open=file_open)
    patterns = ("within",) if intent.action in IN_FOLDERS else ("history", "of") if intent.action in OF_ITEMS else ()
    phrases = [phrase for phrase in (named_in(pattern, text) for pattern in patterns) if phrase]
    phrase = next((one for one in phrases if not word("no_place").fullmatch(one.replace(" ", ""))), "")
    return _ref(message, phrase, file_open=file_open, kind="folder" if intent.action in IN_FOLDERS else "")


def _fill_names(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    name = message.restored(named.get("name", "")).strip(" .。,，;；")
    names = [name]
    if intent.action == "create_folder" and not re.search(MARK, named.get("name", "")):
        names = re.split(r"\s*[,，、]\s*(?:and\s+)?|\s+and\s+|(?<=[\u3400-\u9fff])和(?=[\u3400-\u9fff])", name)
    return replace(intent, names=tuple(filter(None, (one.strip() for one in names))))


def _fill_file(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    inside = re.search(rf"(?<=.)\s*(?P<content>{MARK})\s*$", named.get("name", ""))
    name = named.get("name", "")[: inside.start()].rstrip(" ,，:") if inside else named.get("name", "")
    intent = _fill_names(message, intent, {"name": name})
    content = message.restored(inside["content"]) if inside else ""
    keeps = not content and word("keeps").match(intent.said.lower())
    return replace(intent, action="save" if keeps else "create_file", content=content)


def _fill_share(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    person = re.sub(r"[,，].*", "", EMAIL.sub("", message.restored(named.get("person", ""))).strip(" ,，."))
    target = intent.target
    if target and EMAIL.search(target.text):
        rest = EMAIL.sub("", target.text).strip()
        target = read_ref(re.sub(r"^(?:给|with|to)\s*|\s*(?:with|to|给)\s*$", "", rest).strip(" ,，"))
    return replace(intent, person="" if intent.emails else person, target=target)


def _quoted_in(message: Message, slot: str) -> str:
    marks = re.findall(MARK, slot)
    return message.restored(marks[0]) if len(marks) == 1 else message.restored(slot).strip(" .。")


def _fill_edit(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    old, new = _quoted_in(message, named.get("old", "")), _quoted_in(message, named.get("new", ""))
    old = re.sub(r"^(?:all|every|each)(?: of)?(?: the| occurrences of)* ", "", old)
    kept = re.fullmatch(rf"{_FIGURE}(?P<rest>\D+)", old)
    if kept and re.fullmatch(_FIGURE, new) and has_han(old) and not re.fullmatch(_FIGURE, old):
        new += kept["rest"]
    return replace(intent, edits=((old, new),), anchor=message.restored(named.get("topic", "")))


def _fill_add(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    start = re.match(r"start|top|beginning|开头|最?前面|顶部", named.get("where", ""))
    anchor = message.restored(named.get("anchor", ""))
    content = _quoted_in(message, named.get("content", "")) if named.get("content") else ""
    return replace(intent, content=content, anchor=anchor, position="after" if anchor else "start" if start else "end")


_FILL: Final[Mapping[str, Callable[[Message, Intent, Mapping[str, str]], Intent]]] = {
    **dict.fromkeys(("create_folder", "rename", "copy"), _fill_names),
    **dict.fromkeys(("share", "revoke", "set_role"), _fill_share),
    **dict.fromkeys(("replace", "remove_text"), _fill_edit),
    "create_file": _fill_file,
    "add": _fill_add,
}
