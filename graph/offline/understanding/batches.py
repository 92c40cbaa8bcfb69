"""Requests for many items at once: their names changed alike, or put into folders by date or type."""

import re
from typing import Final

from graph.offline.understanding.clauses import Message
from graph.offline.understanding.grammar import table
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.understanding.terms import has_han

_SHAPES: Final = table("batch")
_OF_NAMES: Final = re.compile(
    r"(?i)^(?:(?:the |all )*(?:file ?)?names? (?:of|in) |(?:all|each|every|of|the|files?|items?) )+"
    r"|\s*(?:file ?)?names?$"
    r"|(?:的|里的?|中的?)*(?:所有|全部|每个)*(?:的)?(?:文件)?(?:名字?|名称)?的?$"
)
_INSIDE: Final = re.compile(
    r"(?i)^(?:in|inside|from|under) |(?:里面?|中|下)的?(?:所有|全部)?(?:文件|照片|图片)?$|^(?:把|将|给|在)"
)
_ALL_BUT: Final = re.compile(r"除了?[^，,]+外.*(?:都|全部?)")
BY: Final = {"year": "{year}", "month": "{year}/{month}", "type": "{type}", "date": "{year}/{month}"}


def batch_intent(message: Message) -> Intent | None:
    """Return what a message wants of many items: `names` holds the pattern of names or folders, or None."""
    text = message.text.strip(" .!。！")
    for action, shape in _SHAPES:
        match = shape.fullmatch(text)
        found = match.groupdict() if match else {}
        if found:
            slots = {key.rstrip("234"): message.restored(value) for key, value in found.items() if value}
            target = read_ref(_phrase(slots["target"]))
            slots = {key: value.strip(" “”\"'") for key, value in slots.items()}
            return Intent(action, text, target=target, names=_names(slots), edits=_edits(slots))
    return None


def _phrase(target: str) -> str:
    for _ in range(2):
        target = _INSIDE.sub("", _OF_NAMES.sub("", target.strip())).strip()
    return target


def _names(slots: dict[str, str]) -> tuple[str, ...]:
    by = slots.get("by", "")
    if by:
        kinds = (("year", "year|年"), ("month", "month|月"), ("type", "type|kind|format|类型|格式|种类"))
        return (BY[next((name for name, words in kinds if re.search(words, by)), "date")],)
    prefix, suffix = slots.get("prefix", ""), slots.get("suffix", "")
    blank = " " if prefix[-1:].isalnum() and not has_han(prefix) else ""
    return (f"{prefix}{blank}{{name}}{suffix}",) if prefix or suffix else ()


def _edits(slots: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return ((slots["find"], slots["new"]),) if "find" in slots and "new" in slots else ()


def everything_but(target: Ref | None, kept: str, said: str) -> Ref | None:
    """Return the reference to several items without those that are kept; None if it is not to several."""
    named = (
        target is not None
        and target.form == "name"
        and (target.text.endswith("s") or _ALL_BUT.search(said) is not None)
    )
    if target is None or not (target.form == "all" or named):
        return None
    return Ref("all", target.text, target.kind, target.inside, target.extension, kept=kept)
