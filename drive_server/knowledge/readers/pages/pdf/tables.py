"""Rows of pieces that stand in columns: tables, and prose in columns. Pure; units are points, y grows upwards."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise, repeat
from operator import add, attrgetter, le, lt
from typing import Final, Literal

from drive_server.kernel.text.characters import is_cjk
from drive_server.knowledge.readers.pages.paragraphs import BULLETS, SAME_ROW, Line, ends_sentence
from drive_server.knowledge.readers.pages.pdf.blocks import are_blocks
from drive_server.knowledge.readers.pages.pdf.lines import Pieces

Row = Sequence[Line]
Gutter = tuple[float, float]
"""A stretch from left to right in which no piece of a run of rows stands."""

BASELINE: Final = attrgetter("baseline")
LEFT: Final = attrgetter("left")
RIGHT: Final = attrgetter("right")
MAX_SHARED: Final = 0.1
"""Of a table's cells may have several pieces in one row: with more of them the columns are not known."""

_LEAST_ROWS: Final = 3
_GUTTER: Final = 0.5  # of the type's height: the narrowest one
_FAR: Final = 4.0  # of the type's height: a row further down belongs to something else
_WIDE_STEP: Final = 1.25  # of the smallest step: between rows of cells that have several lines
_EVEN: Final = 0.25  # of the type's height: by so much places and blanks differ that are the same
_MARKER: Final = re.compile(r"(?:[^\w\s]{1,2}|[(（]?(?:\d{1,3}(?:\.\d{1,3})*|\w|[ivxlc]{1,6})[.)）、]|\d+(?:\.\d+)+)")
_NUMBER: Final = re.compile(r"\d{1,4}")
_PROSE_WORDS: Final = 3
_PROSE_LETTERS: Final = 8  # of a line in Chinese
_CONTINUED: Final = 0.4  # of the lines of a column of prose
_MAX_PROSE_COLUMNS: Final = 3


class Run:
    """Rows that follow each other and have gutters in common.

    `cells`: the pieces of each row by column, empty ones included; `columns`: those of each column from the top.
    """

    def __init__(self, rows: Sequence[Row], gutters: Sequence[Gutter]) -> None:
        self.rows = rows
        edges = [(left + right) / 2 for left, right in gutters]
        self.cells = [_by_column(row, edges) for row in rows]
        self.columns = [[piece for cell in column for piece in cell] for column in zip(*self.cells, strict=True)]


def _by_column(row: Row, edges: Sequence[float]) -> list[list[Line]]:
    _, lefts, rights = columns_of(row)
    if len(row) == len(edges) + 1 and all(map(le, rights, edges)) and all(map(lt, edges, lefts[1:])):
        return [[piece] for piece in row]  # as in most rows of most tables
    columns: list[list[Line]] = [[] for _ in range(len(edges) + 1)]
    for piece, left, right in zip(row, lefts, rights, strict=True):
        columns[bisect_left(edges, (left + right) / 2)].append(piece)
    return columns


def rows_of(pieces: Sequence[Line]) -> list[list[Line]]:
    """Return the pieces by rows from top to bottom, each from left to right."""
    rows: list[list[Line]] = []
    row: list[Line] = []
    baseline = height = 0.0
    for piece in sorted(pieces, key=BASELINE, reverse=True):
        _, _, _, own_baseline, own_height, _, _ = piece
        if row and baseline - own_baseline < SAME_ROW * (own_height if own_height < height else height):
            row.append(piece)
        else:
            row = [piece]
            rows.append(row)
            baseline, height = own_baseline, own_height
    return [sorted(row, key=LEFT) if len(row) > 1 else row for row in rows]


def pieces_of(lines: Iterable[Line]) -> list[Line]:
    """Return the pieces of lines, one after the other; a line without any is one itself."""
    return [piece for line in lines for piece in line.pieces or (line,)]


def columns_of(row: Row) -> tuple[Sequence[str], Sequence[float], Sequence[float]]:
    """Return the texts of the pieces of a row, and where they begin and end."""
    if isinstance(row, Pieces):
        return row.texts, row.lefts, row.rights
    texts, lefts, rights, *_ = zip(*row, strict=True)
    return texts, lefts, rights


def _level_of(row: Row) -> tuple[float, float]:
    """Return the baseline and the height of a row's first piece."""
    if isinstance(row, Pieces):
        return row.baseline, row.height
    return row[0].baseline, row[0].height


