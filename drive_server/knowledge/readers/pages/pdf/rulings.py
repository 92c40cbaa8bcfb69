"""Tables whose cells are ruled: out of the straight lines and rectangles that a page draws."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from operator import itemgetter
from typing import Final

from pypdfium2 import raw

from drive_server.knowledge.readers.pages.paragraphs import SAME_ROW, Line
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
from drive_server.knowledge.readers.pages.pdf.lines import PageText
from drive_server.knowledge.readers.pages.pdf.tables import MOST_SHARED, joined_cells, joined_texts, rows_of

_THIN: Final = 2.5
_SHORTEST: Final = 6.0
_NEAR: Final = 3.0
_MOST_PATHS: Final = 1500
"""A page with more is a drawing."""
_MOST_POINTS: Final = 400
_FIRST_POINTS: Final = 5  # those of a rectangle
_MOVE: Final = raw.FPDF_SEGMENT_MOVETO
_LINE: Final = raw.FPDF_SEGMENT_LINETO
_LEAST: Final = 3  # lines in each direction: two rows and two columns
_UNRULED_ROWS: Final = 3
_FILLED: Final = 0.75
_COVERED: Final = 0.6  # of a table's height or width, by each of its lines


_RECTANGLE: Final = [_MOVE, _LINE, _LINE, _LINE, _LINE]

_Segment = tuple[int, int, tuple[float, float]]
"""The kind of a path's segment, whether it closes its figure, and its point."""

