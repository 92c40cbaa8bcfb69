"""The lines of a page in the order in which they are read. Pure; units are points, y grows upwards.

Most programs draw a page as it is read, so that order stays unless it can't be right: a line stands above another one
that was drawn before it, or columns were drawn row by row.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, count, pairwise
from operator import attrgetter, ge, le, sub
from typing import Final

from drive_server.knowledge.readers.pages.paragraphs import SAME_ROW, Line
from drive_server.knowledge.readers.pages.pdf.alignment import (
    has_table_by_columns,
    is_drawn_by_columns,
    is_number,
    with_level_columns,
    with_level_rows,
)
from drive_server.knowledge.readers.pages.pdf.calls import Box
from drive_server.knowledge.readers.pages.pdf.grids import Grid, PagePieces, split_at
from drive_server.knowledge.readers.pages.pdf.lines import runs_to_the_left
from drive_server.knowledge.readers.pages.pdf.tables import (
    BASELINE,
    LEFT,
    RIGHT,
    Row,
    Run,
    columns_of,
    find_runs,
    kind_of,
    pieces_of,
    rows_of,
    table_text,
)

_PIECES: Final = attrgetter("pieces")
_ABOVE: Final = 0.8  # of the type's height: a line that far up is not a superscript
_WRONG: Final = 0.2  # of the lines: so many out of order, and the order of drawing says nothing about columns
_ROW_BY_ROW: Final = 0.6  # of a run's rows
_COLUMN_STEP: Final = 36.0  # points: of lines that begin as close to each other, the lowest one is enough
_EDGE_ROWS: Final = 3
_APART: Final = 1.8  # of the type's height: between a head or foot and the body
_ROWS_OF_A_TABLE: Final = 2
_WIDE: Final = 2.0  # of the type's height: a gap within a line that stands by itself


def in_reading_order(
    lines: Sequence[Line],
    grids: Callable[[], Sequence[Grid]],
    text_within: Callable[[Box], str] | None = None,
) -> tuple[Line, ...]:
    """Return the lines, a table as one.

    `grids` finds the ruled ones; it is called only if there may be any. `text_within` returns the text in a box.
    """
    lines = with_level_rows(lines)
    if not _descends(lines):
        lines = with_level_columns(lines)
    if _is_plain(lines) and (_descends(lines) or not has_table_by_columns(lines)):
        return tuple(lines)
    if runs_to_the_left("".join([line.text for line in lines])):
        return tuple(_sorted_rows(lines) if _wrong(lines) else lines)
    layout = _Layout(_with_cells(lines))
    if layout.may_have_tables:
        found = grids()
        crossed = [grid for grid in found if layout.take_grid(grid)]
        if crossed and text_within and (divided := layout.divided(crossed, text_within)):
            layout = _Layout(divided)
            for grid in found:
                layout.take_grid(grid)
    return tuple(layout.lines())


def _with_cells(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines with the letters of those by themselves that stand each in the row of another text.

    pdfium takes the digits of a column that was drawn at once for one line that runs down.
    """
    if not any(line.pieces for line in lines if line.kind == "aside"):
        return lines
    baselines = sorted(line.baseline for line in lines if line.kind == "text")
    return [
        one
        for line in lines
        for one in (line.pieces if line.kind == "aside" and _are_in_rows(line.pieces, baselines) else (line,))
    ]


def _are_in_rows(letters: Sequence[Line], baselines: Sequence[float]) -> bool:
    slack = SAME_ROW * letters[0].height if letters else 0.0
    return bool(letters) and all(
        bisect_right(baselines, letter.baseline - slack) < bisect_right(baselines, letter.baseline + slack)
        for letter in letters
    )


