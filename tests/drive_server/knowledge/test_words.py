from __future__ import annotations

import pytest

from drive_server.knowledge.script import is_cjk
from drive_server.knowledge.words import indexed_words, queried_words


def test_chinese_is_indexed_in_pairs_and_characters_and_the_rest_as_it_stands() -> None:
    assert indexed_words("take 育儿假 now").split() == ["take", "育儿", "儿假", "育", "儿", "假", "now"]


def test_a_query_has_pairs_or_the_one_character() -> None:
    assert queried_words("育儿假 and 税").split() == ["育儿", "儿假", "and", "税"]


def test_wide_letters_are_the_same_words() -> None:
    assert indexed_words("ＡＢＣ１２").split() == ["ABC12"]


@pytest.mark.parametrize("text", ["育儿假", "育儿假 policy 2024", "ひらがな", "한국어"])
def test_a_text_is_cjk_if_enough_of_it_is(text: str) -> None:
    assert is_cjk(text)


@pytest.mark.parametrize("text", ["", "leave", "12", "the word 假 in an English sentence of some length", "עברית"])
def test_other_texts_are_not(text: str) -> None:
    assert not is_cjk(text)
