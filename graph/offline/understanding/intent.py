"""One request as data: an action of the offline model with its arguments."""

import re
from dataclasses import dataclass
from typing import Final

from graph.offline.understanding.grammar import named_in
from graph.offline.understanding.references import Ref

PREVIOUS: Final = -1
_ORDINALS: Final = (
    "one first 一 original 最初 最早 原来", "two second 二 两", "three third 三", "four fourth 四", "five fifth 五",
    "six sixth 六", "seven seventh 七", "eight eighth 八", "nine ninth 九", "ten tenth 十",
)  # fmt: skip
NUMBERS: Final = {word: number for number, words in enumerate(_ORDINALS, 1) for word in words.split()} | dict.fromkeys(
    ("last", "previous", "prior", "earlier", "上一", "上个", "之前", "前一", "以前"), PREVIOUS
)
EMAIL: Final = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
EDITING: Final = frozenset({"replace", "remove_text", "add", "list_versions", "restore_version"})
_CHANGING_WORDS: Final = (
    "create_folder create_file rename move copy share revoke set_role link end_link download"
    " delete empty_trash restore restore_version undo redo replace remove_text add"
)
CHANGING: Final = frozenset(_CHANGING_WORDS.split())
NAMING: Final = frozenset({"create_folder", "create_file", "add", "replace", "rename"})
"""Shapes that take the person's own words, which may sound like anything."""
VAGUE: Final = frozenset({"ask", "lookup", "cannot"})
"""Fallback actions, for want of a better one; a change that the message names is mentioned."""


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


def number_in(name: str, text: str) -> int:
    """Return the number that a pattern finds in a text, 0 if there is none."""
    found = named_in(name, text).lower()
    return int(found) if found.isdigit() else NUMBERS.get(found, 0)