Ruling = tuple[float, float, float]
"""A straight line: its place across its direction, and where it starts and ends along it."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled table: where its columns and rows begin and end, columns from the left, rows from the top."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    def read(self, pieces: Sequence[Line]) -> tuple[list[Line], str | None]:
        """Return the pieces that stand in the table, and its rows with bars between their cells.

        There is no text if pieces stand across its lines, or all of them in one column or row.
        """
        right_edges = [edge + _NEAR for edge in self.columns]
        last_column, last_row = len(self.columns), len(self.rows)
        inside: list[Line] = []
        cells: defaultdict[tuple[int, int], list[Line]] = defaultdict(list)
        run_into: set[tuple[int, int]] = set()
        for piece, row, column in zip(pieces, *self._places(pieces), strict=True):
            if 0 < column < last_column and 0 < row < last_row:
                inside.append(piece)
                cells[row, column].append(piece)
                if piece.right > right_edges[column]:
                    run_into.add((row, column + 1))
        return inside, self._text(cells, len(inside)) if run_into.isdisjoint(cells) else None

    def _places(self, pieces: Sequence[Line]) -> tuple[Iterator[int], Iterator[int]]:
        """Return the row and the column in which each piece begins, from 1; others for one outside of the table."""
        depths = [-edge for edge in self.rows]
        rows = map(bisect_right, repeat(depths), [-piece.baseline - piece.height / 4 for piece in pieces])
        return rows, map(bisect_right, repeat(self.columns), [piece.left + 1 for piece in pieces])

    def _text(self, cells: Mapping[tuple[int, int], list[Line]], pieces: int) -> str | None:
        rows, columns = ({place[which] for place in cells} for which in (0, 1))
        if len(rows) < _LEAST - 1 or len(columns) < _LEAST - 1:
            return None
        several = {place: cell for place, cell in cells.items() if len(cell) > 1}
        for cell in several.values():
            cell.sort(key=lambda piece: (-piece.baseline, piece.left))
        if _shared(several.values()) > MOST_SHARED * pieces:
            return None
        return "\n".join(_texts(cells, sorted(rows), sorted(columns), {row for row, _ in several}))


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
    yield joined_cells(list(map(joined_texts, cells)))


def _shared(cells: Iterable[Sequence[Line]]) -> int:
    """Return how many pieces stand beside another one in their cell."""
    return sum(
        abs(above.baseline - below.baseline) < SAME_ROW * below.height
        for cell in cells
        for above, below in pairwise(cell)
    )


def find_grids(objects: PageObjects, text: PageText) -> list[Grid]:
    """Return the ruled tables of a page from top to bottom."""
    flat: list[Ruling] = []
    upright: list[Ruling] = []
    edges = _edges(objects.of_kind(raw.FPDF_PAGEOBJ_PATH)[:_MOST_PATHS])
    for left, bottom, right, top in map(text.turn, edges) if text.is_turned else edges:
        width, height = right - left, top - bottom
        if width >= _SHORTEST and height <= _THIN:
            flat.append(((bottom + top) / 2, left, right))
        elif height >= _SHORTEST and width <= _THIN:
            upright.append(((left + right) / 2, bottom, top))
    if len(flat) < _LEAST or len(upright) < _LEAST:
        return []
    return list(_grids(flat, upright))


def _grids(flat: list[Ruling], upright: list[Ruling]) -> Iterator[Grid]:
    for verticals in _touching(upright):
        bottom, top = min([start for _, start, _ in verticals]), max([end for _, _, end in verticals])
        left, right = min(verticals)[0], max(verticals)[0]
        across = [
            one
            for one in flat
            if bottom - _NEAR <= one[0] <= top + _NEAR and one[1] < right - _NEAR and one[2] > left + _NEAR
        ]
        columns = _places(verticals, top - bottom)
        rows = _places(across, right - left)
        if len(columns) >= _LEAST and len(rows) >= _LEAST:
            yield Grid(tuple(columns), tuple(reversed(rows)))


def _touching(upright: list[Ruling]) -> Iterator[list[Ruling]]:
    """Yield upright lines in groups whose heights overlap, from top to bottom."""
    group: list[Ruling] = []
    lowest = 0.0
    for one in sorted(upright, key=itemgetter(2), reverse=True):
        _, start, end = one
        if group and end < lowest - _NEAR:
            yield group
            group = []
        lowest = start if not group or start < lowest else lowest
        group.append(one)
    if group:
        yield group


def _places(rulings: list[Ruling], length: float) -> list[float]:
    """Return the places of the lines that cover most of a length, be it in pieces, in ascending order."""
    places: list[float] = []
    covered: list[float] = []
    for at, start, end in sorted(rulings):
        if places and at - places[-1] <= _NEAR:
            covered[-1] += end - start
        else:
            places.append(at)
            covered.append(end - start)
    return [at for at, covers in zip(places, covered, strict=True) if covers >= _COVERED * length]


def _edges(paths: Sequence[Handle]) -> list[Box]:
    """Return the boxes of straight lines, and of the edges of rectangles, that are long enough."""
    edges: list[Box] = []
    shapes: list[Handle] = []
    counts: list[int] = []
    for path, box in zip(paths, object_boxes(paths), strict=True):
        left, bottom, right, top = box
        width, height = right - left, top - bottom
        if (width < _SHORTEST and height < _SHORTEST) or (points := count_segments(path)) > _MOST_POINTS:
            continue
        if width <= _THIN or height <= _THIN:
            edges.append(box)
        else:
            shapes.append(path)
            counts.append(points)
    return edges + _edges_of_shapes(shapes, counts)


def _edges_of_shapes(shapes: Sequence[Handle], counts: Sequence[int]) -> list[Box]:
    """Return the boxes of the edges of shapes with so many points each."""
    edges: list[Box] = []
    begun = segments_of(shapes, [range(min(count, _FIRST_POINTS)) for count in counts])
    end = 0
    for shape, matrix, count in zip(shapes, matrices_of(shapes), counts, strict=True):
        start, end = end, end + min(count, _FIRST_POINTS)
        if count == _FIRST_POINTS and begun.kinds[start:end] == _RECTANGLE:
            rectangle = _rectangle(matrix, begun.points[start:end])
            if rectangle:
                edges += rectangle
                continue
        first = Segments(begun.handles[start:end], begun.kinds[start:end], begun.points[start:end])
        # Further segments are read only if they are asked for, as few shapes are straight so far.
        edges += _straight(matrix, chain(_each(first), _further(shape, count)))
    return edges


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
