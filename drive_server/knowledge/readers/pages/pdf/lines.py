"""The lines of a page out of pdfium's characters: turned upright, with the parts that wide gaps set apart.

A call for each character would take longer than all else, so gaps are looked for only in lines that are wider than
their letters need, and in all lines of a page if a few of them, looked at as samples, have any. The boxes of many
characters are asked for at once, so that no Python runs between the calls.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from pypdfium2 import raw

from drive_server.knowledge.readers.pages.paragraphs import Line
from drive_server.knowledge.readers.pages.pdf.calls import (
    Box,
    character_boxes,
    character_ends,
    handle,
    indices_of,
    origins,
)

Direction = Literal["right", "up", "down", "left"]
WIDE_GAP: Final = 0.9
"""Of the type's height: a gap that no blank between two words has."""

_LINE: Final = re.compile("[^\r\n\ufffe]+\ufffe?")  # U+FFFE: a hyphen and the end of its line
_BLANKS: Final = re.compile(r" +")
_LEADERS: Final = re.compile("[.·_…] ?[.·_…] ?[.·_…] ?[.·_…]")
_LETTER_WIDTH: Final = 0.52  # of the type's height: more than the letters of most lines take
_SAMPLES: Final = 5
_LONG_SAMPLE: Final = 12  # characters
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_UPRIGHT: Final = 0.1  # radians
_VERTICAL: Final = ("up", "down")

_TURNS: Final[dict[Direction, Callable[[Box, float, float], Box]]] = {
    "right": lambda box, width, height: box,  # noqa: ARG005 - all have the same parameters
    "up": lambda box, width, height: (box[1], width - box[2], box[3], width - box[0]),  # noqa: ARG005
    "down": lambda box, width, height: (height - box[3], box[0], height - box[1], box[2]),  # noqa: ARG005
    "left": lambda box, width, height: (width - box[2], height - box[3], width - box[0], height - box[1]),
}


@dataclass(frozen=True, slots=True)
class PageText:
    """The lines of a page as they are drawn, in coordinates in which most of them are upright.

    `height`: of the page in these coordinates; `turn`: takes boxes of the page there, as they are if not `is_turned`.
    """

    lines: tuple[Line, ...]
    height: float
    turn: Callable[[Box], Box]
    is_turned: bool


class Characters:
    """The characters of a page, by their offsets in its text."""

    def __init__(self, textpage: Any) -> None:
        self._page = textpage.raw
        self._handle = handle(textpage.raw)
        self.text: str = textpage.get_text_range()
        self._has_same_offsets = textpage.count_chars() == len(self.text)

    def ends(self, offsets: Sequence[int]) -> Iterator[tuple[float, float]]:
        """Return where characters begin and end from left to right; zeros for those that have no box."""
        return character_ends(self._handle, self._indices(offsets))

    def boxes(self, offsets: Sequence[int]) -> Iterator[Box]:
        """Yield the boxes of characters, their lines' heights included; zeros for those that have none."""
        return character_boxes(self._handle, self._indices(offsets))

    def origins(self, offsets: Sequence[int]) -> Iterator[tuple[float, float]]:
        """Yield the points on the baseline at which characters begin; zeros for those that have none."""
        return origins(self._handle, self._indices(offsets))

    def is_upright(self, offset: int) -> bool:
        """Return whether a character is not turned, as in vertical writing."""
        (index,) = self._indices([offset])
        return abs(raw.FPDFText_GetCharAngle(self._page, index)) < _UPRIGHT

    def _indices(self, offsets: Sequence[int]) -> Sequence[int]:
        return offsets if self._has_same_offsets else indices_of(self._handle, offsets)


_Gap = tuple[int, int, float, float]
"""A wide gap within a line: its beginning and its end, as offsets in the words and as places."""


class _Span(NamedTuple):
    """A line's words with the offset and the box of their first and last characters, as drawn."""

    words: str
    start: int
    first: Box
    last: Box
    baseline: tuple[float, float]
    direction: Direction
    height: float


def read_lines(textpage: Any, width: float, height: float, *, gaps_everywhere: bool = False) -> PageText:
    """Return the lines of a page of this size, in points. `gaps_everywhere`: look for gaps in every line."""
    characters = Characters(textpage)
    spans = list(_spans(characters))
    direction = _main_direction(spans)
    turn = _TURNS[direction]
    frame = _Frame(characters, direction, lambda box: turn(box, width, height))
    lines = [frame.line(span) for span in spans]
    is_gapped = gaps_everywhere or frame.samples_have_gaps(spans)
    lines = frame.with_pieces(spans, lines, is_gapped)
    return PageText(tuple(lines), width if direction in _VERTICAL else height, frame.turn, direction != "right")


