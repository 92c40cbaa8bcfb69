"""Heads and feet that the pages of a document repeat, and page numbers. Pure; units are points, y grows upwards.

A line is one only if all of this holds, else it is content: it stands in the margin, further from the body than the
body's lines from each other, at the same height on nearly all pages or nearly all odd or even ones, and is the same
there but for a number that counts with the pages.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from drive_server.knowledge.readers.pages.paragraphs import Line, Page
from drive_server.knowledge.readers.pages.pdf.tables import rows_of

_LEAST_PAGES: Final = 3
_NEARLY_ALL: Final = 0.8
_MARGIN: Final = 0.12  # of the page's height
_MAX_ROWS: Final = 3  # of a head
_LONGEST: Final = 1000  # characters: a longer row is a table
_APART: Final = 1.3  # of the body's pitch
_USUAL_PITCH: Final = 2.0  # of the type's height, where the body has single lines only
_SAME_HEIGHT: Final = 4.0
_YEARS: Final = range(1900, 2101)
_NEAR_OFFSETS: Final = range(-50, 501)
_NUMBER: Final = r"(?P<number>\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7})"
_PAGE: Final = r"(?:page|pg\.?|p\.|seite|s\.|página|pagina|pág\.?|side|sida|strona|стр\.?|страница|第)"
_TOTAL: Final = r"(?:\s*(?:of|/|von|de|di|sur|из|页[,，\s]*共)\s*\d{1,4})"
_BARE: Final = re.compile(rf"[^\w]*{_NUMBER}{_TOTAL}?\s*(?:页)?[^\w]*")
_WITH_WORD: Final = re.compile(rf"(?<!\w){_PAGE}\s*{_NUMBER}(?!\w)(?:\s*页)?{_TOTAL}?(?:\s*页)?", re.IGNORECASE)
_APART_AT_END: Final = re.compile(rf"(?:\s{{2,}}|\s[|·•–—-]\s){_NUMBER}{_TOTAL}?\W*$")
_APART_AT_START: Final = re.compile(rf"^\W*{_NUMBER}{_TOTAL}?(?:\s{{2,}}|\s[|·•–—-]\s)")
_LABEL: Final = re.compile(
    r"(?:[:=#№]|\b(?:no|nos|nr|num|number|nummer|numéro|número|n[°º]|total|sum|balance|hours)\.?|[号數数]|编号|合计|总计)"
    r"\W*$",
    re.IGNORECASE,
)
"""A label at the end of a text: a number behind it is its value, however far apart they stand."""
_AMOUNT: Final = re.compile(r"\d[.,]\d\d(?!\d)")
_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class _Row(NamedTuple):
    """A row of a page: its text with `#` in place of the page number, if it may have one, and that number's offset.

    The text is that of rows at the edge and in the margin; for others it is empty.
    """

    page: int
    lines: Sequence[Line]
    pattern: str
    offset: int | None
    baseline: float


def without_running_heads(pages: Sequence[Page]) -> tuple[list[Page], int]:
    """Return the pages without repeated heads and feet but for the first of each, and the number of lines that went."""
    if sum(bool(page.lines) for page in pages) < _LEAST_PAGES:
        return list(pages), 0
    places = {page.number: rows_of(page.lines) for page in pages if page.lines}
    edges = {page.number: _edge_rows(page, places[page.number]) for page in pages if page.lines}
    repeated = _repeated(edges, {page.number: page.height for page in pages})
    if not repeated:
        return list(pages), 0
    rows = {number: list(_rows(number, found, edges[number])) for number, found in places.items()}
    pitch = _body_pitch(rows, repeated)
    gone: set[int] = set()
    seen: set[str] = set()
    for found in rows.values():
        for row in _heads(found, repeated, pitch):
            if row.pattern in seen or _is_number(row):
                gone |= {id(line) for line in row.lines}
            seen.add(row.pattern)
    kept = [replace(page, lines=tuple(line for line in page.lines if id(line) not in gone)) for page in pages]
    return kept, len(gone)


def _edge_rows(page: Page, found: Sequence[Sequence[Line]]) -> dict[int, _Row]:
    """Return those of a page's first and last rows that stand in its margins, by their places among all rows."""
    top, bottom = (1 - _MARGIN) * page.height, _MARGIN * page.height
    edges: dict[int, _Row] = {}
    for place in (*range(min(_MAX_ROWS, len(found))), *range(max(_MAX_ROWS, len(found) - _MAX_ROWS), len(found))):
        lines = found[place]
        baseline = lines[0].baseline
        if not bottom < baseline < top:
            pieces = [piece for line in lines for piece in line.pieces or (line,)]
            pattern, number = _numbered("  ".join([piece.text for piece in pieces]), page.number)
            offset = None if number is None else number - page.number
            edges[place] = _Row(page.number, lines, pattern, offset, baseline)
    return edges


