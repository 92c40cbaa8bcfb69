"""Phrases that stand for items: "my lease", "it", "everything in Old", "上海的旧合同", as data."""

import re
from dataclasses import dataclass
from typing import Final

from graph.offline.understanding.grammar import table, word


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to items: `text` is a name, a description or a path; `inside` the folder it is in."""

    form: str
    text: str = ""
    kind: str = ""
    inside: "Ref | None" = None
    extension: str = ""

    @property
    def is_pronoun(self) -> bool:
        """Say whether only the conversation tells what it is."""
        return self.form in {"it", "them", "there"}


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


def read_ref(phrase: str, *, kind: str = "", file_open: bool = False) -> Ref | None:
    """Return what a phrase stands for; None for an empty one."""
    text = phrase.strip().rstrip("?!？！。，,;； ")
    if not text:
        return None
    form = next((form for form, pattern in _FORMS if pattern.fullmatch(text.strip(_MARKS))), "")
    if form in {"open", "it"}:
        form = "open" if file_open else "it"
    if form:
        return Ref(form, kind=kind if form in {"it", "them"} else "")
    return Ref("path", text=text) if text.startswith("/") else _all(text) or _named(text, kind)


def _all(text: str) -> Ref | None:
    match = word("all").match(text) or word("all_zh").match(text)
    if match is None:
        within = word("all_within_zh").fullmatch(text)
        return Ref("all", inside=read_ref(within["inside"], kind="folder")) if within else None
    inside = read_ref(match["inside"], kind="folder") if match["inside"] else None
    what = (match["what"] or "").strip()
    nested = word("of_all_zh").match(what) if inside is None and not word("anything").fullmatch(what) else None
    if nested:
        return Ref("all", inside=read_ref(nested["inside"], kind="folder"))
    if sort := _TYPE.match(what):
        return Ref("all", kind="file", inside=inside, extension=SUFFIXES[sort["type"].lower()])
    return Ref("all", text="" if word("anything").fullmatch(what) else what, inside=inside)


def _named(text: str, kind: str) -> Ref:
    stripped = word("determiner_zh").sub("", word("determiner").sub("", text)) or text
    for one, pattern in _KIND.items():
        if pattern.search(stripped):
            stripped, kind = pattern.sub("", stripped) or stripped, one
    return Ref("name", text=stripped.strip(_MARKS), kind=kind)