class _Layout:
    """The pieces of a page, and the lines and tables that they turn out to be.

    Each piece of an upright line has a number, in the order of drawing.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._drawn = list(lines)
        self._upright = [line for line in lines if line.kind == "text"]
        counts = [len(line.pieces) or 1 if line.kind == "text" else 0 for line in self._drawn]
        self._firsts = list(accumulate(counts, initial=0))
        """The number of the first piece of each line, and that behind the last one."""
        self._taken = bytearray(self._firsts[-1])
        """A one for each piece that is part of something that was found."""
        self._taken_asides: set[int] = set()
        self._found: list[tuple[int, list[Line]]] = []

    @cached_property
    def _pieces(self) -> list[Line]:
        return pieces_of(self._upright)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """The number of each piece by its identity."""
        return dict(zip(map(id, self._pieces), count()))

    @cached_property
    def _first_numbers(self) -> dict[int, int]:
        """The number of the first piece of each line's pieces, by their identity."""
        return {
            id(line.pieces): first
            for line, first in zip(self._drawn, self._firsts, strict=False)
            if line.pieces and line.kind == "text"
        }

    def _numbers_of(self, pieces: Sequence[Line]) -> Sequence[int]:
        """Return the numbers of pieces; lines that lie aside have none."""
        first = self._first_numbers.get(id(pieces))
        if first is not None:
            return range(first, first + len(pieces))
        ordered = filter(self._numbers.__contains__, map(id, pieces))
        return list(map(self._numbers.__getitem__, ordered))

    @property
    def _free(self) -> list[Line]:
        if 1 not in self._taken:
            return self._pieces
        return [piece for piece, is_taken in zip(self._pieces, self._taken, strict=True) if not is_taken]

    @property
    def may_have_tables(self) -> bool:
        """True if there are rows of several pieces."""
        gapped = [line for line in self._upright if line.pieces]
        return _are_apart(gapped) or sum(len(row) > 1 for row in rows_of(self._free)) >= _ROWS_OF_A_TABLE

    def divided(self, grids: Iterable[Grid], text_within: Callable[[Box], str]) -> list[Line] | None:
        """Return the lines with those pieces divided that fill two cells beside each other; None if there is none."""
        parts: dict[int, list[Line]] = {}
        for grid in grids:
            parts |= self._parts_of(grid, text_within)
        if not parts:
            return None
        result: list[Line] = []
        for line, (first, end) in zip(self._drawn, pairwise(self._firsts), strict=True):
            if parts.keys().isdisjoint(range(first, end)):
                result.append(line)
            else:
                pieces = self._with_parts(range(first, end), parts)
                result.append(line._replace(text=" ".join([piece.text for piece in pieces]), pieces=tuple(pieces)))
        return result

    def _parts_of(self, grid: Grid, text_within: Callable[[Box], str]) -> dict[int, list[Line]]:
        """Return the parts of pieces that stand in several cells, by their numbers.

        If the grid turns out to be no table, only numbers are told apart.
        """
        crossings = grid.crossings(self._columns).items()
        found = {number: split_at(self._pieces[number], edges, text_within) for number, edges in crossings}
        parts = {number: some for number, some in found.items() if some}
        numbers = {number: some for number, some in parts.items() if all(map(is_number, some))}
        if len(numbers) == len(parts):
            return parts
        pieces = PagePieces.of(self._with_parts(range(len(self._pieces)), parts))
        return numbers if grid.read(pieces).text is None else parts

    def _with_parts(self, numbers: Iterable[int], parts: Mapping[int, list[Line]]) -> list[Line]:
        return [one for number in numbers for one in parts.get(number, [self._pieces[number]])]

    def take_grid(self, grid: Grid) -> bool:
        """Take a ruled table, if the pieces keep to its cells. Return whether some reach beyond their columns."""
        asides = [line for line in self._drawn if line.kind == "aside" and grid.holds(line)]
        if asides and self._take_from(grid, [*self._free, *asides]):
            return False
        if 1 in self._taken:
            return self._take_from(grid, self._free)
        numbers, text, is_crossed = grid.read(self._columns)
        if text is not None:
            self._take(numbers, [self._columns.table(numbers, text)])
        return is_crossed

    def _take_from(self, grid: Grid, pieces: Sequence[Line]) -> bool:
        """Take a table out of these pieces, and return whether it was one."""
        numbers, text, _ = grid.read(PagePieces.of(pieces))
        if text is None:
            return False
        inside = [pieces[number] for number in numbers]
        self._taken_asides.update(id(piece) for piece in inside if piece.kind == "aside")
        self._take(self._numbers_of(inside), [_table(inside, text)])
        return True

    @cached_property
    def _columns(self) -> PagePieces:
        return PagePieces.of_lines(self._upright)

    def lines(self) -> list[Line]:
        """Return the lines found and the rest of them, in order."""
        rows = self._rows()
        is_wrong = _wrong(self._drawn)
        runs = [(start, run) for start, run in find_runs(rows) if is_wrong or self._is_drawn_as_rows(run)]
        kinds = [kind_of(run) for _, run in runs]
        if is_wrong or "columns" in kinds:
            return self._by_place(rows, runs, kinds)
        for (_, run), kind in zip(runs, kinds, strict=True):
            if kind != "lines":
                self._take(list(chain.from_iterable(map(self._numbers_of, run.rows))), _read(run, kind))
        return self._as_drawn()

    def _rows(self) -> list[Row]:
        """Return the pieces that no table took, by rows from top to bottom. A line that is a row alone stays whole."""
        free: list[Line] = []
        for line, (first, end) in zip(self._drawn, pairwise(self._firsts), strict=True):
            taken = self._taken.count(1, first, end)
            if 0 < taken < end - first:
                return list(rows_of(self._free))
            if not taken and first < end:
                free.append(line)
        return [_row_of(lines) for lines in rows_of(free)]

    def _take(self, numbers: Sequence[int], lines: list[Line]) -> None:
        first, end = min(numbers), max(numbers) + 1
        if end - first == len(numbers):
            self._taken[first:end] = b"\1" * len(numbers)
        else:
            for number in numbers:
                self._taken[number] = 1
        self._found.append((bisect_right(self._firsts, first) - 1, lines))

    def _is_drawn_as_rows(self, run: Run) -> bool:
        return self._is_row_by_row(run) or is_drawn_by_columns(run, self._numbers)

    def _is_row_by_row(self, run: Run) -> bool:
        """Return whether most rows were drawn at once, from left to right."""
        full = [row for row in run.rows if len(row) > 1]
        return sum(map(self._is_at_once, full)) >= _ROW_BY_ROW * len(full)

    def _is_at_once(self, row: Row) -> bool:
        if id(row) in self._first_numbers:
            return True
        numbers = self._numbers_of(row)
        return numbers == list(range(numbers[0], numbers[0] + len(numbers)))

    def _as_drawn(self) -> list[Line]:
        found = dict(self._found)
        result: list[Line] = []
        for number, (line, (first, end)) in enumerate(zip(self._drawn, pairwise(self._firsts), strict=True)):
            result += found.get(number, ())
            taken = self._taken.count(1, first, end)
            if id(line) in self._taken_asides or (taken and taken == end - first):
                continue
            if not line.pieces:
                result.append(line if line.height > 0 else _alone(line))
            elif not taken:
                result.append(_alone(line))
            else:
                result += [piece for piece, gone in zip(line.pieces, self._taken[first:end], strict=True) if not gone]
        return _edges_in_place(_with_whole_rows(result))

    def _by_place(self, rows: Sequence[Row], runs: Sequence[tuple[int, Run]], kinds: Sequence[str]) -> list[Line]:
        """Return rows from top to bottom, columns of prose one after the other."""
        placed = [(lines[0].baseline, lines) for _, lines in self._found]
        within = {start + offset for start, run in runs for offset in range(len(run.rows))}
        placed += [(run.rows[0][0].baseline, _read(run, kind)) for (_, run), kind in zip(runs, kinds, strict=True)]
        placed += [(row[0].baseline, self._whole(row)) for number, row in enumerate(rows) if number not in within]
        placed += [
            (line.baseline, [line])
            for line in self._drawn
            if line.kind != "text" and id(line) not in self._taken_asides
        ]
        return [line for _, lines in sorted(placed, key=lambda one: -one[0]) for line in lines]

    def _whole(self, row: Row) -> list[Line]:
        """Return the line that a row's pieces are parts of, if it is one."""
        line = self._drawn[bisect_right(self._firsts, min(self._numbers_of(row))) - 1]
        pieces = line.pieces or (line,)
        return [_alone(line)] if len(pieces) == len(row) and {*map(id, pieces)} == {*map(id, row)} else list(row)


