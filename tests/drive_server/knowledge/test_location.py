"""The conversion of offsets to places and back."""

from __future__ import annotations

import pytest

from drive_server.knowledge.location import find_headings, find_place, find_span
from drive_server.knowledge.readers.source.markdown import markdown_elements
from drive_server.knowledge.text.elements import Extraction, Part, join
from drive_server.knowledge.text.place import SourceRange, parse_place


def exact(text: str) -> Extraction:
    return Extraction("ready", elements=tuple(markdown_elements(text, len(text))), text=text, exact=True)


PAGES = join(
    [Part("title", "One", page=1, level=1), Part("text", "first words", page=1), Part("text", "second words", page=2)]
)
SLIDES = join([Part("text", f"words of {number}", place=SourceRange("slide", number, number)) for number in (1, 2, 3)])
CELLS = join(
    [
        Part("table", "a | b", place=SourceRange("sheet", 1, 3, "预算 2024", ("A", "B"))),
        Part("table", "c | d | e", place=SourceRange("sheet", 4, 9, "预算 2024", ("A", "C"))),
        Part("table", "f", place=SourceRange("sheet", 1, 1, "x!y", ("A", "A"))),
    ]
)


@pytest.mark.parametrize(
    "written",
    ["page=2", "page=2-3", "slide=10", "part=4", "line=10-20", "sheet=Budget!A2:D15", "sheet=预算 a!b!AA1:AB20"],
)
def test_a_place_is_read_as_it_is_written(written: str) -> None:
    assert str(parse_place(written)) == written


@pytest.mark.parametrize(
    "written",
    ["", "page", "page=", "page=0x2", "page=3-2", "line=-1", "sheet=A2:D15", "sheet=x!A9:B2", "chapter=1", "page=٣x"],
)
def test_what_is_no_place_is_none(written: str) -> None:
    assert parse_place(written) is None


@pytest.mark.parametrize(
    ("extraction", "words", "place"),
    [
        (PAGES, "first words", "page=1"),
        (PAGES, "words\n\nsecond", "page=1-2"),
        (SLIDES, "words of 2", "slide=2"),
        (SLIDES, SLIDES.text, "slide=1-3"),
        (CELLS, "b", "sheet=预算 2024!A1:B3"),
        (CELLS, "a | b\n\nc", "sheet=预算 2024!A1:C9"),
        (CELLS, "f", "sheet=x!y!A1:A1"),
        (exact("# A\n\none\ntwo\n"), "two", "line=4"),
        (exact("# A\r\n\r\none\r\ntwo"), "one\r\ntwo", "line=3-4"),
        (Extraction("ready", text="nobody knows"), "knows", ""),
    ],
)
def test_words_are_found_at_their_place_and_the_place_leads_back(
    extraction: Extraction, words: str, place: str
) -> None:
    start = extraction.text.index(words)
    assert find_place(extraction, start, start + len(words)) == place
    if place:
        sought = parse_place(place)
        assert sought is not None
        stretch = find_span(extraction, sought)
        assert stretch is not None
        assert stretch[0] <= start
        assert start + len(words) <= stretch[1]


def test_a_place_that_is_not_there_leads_nowhere() -> None:
    for extraction, place in (
        (PAGES, "page=3"),
        (PAGES, "slide=1"),
        (CELLS, "sheet=x!A1:B2"),
        (exact("a\n"), "line=2"),
    ):
        sought = parse_place(place)
        assert sought is not None
        assert find_span(extraction, sought) is None


def test_the_titles_above_are_told_outermost_first() -> None:
    text = "# A\n\n## B\n\none\n\n## C\n\n### D\n\ntwo\n\n# E\n\nthree\n"
    extraction = exact(text)
    assert find_headings(extraction, text.index("one")) == "A › B"
    assert find_headings(extraction, text.index("two")) == "A › C › D"
    assert find_headings(extraction, text.index("three")) == "E"
    assert find_headings(exact("no titles"), 3) == ""
