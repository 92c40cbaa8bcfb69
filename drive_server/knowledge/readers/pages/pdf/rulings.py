"""Tables whose cells are ruled: out of the straight lines and rectangles that a page draws."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter, sub
from typing import Final

from pypdfium2 import raw

from drive_server.knowledge.readers.pages.pdf.calls import (
    Box,
    Handle,
    PageObjects,
    Segments,
    closes_figure,
    count_segments,
    matrices_of,
    object_boxes,
    segments_of,
)
from drive_server.knowledge.readers.pages.pdf.grids import LEAST, NEAR, Grid, Rule, Span
from drive_server.knowledge.readers.pages.pdf.lines import PageText

_THIN: Final = 2.5
_SHORTEST: Final = 6.0
_MAX_PATHS: Final = 1500
"""A page with more is a drawing."""
_MAX_POINTS: Final = 400
_FIRST_POINTS: Final = 5  # those of a rectangle
_MOVE: Final = raw.FPDF_SEGMENT_MOVETO
_LINE: Final = raw.FPDF_SEGMENT_LINETO
_COVERED: Final = 0.6  # of a table's height or width, by each of its lines
_CROSSED: Final = 0.9
"""Of a column's width, by a line that divides only some columns: less may underline a word."""
_TOUCHED: Final = 0.1
"""Of a column's width, by a line that divides most columns."""

_RECTANGLE: Final = [_MOVE, _LINE, _LINE, _LINE, _LINE]

_SINGLE: Final = [_MOVE, _LINE]

_FEW: Final = 24
"""Of a page's shapes are read one by one: among more, so many are samples of the others."""

_Shape = tuple[Handle, int, Box]
"""A path, the number of its points, and its box."""

_Segment = tuple[int, int, tuple[float, float]]
"""The kind of a path's segment, whether it closes its figure, and its point."""

_Rulings = Mapping[float, Sequence[Span]]
"""The pieces of straight lines by their places across their direction."""

_AT: Final = itemgetter(0)
_START: Final = itemgetter(0)
_END: Final = itemgetter(1)


def find_grids(objects: PageObjects, text: PageText) -> list[Grid]:
    """Return the ruled tables of a page from top to bottom."""
    edges, rectangles = _edges(objects.of_kind(raw.FPDF_PAGEOBJ_PATH)[:_MAX_PATHS])
    if text.is_turned:
        edges, rectangles = list(map(text.turn, edges)), list(map(text.turn, rectangles))
    flat, upright = _straight_lines(edges)
    _add_rectangles(rectangles, flat, upright)
    if len(flat) < LEAST - 1 or not upright or len(flat) + len(upright) <= LEAST:
        return []
    return list(_grids(flat, upright))


def _straight_lines(edges: Iterable[Box]) -> tuple[defaultdict[float, list[Span]], defaultdict[float, list[Span]]]:
    """Return the level and the upright ones among the boxes of lines."""
    flat: defaultdict[float, list[Span]] = defaultdict(list)
    upright: defaultdict[float, list[Span]] = defaultdict(list)
    for left, bottom, right, top in edges:
        width, height = right - left, top - bottom
        if width >= _SHORTEST and height <= _THIN:
            flat[(bottom + top) / 2].append((left, right))
        elif height >= _SHORTEST and width <= _THIN:
            upright[(left + right) / 2].append((bottom, top))
    return flat, upright


def _add_rectangles(
    rectangles: Sequence[Box], flat: defaultdict[float, list[Span]], upright: defaultdict[float, list[Span]]
) -> None:
    """Add the edges of rectangles. Cells of a row have their heights in common, those of a column their widths."""
    if not rectangles:
        return
    lefts, bottoms, rights, tops = zip(*rectangles, strict=True)
    widths, heights = list(zip(lefts, rights, strict=True)), list(zip(bottoms, tops, strict=True))
    known: dict[tuple[Span, ...], list[Span]] = {}
    """The rows of a table mostly have the same columns."""
    for ends, spans, lines in ((heights, widths, flat), (widths, heights, upright)):
        found: defaultdict[Span, list[Span]] = defaultdict(list)
        for own_ends, span in zip(ends, spans, strict=True):
            found[own_ends].append(span)
        for (first, second), some in found.items():
            key = tuple(some)
            united = known.get(key)
            if united is None:
                united = known[key] = _united([span for span in some if span[1] - span[0] >= _SHORTEST])
            lines[first] += united
            lines[second] += united


