"""Wishes to change the text of a document: what is to be replaced by what, what is to be added where."""

import re
from dataclasses import replace

from graph.offline.understanding.intents import Intent
from graph.offline.understanding.masking import QUOTE
from graph.offline.understanding.references import CURRENT_FILE, parse_reference
from graph.offline.understanding.slots import FILE_MARK, Draft, name_of

_EVERY = re.compile(
    r"^(?:(?:every|each|all|all of the|any|every single|all the|the)\s+)*(?:(?:typo|misspelling|misspelt word|"
    r"mistake|occurrences?|instances?|mentions?|appearances?|places?|words?|phrase|text|term|number|date|name|"
    r"string|sentence)s?\s+(?:of\s+|that says?\s+|saying\s+)?)?(?:the (?:word|phrase|text) )?(?=\S)",
    re.IGNORECASE,
)
_EVERY_ZH = re.compile(r"^(?:错别字|错字|笔误|文字|词语|所有的?|全部的?|每个|每一个|每一处的?|出现的)+")
_EVERYWHERE = re.compile(
    r"[\s,]*(?:\beverywhere|\bthroughout|\bthroughout the (?:text|document|file)|\ball over|\bglobally|\ball over "
    r"(?:the|this) (?:text|document|file)|\bin all places|\bat once|\bwherever it (?:appears|occurs))$",
    re.IGNORECASE,
)
_AND_ANOTHER = re.compile(r"^(?P<first>.+?),? and (?P<find>.+?) (?:with|by|to|into) (?P<replace>.+)$", re.IGNORECASE)
_CALLED_TEXT = re.compile(
    rf"^(?:(?:a|an|the|this|another|new|following|final|last|short)\s+)*(?:sentence|line|paragraph|text|words?|"
    rf"note|remark|bullet|item|entry|comment|phrase|heading|title|section)s?(?:\s+(?:saying|that says|reading|that "
    rf"reads|with the text|containing)|\s*:|(?=\s*{QUOTE}))\s*|^(?:一|1|这)?(?:句话|句|行字|行|段话|段|"
    rf"段文字)[:]?(?={QUOTE})",
    re.IGNORECASE,
)


def read_replacement(intent: Intent, draft: Draft) -> Intent | None:
    """Return the intent with its edits; two file names are a renaming."""
    if intent.target and intent.target.text in {"所有", "全部", "每个", "一切"}:
        intent = replace(intent, target=CURRENT_FILE)
    if _is_no_document(intent, draft):
        return None
    find = _EVERY_ZH.sub("", _EVERY.sub("", draft.slots.get("find", "").strip()))
    replacement = _EVERYWHERE.sub("", draft.slots.get("replace", ""))
    if not find:
        return None
    if "replace" not in draft.fields and FILE_MARK.search(find) and FILE_MARK.search(replacement):
        old = parse_reference(find, draft.masked, draft.language)
        return replace(intent, kind="rename", target=old, names=(name_of(replacement, draft.masked),))
    inner = Draft({"find": find, "replace": replacement}, draft.masked, draft.language, {})
    return replace(intent, edits=_edit_list(inner.text("find"), draft.fields.get("replace", inner.text("replace"))))


def _is_no_document(intent: Intent, draft: Draft) -> bool:
    """To remove something from a folder is no edit of a text."""
    target = intent.target
    if target is None or "replace" not in draft.fields:
        return False
    named = FILE_MARK.search(draft.slots.get("target", "")) is not None
    if target.form == "current file":
        return False
    return target.kind == "folder" or (target.form in {"name", "path"} and not named and target.kind != "file")


def _edit_list(find: str, replacement: str) -> tuple[tuple[str, str], ...]:
    another = _AND_ANOTHER.match(replacement)
    if another:
        return ((find, another["first"]), *_edit_list(another["find"], another["replace"]))
    return ((find, replacement),)


_NEW_FILE = re.compile(r"(?:an?|another|a new|new|the new|some)\s", re.IGNORECASE)


def read_insertion(intent: Intent, draft: Draft) -> Intent | None:
    """Return the intent with the text to be added; None without any."""
    if _NEW_FILE.match(draft.slots.get("target", "")):
        return None
    inner = _CALLED_TEXT.sub("", draft.slots.get("content", ""))
    content = Draft({"content": inner}, draft.masked, draft.language, {}).text("content").lstrip(":：").strip()
    return replace(intent, content=content) if content and not content.startswith("@") else None
