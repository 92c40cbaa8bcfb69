"""The slots of a pattern that matched, read as what they hold: names, references, addresses, roles, numbers."""

import re
from typing import Any, Final

from graph.offline.understanding.intents import Role
from graph.offline.understanding.lexicon_en import NUMBERS
from graph.offline.understanding.lexicon_zh import DIGITS
from graph.offline.understanding.masking import EMAIL, FILE, QUOTE, Masked
from graph.offline.understanding.references import Ref, parse_reference
from graph.state import Language

PLAIN_FIELDS: Final = frozenset({"role", "topic", "position", "confidence"})
FILE_MARK: Final = re.compile(FILE)
EMAIL_MARK: Final = re.compile(EMAIL)

_EDITOR = re.compile(r"edit|writ|chang|modif|collab|contribut|work on|update|full|编辑|修改|改|写|协作", re.IGNORECASE)
_VIEWER = re.compile(r"comment|view|read|see|look|access|查看|看|读|访问|阅读|浏览", re.IGNORECASE)
_ONE_QUOTE = re.compile(f"\\s*({QUOTE[:-1]}{FILE[1:]})[\\s.,;。，；!！]*")
_INSIDE = re.compile(r"(?:里面|里头|里边|当中|之中|底下|下面|里|中|内|下)(?:去)?$")
_TRAILING = " \t,;，；、"


class Draft:
    """The slots of one match, read as what they hold."""

    def __init__(self, slots: dict[str, str], masked: Masked, language: Language, fields: dict[str, Any]) -> None:
        self.slots = slots
        self.masked = masked
        self.language: Language = language
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
            dict.fromkeys(self.masked.reveal(mark) for mark in EMAIL_MARK.findall(self.slots.get("emails", "")))
        )
        fields = {name: value for name, value in self.fields.items() if name in PLAIN_FIELDS}
        return {
            "target": self.reference("target", "target_after"),
            "destination": self.folder(),
            "query": self.text("query"),
            "anchor": self.text("anchor"),
            "emails": emails,
            **fields,
        }


def name_of(raw: str, masked: Masked) -> str:
    """Return a name without quotation and end marks."""
    only = _ONE_QUOTE.fullmatch(raw)
    return masked.reveal(only[1] if only else raw).strip(" \t\n.,;:!?，。；：！？、\"'“”")


def role_in(text: str) -> Role | None:
    """Return the role that a phrase speaks of, if it speaks of one."""
    if _EDITOR.search(text):
        return "editor"
    return "viewer" if _VIEWER.search(text) else None


def number(word: str) -> int:
    """Read a small number in digits or as a word; 0 if it is none."""
    word = word.strip().lower()
    return int(word) if word.isdecimal() else NUMBERS.get(word, 0) or DIGITS.get(word, 0)