def _are_apart(lines: Sequence[Line]) -> bool:
    """Return whether at least some of the lines stand in different rows."""
    if len(lines) < _ROWS_OF_A_TABLE:
        return False
    heights, baselines = [line.height for line in lines], list(map(BASELINE, lines))
    return min(heights) > 0 and max(baselines) - min(baselines) > max(heights)


def _row_of(lines: Sequence[Line]) -> Row:
    """Return the pieces of lines that stand in one row, from left to right."""
    if len(lines) == 1:
        (line,) = lines
        pieces = line.pieces or lines
        _, lefts, _ = columns_of(pieces)
        if all(map(le, lefts, lefts[1:])):
            return pieces
    return sorted(pieces_of(sorted(lines, key=BASELINE, reverse=True)), key=LEFT)


def _pieces(run: Run) -> list[Line]:
    return [piece for row in run.rows for piece in row]


def _read(run: Run, kind: str) -> list[Line]:
    if kind == "columns":
        return [piece for column in run.columns for piece in column]
    if kind == "blocks":
        return [_row([piece]) for column in run.columns for piece in column]
    if kind == "table":
        return [_table(_pieces(run), table_text(run))]
    if kind == "rows":
        return [_row(row) for row in run.rows]
    if kind == "prose":
        return [_row(row)._replace(kind="text", pieces=()) for row in run.rows]
    return _pieces(run)


