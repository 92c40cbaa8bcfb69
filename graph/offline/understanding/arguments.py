"""The arguments of a request: the names and values in its clause beside the verb, by the shapes of its action."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from graph.offline.understanding.clauses import MARK, Clause, Message
from graph.offline.understanding.grammar import has_han, named_in, slots, word
from graph.offline.understanding.intent import CHANGING, EDITING, EMAIL, NAMING, Intent, Ref, number_in, read_ref

_FIGURE: Final = r"\d[\d.,]*\s?(?:个月|小时|分钟|[天年月周日个元%])?"
_TEXT: Final = re.compile(r"(?:文档|文章|文件|原文|全文|document|file|text)")
POINTING: Final = CHANGING - NAMING - {"undo", "redo", "empty_trash", "remove_text"} | {"rename"}
"""Changes of the last subject if they name nothing else; without a shape of theirs a clause is unclear."""
FACTS: Final = ("newest", "oldest", "largest", "smallest")
IN_FOLDERS: Final = frozenset({"count", "list", *FACTS})
OF_ITEMS: Final = frozenset({"who_has_access", "list_versions", "info", "list_changes", "diff_versions"})
_NUMBERED: Final = dict.fromkeys(("restore_version", "diff_versions", "list_versions"), "version") | (
    dict.fromkeys((*FACTS, "list_changes"), "counted")
)


def fill(message: Message, action: str, clause: Clause, *, file_open: bool) -> Intent:
    """Return the request of a clause with the arguments that it names."""
    said = clause.said
    found = _with_content(message, said) if action == "create_file" else _slots(message, action, said)
    if found is None and action in POINTING:
        return Intent("unclear", said)
    named = found or {}
    target = re.sub(r"^(?:the|that|this|its|那个?|这个?)$", "", named.get("target", ""))
    place, text = named.get("destination", ""), said.strip(" ?？。.!！")
    pattern = {"find": "where", "lookup": "lists", "summarise": "sum_of", "read": "opens"}.get(action)
    intent = Intent(
        action, message.restored(said),
        target=_ref(message, target, file_open=file_open),
        destination=_folder(message, place) if place else None,
        emails=tuple(EMAIL.findall(message.restored(said))), role=role_in(clause.plain),
        number=number_in(_NUMBERED[action], clause.plain) if action in _NUMBERED else 0,
        query=message.restored((named_in(pattern, text) if pattern else "") or text))  # fmt: skip
    if action in {"move", "copy"} and place and word("new_folder").search(place):
        intent = replace(intent, makes_folder=True)
    form = intent.target.form if intent.target else ""
    if action == "delete" and word("empties").search(clause.plain) and form in {"", "name", "there", "it"}:
        if not form:
            return Intent("unclear", said)
        intent = replace(intent, target=Ref("all", inside=intent.target))
    if form == "there" and action in EDITING:
        intent = replace(intent, target=Ref("open" if file_open else "it"))
    if action in _FILL:
        intent = _FILL[action](message, intent, named)
    return intent if intent.target else replace(intent, target=_subject(message, intent, text, file_open=file_open))


def _slots(message: Message, action: str, said: str) -> Mapping[str, str] | None:
    shape = {"end_link": "link"}.get(action, action)
    chinese = has_han(re.sub(MARK, "", said))
    found = slots(shape, said, chinese=chinese)
    other = has_han(message.restored(said)) and (not chinese or re.match(r"[a-z]+\s", said, re.IGNORECASE))
    return found if found is not None or not other else slots(shape, said, chinese=not chinese)


def _with_content(message: Message, said: str) -> Mapping[str, str] | None:
    """Return the slots of a new file, with its text: dictated text, or a quotation after the name."""
    last = re.search(rf"(?<=[\w{MARK[1:-1]}])[\s,:]*(?P<mark>{MARK})\s*$", said)
    called = last is None or word("names_next").search(said[: last.start()])
    mark = (message.dictated if message.dictated in said else "") or (last["mark"] if last and not called else "")
    found = _slots(message, "create_file", said.replace(mark, " ").strip(" ,:") if mark else said)
    return {**found, "content": message.restored(mark)} if found is not None else None


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


def role_in(plain: str) -> str:
    """Return the role that a clause names, empty if none."""
    found = list(word("role").finditer(plain))
    if not found:
        return ""
    last = found[0] if found[0]["reader"] or found[0]["viewer"] else found[-1]
    return "editor" if last["editor"] or last["writer"] else "viewer"


def _subject(message: Message, intent: Intent, text: str, *, file_open: bool) -> Ref | None:
    if intent.action in {"summarise", "read"}:
        return _ref(message, intent.query if intent.query != message.restored(text) else "", file_open=file_open)
    folders = intent.action in IN_FOLDERS
    patterns = ("within", "folder_named") if folders else ("history", "of") if intent.action in OF_ITEMS else ()
    phrases = [phrase for phrase in (named_in(pattern, text) for pattern in patterns) if phrase]
    phrase = next((one for one in phrases if not word("no_place").fullmatch(one.replace(" ", ""))), "")
    ref = _ref(message, phrase, file_open=file_open, kind="folder" if folders else "")
    return Ref("here") if ref and ref.form in {"it", "open"} and folders else ref


def _fill_names(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    marks = re.findall(MARK, named.get("name", ""))
    name = message.restored(marks[0] if len(marks) == 1 else named.get("name", "")).strip(" .。,，;；")
    name = word("called_zh").sub("", name)
    names = [name]
    # The text after a colon is a list like any other; between quotation marks it is one name.
    if intent.action == "create_folder" and (not marks or marks == [message.dictated_plainly]):
        names = re.split(r"\s*[,，、]\s*(?:and\s+)?|\s+and\s+|(?<=[\u3400-\u9fff])和(?=[\u3400-\u9fff])", name)
    kept = (one for one in map(str.strip, names) if one and not word("no_name").fullmatch(one))
    return replace(intent, names=tuple(kept))


def _fill_file(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    intent = _fill_names(message, intent, {"name": re.sub(r"(?<=[^新])(?:文件|文档)$", "", named.get("name", ""))})
    return _placed(replace(intent, content=named.get("content", ""), makes_folder=message.makes_folder))


def _placed(intent: Intent) -> Intent:
    """Return the intent of a file that is named by its path with the folder of that path."""
    folder, slash, name = "".join(intent.names[:1]).rpartition("/")
    there = Ref("path", text=f"/{folder.strip('/')}")
    return replace(intent, names=(name,), destination=there) if slash else intent


def _fill_summary(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    """A summary is of the named item, of "it", or the one given before; its file may have a name."""
    target = intent.target if word("summarising").search(intent.said) else None
    if target is None or _TEXT.fullmatch(target.text):
        target = Ref("it" if re.search(r"\bits\b|[它其]的", intent.said) else "summary")
    name = message.restored(named.get("name", "")).strip(" .。,，")
    return _placed(replace(intent, target=target, names=(name,) if name else ()))


def _fill_share(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    person = re.sub(r"[,，].*", "", EMAIL.sub("", message.restored(named.get("person", ""))).strip(" ,，."))
    return replace(intent, person="" if intent.emails else person)


def _quoted_in(message: Message, slot: str) -> str:
    marks = re.findall(MARK, slot)
    return message.restored(marks[0]) if len(marks) == 1 else message.restored(slot).strip(" .。")


def _fill_edit(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    old, new = _quoted_in(message, named.get("old", "")), _quoted_in(message, named.get("new", ""))
    every = r"^(?:all|every|each)(?: of)?(?: the| occurrences of)* |^(?:the )?(?:word|phrase|text|line|item)s? "
    old = re.sub(every, "", old)
    rest = re.fullmatch(rf"{_FIGURE}(?P<rest>\D+)", old)
    if rest and re.fullmatch(_FIGURE, new) and has_han(old) and not re.fullmatch(_FIGURE, old):
        new += rest["rest"]
    described = word("described").search(old) or (re.match(r"\d", new) and not re.search(r"\d", old))
    topic = message.restored(named.get("topic", ""))
    if described and not re.search(MARK, named.get("old", "")):
        old, topic = "", topic or old
    return replace(intent, edits=((old, new),), anchor=topic)


def _fill_add(message: Message, intent: Intent, named: Mapping[str, str]) -> Intent:
    if named.get("anchor") or re.match(r"start|top|beginning|开头|最?前面|顶部", named.get("where", "")):
        return replace(intent, action="cannot")
    return replace(intent, content=_quoted_in(message, named.get("content", "")))


_FILL: Final[Mapping[str, Callable[[Message, Intent, Mapping[str, str]], Intent]]] = {
    **dict.fromkeys(("create_folder", "rename", "copy"), _fill_names),
    **dict.fromkeys(("share", "revoke", "set_role"), _fill_share),
    **dict.fromkeys(("replace", "remove_text"), _fill_edit),
    "create_file": _fill_file,
    **dict.fromkeys(("save_summary", "add_summary"), _fill_summary),
    "add": _fill_add,
}
