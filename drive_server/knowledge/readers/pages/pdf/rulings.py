"""Tables whose cells are ruled: out of the straight lines and rectangles that a page draws."""

import ctypes
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pypdfium2 import raw

from drive_server.knowledge.readers.pages.paragraphs import SAME_ROW, Line
from drive_server.knowledge.readers.pages.pdf.lines import PageText
from drive_server.knowledge.readers.pages.pdf.tables import MOST_SHARED, joined_cells, rows_of

_THIN: Final = 2.5
_SHORTEST: Final = 6.0
_NEAR: Final = 3.0
_MOST_PATHS: Final = 1500
"""A page with more is a drawing."""
_MOST_POINTS: Final = 400
_LEAST: Final = 3  # lines in each direction: two rows and two columns
_UNRULED_ROWS: Final = 3
_FILLED: Final = 0.75
_COVERED: Final = 0.6  # of a table's height or width, by each of its lines


@dataclass(frozen=True, slots=True)
class Ruling:
    """A straight line: `at` is its place across its direction, `start` and `end` are those along it."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled table: where its columns and rows begin and end, columns from the left, rows from the top."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    def inside(self, pieces: Sequence[Line]) -> list[Line]:
        """Return the pieces that stand in the table."""
        return [piece for piece in pieces if self._cell(piece) is not None]

    def text(self, pieces: Sequence[Line]) -> str | None:
        """Return the rows with bars between their cells; None if pieces stand across its lines, or in one column.

        `pieces`: those that stand in the table.
        """
        cells: dict[tuple[int, int], list[Line]] = {}
        for piece in sorted(pieces, key=lambda piece: (-piece.baseline, piece.left)):
            cells.setdefault(self._cell(piece) or (0, 0), []).append(piece)
        if len({row for row, _ in cells}) < _LEAST - 1 or len({column for _, column in cells}) < _LEAST - 1:
            return None
        if any(self._runs_over(cell, found) and (cell[0], cell[1] + 1) in cells for cell, found in cells.items()):
            return None
        if _shared(cells.values()) > MOST_SHARED * len(pieces):
            return None
        rows = (self._lines(cells, row) for row in range(len(self.rows) - 1))
        return "\n".join(joined_cells(line) for lines in rows for line in lines if any(line))

    def _lines(self, cells: Mapping[tuple[int, int], Sequence[Line]], row: int) -> Iterator[list[str]]:
        """Yield a row's cells, but for columns that are blank in all rows.

        If nearly every column has something on each line, these are rows without rules, and each is yielded.
        """
        columns = [cells.get((row, column), ()) for column in sorted({column for _, column in cells})]
        lines = rows_of([piece for cell in columns for piece in cell])
        filled = sum(bool(cell) for cell in columns)
        if len(lines) >= _UNRULED_ROWS and sum(map(len, lines)) >= _FILLED * filled * len(lines):
            columns_of_lines = [[[piece for piece in cell if piece in line] for cell in columns] for line in lines]
        else:
            columns_of_lines = [columns]
        for cells_of_line in columns_of_lines:
            yield [" ".join(piece.text for piece in cell) for cell in cells_of_line]

    def _runs_over(self, cell: tuple[int, int], pieces: Sequence[Line]) -> bool:
        """Return whether a cell's text goes on in the next column."""
        return any(piece.right > self.columns[cell[1] + 1] + _NEAR for piece in pieces)

    def _cell(self, piece: Line) -> tuple[int, int] | None:
        """Return the row and the column in which a piece begins."""
        column = bisect_right(self.columns, piece.left + 1) - 1
        row = bisect_right(self.rows, -piece.baseline - piece.height / 4, key=lambda edge: -edge) - 1
        if 0 <= column < len(self.columns) - 1 and 0 <= row < len(self.rows) - 1:
            return row, column
        return None


def _shared(cells: Iterable[Sequence[Line]]) -> int:
    """Return how many pieces stand beside another one in their cell."""
    return sum(
        abs(above.baseline - below.baseline) < SAME_ROW * below.height
        for cell in cells
        for above, below in pairwise(cell)
    )


