"""The lines of a page out of pdfium's characters: turned upright, with the parts that wide gaps set apart.

A call for each character would take longer than all else, so gaps are looked for only in lines that are wider than
their letters need, and in all lines of a page if a few of them, looked at as samples, have any.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from pypdfium2 import raw

from drive_server.knowledge.readers.pages.paragraphs import Line

Direction = Literal["right", "up", "down", "left"]
Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points."""

WIDE_GAP: Final = 0.9
"""Of the type's height: a gap that no blank between two words has."""

_LINE: Final = re.compile("[^\r\n\ufffe]+\ufffe?")  # U+FFFE: a hyphen and the end of its line
_BLANKS: Final = re.compile(r" +")
_LEADERS: Final = re.compile(r"(?:[.·_…] ?){4,}")
_LETTER_WIDTH: Final = 0.52  # of the type's height: more than the letters of most lines take
_SAMPLES: Final = 5
_LONG_SAMPLE: Final = 12  # characters
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_UPRIGHT: Final = 0.1  # radians

_TURNS: Final[dict[Direction, Callable[[Box, float, float], Box]]] = {
    "right": lambda box, width, height: box,  # noqa: ARG005 - all have the same parameters
    "up": lambda box, width, height: (box[1], width - box[2], box[3], width - box[0]),  # noqa: ARG005
    "down": lambda box, width, height: (height - box[3], box[0], height - box[1], box[2]),  # noqa: ARG005
    "left": lambda box, width, height: (width - box[2], height - box[3], width - box[0], height - box[1]),
}


@dataclass(frozen=True, slots=True)
class PageText:
    """The lines of a page as they are drawn, in coordinates in which most of them are upright.

    `height`: of the page in these coordinates; `turn`: takes boxes of the page there.
    """

    lines: tuple[Line, ...]
    height: float
    turn: Callable[[Box], Box]


class Characters:
    """The characters of a page, by their offsets in its text."""

    def __init__(self, textpage: Any) -> None:
        self._page = textpage.raw
        self.text: str = textpage.get_text_range()
        self._has_same_offsets = textpage.count_chars() == len(self.text)
        self._rectangle = raw.FS_RECTF()
        self._reference = ctypes.byref(self._rectangle)
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._origin = ctypes.byref(self._x), ctypes.byref(self._y)

    def box(self, offset: int) -> Box:
        """Return the box of a character, its line's height included; zeros if it has none."""
        index = self._index(offset)
        if index < 0 or not raw.FPDFText_GetLooseCharBox(self._page, index, self._reference):
            return 0.0, 0.0, 0.0, 0.0
        found = self._rectangle
        return found.left, found.bottom, found.right, found.top

    def origin(self, offset: int) -> tuple[float, float]:
        """Return the point on the baseline at which a character begins; zeros if it has none."""
        index = self._index(offset)
        if index < 0 or not raw.FPDFText_GetCharOrigin(self._page, index, *self._origin):
            return 0.0, 0.0
        return self._x.value, self._y.value

    def is_upright(self, offset: int) -> bool:
        """Return whether a character is not turned, as in vertical writing."""
        return abs(raw.FPDFText_GetCharAngle(self._page, self._index(offset))) < _UPRIGHT

    def _index(self, offset: int) -> int:
        return offset if self._has_same_offsets else raw.FPDFText_GetCharIndexFromTextIndex(self._page, offset)


@dataclass(frozen=True, slots=True)
class _Span:
    """A line's words with the offset and the box of their first and last characters, as drawn."""

    words: str
    start: int
    first: Box
    last: Box
    baseline: tuple[float, float]
    direction: Direction
    height: float

    @property
    def end(self) -> int:
        return self.start + len(self.words)