def _table(pieces: Sequence[Line], text: str) -> Line:
    left, right, baseline = min(map(LEFT, pieces)), max(map(RIGHT, pieces)), max(map(BASELINE, pieces))
    return Line(text, left, right, baseline, pieces[0].height, "table")


def _row(row: Sequence[Line]) -> Line:
    text = " ".join(piece.text for piece in row)
    return Line(text, row[0].left, row[-1].right, row[0].baseline, row[0].height, "row", tuple(row))


def _alone(line: Line) -> Line:
    """Return a line with a gap that is wider than any blank as one that stands by itself."""
    if not line.pieces or line.kind != "text":
        return line
    _, lefts, rights = columns_of(line.pieces)
    if max(map(sub, lefts[1:], rights), default=0.0) < _WIDE * line.height:
        return line
    return Line(line.text, line.left, line.right, line.baseline, line.height, "row", line.pieces)


def _with_whole_rows(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with those as one that were drawn one after the other into one row, far apart."""
    result: list[Line] = []
    for line in lines:
        if result and _is_beside(result[-1], line):
            before = result.pop()
            result.append(_row([*(before.pieces or (before,)), *(line.pieces or (line,))]))
        else:
            result.append(line)
    return result


def _is_beside(one: Line, other: Line) -> bool:
    if {one.kind, other.kind} - {"text", "row"} or abs(one.baseline - other.baseline) > SAME_ROW * other.height:
        return False
    gap = other.left - one.right
    return gap >= _WIDE * other.height or (gap > 0 and "row" in (one.kind, other.kind))


def _is_plain(lines: Sequence[Line]) -> bool:
    """Return whether the lines follow each other down the page, without gaps and without others beside them."""
    if any(map(_PIECES, lines)):
        return False
    for above, line in pairwise(lines):
        if abs(above.baseline - line.baseline) < SAME_ROW * line.height:
            return False
    return _descends(lines) or not any(_passing(lines))


def _wrong(lines: Sequence[Line]) -> bool:
    """Return whether too many lines stand above ones that were drawn before them."""
    text = [line for line in lines if line.kind == "text"]
    if _descends(text):
        return False
    text = _edges_in_place(text)
    wrong = sum(_passing(text))
    if not wrong:
        return False
    has_rows = any(line.pieces for line in text) or any(len(row) > 1 for row in rows_of(text))
    return wrong > _WRONG * len(text) if has_rows else True


def _descends(lines: Sequence[Line]) -> bool:
    """Return whether no line stands above the one before it, as on most pages. Lines without height may do so."""
    baselines = list(map(BASELINE, lines))
    return all(map(ge, baselines, baselines[1:])) and all(line.height > 0 for line in lines)


def _passing(lines: Sequence[Line]) -> Iterator[bool]:
    """Yield for each line whether it stands above one that was drawn before it, in its column."""
    lowest: dict[int, Line] = {}
    bottom = math.inf
    for line in lines:
        baseline = line.baseline
        yield baseline - bottom >= _ABOVE * line.height and _is_passed(lowest.values(), line)
        begin = int(line.left // _COLUMN_STEP)
        if begin not in lowest or baseline < lowest[begin].baseline:
            lowest[begin] = line
        bottom = min(bottom, baseline)


def _is_passed(earlier: Iterable[Line], line: Line) -> bool:
    """Return whether a line stands above one of the earlier ones, in its column."""
    _, left, right, baseline, height, _, _ = line
    for one in earlier:
        if baseline - one.baseline >= _ABOVE * height:
            shared = min(one.right, right) - max(one.left, left)
            if shared > min(one.right - one.left, right - left) / 2:
                return True
    return False


def _edges_in_place(lines: list[Line]) -> list[Line]:
    """Return the lines with those that stand apart above and below all others in front and at the end: heads, feet."""
    if _descends(lines):
        return lines
    rows = rows_of(lines)
    heads = _edge(rows)
    feet = _edge(rows[len(heads) :][::-1])[::-1]
    moved = {id(line) for line in (*heads, *feet)}
    return [*heads, *(line for line in lines if id(line) not in moved), *feet]


def _edge(rows: Sequence[Sequence[Line]]) -> list[Line]:
    """Return the first few rows, of one line each, that are further from the next one than lines of a paragraph."""
    count = 0
    for number, (row, following) in enumerate(pairwise(rows[: _EDGE_ROWS + 1]), start=1):
        if len(row) > 1:
            break
        if abs(row[0].baseline - following[0].baseline) > _APART * row[0].height:
            count = number
    return [row[0] for row in rows[:count]]


def _sorted_rows(lines: Sequence[Line]) -> Iterator[Line]:
    for row in rows_of(lines):
        yield from sorted(row, key=lambda line: -line.right) if len(row) > 1 else row
