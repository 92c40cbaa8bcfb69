"""Ruled tables, and the text of their cells. Pure; units are points, y grows upwards."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, chain, compress, count, pairwise, repeat
from operator import add, gt, itemgetter, mul
from typing import Final, NamedTuple, Self, TypeVar

from drive_server.knowledge.readers.pages.paragraphs import SAME_ROW, Line
from drive_server.knowledge.readers.pages.pdf.calls import Box
from drive_server.knowledge.readers.pages.pdf.tables import (
    BASELINE,
    MAX_SHARED,
    columns_of,
    joined_cells,
    joined_texts,
    pieces_of,
    rows_of,
)

LEAST: Final = 3
"""Lines in each direction: two rows and two columns."""
NEAR: Final = 3.0
"""Lines that are no further apart are one."""
_UNRULED_ROWS: Final = 3
_MAX_LINES: Final = 8
"""Of a cell of a table without a box: columns of prose between rulings have more."""
_STACK: Final = 3
_BESIDE: Final = 0.1  # of the type's height: letters of one word are closer to each other than to lines
_DEEP: Final = 0.1  # of the type's height: the band in which letters of a line stand
_HIGH: Final = 0.6
_LETTER_WIDTH: Final = 0.4  # of the type's height: less than most letters take
_FILLED: Final = 0.75
_CLOSE: Final = 1.8  # of the type's height: lines of one text are no further apart
_IN_LINE: Final = 0.15  # of the type's height: lines of one label are seldom that close to the baselines of rows

_Value = TypeVar("_Value")

Span = tuple[float, float]
"""Where a piece of a straight line starts and ends along it."""

_Cells = Mapping[tuple[int, int], list[Line]]
"""The pieces of each cell by its row and column, from 1."""


class Rule(NamedTuple):
    """A level line of a table: its place, and the columns that it crosses, from 1."""

    at: float
    crossed: frozenset[int]


@dataclass(frozen=True, slots=True)
class PagePieces:
    """The pieces of the lines of a page, by columns.

    `levels`: the baseline and the height of each line; `counts`: how many of the pieces it has; `lines`: returns the
    pieces one by one.
    """

    texts: Sequence[str]
    lefts: Sequence[float]
    rights: Sequence[float]
    levels: Sequence[tuple[float, float]]
    counts: Sequence[int]
    lines: Callable[[], Sequence[Line]]

    @classmethod
    def of(cls, pieces: Sequence[Line]) -> Self:
        """Return pieces that may each stand on another line."""
        texts, lefts, rights, baselines, heights, _, _ = (
            zip(*pieces, strict=True) if pieces else ((),) * len(Line._fields)
        )
        return cls(texts, lefts, rights, list(zip(baselines, heights, strict=True)), [1] * len(pieces), lambda: pieces)

    @classmethod
    def of_lines(cls, lines: Sequence[Line]) -> Self:
        """Return the pieces of lines that have each one baseline."""
        texts: list[str] = []
        lefts: list[float] = []
        rights: list[float] = []
        for line in lines:
            own_texts, own_lefts, own_rights = columns_of(line.pieces or (line,))
            texts += own_texts
            lefts += own_lefts
            rights += own_rights
        levels = [(line.baseline, line.height) for line in lines]
        return cls(texts, lefts, rights, levels, [len(line.pieces) or 1 for line in lines], lambda: pieces_of(lines))

    def table(self, numbers: Sequence[int], text: str) -> Line:
        """Return some of the pieces as a table with this text."""
        lines = sorted(set(_chosen(list(chain.from_iterable(map(repeat, count(), self.counts))), numbers)))
        left, right = min(_chosen(self.lefts, numbers)), max(_chosen(self.rights, numbers))
        baseline = max([self.levels[line][0] for line in lines])
        return Line(text, left, right, baseline, self.levels[lines[0]][1], "table")


def split_at(piece: Line, edges: Sequence[float], text_within: Callable[[Box], str]) -> list[Line]:
    """Return the parts of a piece between upright lines; nothing if a letter stands on one of them or close to it.

    `text_within`: returns the text of all letters that reach into a box.
    """
    low, high = piece.baseline - _DEEP * piece.height, piece.baseline + _HIGH * piece.height
    ends = [piece.left - NEAR, *edges, piece.right + NEAR]
    # A letter that is close to a line reaches into the boxes on both sides of it.
    beside = _BESIDE * piece.height
    boxes = [(left - beside, low, right + beside, high) for left, right in pairwise(ends)]
    texts = [" ".join(text_within(box).split()) for box in boxes]
    if not all(texts) or "".join(texts).replace(" ", "") != piece.text.replace(" ", ""):
        return []
    lefts, rights = (piece.left, *edges), (*edges, piece.right)
    return [
        Line(text, left, right, piece.baseline, piece.height)
        for text, left, right in zip(texts, lefts, rights, strict=True)
    ]


def _chosen(values: Sequence[_Value], numbers: Sequence[int]) -> Sequence[_Value]:
    """Return the values with these numbers. Mostly these are all of them."""
    return values if len(numbers) == len(values) else list(map(values.__getitem__, numbers))


class Reading(NamedTuple):
    """The numbers of the pieces that stand in a table, and its text, None if it has none.

    `is_crossed`: pieces reach beyond their columns.
    """

    numbers: Sequence[int]
    text: str | None
    is_crossed: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled table: where its columns begin and end, from the left, and its level lines from the top.

    `is_open`: it has no box around it; `walls`: where each of its upright lines is drawn.
    """

    columns: tuple[float, ...]
    rules: tuple[Rule, ...]
    is_open: bool = False
    walls: tuple[Sequence[Span], ...] = ()

    def crossings(self, pieces: PagePieces) -> dict[int, list[float]]:
        """Return the places of the upright lines that are drawn across pieces, by the numbers of these."""
        numbers, _, columns = self._places_of(pieces)
        right_edges = [edge + NEAR for edge in self.columns]
        are_crossing = map(gt, _chosen(pieces.rights, numbers), map(right_edges.__getitem__, columns))
        ends_of_lines = list(accumulate(pieces.counts))
        found: dict[int, list[float]] = {}
        for number, column in compress(zip(numbers, columns, strict=True), are_crossing):
            baseline, height = pieces.levels[bisect_right(ends_of_lines, number)]
            level = baseline + height / 4
            edges = [
                edge
                for edge, spans in zip(self.columns[column:], self.walls[column:], strict=False)
                if edge < pieces.rights[number] and any(start <= level <= end for start, end in spans)
            ]
            if edges:
                found[number] = edges
        return found

    def read(self, pieces: PagePieces) -> Reading:
        """Return the pieces that stand in the table, and its rows with bars between their cells.

        There is no text if pieces stand across its lines, or all of them in one column or row.
        """
        numbers, rows, columns = self._places_of(pieces)
        if not numbers:
            return Reading(numbers, None)
        rights = _chosen(pieces.rights, numbers)
        right_edges = [edge + NEAR for edge in self.columns]
        are_crossing = list(map(gt, rights, map(right_edges.__getitem__, columns)))
        # Of one number each, as there are thousands of them.
        places = list(map(add, map(mul, rows, repeat(len(self.columns))), columns))
        filled = set(places)
        is_crossed = True in are_crossing
        if is_crossed:
            if any(place + 1 in filled for place in compress(places, are_crossing)):
                return Reading(numbers, None, is_crossed)
        elif self._is_even and len(filled) == len(places):
            return Reading(numbers, self._simple_text(_chosen(pieces.texts, numbers), places, set(rows), set(columns)))
        cells: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
        for row, column, piece in zip(rows, columns, _chosen(pieces.lines(), numbers), strict=True):
            cells[row, column].append(piece)
        is_prose = self.is_open and max(map(len, cells.values())) > _MAX_LINES
        return Reading(numbers, None if is_prose else self._text(cells, len(numbers)), is_crossed)

    def _places_of(self, pieces: PagePieces) -> tuple[Sequence[int], list[int], list[int]]:
        """Return the numbers of the pieces that stand within the outer lines, and their rows and columns, from 1."""
        depths, lefts = [-rule.at for rule in self.rules], [left - 1 for left in self.columns]
        of_lines = [bisect_right(depths, -baseline - height * 0.25) for baseline, height in pieces.levels]
        rows = list(chain.from_iterable(map(repeat, of_lines, pieces.counts)))
        columns = list(map(bisect_right, repeat(lefts), pieces.lefts))
        last_row, last_column = len(depths), len(lefts)
        if not rows or (min(rows) > 0 and max(rows) < last_row and min(columns) > 0 and max(columns) < last_column):
            return range(len(rows)), rows, columns
        numbers = [
            number
            for number, (row, column) in enumerate(zip(rows, columns, strict=True))
            if 0 < row < last_row and 0 < column < last_column
        ]
        return numbers, list(_chosen(rows, numbers)), list(_chosen(columns, numbers))

    def _simple_text(
        self, texts: Sequence[str], places: Sequence[int], rows: Set[int], columns: Set[int]
    ) -> str | None:
        """Return the rows of a table of which no cell has several pieces. `rows`, `columns`: those that are filled."""
        if len(rows) < LEAST - 1 or len(columns) < LEAST - 1:
            return None
        width = len(self.columns)
        cells = [""] * (width * len(self.rules))
        deque(map(cells.__setitem__, places, texts), maxlen=0)
        in_columns = itemgetter(*sorted(columns))
        return "\n".join([joined_cells(in_columns(cells[row * width : (row + 1) * width])) for row in sorted(rows)])

    def holds(self, aside: Line) -> bool:
        """Return whether text that is turned, or set letter below letter, stands within the table."""
        top = max(piece.baseline for piece in aside.pieces) if aside.pieces else _top(aside)
        return (
            self.columns[0] - NEAR <= aside.left
            and aside.right <= self.columns[-1] + NEAR
            and self.rules[-1].at - NEAR <= aside.baseline
            and top <= self.rules[0].at
        )

    @property
    def _is_even(self) -> bool:
        """True if each line crosses all columns."""
        return all(len(rule.crossed) == len(self.columns) - 1 for rule in self.rules)

    def _text(self, cells: Mapping[tuple[int, int], list[Line]], pieces: int) -> str | None:
        if not self._is_even:
            cells = _with_spans(cells, self.rules)
        rows, columns = ({place[which] for place in cells} for which in (0, 1))
        if len(rows) < LEAST - 1 or len(columns) < LEAST - 1:
            return None
        several = {place: cell for place, cell in cells.items() if len(cell) > 1}
        for cell in several.values():
            cell.sort(key=_place_in_cell)
        if _shared(several.values()) > MAX_SHARED * pieces:
            return None
        return "\n".join(_texts(cells, sorted(rows), sorted(columns), {row for row, _ in several}))