def _grids(flat: _Rulings, upright: _Rulings) -> Iterator[Grid]:
    for verticals in _touching(upright):
        spans = list(chain.from_iterable(verticals.values()))
        bottom, top = min(map(_START, spans)), max(map(_END, spans))
        left, right = min(verticals), max(verticals)
        across = {
            at: near
            for at, pieces in flat.items()
            if bottom - NEAR <= at <= top + NEAR
            and (near := [one for one in pieces if one[0] < right - NEAR and one[1] > left + NEAR])
        }
        uprights = [(at, pieces) for at, pieces in _lines(verticals) if _length(pieces) >= _COVERED * (top - bottom)]
        grid = _grid(uprights, across) if uprights else None
        if grid:
            yield grid


def _grid(uprights: Sequence[tuple[float, Sequence[Span]]], across: _Rulings) -> Grid | None:
    """Return the table of these upright and level lines, None if they are too few."""
    columns = [at for at, _ in uprights]
    level = list(_lines(across))
    sides = _open_ends([pieces for _, pieces in level], columns[0], columns[-1]) if len(level) > 1 else ()
    columns = [*sides[:1], *columns, *sides[1:]]
    walls = [*([()] if sides else []), *(pieces for _, pieces in uprights), *([()] if sides else [])]
    rules = list(_rules(level, columns, columns[-1] - columns[0])) if len(columns) >= LEAST else []
    if len(rules) < LEAST - 1:
        return None
    whole = frozenset(range(1, len(columns)))
    # A single line across many others divides two columns.
    is_divided = bool(sides) or len(uprights) > 1
    ends = _open_ends([pieces for _, pieces in uprights], rules[0].at, rules[-1].at) if is_divided else ()
    rules = [*(Rule(at, whole) for at in ends[:1]), *rules, *(Rule(at, whole) for at in ends[1:])]
    if len(rules) < LEAST:
        return None
    return Grid(tuple(columns), tuple(reversed(rules)), is_open=bool(sides or ends), walls=tuple(walls))


def _open_ends(lines: Sequence[Sequence[Span]], first: float, last: float) -> tuple[float, ...]:
    """Return where lines begin and end that all reach as far beyond the first and the last line across; else nothing.

    Such lines divide the cells of a table that has no box around it.
    """
    if not lines or min(lines[0], key=_START)[0] >= first - _SHORTEST:  # as in a table with a box
        return ()
    united = [_united(pieces) for pieces in lines]
    starts, ends = [spans[0][0] for spans in united], [spans[-1][1] for spans in united]
    if max(map(len, united)) > 1 or max(starts) - min(starts) > NEAR or max(ends) - min(ends) > NEAR:
        return ()
    return (min(starts), max(ends)) if max(starts) < first - _SHORTEST and min(ends) > last + _SHORTEST else ()


def _touching(upright: _Rulings) -> Iterator[_Rulings]:
    """Yield upright lines in groups whose heights overlap, from top to bottom."""
    bottoms: list[float] = []
    # Lines of one table have few different ends.
    for start, end in sorted(set(chain.from_iterable(upright.values())), key=_END, reverse=True):
        if not bottoms or end < bottoms[-1] - NEAR:
            bottoms.append(start)
        elif start < bottoms[-1]:
            bottoms[-1] = start
    if len(bottoms) == 1:
        yield upright
        return
    for above, bottom in pairwise((math.inf, *bottoms)):
        group = {
            at: [one for one in pieces if bottom - NEAR <= one[1] < above - NEAR] for at, pieces in upright.items()
        }
        yield {at: pieces for at, pieces in group.items() if pieces}


def _lines(rulings: _Rulings) -> Iterator[tuple[float, list[Span]]]:
    """Yield the place of each line, in ascending order, and the pieces in which it is drawn."""
    pieces: list[Span] = []
    first = 0.0
    for at, some in sorted(rulings.items(), key=_AT):
        if pieces and at - first > NEAR:
            yield first, pieces
            pieces = []
        if not pieces:
            first = at
        pieces += some
    if pieces:
        yield first, pieces


def _length(pieces: Sequence[Span]) -> float:
    return sum(map(sub, map(_END, pieces), map(_START, pieces)))


