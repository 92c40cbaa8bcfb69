"""Quotations in an answer, and texts that only look like one."""

import pytest

from graph.citations.quotes import MAX_QUOTATIONS, has_marks, quotations_of


def found(answer: str, *known: str) -> list[tuple[str, int | None]]:
    return [(one.words, one.number) for one in quotations_of(answer, known)]


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        ("Staff get “25 days” [1].", [("25 days", 1)]),
        ('Staff get "25 days," they say [2].', [("25 days", 2)]),
        ("可以休「十二周」【3】。", [("十二周", 3)]),
        ("It says:\n\n> Staff get 25 days. [1]\n\nThat is all.", [("Staff get 25 days", 1)]),
        ("It says:\n> one line\n> and another line\n", [("one line\nand another line", None)]),
        ("Two: “a b” [1] and “c d” [1][2].", [("a b", 1), ("c d", 1), ("", 2)]),
        ("So it is [1].\n\n[1] “Staff get 25 days” — /HR/Handbook.md", [("Staff get 25 days", 1)]),
        ("So it is [1].\n\n[1] /HR/Handbook.md", [("", 1)]),
        ("Short “words” count for nothing, nor does `“code in here is no quotation at all”`.", []),
        ("“These are more than enough words to count.”", [("These are more than enough words to count", None)]),
        ("A [link](https://example.com) and [a](b) and a list[0] of [12345] and [x].", []),
        ("> as [3] has shown before, this holds [1]", [("as [3] has shown before, this holds", 1)]),
        ("“Run `npm test` first” [1].", [("Run `npm test` first", 1)]),
        ("“**Staff** get it”[1]", [("**Staff** get it", 1)]),
        ("> “**Staff get it.**” [1]", [("Staff get it", 1)]),
        ("", []),
    ],
)
def test_quotations_and_their_numbers_are_found(answer: str, quoted: list[tuple[str, int | None]]) -> None:
    assert found(answer) == quoted


def test_what_is_known_already_is_no_quotation() -> None:
    query = "the rules about parental leave in Spain"
    assert found(f"I searched for “{query}”.") == [(query, None)]
    assert found(f"I searched for “{query}”.", query) == []


def test_a_quotation_knows_what_the_answer_names_as_its_source() -> None:
    answer = "In /a/b.md it says “one two” [1].\n\n[1]: /c/d.md, page 3"
    (quotation,) = quotations_of(answer)
    assert "/a/b.md" in quotation.source
    assert "/c/d.md, page 3" in quotation.source


@pytest.mark.parametrize(
    "answer",
    ["“" * 50_000, '"' * 50_001, "[1]" * 50_000, "> \n" * 50_000, "“a" * 50_000, "\n[1] “" * 9_000],
    ids=["openings", "straight ones", "marks", "blocks", "unclosed ones", "lines"],
)
def test_a_hostile_answer_is_read_in_the_end(answer: str) -> None:
    assert len(quotations_of(answer)) <= MAX_QUOTATIONS


def test_numbers_are_marks_but_links_are_none() -> None:
    assert has_marks("so [1]")
    assert not has_marks("so [1](https://example.com)")