def read_lines(textpage: Any, width: float, height: float, *, gaps_everywhere: bool = False) -> PageText:
    """Return the lines of a page of this size, in points. `gaps_everywhere`: look for gaps in every line."""
    characters = Characters(textpage)
    spans = list(_spans(characters))
    direction = _main_direction(spans)
    turn = _TURNS[direction]
    frame = _Frame(characters, direction, lambda box: turn(box, width, height))
    lines = [frame.line(span) for span in spans]
    is_gapped = gaps_everywhere or frame.samples_have_gaps(spans)
    lines = [frame.with_pieces(span, line, is_gapped) for span, line in zip(spans, lines, strict=True)]
    return PageText(tuple(lines), width if direction in ("up", "down") else height, frame.turn)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The coordinates in which the main direction of a page runs to the right."""

    characters: Characters
    direction: Direction
    turn: Callable[[Box], Box]

    def box(self, offset: int) -> Box:
        """Return the box of a character."""
        box = self.characters.box(offset)
        return box if self.direction == "right" else self.turn(box)

    def line(self, span: _Span) -> Line:
        """Return the line of a span."""
        (left, bottom, right, _), (left_2, bottom_2, right_2, _) = self.turn(span.first), self.turn(span.last)
        if span.direction != self.direction:
            return Line(span.words, min(left, left_2), max(right, right_2), min(bottom, bottom_2), span.height, "aside")
        x, y = span.baseline
        _, baseline, _, _ = self.turn((x, y, x, y))
        return Line(span.words, min(left, left_2), max(right, right_2), baseline, span.height)

    def samples_have_gaps(self, spans: list[_Span]) -> bool:
        """Return whether some lines, spread over the page, have a wide gap."""
        long = [span for span in spans if len(span.words) > _LONG_SAMPLE and span.direction == self.direction]
        return any(self._gaps(span) for span in long[:: len(long) // _SAMPLES + 1])

    def with_pieces(self, span: _Span, line: Line, is_gapped: bool) -> Line:
        """Return the line with its parts, if it is one whose gaps are looked for and has any."""
        is_sparse = line.right - line.left > _LETTER_WIDTH * line.height * len(line.text)
        if line.kind == "aside" or not (is_gapped or is_sparse):
            return line
        gaps = self._gaps(span)
        return (
            Line(
                line.text,
                line.left,
                line.right,
                line.baseline,
                line.height,
                "text",
                tuple(self._pieces(span, line, gaps)),
            )
            if gaps
            else line
        )

    def _gaps(self, span: _Span) -> list[tuple[int, int, float, float]]:
        """Return the beginning and end of each wide gap, as offsets and as places; none in a line with leaders."""
        found: list[tuple[int, int, float, float]] = []
        least = WIDE_GAP * span.height
        for blank in _BLANKS.finditer(span.words):
            start, end = blank.span()
            before_left, _, before_right, _ = self.box(span.start + start - 1)
            after_left, _, after_right, _ = self.box(span.start + end)
            if after_left - before_right >= least or before_left - after_right >= least:
                found.append((start, end, before_right, after_left))
        return [] if found and _LEADERS.search(span.words) else found

    def _pieces(self, span: _Span, line: Line, gaps: list[tuple[int, int, float, float]]) -> Iterator[Line]:
        begin, left = 0, line.left
        is_reversed = gaps[0][3] < gaps[0][2]
        for start, end, right, next_left in (*gaps, (len(span.words), 0, line.right, 0.0)):
            edges = (left, right) if not is_reversed else (line.left, line.right)
            yield Line(span.words[begin:start], *edges, line.baseline, line.height)
            begin, left = end, next_left


def _spans(characters: Characters) -> Iterator[_Span]:
    for match in _LINE.finditer(characters.text):
        words = match[0].strip()
        if words:
            yield _span(characters, words, match.start() + match[0].index(words[0]))


def _span(characters: Characters, words: str, start: int) -> _Span:
    end = start + len(words) - 1
    first, middle, last = (characters.box(offset) for offset in (start, (start + end) // 2, end))
    direction = _direction(characters, words, start, first, last)
    across = (0, 2) if direction in ("up", "down") else (1, 3)
    height = max(box[across[1]] - box[across[0]] for box in (first, middle, last))
    return _Span(words, start, first, last, characters.origin(start), direction, height)


def _direction(characters: Characters, words: str, start: int, first: Box, last: Box) -> Direction:
    """Return the direction in which a line runs; vertical writing and text turned clockwise run down."""
    across, along = last[0] + last[2] - first[0] - first[2], last[1] + last[3] - first[1] - first[3]
    if abs(along) > abs(across) and len(words) > 1:
        return "up" if along > 0 else "down"
    if across < 0 and not _RIGHT_TO_LEFT.search(words) and not characters.is_upright(start):
        return "left"
    return "right"


def _main_direction(spans: list[_Span]) -> Direction:
    counts: Counter[Direction] = Counter()
    for span in spans:
        counts[span.direction] += len(span.words)
    return counts.most_common(1)[0][0] if counts else "right"


def runs_to_the_left(text: str) -> bool:
    """Return whether a text has letters of a script that is written from right to left."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None
