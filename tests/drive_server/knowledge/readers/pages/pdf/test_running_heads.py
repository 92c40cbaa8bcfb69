"""Heads and feet that pages repeat go but for the first; all that differs or belongs to the body stays."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.drive_server.knowledge.drawing import Text, column, drawn
from tests.drive_server.knowledge.readers.pages.pdf.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = ["oak", "elm", "ash", "fir", "yew", "box"]


def body(page: int) -> list[Text]:
    return column(72, 700, f"The {WORDS[page - 1]} of the park", "stands by the lake,", "where it was planted.")


def pages(extra: Callable[[int], list[Text]], count: int = 5) -> bytes:
    return drawn(*([*extra(page), *body(page)] for page in range(1, count + 1)))


def test_a_title_and_page_numbers_in_the_margins_go_and_are_counted(tmp_path: Path) -> None:
    data = pages(lambda page: [(72, 765, "Trees of the town"), (300, 30, f"Page {page} of 5")])
    extraction = read(tmp_path, data)
    assert extraction.text.count("Trees of the town") == 1
    assert "Page" not in extraction.text
    assert extraction.omissions == {"margin": 9}
    assert all(f"The {word} of the park" in extraction.text for word in WORDS[:5])


ROMAN = ["i", "ii", "iii", "iv", "v"]
NUMBERS: list[Callable[[int], str]] = [
    str,
    lambda page: f"- {page} -",
    lambda page: f"{page + 40}",
    lambda page: ROMAN[page - 1],
    lambda page: f"{page} / 5",
    lambda page: f"Seite {page} von 5",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_count_with_the_pages_go(tmp_path: Path, number: Callable[[int], str]) -> None:
    extraction = read(tmp_path, pages(lambda page: [(300, 30, number(page))]))
    assert extraction.omissions == {"margin": 5}


def test_a_head_with_a_number_apart_from_it_goes_and_the_first_page_may_lack_it(tmp_path: Path) -> None:
    data = pages(lambda page: [(72, 765, "Annual report"), (500, 765, str(page))] if page > 1 else [])
    extraction = read(tmp_path, data)
    assert extraction.text.count("Annual report") == 1


def test_odd_and_even_pages_may_have_different_heads(tmp_path: Path) -> None:
    data = pages(lambda page: [(72, 765, "The left head" if page % 2 else "The right head")], 6)
    extraction = read(tmp_path, data)
    assert (extraction.text.count("The left head"), extraction.text.count("The right head")) == (1, 1)


CONTENT: dict[str, Callable[[int], list[Text]]] = {
    "numbered invoices": lambda page: [(72, 765, f"Invoice number {4400 + page}")],
    "amounts": lambda page: [(300, 30, f"Amount due: {118 * page}.00 EUR")],
    "the same amount": lambda page: [(72, 765 + page * 0, "Total due: 99.00 EUR")],
    "other numbers": lambda page: [(300, 30, str(37 * page))],
    "a row of figures": lambda page: [(72 + 90 * at, 765, str(149 + page * 7 + at)) for at in range(5)],
    "a row of figures that count": lambda page: [(72 + 90 * at, 30, str(10 * at + page)) for at in range(5)],
    "years": lambda page: [(300, 30, str(2020 + page))],
    "numbered titles": lambda page: [(72, 765, f"Quarter {page}")],
    "numbers behind labels": lambda page: [(72, 765, "Certificate no."), (180, 765, str(page))],
    "values behind labels": lambda page: [(72, 765, "Hours of the ward:"), (500, 765, str(36 + page))],
    "close to the body": lambda page: [(72, 714 + page * 0, "Trees of the town")],
    "within the body": lambda page: [(72, 400 + page * 0, "Trees of the town")],
    "at other heights": lambda page: [(72, 765 - 20 * page, "Trees of the town")],
    "on two pages": lambda page: [(72, 765, "Trees of the town")] if page < 3 else [],
}


@pytest.mark.parametrize("kind", CONTENT)
def test_lines_that_may_be_content_stay(tmp_path: Path, kind: str) -> None:
    extraction = read(tmp_path, pages(CONTENT[kind]))
    flat = " ".join(extraction.text.split())
    texts = Counter(text for page in range(1, 6) for _, _, text in CONTENT[kind](page))
    assert all(flat.count(text) >= count for text, count in texts.items())
    assert extraction.reason == ""


def test_the_same_title_close_to_the_body_of_each_page_stays(tmp_path: Path) -> None:
    data = drawn(*(column(72, 740, "Ward survey", f"Area {page}", "Answers", pitch=20) for page in "ABCDE"))
    assert read(tmp_path, data).text.count("Ward survey") == 5


def test_pages_of_two_files_of_figures_stay(tmp_path: Path) -> None:
    data = drawn(*([(60, 700, f"Quarter {page}"), (60, 600, f"Revenue {300 + page}")] for page in range(1, 5)))
    text = read(tmp_path, data).text
    assert [f"Revenue {300 + page}" in text for page in range(1, 5)] == [True] * 4


def test_sentences_go_on_over_the_page_between_foot_and_head(tmp_path: Path) -> None:
    page = [(72, 765, "Report"), (300, 30, "Page 1"), *column(72, 700, "It rained in the months of the")]
    second = [(72, 765, "Report"), (300, 30, "Page 2"), *column(72, 700, "summer, and the wells were")]
    third = [(72, 765, "Report"), (300, 30, "Page 3"), *column(72, 700, "full again by autumn.")]
    assert "months of the summer, and the wells were full again" in read(tmp_path, drawn(page, second, third)).text