def _rows(page: int, found: Sequence[Sequence[Line]], edges: Mapping[int, _Row]) -> Iterator[_Row]:
    """Yield all rows of a page from top to bottom."""
    for place, lines in enumerate(found):
        yield edges.get(place) or _Row(page, lines, "", None, lines[0].baseline)


def _numbered(text: str, page: int) -> tuple[str, int | None]:
    """Return a row's text with `#` in place of its page number, and the number; the text and None if it has none."""
    if not text or len(text) > _LONGEST:
        return "", None
    for expression in (_BARE, _WITH_WORD, _APART_AT_END, _APART_AT_START):
        match = expression.fullmatch(text) if expression is _BARE else expression.search(text)
        if match is None:
            continue
        number = _value(match["number"])
        if expression is not _WITH_WORD and (
            (number in _YEARS and number - page > _NEAR_OFFSETS.stop)
            or (expression is not _BARE and number - page not in _NEAR_OFFSETS)
        ):
            continue
        start, end = match.span("number")
        if expression is _APART_AT_END and _LABEL.search(text[:start]):
            continue
        return f"{text[:start]}#{text[end:]}", number
    return text, None


def _value(digits: str) -> int:
    if digits.isdecimal():
        return int(digits)
    values = [_ROMAN[digit] for digit in digits.lower()]
    return sum(-one if one < other else one for one, other in zip(values, [*values[1:], 0], strict=True))


def _repeated(edges: Mapping[int, Mapping[int, _Row]], heights: Mapping[int, float]) -> set[int]:
    """Return the rows, by identity, that stand in the margin of nearly all pages."""
    groups: defaultdict[tuple[str, bool], list[_Row]] = defaultdict(list)
    for number, found in edges.items():
        for row in found.values():
            if row.pattern:
                groups[row.pattern, row.baseline > heights[number] / 2].append(row)
    result: set[int] = set()
    for group in groups.values():
        alike = _alike(group)
        if not _AMOUNT.search(alike[0].pattern) and _is_on_nearly_all({row.page for row in alike}, set(edges)):
            result |= {id(row) for row in alike}
    return result


def _alike(group: list[_Row]) -> list[_Row]:
    """Return the rows of a group at the usual height, and among numbered ones those that count with the pages."""
    height = Counter(round(row.baseline) for row in group).most_common(1)[0][0]
    level = [row for row in group if abs(row.baseline - height) <= _SAME_HEIGHT]
    offsets = Counter(row.offset for row in level)
    return [row for row in level if row.offset is None or offsets[row.offset] > 1] or group[:1]


def _is_on_nearly_all(found: set[int], pages: set[int]) -> bool:
    """Return whether a line is on nearly all pages, or nearly all odd or even ones; the first one may lack it."""
    if len(found) < _LEAST_PAGES:
        return False
    for some in (pages, {page for page in pages if page % 2}, {page for page in pages if not page % 2}):
        expected = some - ({min(pages)} - found)
        if found <= some and len(found) >= _NEARLY_ALL * len(expected):
            return True
    return False


def _body_pitch(rows: dict[int, list[_Row]], repeated: set[int]) -> float:
    """Return the usual distance between lines of the body; 0 if its lines stand alone."""
    steps = Counter(
        round(above.baseline - below.baseline)
        for found in rows.values()
        for above, below in pairwise(found)
        if id(above) not in repeated and id(below) not in repeated
    )
    return steps.most_common(1)[0][0] if steps else 0.0


def _heads(rows: list[_Row], repeated: set[int], pitch: float) -> Iterator[_Row]:
    """Yield the repeated rows at the top and at the bottom of a page that stand apart from its body."""
    for edge in (rows, rows[::-1]):
        count = next((place for place, row in enumerate(edge) if id(row) not in repeated), 0)
        while count and not _is_apart(edge[count - 1], edge[count], pitch):
            count -= 1
        yield from edge[:count]


def _is_apart(row: _Row, body: _Row, pitch: float) -> bool:
    return abs(row.baseline - body.baseline) > _APART * (pitch or _USUAL_PITCH * body.lines[0].height / _APART)


def _is_number(row: _Row) -> bool:
    """Return whether a row is a page number and nothing else."""
    words = row.pattern.replace("#", "1")
    return row.offset is not None and bool(_BARE.fullmatch(words) or _WITH_WORD.fullmatch(words))