def _with_spans(cells: _Cells, rules: Sequence[Rule]) -> _Cells:
    """Return the cells with the text of those that span several rows in their first row.

    Lines that may be the values of several rows stay in their rows.
    """
    begins = _beginnings(cells, rules)
    firsts = list(begins)
    in_rows: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
    for (row, column), pieces in cells.items():
        in_rows[firsts[bisect_right(firsts, row) - 1], column] += pieces
    spans: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for row, column in in_rows:
        spans[*_span(row, column, begins), column].append(row)
    result: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
    for (first, end, column), rows in spans.items():
        middle = (rules[first - 1].at + rules[end - 1].at) / 2
        has_more_rows = len(rows) < sum(first <= row < end for row in begins)
        is_one = len(rows) == 1 or _is_one_text(rows, column, in_rows, middle if has_more_rows else None)
        for row in rows:
            result[first if is_one else row, column] += in_rows[row, column]
    return result


def _beginnings(cells: _Cells, rules: Sequence[Rule]) -> dict[int, frozenset[int]]:
    """Return the rows, and the one behind the last, with the columns that the lines above them cross.

    Lines with text only on one side of them are no borders of rows: they frame or shade the text of a cell.
    """
    filled: defaultdict[int, frozenset[int]] = defaultdict(frozenset)
    for row, column in cells:
        filled[row] |= {column}
    borders = _borders(filled, rules)
    begins: dict[int, frozenset[int]] = {}
    above = frozenset[int]()
    for (first, last, crossed), below in zip(borders, _filled_below(filled, borders), strict=True):
        if not begins or last == len(rules) or (above & crossed and below & crossed):
            begins[first] = crossed
            above -= crossed
        above |= filled[last]
    return begins