def find_grids(page: Any, text: PageText) -> list[Grid]:
    """Return the ruled tables of a page from top to bottom."""
    flat: list[Ruling] = []
    upright: list[Ruling] = []
    for left, bottom, right, top in map(text.turn, _edges(page.raw)):
        if right - left >= _SHORTEST and top - bottom <= _THIN:
            flat.append(Ruling((bottom + top) / 2, left, right))
        elif top - bottom >= _SHORTEST and right - left <= _THIN:
            upright.append(Ruling((left + right) / 2, bottom, top))
    if len(flat) < _LEAST or len(upright) < _LEAST:
        return []
    return list(_grids(flat, upright))


def _grids(flat: list[Ruling], upright: list[Ruling]) -> Iterator[Grid]:
    for verticals in _touching(upright):
        bottom, top = min(one.start for one in verticals), max(one.end for one in verticals)
        left, right = min(one.at for one in verticals), max(one.at for one in verticals)
        across = [
            one
            for one in flat
            if bottom - _NEAR <= one.at <= top + _NEAR and one.start < right - _NEAR and one.end > left + _NEAR
        ]
        columns = _places(verticals, top - bottom)
        rows = _places(across, right - left)
        if len(columns) >= _LEAST and len(rows) >= _LEAST:
            yield Grid(tuple(columns), tuple(reversed(rows)))


def _touching(upright: list[Ruling]) -> Iterator[list[Ruling]]:
    """Yield upright lines in groups whose heights overlap, from top to bottom."""
    group: list[Ruling] = []
    lowest = 0.0
    for one in sorted(upright, key=lambda one: -one.end):
        if group and one.end < lowest - _NEAR:
            yield group
            group = []
        lowest = min(lowest, one.start) if group else one.start
        group.append(one)
    if group:
        yield group


def _places(rulings: list[Ruling], length: float) -> list[float]:
    """Return the places of the lines that cover most of a length, be it in pieces, in ascending order."""
    places: list[tuple[float, float]] = []
    for one in sorted(rulings, key=lambda one: (one.at, one.start)):
        if places and one.at - places[-1][0] <= _NEAR:
            places[-1] = (places[-1][0], places[-1][1] + one.end - one.start)
        else:
            places.append((one.at, one.end - one.start))
    return [at for at, covered in places if covered >= _COVERED * length]


def _edges(page: Any) -> Iterator[tuple[float, float, float, float]]:
    """Yield the boxes of straight lines, and of the edges of rectangles."""
    count = raw.FPDFPage_CountObjects(page)
    paths = 0
    for number in range(count):
        one = raw.FPDFPage_GetObject(page, number)
        if raw.FPDFPageObj_GetType(one) != raw.FPDF_PAGEOBJ_PATH:
            continue
        paths += 1
        if paths > _MOST_PATHS:
            return
        yield from _path_edges(one)


def _path_edges(path: Any) -> Iterator[tuple[float, float, float, float]]:
    values = [ctypes.c_float() for _ in range(4)]
    points = raw.FPDFPath_CountSegments(path)
    if points > _MOST_POINTS or not raw.FPDFPageObj_GetBounds(path, *map(ctypes.byref, values)):
        return
    left, bottom, right, top = (value.value for value in values)
    if right - left <= _THIN or top - bottom <= _THIN:
        yield left, bottom, right, top
        return
    yield from _segments(path, points)


def _segments(path: Any, count: int) -> Iterator[tuple[float, float, float, float]]:
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(path, ctypes.byref(matrix))
    x, y = ctypes.c_float(), ctypes.c_float()
    x_reference, y_reference = ctypes.byref(x), ctypes.byref(y)
    start = last = (0.0, 0.0)
    for number in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, number)
        raw.FPDFPathSegment_GetPoint(segment, x_reference, y_reference)
        point = matrix.a * x.value + matrix.c * y.value + matrix.e, matrix.b * x.value + matrix.d * y.value + matrix.f
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind != raw.FPDF_SEGMENT_LINETO or min(abs(point[0] - last[0]), abs(point[1] - last[1])) > _THIN:
            return  # a shape, which rules no cells
        else:
            yield _box(last, point)
        last = point
        if raw.FPDFPathSegment_GetClose(segment):
            yield _box(point, start)


def _box(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float, float, float]:
    (left, right), (bottom, top) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return left, bottom, right, top
