"""Pins: the definition of a tool that a person has seen, so that a later change of it shows ("rug pull").

A pin holds the definition to the letter. People and models see it `cleaned`.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal

from mcp.types import Tool
from typing_extensions import TypedDict

PinnedField = Literal["name", "title", "description", "input_schema"]
FIELDS: Final[tuple[PinnedField, ...]] = ("name", "title", "description", "input_schema")

MAX_LABEL_CHARACTERS: Final = 128
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_VISIBLE_CONTROLS: Final = frozenset("\n\t")
_LINE_ENDS: Final = re.compile("\r\n?|[\u0085\u2028\u2029]")
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and a symbol that show nothing."""
_SELECTORS: Final = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
"""Variation selectors: a text of any length can be hidden in them."""


class PinnedTool(TypedDict):
    """The definition of a tool as a person has seen it; JSON."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a definition that changed; the texts are cleaned, a schema is JSON on several lines."""

    field: PinnedField
    before: str
    after: str


def pinned(tool: Tool) -> PinnedTool:
    """Return the pin of the tool."""
    title = tool.title or (tool.annotations.title if tool.annotations else None) or ""
    return PinnedTool(name=tool.name, title=title, description=tool.description or "", input_schema=tool.inputSchema)


def hash_of(tool: Tool) -> str:
    """Return the SHA-256 of the tool's name, title, description and schema, in hexadecimal."""
    return sha256(json.dumps(pinned(tool), sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def difference(old: PinnedTool, new: Tool) -> Sequence[FieldChange]:
    """Return the fields that changed since the definition was pinned, in a fixed order."""
    now = pinned(new)
    changed: list[PinnedField] = [name for name in FIELDS if old[name] != now[name]]
    return [FieldChange(name, _shown(old[name]), _shown(now[name])) for name in changed]


def cleaned(text: str) -> str:
    """Return a text without invisible characters: controls, bidirectional and tag characters, fillers, selectors."""
    return "".join(filter(_is_visible, _LINE_ENDS.sub("\n", text)))


def label(text: str) -> str:
    """Return a title as one line: nothing in it may look like a line of the text around it."""
    return " ".join(cleaned(text).split())[:MAX_LABEL_CHARACTERS]


def escaped(text: str) -> str:
    """Return a text of one line with each character that a reader can't see as its number, such as `\\u200b`."""
    return "".join(sign if cleaned(sign) == sign else f"\\u{ord(sign):04x}" for sign in text)


def cleaned_values(value: Any) -> Any:
    """Return JSON with all strings in it cleaned, also the names of fields."""
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, dict):
        return {cleaned_values(name): cleaned_values(field) for name, field in value.items()}
    if isinstance(value, list):
        return [cleaned_values(item) for item in value]
    return value


def _is_visible(character: str) -> bool:
    if character in _VISIBLE_CONTROLS:
        return True
    if unicodedata.category(character) in _INVISIBLE_CATEGORIES or character in _FILLERS:
        return False
    return not any(first <= ord(character) <= last for first, last in _SELECTORS)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return cleaned(value)
    return json.dumps(cleaned_values(value), ensure_ascii=False, indent=2, sort_keys=True)