def _filled_below(
    filled: defaultdict[int, frozenset[int]], borders: Sequence[tuple[int, int, frozenset[int]]]
) -> list[frozenset[int]]:
    """Return for each line the columns with text between it and the next line that crosses them."""
    below = frozenset[int]()
    found: list[frozenset[int]] = []
    for _, last, crossed in reversed(borders):
        below |= filled[last]
        found.append(below)
        below -= crossed
    return found[::-1]


def _borders(filled: defaultdict[int, frozenset[int]], rules: Sequence[Rule]) -> list[tuple[int, int, frozenset[int]]]:
    """Return the lines from the top, those without text between them as one, and the columns that they cross.

    Each has the numbers of the first and the last row that begin at it.
    """
    borders: list[tuple[int, int, frozenset[int]]] = []
    first, crossed = 1, frozenset[int]()
    for row, rule in enumerate(rules, start=1):
        crossed |= rule.crossed
        if filled[row] or row == len(rules):
            borders.append((first, row, crossed))
            first, crossed = row + 1, frozenset[int]()
    return borders


def _span(row: int, column: int, begins: Mapping[int, frozenset[int]]) -> tuple[int, int]:
    """Return the first row of the cell that a row is part of, and the row behind it; only this row if it is open."""
    edges = [edge for edge, crossed in begins.items() if column in crossed]
    above = bisect_right(edges, row)
    return (edges[above - 1], edges[above]) if 0 < above < len(edges) else (row, row + 1)


