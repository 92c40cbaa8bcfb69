"""The automatic numbers of paragraphs (section 17.9), counted in their order: "Article 2.", "1.2.a", "一、"."""

import re
from dataclasses import dataclass
from typing import Any, Final

from drive_server.knowledge.readers.office.markup.numerals import numeral, zero_padded
from drive_server.knowledge.readers.office.markup.symbols import BOXES, symbols
from drive_server.knowledge.readers.office.word.names import W, is_on, number, value
from drive_server.knowledge.readers.office.word.styles import Styles

_LEVELS: Final = 9
_PLACEHOLDER = re.compile(r"%([1-9])")
_NO_LIST: Final = ("", "0")
_SEPARATORS: Final = {"nothing": ""}
_BOX_SIGNS: Final = BOXES | frozenset("□■◻◼")


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a list. `restart` is the level, from 1, after which it begins anew; None for any above it."""

    start: int
    form: str
    text: str
    separator: str
    is_legal: bool
    restart: int | None
    style: str
    width: int

    def numeral(self, count: int, *, legal: bool) -> str:
        """Return a count in the level's form, in plain digits for a level after the manner of laws."""
        if self.width:
            return zero_padded(self.width)(count)
        return numeral(count, "decimal" if legal and self.form not in ("none", "bullet", "decimalZero") else self.form)


@dataclass(slots=True)
class _List:
    """A list: the levels that it overrides, with its own first numbers, and the definition whose count it goes on."""

    definition: str
    levels: dict[int, _Level]
    starts: dict[int, int]
    begun: bool = False


class Numbering:
    """The lists of a document with their counters."""

    def __init__(self, root: Any = None, styles: Styles | None = None) -> None:
        self._styles = styles or Styles()
        self._links: dict[str, str] = {}
        self._definitions: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = {}
        if root is not None:
            self._load(root)

    def _load(self, root: Any) -> None:
        for element in root.iter(f"{W}abstractNum"):
            key = element.get(f"{W}abstractNumId", "")
            self._definitions[key] = _levels(element)
            if link := value(element.find(f"{W}numStyleLink")):
                self._links[key] = link
        for element in root.iter(f"{W}num"):
            overrides = list(element.iter(f"{W}lvlOverride"))
            starts = {
                _index(one): number(first) for one in overrides if (first := one.find(f"{W}startOverride")) is not None
            }
            levels = {index: level for one in overrides for index, level in _levels(one).items()}
            self._lists[element.get(f"{W}numId", "")] = _List(value(element.find(f"{W}abstractNumId")), levels, starts)

    def level_of(self, list_id: str, style: str, level: int) -> int:
        """Return the level that a list gives to a style: the one that names it, else the style's own."""
        found = (index for index, one in self._levels_of(self._lists.get(list_id)).items() if one.style == style)
        return next(found, level)

    def label(self, list_id: str, level: int) -> str:
        """Count a paragraph, and return its number with the blank after it; empty for none and for plain bullets."""
        numbered = self._lists.get(list_id)
        levels = self._levels_of(numbered)
        if list_id in _NO_LIST or numbered is None or level not in levels:
            return ""
        counts = self._count(numbered, levels, level)
        shown = levels[level]
        if shown.form == "bullet":
            return f"{shown.text} " if shown.text in _BOX_SIGNS else ""
        text = _PLACEHOLDER.sub(lambda match: _shown(levels, counts, int(match[1]) - 1, shown), shown.text)
        return f"{text}{shown.separator}" if text.strip() else ""

    def _count(self, numbered: _List, levels: dict[int, _Level], level: int) -> dict[int, int]:
        counts = self._counts.setdefault(self._definition(numbered), {})
        if not numbered.begun:
            numbered.begun = True
            for index in numbered.starts:
                counts.pop(index, None)
        start = numbered.starts.get(level, levels[level].start)
        counts[level] = counts[level] + 1 if level in counts else start
        for deeper in [index for index in counts if index > level]:
            restart = levels[deeper].restart if deeper in levels else None
            if restart is None or level < restart:
                del counts[deeper]
        return counts

    def _definition(self, numbered: _List) -> str:
        """Return the definition of a list, also one that a numbering style refers to (section 17.9.21)."""
        key = numbered.definition
        if link := self._links.get(key):
            linked = self._lists.get(self._styles.get(link).list_id)
            return linked.definition if linked else key
        return key

    def _levels_of(self, numbered: _List | None) -> dict[int, _Level]:
        if numbered is None:
            return {}
        return {**self._definitions.get(self._definition(numbered), {}), **numbered.levels}


def _shown(levels: dict[int, _Level], counts: dict[int, int], index: int, shown: _Level) -> str:
    level = levels.get(index)
    return level.numeral(counts.get(index, level.start), legal=shown.is_legal) if level else ""


def _levels(element: Any) -> dict[int, _Level]:
    return {_index(one): _level(one) for one in element.iter(f"{W}lvl") if _index(one) in range(_LEVELS)}


def _index(element: Any) -> int:
    index = element.get(f"{W}ilvl", "")
    return int(index) if index.isdecimal() else -1


def _level(element: Any) -> _Level:
    restart = element.find(f"{W}lvlRestart")
    form = next(element.iter(f"{W}numFmt"), None)
    text = value(element.find(f"{W}lvlText"))
    fonts = element.find(f"{W}rPr/{W}rFonts")
    font = "" if fonts is None else fonts.get(f"{W}ascii", fonts.get(f"{W}hAnsi", ""))
    return _Level(
        start=number(element.find(f"{W}start"), 1),
        form=value(form, "decimal"),
        text=symbols(font, text) if value(form) == "bullet" else text,
        separator=_SEPARATORS.get(value(element.find(f"{W}suff")), " "),
        is_legal=is_on(element.find(f"{W}isLgl")),
        restart=None if restart is None else number(restart),
        style=value(element.find(f"{W}pStyle")),
        width=_custom_width(form),
    )


def _custom_width(form: Any) -> int:
    """Return the digits of a form of its own such as "001, 002, 003, ..." (section 17.18.59); 0 for other forms."""
    if value(form) != "custom":
        return 0
    first = form.get(f"{W}format", "").partition(",")[0].strip()
    return len(first) if first.isdecimal() else 0
