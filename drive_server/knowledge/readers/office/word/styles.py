"""The styles of a Word document: which are headings or lists, and which numbers they give (section 17.7)."""

from dataclasses import dataclass
from typing import Any

from drive_server.knowledge.readers.office.word.names import W, number, value

_MAX_ANCESTORS = 20
_TITLE_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Style:
    """The parts of a style that its paragraphs are read by.

    `level`: of the heading that it makes, 0 for none. `list_id`: the list that numbers its paragraphs, "" for none.
    `list_level`: its level in that list, from 0. `is_list`: whether it makes list items.
    """

    level: int = 0
    is_list: bool = False
    list_id: str = ""
    list_level: int = 0


PLAIN = Style()


class Styles:
    """The styles by their ids."""

    def __init__(self, root: Any = None) -> None:
        found = () if root is None else root.iter(f"{W}style")
        self._elements = {style.get(f"{W}styleId", ""): style for style in found}
        self._styles: dict[str, Style] = {}

    def get(self, key: str) -> Style:
        """Return a style with all that it takes from the styles it is based on."""
        if key not in self._styles:
            self._styles[key] = self._resolved(key)
        return self._styles[key]

    def _resolved(self, key: str) -> Style:
        level, is_list, list_id, list_level = 0, False, "", 0
        for _ in range(_MAX_ANCESTORS):
            style = self._elements.get(key)
            if style is None:
                break
            name = value(style.find(f"{W}name")).lower()
            level = level or _heading_level(style, name)
            is_list = is_list or name.startswith("list ")
            list_id = list_id or value(style.find(f"{W}pPr/{W}numPr/{W}numId"))
            list_level = list_level or number(style.find(f"{W}pPr/{W}numPr/{W}ilvl"))
            key = value(style.find(f"{W}basedOn"))
        return Style(level, (is_list or bool(list_id)) and not level, list_id, list_level)


def _heading_level(style: Any, name: str) -> int:
    if name == "title":
        return _TITLE_LEVEL
    level = name.removeprefix("heading ") if name.startswith("heading ") else ""
    return min(6, max(1, int(level))) if level.isdecimal() else outline_level(style)


def outline_level(element: Any) -> int:
    """Return the level of the outline that a style or paragraph sets, 1 to 6; 0 for none or for body text."""
    level = number(element.find(f"{W}pPr/{W}outlineLvl"), -1)
    return min(6, level + 1) if level in range(9) else 0