def _rules(level: Iterable[tuple[float, Sequence[Span]]], columns: Sequence[float], width: float) -> Iterator[Rule]:
    """Yield the level lines that cross a column at least, in their order."""
    known: dict[tuple[frozenset[Span], float], frozenset[int]] = {}
    """Most lines of a table are drawn in the same pieces."""
    for at, pieces in level:
        is_whole = _length(pieces) >= _COVERED * width
        key = frozenset(pieces), _TOUCHED if is_whole else _CROSSED
        crossed = known.get(key)
        if crossed is None:
            crossed = known[key] = _crossed(*key, columns)
        if is_whole or crossed:
            yield Rule(at, crossed)


def _crossed(pieces: Iterable[Span], least: float, columns: Sequence[float]) -> frozenset[int]:
    """Return the columns, from 1, of whose widths a line covers that part."""
    joined = _united(pieces)
    if joined[0][0] <= columns[0] + NEAR and joined[0][1] >= columns[-1] - NEAR:
        return frozenset(range(1, len(columns)))
    return frozenset(
        number
        for number, (left, right) in enumerate(pairwise(columns), start=1)
        if sum([max(0.0, min(end, right) - max(start, left)) for start, end in joined]) >= least * (right - left)
    )


def _united(pieces: Iterable[Span]) -> list[Span]:
    """Return where the pieces of a line start and end, those that touch as one."""
    joined: list[Span] = []
    for start, end in sorted(pieces):
        if joined and start <= joined[-1][1] + NEAR:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _edges(paths: Sequence[Handle]) -> tuple[list[Box], list[Box]]:
    """Return the boxes of straight lines, and of the edges of shapes, that are long enough, and those of rectangles."""
    edges: list[Box] = []
    rectangles: list[_Shape] = []
    shapes: list[_Shape] = []
    counts, boxes = list(map(count_segments, paths)), list(object_boxes(paths))
    if _are_large(boxes) and counts.count(_FIRST_POINTS) == len(counts):  # as in a table of cells that are all ruled
        rectangles = list(zip(paths, counts, boxes, strict=True))
    else:
        for path, points, box in zip(paths, counts, boxes, strict=True):
            left, bottom, right, top = box
            width, height = right - left, top - bottom
            if points > _MAX_POINTS or (width < _SHORTEST and height < _SHORTEST):
                continue
            if width <= _THIN or height <= _THIN:
                edges.append(box)
            else:
                (rectangles if points == _FIRST_POINTS else shapes).append((path, points, box))
    if len(rectangles) > _FEW and _are_rectangles(rectangles[:: len(rectangles) // _FEW]):
        return edges + _edges_of_shapes(shapes), [box for _, _, box in rectangles]
    return edges + _edges_of_shapes([*rectangles, *shapes]), []


def _are_large(boxes: Sequence[Box]) -> bool:
    """Return whether all boxes are longer and higher than the shortest line."""
    if not boxes:
        return False
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(map(sub, rights, lefts)) >= _SHORTEST and min(map(sub, tops, bottoms)) >= _SHORTEST


def _are_rectangles(samples: Sequence[_Shape]) -> bool:
    """Return whether the boxes of all these shapes are their edges. Pages have hundreds of cells, drawn alike."""
    paths = [path for path, _, _ in samples]
    begun = segments_of(paths, [range(_FIRST_POINTS)] * len(paths))
    figures = zip(*[iter(zip(begun.kinds, begun.points, strict=True))] * _FIRST_POINTS, strict=True)
    return all(
        _is_its_box(shape[2], _edges_of_figure(matrix, figure) or _edges_of_shapes([shape]))
        for shape, matrix, figure in zip(samples, matrices_of(paths), figures, strict=True)
    )


def _edges_of_figure(matrix: tuple[float, ...], figure: Sequence[tuple[int, tuple[float, float]]]) -> list[Box] | None:
    """Return the longer edges of an upright rectangle by the kinds and points of its segments, None for others."""
    kinds, points = zip(*figure, strict=True)
    return _rectangle(matrix, points) if list(kinds) == _RECTANGLE else None


def _is_its_box(box: Box, edges: Sequence[Box]) -> bool:
    """Return whether edges lie on a box, but for the width of their lines."""
    left, bottom, right, top = box
    return bool(edges) and all(
        min(abs(one[0] - left) + abs(one[2] - left), abs(one[0] - right) + abs(one[2] - right)) <= NEAR
        or min(abs(one[1] - bottom) + abs(one[3] - bottom), abs(one[1] - top) + abs(one[3] - top)) <= NEAR
        for one in edges
    )


def _edges_of_shapes(shapes: Sequence[_Shape]) -> list[Box]:
    """Return the boxes of the edges of shapes."""
    edges: list[Box] = []
    paths = [path for path, _, _ in shapes]
    begun = segments_of(paths, [range(min(count, _FIRST_POINTS)) for _, count, _ in shapes])
    end = 0
    for (shape, count, _), matrix in zip(shapes, matrices_of(paths), strict=True):
        start, end = end, end + min(count, _FIRST_POINTS)
        if count == len(_SINGLE) and begun.kinds[start:end] == _SINGLE and not closes_figure(begun.handles[end - 1]):
            edges += _single(matrix, *begun.points[start:end])
            continue
        if count == _FIRST_POINTS and begun.kinds[start:end] == _RECTANGLE:
            rectangle = _rectangle(matrix, begun.points[start:end])
            if rectangle:
                edges += rectangle
                continue
        first = Segments(begun.handles[start:end], begun.kinds[start:end], begun.points[start:end])
        # Further segments are read only if they are asked for, as few shapes are straight so far.
        edges += _straight(matrix, chain(_each(first), _further(shape, count)))
    return edges


def _single(matrix: tuple[float, ...], start: tuple[float, float], end: tuple[float, float]) -> list[Box]:
    """Return the box of a path that is one line, if that is long enough, and level or upright."""
    a, b, c, d, e, f = matrix
    (left, bottom), (right, top) = start, end
    x, y = a * left + c * bottom + e, b * left + d * bottom + f
    other_x, other_y = a * right + c * top + e, b * right + d * top + f
    width, height = abs(other_x - x), abs(other_y - y)
    if (width > _THIN and height > _THIN) or (width < _SHORTEST and height < _SHORTEST):
        return []
    return [_box(x, y, other_x, other_y)]


def _further(shape: Handle, count: int) -> Iterator[_Segment]:
    """Yield the segments of a shape behind the first ones."""
    if count > _FIRST_POINTS:
        yield from _each(segments_of([shape], [range(_FIRST_POINTS, count)]))


def _each(segments: Segments) -> Iterator[_Segment]:
    return zip(segments.kinds, map(closes_figure, segments.handles), segments.points, strict=True)


def _rectangle(matrix: tuple[float, ...], points: Sequence[tuple[float, float]]) -> list[Box] | None:
    """Return the longer edges of an upright rectangle that is not turned, None for another figure."""
    a, b, c, d, e, f = matrix
    (x, y), (second_x, second_y), (other_x, other_y), (fourth_x, fourth_y), end = points
    if b or c or end != (x, y):
        return None
    if not (
        (second_x == x and second_y == other_y and fourth_x == other_x and fourth_y == y)
        or (second_y == y and second_x == other_x and fourth_y == other_y and fourth_x == x)
    ):
        return None
    left, bottom, right, top = _box(a * x + e, d * y + f, a * other_x + e, d * other_y + f)
    edges: list[Box] = []
    if right - left >= _SHORTEST:
        edges = [(left, bottom, right, bottom), (left, top, right, top)]
    if top - bottom >= _SHORTEST:
        edges += [(left, bottom, left, top), (right, bottom, right, top)]
    return edges


def _straight(matrix: tuple[float, ...], segments: Iterable[_Segment]) -> list[Box]:
    """Return the boxes of a path's longer lines, up to the first one that is neither level nor upright."""
    a, b, c, d, e, f = matrix
    found: list[Box] = []
    start_x = start_y = last_x = last_y = 0.0
    for kind, closes, (left, bottom) in segments:
        x, y = a * left + c * bottom + e, b * left + d * bottom + f
        if kind == _MOVE:
            start_x, start_y = x, y
        else:
            width, height = abs(x - last_x), abs(y - last_y)
            if kind != _LINE or (width > _THIN and height > _THIN):
                break  # a shape, which rules no cells
            if width >= _SHORTEST or height >= _SHORTEST:
                found.append(_box(last_x, last_y, x, y))
        last_x, last_y = x, y
        if closes:
            found.append(_box(x, y, start_x, start_y))
    return found


def _box(x: float, y: float, other_x: float, other_y: float) -> Box:
    left, right = (x, other_x) if x < other_x else (other_x, x)
    bottom, top = (y, other_y) if y < other_y else (other_y, y)
    return left, bottom, right, top
