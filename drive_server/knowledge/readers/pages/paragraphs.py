"""Paragraphs and headings out of the lines of a laid-out page. Pure; units are points, y grows upwards."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from drive_server.kernel.text.characters import is_cjk
from drive_server.knowledge.text.elements import Part

_SOFT_HYPHENS = "\x02\ufffe\u00ad"
_SENTENCE_ENDS = frozenset(".!?:;。！？：；…")
_CLOSING = "\"'”’」』）)]"
BULLETS: Final = ("•", "·", "●", "◦", "▪", "‣", "\uf0a7", "\uf0b7", "\uf0d8", "\uf0fc")
"""The last ones are those of the fonts Symbol and Wingdings."""
_LIST_ITEM = re.compile(
    rf"(?:[{''.join(BULLETS)}–*-]|[(（]?(?:\d{{1,3}}|[a-z]|[一二三四五六七八九十]{{1,3}})[.)）、])\s*\S"
)
_DIVIDED = re.compile(rf"([^\W\d_]+)[{_SOFT_HYPHENS}-]$")
_RANGE = re.compile(r"\d[-–]$")
_HYPHENS = f"{_SOFT_HYPHENS}-"
_MAX_WORD = 50
_WORD = re.compile(r"\w+")
_PUNCTUATION = ".,;:!?()[]\"'“”‘’"
_CONJUNCTIONS = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e"})
_HEADING_RATIO = 1.12
_MAX_HEADING = 200
_SAME_SIZE = 1.15
_OTHER_FONT = 1.4  # code within prose, at the pitch of the prose
SAME_ROW: Final = 0.3
"""Of the type's height: baselines of one row are no further apart."""
_ELSEWHERE = 8  # lines further down: the next page, or the foot of a column
_PARAGRAPH_PITCH = 1.3
_WIDE_PITCH = 1.8  # of the type's height: the distance of paragraphs, or of lines that fill the page
_INDENT = 0.7
_SHORT = 0.85
_LONG = 0.6
_BLOCK_LINES = 3


class Line(NamedTuple):
    """A line of text: where it begins and ends, its baseline, and the height of its type.

    `kind`: "row" stands by itself, "contents" ends with the number of a page, "table" is a whole table, a row a line,
    and "aside" is turned against the page.
    `pieces`: the parts of the line, if there are wide gaps between them.
    """

    text: str
    left: float
    right: float
    baseline: float
    height: float
    kind: Literal["text", "row", "contents", "table", "aside"] = "text"
    pieces: Sequence["Line"] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page in reading order. `is_scanned`: an image with next to no text; `height`: in points."""

    number: int
    lines: tuple[Line, ...]
    is_scanned: bool = False
    height: float = 0.0


@dataclass(slots=True)
class _Paragraph:
    lines: list[Line]
    page: int


def page_parts(pages: Sequence[Page]) -> Iterator[Part]:
    """Yield headings, paragraphs, list items and tables."""
    body = common_height(pages)
    levels = _heading_levels(pages, body)
    words = _Words(pages)
    for paragraph in _paragraphs(pages, body):
        yield _part(paragraph, body, levels, words)


def ends_sentence(text: str) -> bool:
    """Return whether a line ends with the end of a sentence, or of a clause before a list."""
    return text.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS


class _Words:
    """The words of a document, for those that are divided at the end of a line; collected when one is."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = pages
        self._words: Set[str] | None = None

    def __contains__(self, word: str) -> bool:
        if self._words is None:
            text = " ".join([line.text for page in self._pages for line in page.lines])
            self._words = {word.strip(_PUNCTUATION) for word in set(text.lower().split())}
        return word.lower() in self._words


def common_height(pages: Iterable[Page]) -> float:
    """Return the type size in which most characters are set, 0 for no text."""
    heights: defaultdict[float, int] = defaultdict(int)
    for page in pages:
        for text, _, _, _, height, _, _ in page.lines:
            heights[height] += len(text)
    sizes: Counter[float] = Counter()
    for height, characters in heights.items():
        sizes[round(height, 1)] += characters
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _heading_levels(pages: Iterable[Page], body: float) -> dict[int, int]:
    """Return the level, 1 to 6, of each type size that is larger than the body's."""
    least = body * _HEADING_RATIO
    heights = {line.height for page in pages for line in page.lines}
    sizes = {round(height) for height in heights if height > least}
    return {size: min(6, rank) for rank, size in enumerate(sorted(sizes, reverse=True), start=1)}


def _paragraphs(pages: Iterable[Page], body: float) -> Iterator[_Paragraph]:
    current: _Paragraph | None = None
    full = 0.0
    for page in pages:
        pitches = _common_pitches(page)
        width = max((line.right for line in page.lines), default=0.0)
        for number, line in enumerate(page.lines):
            usual = pitches[round(line.height)] if number else 0.0
            last = current.lines[-1] if current else None
            is_new = last is not None and (
                _begins(last, line, usual, width) if number else _begins_after_page(last, line, full)
            )
            if current and last and not _ends_heading(last, line, body) and not is_new:
                current.lines.append(line)
                continue
            if current:
                yield current
            current = _Paragraph([line], page.number)
        full = _full_width(page, width)
    if current:
        yield current


