"""The automatic numbers of lists and headings, counted in their order (OpenDocument 1.3 part 3, section 16.31)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from drive_server.knowledge.readers.office.markup.numerals import numeral
from drive_server.knowledge.readers.office.markup.symbols import BOXES
from drive_server.knowledge.readers.office.odf.names import EXTENSION, ID, STYLE, TEXT

_FORMS: Final = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    "一": "chineseCounting",
    "壹": "chineseLegalSimplified",
    "①": "decimalEnclosedCircle",
    "01": "decimalZero",
    "甲": "ideographTraditional",
    "子": "ideographZodiac",
    "イ": "iroha",
    "ア": "aiueo",
    "1st": "ordinal",
}
_PLACEHOLDER = re.compile(r"%(\d+)%")


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    prefix: str
    suffix: str
    pattern: str
    shown_levels: int
    start: int
    bullet: str


@dataclass(slots=True)
class ListItem:
    """The place of a paragraph in lists: the counts by level, the level from 1, and whether it begins its item."""

    style: str
    counts: dict[int, int]
    level: int = 0
    begins: list[str] = field(default_factory=list[str])


class Lists:
    """The styles of lists, and the counts so far."""

    def __init__(self, *roots: Any) -> None:
        found = [one for root in roots if root is not None for one in root.iter(f"{TEXT}list-style")]
        self._styles = {one.get(f"{STYLE}name", ""): dict(_levels(one)) for one in found}
        outlines = [one for root in roots if root is not None for one in root.iter(f"{TEXT}outline-style")]
        self._outline = dict(_levels(outlines[0])) if outlines else {}
        self._unnumbered = {
            one.get(f"{STYLE}name")
            for root in roots
            if root is not None
            for one in root.iter(f"{STYLE}style")
            if one.get(f"{STYLE}list-style-name") == ""
        }
        self._outline_counts: dict[int, int] = {}
        self._last: dict[str, dict[int, int]] = {}
        self._by_id: dict[str, dict[int, int]] = {}

    def enter(self, element: Any, around: ListItem | None) -> ListItem:
        """Return the place within a `text:list`, which goes on counting if it says so."""
        style = element.get(f"{TEXT}style-name") or (around.style if around else "")
        goes_on = element.get(f"{TEXT}continue-numbering") == "true"
        if around:
            if not goes_on:
                around.counts.pop(around.level + 1, None)
            return ListItem(style, around.counts, around.level + 1)
        earlier = self._last.get(style) if goes_on else self._by_id.get(element.get(f"{TEXT}continue-list", ""))
        counts = {} if earlier is None else earlier
        self._last[style] = counts
        self._by_id[element.get(ID, "")] = counts
        return ListItem(style, counts, 1)

    def item(self, element: Any, within: ListItem) -> ListItem:
        """Count an item of a list, and return its place with the number that its first paragraph shows."""
        level = self._styles.get(within.style, {}).get(within.level)
        counts = within.counts
        start = element.get(f"{TEXT}start-value", "")
        first = level.start if level else 1
        counts[within.level] = int(start) if start.isdecimal() else counts.get(within.level, first - 1) + 1
        for deeper in [one for one in counts if one > within.level]:
            del counts[deeper]
        label = _label(self._styles.get(within.style, {}), counts, within.level)
        return ListItem(within.style, counts, within.level, [label])

    def heading(self, element: Any) -> str:
        """Count a heading that stands in no list, and return its number by the outline's style."""
        level = element.get(f"{TEXT}outline-level", "1")
        if not self._outline or not level.isdecimal() or element.get(f"{TEXT}is-list-header") == "true":
            return ""
        if element.get(f"{TEXT}style-name") in self._unnumbered:
            return ""
        at = int(level)
        shown = self._outline.get(at)
        counts = self._outline_counts
        counts[at] = counts.get(at, (shown.start if shown else 1) - 1) + 1
        for deeper in [one for one in counts if one > at]:
            del counts[deeper]
        return _label(self._outline, counts, at)


def _label(levels: dict[int, _Level], counts: dict[int, int], at: int) -> str:
    level = levels.get(at)
    if level is None:
        return ""
    if level.bullet:
        return f"{level.bullet} " if level.bullet in BOXES else ""
    if not level.form:
        return ""

    def shown(number: int) -> str:
        one = levels.get(number, level)
        return numeral(counts.get(number, one.start), one.form) if one.form else ""

    if level.pattern:
        text = _PLACEHOLDER.sub(lambda match: shown(int(match[1])), level.pattern)
    else:
        numbers = filter(None, map(shown, range(max(1, at - level.shown_levels + 1), at + 1)))
        text = f"{level.prefix}{'.'.join(numbers)}{level.suffix}"
    return f"{text.strip()} " if text.strip() else ""


def _levels(style: Any) -> Iterator[tuple[int, _Level]]:
    for element in style:
        level = element.get(f"{TEXT}level", "")
        if level.isdecimal():
            yield int(level), _level(element)


def _level(element: Any) -> _Level:
    sample = element.get(f"{STYLE}num-format", "")
    shown = element.get(f"{TEXT}display-levels", "1")
    start = element.get(f"{TEXT}start-value", "1")
    return _Level(
        form=_FORMS.get(sample.partition(",")[0].strip(), "decimal") if sample else "",
        prefix=element.get(f"{STYLE}num-prefix", ""),
        suffix=element.get(f"{STYLE}num-suffix", ""),
        pattern=element.get(f"{EXTENSION}num-list-format", ""),
        shown_levels=int(shown) if shown.isdecimal() else 1,
        start=int(start) if start.isdecimal() else 1,
        bullet=element.get(f"{TEXT}bullet-char", ""),
    )
