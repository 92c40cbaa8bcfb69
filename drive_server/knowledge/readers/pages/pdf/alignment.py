"""Rows that are hard to see: cells half a line apart, and columns drawn one after the other. Pure.

Both are told only where nothing else can be meant, as lists and verses stand beside each other too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import sub
from typing import Final

from drive_server.knowledge.readers.pages.paragraphs import SAME_ROW, Line
from drive_server.knowledge.readers.pages.pdf.tables import BASELINE, LEFT, RIGHT, Run, find_runs, kind_of, rows_of

_LEAST: Final = 3
_HALF_LINE: Final = 0.8  # of the type's height: lines of one column are further apart
_HALF: Final = 0.6  # of the type's height
_SAME_STEP: Final = 0.1  # of the type's height
_SAME_SIZE: Final = 0.1
_WIDE: Final = 2.0  # of the type's height
_LEVEL: Final = 0.15  # of the type's height
_FILLED: Final = 0.8  # of the cells of a table
_VALUE: Final = re.compile(r"[-+(]?[$€£¥]?\s?[\d.,:/%\s-]*\d[\d.,:/%\s-]*[)%$€£¥]?(?:\s?[^\W\d]{1,3}\.?)?")


def with_level_rows(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines with those in the row of their neighbours that stand half a line below or above them.

    A gutter must divide all of these from their neighbours, and all must be as far off.
    """
    baselines = list(map(BASELINE, lines))
    steps = list(map(sub, baselines, baselines[1:]))
    pairs = [
        number
        for number, step in enumerate(steps)
        if SAME_ROW * lines[number].height <= abs(step) < _HALF_LINE * lines[number].height
        and _are_beside(lines[number], lines[number + 1])
    ]
    if len(pairs) < _LEAST or any(other - one != 2 for one, other in pairwise(pairs)):
        return lines
    slack = _SAME_STEP * lines[pairs[0]].height
    offs = [steps[number] for number in pairs]
    gutter = max(lines[number].right for number in pairs)
    if max(offs) - min(offs) > slack or any(lines[number + 1].left <= gutter for number in pairs):
        return lines
    result = list(lines)
    for number in pairs:
        result[number + 1] = _moved(lines[number + 1], baselines[number])
    return result


def _are_beside(one: Line, other: Line) -> bool:
    """Return whether the other line stands far to the right, in type of the same size."""
    is_same_size = abs(one.height - other.height) <= _SAME_SIZE * one.height
    return is_same_size and one.kind == other.kind == "text" and other.left - one.right >= _WIDE * one.height


def _moved(line: Line, baseline: float) -> Line:
    pieces = tuple(piece._replace(baseline=baseline) for piece in line.pieces)
    return line._replace(baseline=baseline, pieces=pieces)


def with_level_columns(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines with a column of numbers, drawn after another column, in the rows of that one.

    All of them must stand as far below or above their neighbours, by at most half a line, and right of them.
    """
    result: list[Line] = []
    above: Sequence[Line] = ()
    for column in _descending(lines):
        found = _neighbours(column, above)
        level = [_moved(line, other.baseline) for line, other in zip(column, found, strict=False)]
        above = [*level, *column[len(level) :]]
        result += above
    return result


def _neighbours(column: Sequence[Line], before: Sequence[Line]) -> list[Line]:
    """Return the lines of the column before one beside which its first lines stand; nothing if that is not certain."""
    if len(before) < _LEAST or not all(map(is_number, column[1:_LEAST])):
        return []
    found: list[Line] = []
    offs: list[float] = []
    for line in column:
        near = min(before, key=lambda other: abs(other.baseline - line.baseline))
        off = near.baseline - line.baseline
        is_beside = near.right < line.left and near.kind == line.kind == "text" and abs(off) < _HALF * line.height
        if not is_beside or near in found or abs(off - (offs or [off])[0]) > _SAME_STEP * line.height:
            break
        found.append(near)
        offs.append(off)
    is_certain = len(found) >= _LEAST and abs(offs[0]) > _LEVEL * column[0].height
    return found if is_certain and all(map(is_number, column[1 : len(found)])) else []


def has_table_by_columns(lines: Sequence[Line]) -> bool:
    """Return whether a page has a table whose columns were drawn one after the other."""
    columns = [column for column in _descending(lines) if len(column) >= _LEAST]
    if not any(_are_level(one, other) for one, other in pairwise(columns)):
        return False
    order = {id(line): number for number, line in enumerate(lines)}
    return any(is_drawn_by_columns(run, order) for _, run in find_runs(rows_of(lines)))


def _descending(lines: Sequence[Line]) -> Iterable[Sequence[Line]]:
    """Yield the lines in pieces that begin where a line stands above the one before it."""
    start = 0
    for number, (above, line) in enumerate(pairwise(lines), start=1):
        if line.baseline - above.baseline > line.height:
            yield lines[start:number]
            start = number
    yield lines[start:]


def _are_level(one: Sequence[Line], other: Sequence[Line]) -> bool:
    """Return whether the last lines of one column stand beside the first ones of another."""
    slack = _LEVEL * other[0].height
    places = list(map(BASELINE, one))
    beside = sum(any(abs(place - line.baseline) <= slack for place in places) for line in other)
    return beside >= _LEAST


def is_drawn_by_columns(run: Run, order: Mapping[int, int]) -> bool:
    """Return whether a run is a table, or labels with values, whose columns were drawn one after the other.

    `order`: the places of pieces as they were drawn, by their identity. A table has a column of numbers.
    """
    rows, columns = run.rows, run.columns
    if len(rows) < _LEAST or sum(map(len, columns)) < _FILLED * len(rows) * len(columns):
        return False
    if not all(_are_on_a_line(row) for row in rows):
        return False
    places = [[order[id(piece)] for piece in column] for column in columns]
    if any(some != list(range(some[0], some[0] + len(some))) for some in places):
        return False
    if any(one[-1] + 1 != other[0] for one, other in pairwise(places)):
        return False
    kind = kind_of(run)
    return kind == "rows" or (kind == "table" and any(map(_are_values, columns[1:])))


def _are_on_a_line(row: Sequence[Line]) -> bool:
    baselines = list(map(BASELINE, row))
    return max(baselines) - min(baselines) <= _LEVEL * row[0].height and all(
        other >= end for end, other in zip(map(RIGHT, row), list(map(LEFT, row))[1:], strict=False)
    )


def _are_values(column: Sequence[Line]) -> bool:
    """Return whether all cells below the head of a column are numbers, sums, times or dates."""
    return all(map(is_number, column[1:]))


def is_number(piece: Line) -> bool:
    """Return whether a cell is a number, a sum, a time or a date."""
    return _VALUE.fullmatch(piece.text) is not None