def _common_pitches(page: Page) -> dict[int, float]:
    """Return, for each size of type, the usual distance between the baselines of lines that follow each other."""
    steps: dict[int, dict[int, int]] = {round(height): {} for height in {line.height for line in page.lines}}
    for above, below in pairwise(page.lines):
        _, _, _, baseline, height, _, _ = below
        step = round(above.baseline - baseline)
        if step > SAME_ROW * height and _size_ratio(above, below) <= _SAME_SIZE:
            counts = steps[round(height)]
            counts[step] = counts.get(step, 0) + 1
    return {
        size: max(size, max((count, step) for step, count in counts.items())[1]) if counts else size
        for size, counts in steps.items()
    }


def _begins(previous: Line, line: Line, usual: float, width: float) -> bool:
    """Return whether a line begins a paragraph, rather than going on with that of the line before it."""
    if previous.kind != "text" or line.kind != "text":
        return not (previous.kind == "text" and line.kind == "contents" and _goes_on_in(previous, line))
    step = previous.baseline - line.baseline
    if usual and abs(step) < SAME_ROW * line.height:
        return False
    ended = ends_sentence(previous.text)
    if not usual or step < 0 or step > _ELSEWHERE * usual:
        return ended or _LIST_ITEM.match(line.text) is not None or _size_ratio(previous, line) > _SAME_SIZE
    if step > _PARAGRAPH_PITCH * usual or _size_ratio(previous, line) > (_SAME_SIZE if step > usual else _OTHER_FONT):
        return True
    short = previous.right < _SHORT * width
    if short and step > _WIDE_PITCH * line.height:
        return True
    indented = line.left > previous.left + _INDENT * line.height
    if ended and (short or indented):
        return True
    return (ended or short) and _LIST_ITEM.match(line.text) is not None


def _goes_on_in(title: Line, line: Line) -> bool:
    """Return whether a title in a table of contents goes on in the line with the number of its page."""
    if ends_sentence(title.text) or _LIST_ITEM.match(line.text):
        return False
    is_below = 0 < title.baseline - line.baseline < _WIDE_PITCH * line.height
    return is_below and title.right - title.left > _LONG * (line.right - line.left)


def _full_width(page: Page, width: float) -> float:
    """Return where a line ends that fills the page's width; infinite, if too few do so to be a block of text."""
    full = _SHORT * width
    return full if sum(line.right >= full for line in page.lines) >= _BLOCK_LINES else math.inf


def _begins_after_page(previous: Line, line: Line, full: float) -> bool:
    """Return whether the first line of a page begins a paragraph: after a short line only small letters go on."""
    return _begins(previous, line, 0.0, 0.0) or (previous.right < full and not line.text[:1].islower())


def _ends_heading(previous: Line, line: Line, body: float) -> bool:
    """Return whether a line in larger type than the body's stands above one in smaller type, however close."""
    return previous.height > max(body * _HEADING_RATIO, line.height * _SAME_SIZE)


def _size_ratio(one: Line, other: Line) -> float:
    height, larger = one.height, other.height
    if larger < height:
        height, larger = larger, height
    return larger / (height if height > 1.0 else 1.0)


def _part(paragraph: _Paragraph, body: float, levels: dict[int, int], words: _Words) -> Part:
    if paragraph.lines[0].kind == "table":
        return Part("table", paragraph.lines[0].text, paragraph.page)
    text = _joined(paragraph.lines, words)
    height = paragraph.lines[0].height
    if height > body * _HEADING_RATIO and len(text) <= _MAX_HEADING and any(map(str.isalpha, text)):
        return Part("title", text, paragraph.page, levels.get(round(height), len(levels)))
    return Part("list_item" if _LIST_ITEM.match(text) else "text", text, paragraph.page)


def _joined(lines: Sequence[Line], words: _Words) -> str:
    text = ""
    for line in lines:
        text = _append(text, line.text, words)
    return text[:-1] + "-" if text[-1:] in tuple(_SOFT_HYPHENS) else text


def _append(text: str, line: str, words: _Words) -> str:
    """Join two lines of a paragraph: without a space in Chinese, without the hyphen of a divided word."""
    if not text:
        return line
    divided = _DIVIDED.search(text[-_MAX_WORD:]) if text[-1] in _HYPHENS else None
    if divided and line[:1].isalnum():
        return text[:-1] + _hyphen(divided[1], line, is_soft=text[-1] in _SOFT_HYPHENS, words=words) + line
    if text[-1] in _SOFT_HYPHENS:
        return f"{text[:-1]}-{line}"
    if is_cjk(text[-1]) and is_cjk(line[0]):
        return text + line
    if _RANGE.search(text[-_MAX_WORD:]) and line[0].isdecimal():
        return text + line
    return text + line if _is_wide(text[-1]) or _is_wide(line[0]) else f"{text} {line}"


def _hyphen(first: str, line: str, *, is_soft: bool, words: _Words) -> str:
    """Return the characters between the parts of a word: none if a hyphen was set only because a line ends there."""
    match = _WORD.match(line)
    second = match[0] if match else ""
    if second.lower() in _CONJUNCTIONS:  # "pre- and postwar"
        return "- "
    if not second[:1].islower() and not (first.isupper() and second.isupper()):
        return "-" if is_soft or second[:1].isalnum() else "- "
    is_real = f"{first}{second}" not in words and f"{first}-{second}" in words
    return "-" if is_real else ""


def _is_wide(character: str) -> bool:
    return "\u3000" <= character <= "\u303f" or "\uff01" <= character <= "\uff60"