def find_runs(rows: Sequence[Row]) -> Iterator[tuple[int, Run]]:
    """Yield each longest run of at least three rows with gutters in common, with the index of its first row."""
    start = 0
    while start < len(rows):
        if len(rows[start]) == 1:
            start += 1
            continue
        end, gutters = _grow(rows, start)
        if sum(len(row) > 1 for row in rows[start:end]) >= _LEAST_ROWS:
            yield start, Run(rows[start:end], gutters)
            start = end
        else:
            start += 1


def _grow(rows: Sequence[Row], start: int) -> tuple[int, list[Gutter]]:
    """Return the end of the longest run that begins with a row, and the gutters that its rows share."""
    above, height = _level_of(rows[start])
    gutters = _gaps(rows[start], height)
    end, full = start + 1, 1
    while gutters and end < len(rows):
        baseline, height = _level_of(rows[end])
        if above - baseline >= _FAR * height:
            break
        shared = _shared(gutters, rows[end], _GUTTER * height)
        if not shared or (len(shared) < len(gutters) and full >= _LEAST_ROWS):
            break
        gutters, full, end, above = shared, full + (len(rows[end]) > 1), end + 1, baseline
    return end, gutters


def _gaps(row: Row, height: float) -> list[Gutter]:
    _, lefts, rights = columns_of(row)
    # The height is that of each piece before a gap, where these have the same.
    heights = repeat(height) if isinstance(row, Pieces) else [piece.height for piece in row]
    return [
        (end, left)
        for end, left, own in zip(accumulate(rights, max), lefts[1:], heights, strict=False)
        if left - end >= _GUTTER * own
    ]


def _shared(gutters: Sequence[Gutter], row: Row, least: float) -> list[Gutter]:
    """Return the parts of the gutters that a row leaves free."""
    _, lefts, rights = columns_of(row)
    if len(lefts) == len(gutters) + 1 and (narrower := _between(gutters, lefts, rights, least)):
        return narrower
    # Pieces may overlap: free room begins where all pieces so far have ended.
    starts, ends = [-1e9, *accumulate(rights, max)], [*lefts, 1e9]
    shared: list[Gutter] = []
    for left, right in gutters:
        for free in range(bisect_left(ends, left), bisect_right(starts, right)):
            start, end = starts[free], ends[free]
            start, end = start if start > left else left, end if end < right else right
            if end - start >= least:
                shared.append((start, end))
    return shared


def _between(
    gutters: Sequence[Gutter], lefts: Sequence[float], rights: Sequence[float], least: float
) -> list[Gutter] | None:
    """Return the parts of the gutters that a row leaves free with a piece on each side of each, as in most tables.

    Return None if that is not so: a gutter has no room left, or more room beyond one of the pieces.
    """
    narrower: list[Gutter] = []
    before = rights[0]
    for (start, end), one, left, right in zip(gutters, lefts, lefts[1:], rights[1:], strict=False):
        if one - start >= least or end - right >= least or right < before:
            return None
        begin, stop = before if before > start else start, left if left < end else end
        if stop - begin < least:
            return None
        narrower.append((begin, stop))
        before = right
    return narrower


def kind_of(run: Run) -> Literal["columns", "table", "rows", "lines", "prose", "blocks"]:
    """Return how a run is read.

    "columns": one after the other, as prose and lists; "blocks": the same with each line by itself, as addresses;
    "prose": as lines of one text, set with wide blanks; "table": with bars; "rows": each row on a line of its own, such
    as labels and their values; "lines": as any other lines, such as a list.
    """
    columns = run.columns
    if len(columns) == 2 and _are_markers(columns[0], columns[1]):
        return "lines"
    if all(map(_is_prose, columns)):
        bands = list(_bands(run))
        if 1 < len(bands) < len(run.rows) and all(all(band[0]) for band in bands):
            return "table"
        return "columns" if len(columns) <= _MAX_PROSE_COLUMNS else "rows"
    if len(columns) == 2 and sum(piece.text.endswith((":", "：")) for piece in columns[0]) * 2 >= len(columns[0]):
        return "rows"
    if are_blocks(columns):
        return "blocks"
    if _is_justified(run):
        return "prose"
    if all(piece.text.startswith(BULLETS) for column in columns for piece in column):
        return "columns"
    return "rows" if _has_columns_within(run) else "table"


def _is_justified(run: Run) -> bool:
    """Return whether each row has blanks of one width that stand below no others: words of a justified text."""
    rows = [row for row in run.rows if len(row) >= _LEAST_ROWS]
    if len(run.columns) < _LEAST_ROWS or len(rows) < _LEAST_ROWS or not all(map(_has_even_gaps, rows[:_LEAST_ROWS])):
        return False
    inner = [[cell[0] for cell in column if cell] for column in list(zip(*run.cells, strict=True))[1:-1]]
    return all(map(_has_even_gaps, rows[:-1])) and not any(_is_aligned(column) for column in inner if column)


