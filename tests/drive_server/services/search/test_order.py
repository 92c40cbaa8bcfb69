from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drive_server.services.search.order import MAX_SNIPPET_CHARACTERS, cut_snippet
from drive_server.services.text.quotations import QuotableText

FILLER = "lorem ipsum dolor sit amet " * 60


def test_a_short_passage_is_shown_whole() -> None:
    assert cut_snippet("short", "absent") == ("short", 0)


def test_a_snippet_shows_the_words_with_what_is_before_them() -> None:
    text = f"{FILLER}Parental leave is 16 weeks. {FILLER}"
    snippet, start = cut_snippet(text, "parental leave")
    assert "Parental leave is 16 weeks." in snippet
    assert snippet.startswith(("lorem", "ipsum", "dolor", "sit", "amet"))
    assert text[start : start + len(snippet)] == snippet


def test_a_snippet_shows_chinese_words() -> None:
    text = "甲" * 2000 + "育儿假为十六周" + "乙" * 2000
    snippet, _ = cut_snippet(text, "育儿假")
    assert "育儿假为十六周" in snippet
    assert len(snippet) == MAX_SNIPPET_CHARACTERS


def test_words_apart_from_each_other_are_shown_from_the_first_on() -> None:
    snippet, _ = cut_snippet(f"{FILLER}weeks{FILLER}leave", "leave weeks")
    assert "weeks" in snippet


def test_a_snippet_without_the_words_is_the_beginning() -> None:
    snippet, start = cut_snippet(FILLER, "absent")
    assert start == 0
    assert FILLER[:MAX_SNIPPET_CHARACTERS].startswith(f"{snippet} ")


@given(st.lists(st.text("abcdé1", min_size=1, max_size=12), min_size=1, max_size=300), st.text("abc", min_size=1))
def test_a_snippet_stands_word_for_word_in_its_text(words: list[str], query: str) -> None:
    text = " ".join(words)
    snippet, _ = cut_snippet(text, query)
    assert QuotableText(text).find(snippet) is not None


@given(st.text(max_size=2000), st.text(min_size=1, max_size=50), st.integers(1, 600))
def test_a_snippet_is_a_part_of_the_text_within_the_limit(text: str, query: str, limit: int) -> None:
    snippet, start = cut_snippet(text, query, limit)
    assert text[start : start + len(snippet)] == snippet
    assert len(snippet) <= limit
    assert bool(snippet) == bool(text)
