"""Requests for many items at once: their names changed alike, or put into folders by date or type."""

import re
from typing import Final

from graph.offline.understanding.clauses import Message
from graph.offline.understanding.grammar import table, word
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.understanding.terms import has_han

_SHAPES: Final = table("batch")
_ALL_BUT: Final = re.compile(r"除了?[^，,]+外.*(?:都|全部?)")
BY: Final = (("year", "{year}"), ("month", "{year}/{month}"), ("type", "{type}"), ("date", "{year}/{month}"))


def batch_intent(message: Message) -> Intent | None:
    """Return what a message wants of many items: `names` holds the pattern of names or folders, or None."""
    text = message.text.strip(" .!。！")
    for action, shape in _SHAPES:
        match = shape.fullmatch(text)
        if match:
            slots = {key.rstrip("234"): message.restored(value) for key, value in match.groupdict().items() if value}
            target = read_ref(_named(_named(slots.pop("target"))))
            slots = {key: value.strip(" “”\"'") for key, value in slots.items()}
            edits = ((slots["find"], slots["new"]),) if "find" in slots else ()
            return Intent(action, text, target=target, names=_pattern(slots), edits=edits)
    return None


def _named(target: str) -> str:
    return word("in_batch").sub("", word("of_names").sub("", target.strip())).strip()


def _pattern(slots: dict[str, str]) -> tuple[str, ...]:
    if by := slots.get("by", ""):
        return (next(pattern for name, pattern in BY if name == "date" or word(f"by_{name}").search(by)),)
    prefix, suffix = slots.get("prefix", ""), slots.get("suffix", "")
    blank = " " if prefix[-1:].isalnum() and not has_han(prefix) else ""
    return (f"{prefix}{blank}{{name}}{suffix}",) if prefix or suffix else ()


def everything_but(target: Ref | None, kept: str, said: str) -> Ref | None:
    """Return the reference to several items without those that are kept; None if it is not to several."""
    form = target.form if target else ""
    if target is None or not (
        form == "all" or (form == "name" and (target.text.endswith("s") or _ALL_BUT.search(said)))
    ):
        return None
    return Ref("all", target.text, target.kind, target.inside, target.extension, kept=kept)
