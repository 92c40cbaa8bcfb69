"""The place and headings of a span of text, and the span of a place."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from drive_server.knowledge.chunk import HEADING_SEPARATOR, MAX_HEADING
from drive_server.knowledge.text.elements import Element, Extraction
from drive_server.knowledge.text.place import SourceRange


def find_place(extraction: Extraction, start: int, end: int) -> str:
    """Return the place of a span as `SourceRange` writes it; empty if it has offsets only."""
    found: SourceRange | None = None
    for element in _touched(extraction.elements, start, end):
        place = _own(element)
        found = found.until(place) if found and place else found or place
    if found is None and extraction.exact:
        found = _lines(extraction.text, start, end)
    return str(found or "")


def find_headings(extraction: Extraction, start: int) -> str:
    """Return the titles above an offset, outermost first, as passages of the index have them."""
    above: list[str] = []
    level = 7
    last = bisect_right(extraction.elements, start, key=lambda element: element.start)
    for element in reversed(extraction.elements[:last]):
        if element.kind == "title" and element.level < level:
            above.append(" ".join(element.text.split()))
            level = element.level
        if level <= 1:
            break
    return HEADING_SEPARATOR.join(reversed(above))[:MAX_HEADING]


def find_span(extraction: Extraction, place: SourceRange) -> tuple[int, int] | None:
    """Return the offsets of a place; None if the text has no such place. Blocks."""
    if place.kind == "line" and extraction.exact:
        return _line_offsets(extraction.text, place)
    inside = [element for element in extraction.elements if _overlaps(_own(element), place)]
    return (inside[0].start, max(element.end for element in inside)) if inside else None


def _touched(elements: tuple[Element, ...], start: int, end: int) -> Iterable[Element]:
    first = bisect_right(elements, start, key=lambda element: element.end)
    last = bisect_left(elements, max(end, start + 1), key=lambda element: element.start)
    return elements[first:last]


def _own(element: Element) -> SourceRange | None:
    return element.place or (SourceRange("page", element.page, element.page) if element.page else None)


def _overlaps(one: SourceRange | None, other: SourceRange) -> bool:
    if one is None or (one.kind, one.name) != (other.kind, other.name):
        return False
    return one.first <= other.last and other.first <= one.last


def _lines(text: str, start: int, end: int) -> SourceRange:
    first = text.count("\n", 0, start) + 1
    return SourceRange("line", first, first + text.count("\n", start, max(start, end - 1)))


def _line_offsets(text: str, place: SourceRange) -> tuple[int, int] | None:
    start = 0
    for _ in range(place.first - 1):
        start = text.find("\n", start) + 1
        if not start:
            return None
    end = start
    for _ in range(place.last - place.first + 1):
        found = text.find("\n", end)
        if found < 0:
            return (start, len(text)) if start < len(text) else None
        end = found + 1
    return start, end - 1
