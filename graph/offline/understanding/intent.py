"""One request as data: an action of the offline model with its arguments, and the phrases that stand for items."""

import re
from dataclasses import dataclass
from typing import Final

from graph.offline.understanding.grammar import named_in, table, word

PREVIOUS: Final = -1
_ORDINALS: Final = (
    "one first 一 original 最初 最早 原来", "two second 二 两", "three third 三", "four fourth 四", "five fifth 五",
    "six sixth 六", "seven seventh 七", "eight eighth 八", "nine ninth 九", "ten tenth 十",
)  # fmt: skip
NUMBERS: Final = {word: number for number, words in enumerate(_ORDINALS, 1) for word in words.split()} | dict.fromkeys(
    ("last", "previous", "prior", "earlier", "上一", "上个", "之前", "前一", "以前"), PREVIOUS
)
EMAIL: Final = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
EDITING: Final = frozenset({"replace", "remove_text", "add", "add_summary", "list_versions", "restore_version"})
CHANGING: Final = frozenset(word("changing").pattern.split("|"))
NAMING: Final = frozenset({"create_folder", "create_file", "add", "replace", "rename"})
"""Shapes that take the person's own words, which may sound like anything."""
VAGUE: Final = frozenset({"ask", "lookup", "cannot"})
"""Fallback actions, for want of a better one; a change that the message names is mentioned."""
_FORMS: Final = table("form")
_KIND: Final = {
    "folder": re.compile(r"(?i)\s+(?:sub)?(?:folder|directory|dir)$|(?<=.)(?:文件夹|目录)$|^(?:folder|directory)\s+"),
    "file": re.compile(r"(?i)(?<!\.)(?<!\w)\s*\bfile$|(?<=[^\s新旧])(?:这个|那个|这份|那份)?(?:文件|文档)$"),
}
_TYPES: Final = (
    "pdf word=docx docx excel=xlsx xlsx spreadsheet=xlsx 表格=xlsx powerpoint=pptx pptx ppt=pptx csv txt text=txt"
    " 文本=txt markdown=md md html json png jpg jpeg=jpg"
)
SUFFIXES: Final = {one.partition("=")[0]: f".{one.rpartition('=')[2]}" for one in _TYPES.split()}
_TYPE: Final = re.compile(rf"(?i)^\*?\.?(?P<type>{'|'.join(SUFFIXES)})s?(?:\s*(?:files?|documents?|文件|文档))?$")
_MARKS: Final = " \t,.;:!?，。；：！？、“”\"'`"


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to items: `text` is a name, a description, a path, or "it" for an open one; `inside` its folder.

    `kept` are the ones of several that are not meant.
    """

    form: str
    text: str = ""
    kind: str = ""
    inside: "Ref | None" = None
    extension: str = ""
    kept: str = ""

    @property
    def is_pronoun(self) -> bool:
        """Say whether only the conversation identifies the item."""
        return self.form in {"it", "them", "there"} or (self.form == "open" and bool(self.text))


@dataclass(frozen=True, slots=True)
class Intent:
    """One request. Fields that an action does not use stay empty."""

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
    anchor: str = ""
    again: tuple[tuple[str, str], ...] = ()
    makes_folder: bool = False


def number_in(name: str, text: str) -> int:
    """Return the number that a pattern finds in a text, 0 if there is none."""
    found = named_in(name, text).lower()
    return int(found) if found.isdigit() else NUMBERS.get(found, 0)


def read_ref(phrase: str, *, kind: str = "", file_open: bool = False) -> Ref | None:
    """Return the reference that a phrase makes; None for an empty one."""
    text = phrase.strip().rstrip("?!？！。，,;； ")
    if not text:
        return None
    form = next((form for form, pattern in _FORMS if pattern.fullmatch(text.strip(_MARKS))), "")
    if form in {"open", "it"}:
        return Ref("open", text="it" if form == "it" else "") if file_open else Ref("it", kind=kind)
    if form:
        return Ref(form, text=text if form == "which" else "", kind=kind if form == "them" else "")
    return Ref("path", text=text) if text.startswith("/") else _all(text) or _named(text, kind)


def _all(text: str) -> Ref | None:
    match = word("all").match(text) or word("all_zh").match(text)
    if match is None:
        within = word("all_within_zh").fullmatch(text)
        return Ref("all", inside=read_ref(within["inside"], kind="folder")) if within else None
    inside = read_ref(match["inside"], kind="folder") if match["inside"] else None
    what = (match["what"] or "").strip()
    if sort := _TYPE.match(what):
        return Ref("all", kind="file", inside=inside, extension=SUFFIXES[sort["type"].lower()])
    return Ref("all", text="" if word("anything").fullmatch(what) else what, inside=inside)


def _named(text: str, kind: str) -> Ref:
    stripped = word("determiner_zh").sub("", word("determiner").sub("", text)) or text
    for one, pattern in _KIND.items():
        if pattern.search(stripped):
            stripped, kind = pattern.sub("", stripped) or stripped, one
    return Ref("name", text=stripped.strip(_MARKS), kind=kind)
