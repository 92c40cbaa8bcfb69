"""The lines of a page out of pdfium's characters: turned upright, with the parts that wide gaps set apart.

A call for each character would take longer than all else, so gaps are looked for only in lines that are wider than
their letters need, and in all lines of a page if a few of them, looked at as samples, have any. The boxes of many
characters are asked for at once, so that no Python runs between the calls.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, chain, compress, pairwise, repeat
from operator import add, gt, lt, sub
from typing import Any, Final, Literal, NamedTuple, Self, overload

from pypdfium2 import raw
from typing_extensions import override

from drive_server.kernel.text.characters import is_cjk
from drive_server.knowledge.readers.pages.paragraphs import SAME_ROW, Line
from drive_server.knowledge.readers.pages.pdf.calls import (
    Box,
    Ends,
    character_boxes,
    count_unknown,
    ends_of_pairs,
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
_CONTENTS: Final = re.compile(r"(?:…|(?:[.·_] ?){3,}) *(?:[0-9]{1,4}|[ivxlc]{1,7})$")
_NUMERALS: Final = frozenset("0123456789ivxlc")
_DOTS: Final = ("...", ". . .", ".. .", ". ..", "…", "···", "· · ·", "___", "_ _ _")
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

    `height`: of the page in these coordinates; `turn`: takes boxes of the page there, as they are if not `is_turned`;
    `has_leaders`: it has dots as they stand between titles and the numbers of their pages; `unknown`: the number of
    its letters that stand for no character.
    """

    lines: tuple[Line, ...]
    height: float
    turn: Callable[[Box], Box]
    is_turned: bool
    has_leaders: bool
    unknown: int = 0


class Characters:
    """The characters of a page, by their offsets in its text."""

    def __init__(self, textpage: Any) -> None:
        self._page = textpage.raw
        self._handle = handle(textpage.raw)
        self.text: str = textpage.get_text_range()
        self.has_leaders = any(map(self.text.__contains__, _DOTS))
        """True if it has dots as they stand between titles and the numbers of their pages."""
        self._count: int = textpage.count_chars()
        self._has_same_offsets = self._count == len(self.text)

    @property
    def unknown(self) -> int:
        """The number of letters that stand for no character."""
        return 0 if self._has_same_offsets else count_unknown(self._handle, self._count)

    def ends_of_pairs(self, offsets: Sequence[int]) -> Ends:
        """Return where the characters of each pair begin and end from left to right; zeros for those without a box."""
        return ends_of_pairs(self._handle, self._indices(offsets))

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


class Pieces(Sequence[Line]):
    """The parts of a line, as columns of texts and places; they become lines only if a rule looks at one of them."""

    __slots__ = ("_lines", "baseline", "height", "lefts", "rights", "texts")

    def __init__(
        self, texts: Sequence[str], lefts: Sequence[float], rights: Sequence[float], baseline: float, height: float
    ) -> None:
        self.texts, self.lefts, self.rights, self.baseline, self.height = texts, lefts, rights, baseline, height
        self._lines: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """The parts as lines, always the same ones."""
        if not self._lines:
            columns = (self.texts, self.lefts, self.rights, repeat(self.baseline), repeat(self.height))
            fields = zip(*columns, repeat("text"), repeat(()))
            # A Line's own constructor takes twice as long, and tables have thousands of pieces.
            self._lines = tuple(map(tuple.__new__, repeat(Line), fields))
        return self._lines

    @override
    def __len__(self) -> int:
        return len(self.texts)

    @override
    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    @overload
    def __getitem__(self, index: int) -> Line: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...

    @override
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        return self.lines[index]


class _Gaps(NamedTuple):
    """The wide gaps within a line: where they begin and end, as offsets in the page's text and as places."""

    begins: Sequence[int]
    ends: Sequence[int]
    rights: Sequence[float]
    lefts: Sequence[float]

    def where(self, chosen: Sequence[bool]) -> Self:
        """Return the chosen ones of the gaps."""
        return self._make(list(compress(values, chosen)) for values in self)


def read_lines(textpage: Any, width: float, height: float, *, gaps_everywhere: bool = False) -> PageText:
    """Return the lines of a page of this size, in points. `gaps_everywhere`: look for gaps in every line."""
    characters = Characters(textpage)
    found = _words(characters.text)
    lines, turned, uneven = _drawn(characters, found)
    direction = _main_direction(lines, turned)
    turn = _TURNS[direction]
    frame = _Frame(characters, direction, lambda box: turn(box, width, height), [start for _, start in found])
    if turned:
        lines = frame.upright(lines, turned)
        if direction == "right":
            lines = frame.with_stacks(lines, turned)
    lines = frame.with_pieces(lines, uneven, gaps_everywhere=gaps_everywhere)
    height = width if direction in _VERTICAL else height
    return PageText(tuple(lines), height, frame.turn, direction != "right", characters.has_leaders, characters.unknown)