def _is_one_text(rows: Sequence[int], column: int, cells: _Cells, middle: float | None) -> bool:
    """Return whether lines of several rows are one text: close to each other, and not each beside a row's values.

    `middle`: the place halfway down the cell, if it has rows without a line; a text around it is one.
    """
    lines = sorted([piece for row in rows for piece in cells[row, column]], key=BASELINE, reverse=True)
    if _is_stack(lines):
        return True
    if any(above.baseline - below.baseline > _CLOSE * below.height for above, below in pairwise(lines)):
        return False
    if middle is not None and abs(_level(lines[0]) + _level(lines[-1]) - 2 * middle) < lines[0].height:
        return True
    others = [piece for (row, other), cell in cells.items() if row in rows and other != column for piece in cell]
    return not all(any(_distance(line, other) < _IN_LINE for other in others) for line in lines)


def _place_in_cell(piece: Line) -> tuple[float, float]:
    """Return a key for the order of a cell's lines: from the top, those that run upwards from the left."""
    return (0.0 if piece.kind == "aside" else -piece.baseline), piece.left


def _top(turned: Line) -> float:
    """Return about how far up a line reaches that runs up or down."""
    return turned.baseline + _LETTER_WIDTH * turned.height * len(turned.text)


def _is_stack(pieces: Sequence[Line]) -> bool:
    """Return whether a cell has letters one below the other, which are a word."""
    return len(pieces) >= _STACK and all(len(piece.text) == 1 and piece.text.isalpha() for piece in pieces)


def _cell_text(pieces: Sequence[Line]) -> str:
    if _is_stack(pieces) and all(above.baseline > below.baseline for above, below in pairwise(pieces)):
        return "".join([piece.text for piece in pieces])
    return joined_texts(pieces)


def _level(piece: Line) -> float:
    """Return the middle of a line's letters."""
    return piece.baseline + piece.height / 4


def _distance(one: Line, other: Line) -> float:
    """Return how far apart the baselines are, in heights of the type."""
    return abs(one.baseline - other.baseline) / max(other.height, 1.0)


def _texts(
    cells: Mapping[tuple[int, int], list[Line]], rows: Iterable[int], columns: Sequence[int], crowded: Container[int]
) -> Iterator[str]:
    """Yield the rows of a table. `crowded`: those with a cell of several pieces."""
    for row in rows:
        of_row = [cells.get((row, column), ()) for column in columns]
        if row in crowded:
            yield from _lines(of_row)
        else:
            yield joined_cells([cell[0].text if cell else "" for cell in of_row])


def _lines(cells: Sequence[Sequence[Line]]) -> Iterator[str]:
    """Yield the text of a row; if nearly each cell has something on each line, these are rows without rules."""
    if max(map(len, cells)) >= _UNRULED_ROWS:
        filled = sum(map(bool, cells))
        lines = rows_of([piece for cell in cells for piece in cell])
        if len(lines) >= _UNRULED_ROWS and sum(map(len, lines)) >= _FILLED * filled * len(lines):
            for line in lines:
                yield joined_cells([joined_texts([piece for piece in cell if piece in line]) for cell in cells])
            return
    yield joined_cells(list(map(_cell_text, cells)))


def _shared(cells: Iterable[Sequence[Line]]) -> int:
    """Return how many pieces stand beside another one in their cell."""
    return sum(
        abs(above.baseline - below.baseline) < SAME_ROW * below.height and "aside" not in (above.kind, below.kind)
        for cell in cells
        for above, below in pairwise(cell)
    )