@dataclass(frozen=True, slots=True)
class _Frame:
    """The coordinates in which the main direction of a page runs to the right."""

    characters: Characters
    direction: Direction
    turn: Callable[[Box], Box]

    def line(self, span: _Span) -> Line:
        """Return the line of a span."""
        words, _, first, last, (x, y), direction, height = span
        if self.direction != "right":
            first, last, (_, y, _, _) = self.turn(first), self.turn(last), self.turn((x, y, x, y))
        left, right = first[0], last[2]
        if left > last[0] or right < first[2]:
            left, right = min(left, last[0]), max(right, first[2])
        if direction != self.direction:
            return Line(words, left, right, min(first[1], last[1]), height, "aside")
        return Line(words, left, right, y, height)

    def samples_have_gaps(self, spans: Sequence[_Span]) -> bool:
        """Return whether some lines, spread over the page, have a wide gap."""
        long = [span for span in spans if len(span.words) > _LONG_SAMPLE and span.direction == self.direction]
        return any(self._gaps(long[:: len(long) // _SAMPLES + 1]))

    def with_pieces(self, spans: Sequence[_Span], lines: Sequence[Line], is_gapped: bool) -> list[Line]:
        """Return the lines, with their parts those that have wide gaps, if these are looked for."""
        result = list(lines)
        may_have_gaps = _is_upright if is_gapped else _is_wide
        numbers = [number for number, line in enumerate(lines) if may_have_gaps(line)]
        for number, gaps in zip(numbers, self._gaps([spans[number] for number in numbers]), strict=True):
            if gaps:
                line = lines[number]
                result[number] = Line(*line[:-1], _pieces(line, gaps))
        return result

    def _gaps(self, spans: Sequence[_Span]) -> list[list[_Gap]]:
        """Return the wide gaps of each line; none of one with leaders."""
        text = self.characters.text
        blanks = [
            [blank.span() for blank in _BLANKS.finditer(text, span.start, span.start + len(span.words))]
            for span in spans
        ]
        edges = self._edges(blanks)
        return [_wide(span, of_line, edges) for span, of_line in zip(spans, blanks, strict=True)]

    def _edges(self, blanks: Sequence[Sequence[tuple[int, int]]]) -> Iterator[tuple[float, float]]:
        """Return where the characters before and after each blank begin and end."""
        offsets = [offset for line in blanks for begin, end in line for offset in (begin - 1, end)]
        if self.direction == "right":
            return self.characters.ends(offsets)
        return ((left, right) for left, _, right, _ in map(self.turn, self.characters.boxes(offsets)))


def _is_upright(line: Line) -> bool:
    return line.kind != "aside"


def _is_wide(line: Line) -> bool:
    """Return whether a line is wider than its letters need."""
    return line.kind != "aside" and line.right - line.left > _LETTER_WIDTH * line.height * len(line.text)


def _wide(span: _Span, blanks: Iterable[tuple[int, int]], edges: Iterator[tuple[float, float]]) -> list[_Gap]:
    """Return those of a line's blanks that are wide; takes the ends of the characters beside each from `edges`."""
    found: list[_Gap] = []
    line_start, least = span.start, WIDE_GAP * span.height
    beside = zip(blanks, edges, edges)  # noqa: B905 - edges go on with the next line
    for (start, end), (before, left), (right, after) in beside:
        if right - left >= least or before - after >= least:
            found.append((start - line_start, end - line_start, left, right))
    return [] if found and _LEADERS.search(span.words) else found


def _pieces(line: Line, gaps: Sequence[_Gap]) -> tuple[Line, ...]:
    text, left, line_right, baseline, height, _, _ = line
    if gaps[0][3] < gaps[0][2]:  # written from right to left
        gaps = [(start, end, line_right, left) for start, end, _, _ in gaps]
    pieces: list[Line] = []
    begin = 0
    for start, end, right, next_left in (*gaps, (len(text), len(text), line_right, 0.0)):
        # In mirrored text a piece ends left of where it begins.
        pieces.append(Line(text[begin:start], min(left, right), max(left, right), baseline, height))
        begin, left = end, next_left
    return tuple(pieces)


def _spans(characters: Characters) -> Iterator[_Span]:
    found = [
        (words, match.start() + match[0].index(words[0]))
        for match in _LINE.finditer(characters.text)
        if (words := match[0].strip())
    ]
    offsets = [
        offset for words, start in found for offset in (start, start + (len(words) - 1) // 2, start + len(words) - 1)
    ]
    boxes = characters.boxes(offsets)
    baselines = characters.origins(offsets[::3])
    for (words, start), baseline, first, middle, last in zip(found, baselines, boxes, boxes, boxes, strict=True):
        across, along = last[0] + last[2] - first[0] - first[2], last[1] + last[3] - first[1] - first[3]
        direction: Direction = "right"
        if across < abs(along) or across < 0:
            direction = _direction(characters, words, start, across, along)
        low, high = (0, 2) if direction in _VERTICAL else (1, 3)
        height = max(first[high] - first[low], middle[high] - middle[low], last[high] - last[low])
        yield _Span(words, start, first, last, baseline, direction, height)


def _direction(characters: Characters, words: str, start: int, across: float, along: float) -> Direction:
    """Return the direction in which a line runs; vertical writing and text turned clockwise run down."""
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