def _words(text: str) -> list[tuple[str, int]]:
    """Return the lines of a page's text without the blanks around them, with the offsets of their first characters."""
    return [
        (words, match.start() + match[0].index(words[0]))
        for match in _LINE.finditer(text)
        if (words := match[0].strip())
    ]


def _samples(found: Sequence[tuple[str, int]]) -> list[int]:
    """Return the offsets of the first, a middle and the last character of each line."""
    return [
        offset for words, start in found for offset in (start, start + (len(words) - 1) // 2, start + len(words) - 1)
    ]


def _drawn(
    characters: Characters, found: Sequence[tuple[str, int]]
) -> tuple[list[Line], dict[int, Direction], set[int]]:
    """Return the lines as if all ran to the right, the directions of those that don't, and those that rise or fall.

    Both are told by the numbers of the lines.
    """
    offsets = _samples(found)
    boxes = characters.boxes(offsets)
    baselines = characters.origins(offsets[::3])
    lines: list[Line] = []
    turned: dict[int, Direction] = {}
    uneven: set[int] = set()
    for (words, start), (_, y), one, middle, other in zip(found, baselines, boxes, boxes, boxes, strict=True):
        left, bottom, first_right, top = one
        last_left, low, right, high = other
        _, under, _, over = middle
        across, along = last_left + right - left - first_right, low + high - bottom - top
        if (across < along or across < -along or across < 0) and (
            direction := _direction(characters, words, start, across, along)
        ) != "right":
            turned[len(lines)] = direction
        elif abs(along) > top - bottom:
            uneven.add(len(lines))
        if left > last_left or right < first_right:
            left, right = min(left, last_left), max(right, first_right)
        lines.append(Line(words, left, right, y, max(top - bottom, over - under, high - low)))
    return lines, turned, uneven


def _direction(characters: Characters, words: str, start: int, across: float, along: float) -> Direction:
    """Return the direction in which a line runs; vertical writing and text turned clockwise run down."""
    if abs(along) > abs(across) and len(words) > 1:
        return "up" if along > 0 else "down"
    if across < 0 and not _RIGHT_TO_LEFT.search(words) and not characters.is_upright(start):
        return "left"
    return "right"


def _main_direction(lines: Sequence[Line], turned: Mapping[int, Direction]) -> Direction:
    if not turned:
        return "right"
    counts: Counter[Direction] = Counter()
    for number, line in enumerate(lines):
        counts[turned.get(number, "right")] += len(line.text)
    return counts.most_common(1)[0][0]


@dataclass(frozen=True, slots=True)
class _Frame:
    """The coordinates in which the main direction of a page runs to the right.

    `starts`: where its lines begin in its text.
    """

    characters: Characters
    direction: Direction
    turn: Callable[[Box], Box]
    starts: Sequence[int]

    def upright(self, lines: Sequence[Line], turned: Mapping[int, Direction]) -> list[Line]:
        """Return the lines in these coordinates; those that run in other directions lie aside."""
        numbers = list(turned) if self.direction == "right" else range(len(lines))
        offsets = _samples([(lines[number].text, self.starts[number]) for number in numbers])
        boxes = self.characters.boxes(offsets)
        baselines = self.characters.origins(offsets[::3])
        result = list(lines)
        for number, baseline, *drawn in zip(numbers, baselines, boxes, boxes, boxes, strict=True):
            result[number] = self._upright(lines[number].text, turned.get(number, "right"), baseline, drawn)
        return result

    def _upright(self, words: str, direction: Direction, baseline: tuple[float, float], boxes: Sequence[Box]) -> Line:
        low, high = (0, 2) if direction in _VERTICAL else (1, 3)
        height = max(box[high] - box[low] for box in boxes)
        x, y = baseline
        first, last, (_, y, _, _) = self.turn(boxes[0]), self.turn(boxes[-1]), self.turn((x, y, x, y))
        left, right = first[0], last[2]
        if left > last[0] or right < first[2]:
            left, right = min(left, last[0]), max(right, first[2])
        if direction != self.direction:
            return Line(words, left, right, min(first[1], last[1]), height, "aside")
        return Line(words, left, right, y, height)

    def with_stacks(self, lines: Sequence[Line], turned: Mapping[int, Direction]) -> list[Line]:
        """Return the lines whose letters stand upright one below the other with each letter as a piece.

        Such a line is a word in a narrow cell, or the cells of a column that was drawn at once.
        """
        result = list(lines)
        for number, direction in turned.items():
            line, start = lines[number], self.starts[number]
            if direction in _VERTICAL and self.characters.is_upright(start) and not is_cjk(line.text):
                pieces = self._letters(line, start)
                if _are_stacked(pieces):
                    result[number] = line._replace(pieces=pieces)
        return result

    def _letters(self, line: Line, start: int) -> tuple[Line, ...]:
        """Return the letters of a line, those beside each other as one piece."""
        offsets = [start + place for place, letter in enumerate(line.text) if letter != " "]
        groups: list[list[Any]] = []
        boxes, points = self.characters.boxes(offsets), self.characters.origins(offsets)
        baseline = math.inf
        for offset, (left, low, right, high), (_, y) in zip(offsets, boxes, points, strict=True):
            if abs(baseline - y) < SAME_ROW * (high - low):
                groups[-1][0].append(offset)
                groups[-1][2] = right
            else:
                groups.append([[offset], left, right, y, high - low])
                baseline = y
        letter = self.characters.text.__getitem__
        return tuple([Line("".join(map(letter, some)), *places) for some, *places in groups])

    def with_pieces(self, lines: Sequence[Line], uneven: Set[int], *, gaps_everywhere: bool) -> list[Line]:
        """Return the lines, with their parts those that have wide gaps, as far as these are looked for.

        `uneven`: the numbers of those that rise or fall. pdfium takes rows that nearly touch for one such line, which
        goes back to the left; each of them is a line.

        All lines are looked at if some of them, spread over the page, have a wide gap; else only those that are wider
        than their letters need.
        """
        long = [number for number, line in enumerate(lines) if len(line.text) > _LONG_SAMPLE and line.kind != "aside"]
        samples = long[:: len(long) // _SAMPLES + 1]
        gaps = self._gaps(lines, samples)
        may_have_gaps = _is_upright if gaps_everywhere or gaps else _is_wide
        seen = set(samples)
        others = [number for number, line in enumerate(lines) if number not in seen and may_have_gaps(line)]
        gaps |= self._gaps(lines, others)
        result = list(lines)
        rows: dict[int, list[Line]] = {}
        for number, found in gaps.items():
            line, start = lines[number], self.starts[number]
            pieces = _pieces(self.characters.text, line, start, found)
            result[number] = Line(*line[:-1], pieces)
            if number in uneven and self.direction == "right" and any(map(lt, found.lefts, found.rights)):
                rows[number] = self._rows(result[number], start, found, pieces.texts)
        return [one for number, line in enumerate(result) for one in rows.get(number, (line,))] if rows else result

    def _rows(self, line: Line, start: int, gaps: _Gaps, texts: Sequence[str]) -> list[Line]:
        """Return the rows of a line that goes back to the left further down; the line itself if that is not certain."""
        baselines = [y for _, y in self.characters.origins([start, *gaps.ends])]
        slack = SAME_ROW * line.height
        if max(baselines) - min(baselines) <= slack:
            return [line]
        (left, *_), (_, _, right, _) = self.characters.boxes([start, start + len(line.text) - 1])
        rows: list[list[Line]] = []
        for text, own_left, own_right, baseline in zip(
            texts, (left, *gaps.lefts), (*gaps.rights, right), baselines, strict=True
        ):
            is_back = rows and own_left < rows[-1][-1].right and abs(rows[-1][0].baseline - baseline) > slack
            if not rows or is_back:
                rows.append([])
            level = rows[-1][0].baseline if rows[-1] else baseline
            rows[-1].append(Line(text, own_left, own_right, level, line.height))
        # Notes, formulas and heads above several columns go up and down too; only rows of columns are told apart.
        is_certain = len(rows) > 1 and all(len(row) > 1 for row in rows) and _descend(row[0].baseline for row in rows)
        return [_line_of(row) for row in rows] if is_certain else [line]

    def _gaps(self, lines: Sequence[Line], numbers: Sequence[int]) -> dict[int, _Gaps]:
        """Return the wide gaps of those of the lines, by their numbers, that have any and no leaders."""
        blanks = [_blanks(lines[number].text, self.starts[number]) for number in numbers]
        offsets = [0] * (2 * sum([len(begins) for begins, _ in blanks]))
        if not offsets:
            return {}
        offsets[::2] = map(sub, chain.from_iterable([begins for begins, _ in blanks]), repeat(1))
        offsets[1::2] = chain.from_iterable([ends for _, ends in blanks])
        befores, rights, lefts, afters = self._ends(offsets)
        widths, backwards = list(map(sub, lefts, rights)), list(map(sub, befores, afters))
        if max(backwards) > 0:
            widths = list(map(max, widths, backwards))
        found: dict[int, _Gaps] = {}
        has_leaders = self.characters.has_leaders
        first = last = 0
        for number, (begins, ends) in zip(numbers, blanks, strict=True):
            first, last = last, last + len(begins)
            own, wide = widths[first:last], WIDE_GAP * lines[number].height
            if not own or max(own) < wide or (has_leaders and _has_leaders(lines[number].text)):
                continue
            gaps = _Gaps(begins, ends, rights[first:last], lefts[first:last])
            if min(own) < wide:
                gaps = gaps.where([width >= wide for width in own])
            found[number] = gaps
        return found

    def _ends(self, offsets: Sequence[int]) -> Ends:
        """Return where the characters of each pair begin and end."""
        if self.direction == "right":
            return self.characters.ends_of_pairs(offsets)
        boxes = list(map(self.turn, self.characters.boxes(offsets)))
        lefts, _, rights, _ = map(list, zip(*boxes, strict=True))
        return lefts[::2], rights[::2], lefts[1::2], rights[1::2]


def _blanks(text: str, start: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return where the blanks within a line begin and end that begins at an offset in the page's text."""
    words = text.split(" ")
    if "" in words:  # blanks of several characters
        begins, ends = zip(*[match.span() for match in _BLANKS.finditer(text)], strict=True)
        return list(map(add, begins, repeat(start))), list(map(add, ends, repeat(start)))
    ends = list(accumulate(map(add, map(len, words), repeat(1)), initial=start))[1:-1]
    return list(map(sub, ends, repeat(1))), ends


def _descend(baselines: Iterable[float]) -> bool:
    return all(above > below for above, below in pairwise(baselines))


def _line_of(pieces: Sequence[Line]) -> Line:
    if len(pieces) == 1:
        return pieces[0]
    text = " ".join([piece.text for piece in pieces])
    return pieces[0]._replace(text=text, right=pieces[-1].right, pieces=tuple(pieces))


def _is_upright(line: Line) -> bool:
    return line.kind != "aside"


def _is_wide(line: Line) -> bool:
    """Return whether a line is wider than its letters need."""
    return line.kind != "aside" and line.right - line.left > _LETTER_WIDTH * line.height * len(line.text)


def _are_stacked(pieces: Sequence[Line]) -> bool:
    """Return whether pieces stand one below the other."""
    return len(pieces) > 1 and all(
        above.baseline - below.baseline > below.height / 2 and above.left < below.right and below.left < above.right
        for above, below in pairwise(pieces)
    )


def _has_leaders(text: str) -> bool:
    return _LEADERS.search(text) is not None or _ends_with_page(text)


def _ends_with_page(text: str) -> bool:
    """Return whether dots and a number are at the end of a line. Few lines end with a letter of a number."""
    return text[-1] in _NUMERALS and _CONTENTS.search(text) is not None


def with_contents(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines with those of a table of contents, which end with a number behind dots, by themselves."""
    return tuple(
        line._replace(kind="contents", pieces=()) if line.kind == "text" and _ends_with_page(line.text) else line
        for line in lines
    )


def _pieces(whole: str, line: Line, start: int, gaps: _Gaps) -> Pieces:
    """Return the parts of a line that begins at an offset in the page's whole text."""
    text, left, line_right, baseline, height, _, _ = line
    begins, ends, rights, lefts = gaps
    if lefts[0] < rights[0]:  # written from right to left
        rights, lefts = [line_right] * len(rights), [left] * len(lefts)
    lefts, rights = (left, *lefts), (*rights, line_right)
    if any(map(gt, lefts, rights)):  # in mirrored text a piece ends left of where it begins
        lefts, rights = list(map(min, lefts, rights)), list(map(max, lefts, rights))
    if len(begins) == text.count(" "):
        words = text.split(" ")
    else:
        words = list(map(whole.__getitem__, map(slice, (start, *ends), (*begins, start + len(text)))))
    return Pieces(words, lefts, rights, baseline, height)


def text_in_box(textpage: Any, box: Box) -> str:
    """Return the letters of a page that reach into a box."""
    return textpage.get_text_bounded(*box)


def runs_to_the_left(text: str) -> bool:
    """Return whether a text has letters of a script that is written from right to left."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None