def _has_even_gaps(row: Row) -> bool:
    gaps = [other.left - one.right for one, other in pairwise(row)]
    return max(gaps) - min(gaps) <= _EVEN * row[0].height


def _is_aligned(column: Sequence[Line]) -> bool:
    """Return whether the cells of a column begin or end below each other, or have one middle."""
    lefts, rights = list(map(LEFT, column)), list(map(RIGHT, column))
    slack = _EVEN * column[0].height
    return any(max(places) - min(places) <= slack for places in (lefts, rights, list(map(add, lefts, rights))))


def _has_columns_within(run: Run) -> bool:
    """Return whether pieces of one row share a cell: some columns are too close to each other to be told apart."""
    cells = [cell for row in run.cells for cell in row if cell]
    return sum(len(cell) > 1 for cell in cells) > MAX_SHARED * len(cells)


def table_text(run: Run) -> str:
    """Return the rows of a table, their cells between bars; lines of one cell are joined."""
    return "\n".join(joined_cells(row) for row in map(_joined, _merged(run)))


def joined_cells(cells: Sequence[str]) -> str:
    """Return a row of a table with bars between its cells."""
    return " | ".join(cells)


def joined_texts(pieces: Sequence[Line]) -> str:
    """Return the text of the pieces of a cell."""
    if len(pieces) == 1:
        return pieces[0].text
    return " ".join([piece.text for piece in pieces])


def _joined(lines: Sequence[Sequence[Row]]) -> list[str]:
    if len(lines) == 1:
        return list(map(joined_texts, lines[0]))
    return [joined_texts([piece for row in lines for piece in row[column]]) for column in range(len(lines[0]))]


def _merged(run: Run) -> Iterator[list[list[list[Line]]]]:
    """Yield the lines of each row of a table."""
    bands = list(_bands(run))
    if all(len(band) == 1 or all(band[0]) for band in bands) and _are_sentences(bands):
        yield from bands
        return
    current: list[list[list[Line]]] = []
    for cells in run.cells:
        if current and _goes_on(current[-1], cells):
            current.append(cells)
            continue
        if current:
            yield current
        current = [cells]
    if current:
        yield current


def _are_sentences(bands: Sequence[Sequence[Sequence[Row]]]) -> bool:
    """Return whether the lines of the cells in bands go on with each other."""
    below = [
        cell[0]
        for band in bands
        for above, cells in pairwise(band)
        for one, cell in zip(above, cells, strict=True)
        if one and cell
    ]
    return bool(below) and sum(piece.text[:1].islower() for piece in below) >= _CONTINUED * len(below)


def _goes_on(above: Sequence[Row], cells: Sequence[Row]) -> bool:
    """Return whether a row only goes on with sentences of the row above it."""
    if cells[0]:
        return False
    filled = [(one, other) for one, other in zip(above, cells, strict=True) if other]
    return all(one and other[0].text[:1].islower() for one, other in filled)


def _bands(run: Run) -> Iterator[list[list[list[Line]]]]:
    """Yield rows that stand closer to each other than to the next ones; each row by itself if all are as close."""
    steps = [above[0].baseline - below[0].baseline for above, below in pairwise(run.rows)]
    least = min(steps)
    band: list[list[list[Line]]] = []
    is_even = max(steps) <= _WIDE_STEP * least
    for cells, step in zip(run.cells, (0.0, *steps), strict=True):
        if band and (is_even or step > _WIDE_STEP * least):
            yield band
            band = []
        band.append(cells)
    yield band


def _are_markers(marks: Sequence[Line], texts: Sequence[Line]) -> bool:
    """Return whether a column has bullets or numbers of paragraphs, or of lines of prose."""
    if all(_MARKER.fullmatch(mark.text) for mark in marks):
        return True
    return all(_NUMBER.fullmatch(mark.text) for mark in marks) and _is_prose(texts)


def _is_prose(column: Sequence[Line]) -> bool:
    """Return whether the lines of a column go on with each other's sentences."""
    if len(column) < _LEAST_ROWS:
        return False
    whole = " ".join([piece.text for piece in column])
    letters = len(whole) - len(column) + 1
    cjk = is_cjk(whole)
    words = len(whole.split())
    if letters < _PROSE_LETTERS * len(column) if cjk else words < _PROSE_WORDS * len(column):
        return False
    continued = sum(
        not ends_sentence(above.text) and (cjk or below.text[:1].islower()) for above, below in pairwise(column)
    )
    return continued >= _CONTINUED * (len(column) - 1)
