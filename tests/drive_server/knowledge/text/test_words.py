from __future__ import annotations

import pytest

from drive_server.kernel.text.characters import is_cjk
from drive_server.knowledge.text.words import (
    JOINER,
    MAX_WORD_BYTES,
    identifiers,
    indexed_words,
    is_indexed,
    queried_words,
)


def test_chinese_is_indexed_in_pairs_and_characters_and_the_rest_as_it_stands() -> None:
    assert indexed_words("take 育儿假 now").split() == ["take", "育儿", "儿假", "育", "儿", "假", "now"]


def test_a_query_has_pairs_or_the_one_character() -> None:
    assert queried_words("育儿假 and 税").split() == ["育儿", "儿假", "and", "税"]


def test_wide_letters_are_the_same_words() -> None:
    assert indexed_words("ＡＢＣ１２").split() == ["ABC12"]


def test_traditional_and_simplified_characters_are_the_same_words() -> None:
    assert indexed_words("員工請假") == indexed_words("员工请假")
    assert queried_words("員工請假") == queried_words("员工请假")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Invoice INV-2024-0031.", {"inv-2024-0031"}),
        ("发票INV-2024-0031号", {"inv-2024-0031"}),
        ("ＩＮＶ－２０２４－００３１", {"inv-2024-0031"}),
        ("call foo_bar.baz(v1.2.3)", {"foo-bar-baz", "v1-2-3"}),
        ("<Ann.Lee@Example.com>", {"ann-lee-example-com", "ann-lee", "example-com"}),
        ("C:\\data\\plan_b.txt", {"c-data-plan-b-txt", "plan-b-txt"}),
        ("two-dimensional and/or well-known", set()),
        ("3.5 is not 35", {"3-5"}),
    ],
)
def test_identifiers_are_words_of_their_own_too(text: str, words: set[str]) -> None:
    for split in (indexed_words(text), queried_words(text)):
        assert {word for word in split.split() if JOINER in word} == {word.replace("-", JOINER) for word in words}


def test_an_identifier_too_long_for_the_index_has_a_short_stand_in() -> None:
    path = "https://example.com/" + "folder/" * 20 + "page_1.html"
    whole, *parts = identifiers(path)
    assert whole in indexed_words(f"see {path}, please").split()
    assert all(len(word.encode()) <= MAX_WORD_BYTES for word in (whole, *parts))
    assert whole != next(identifiers(path.replace("page_1", "page_2")))


@pytest.mark.parametrize("text", ["", "...", "the", "To be, or not to be!", "_a_ " * 1000])
def test_nothing_of_function_words_is_indexed(text: str) -> None:
    assert not is_indexed(text)


@pytest.mark.parametrize("text", ["them", "to be is fine", "的", "7", "a-z"])
def test_something_of_other_texts_is(text: str) -> None:
    assert is_indexed(text)


@pytest.mark.parametrize("text", ["育儿假", "育儿假 policy 2024", "ひらがな", "한국어"])
def test_a_text_is_cjk_if_enough_of_it_is(text: str) -> None:
    assert is_cjk(text)


@pytest.mark.parametrize("text", ["", "leave", "12", "the word 假 in an English sentence of some length", "עברית"])
def test_other_texts_are_not(text: str) -> None:
    assert not is_cjk(text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C++", "written in C++."),
        ("c#", "使用C#开发"),
        (".NET", "runs on .NET 8"),
        ("Ｃ＋＋", "c++"),
        ("9783161484100", "ISBN 978-3-16-148410-0"),
        ("978-3-16-148410-0", "9783161484100"),
        ("年假制度", "公司规定，年假\n制度如下"),
        ("年假制度", "年假\r\n  制度"),
    ],
)
def test_a_query_has_a_word_in_common_with_what_it_means(query: str, text: str) -> None:
    rare = {word for word in queried_words(query).casefold().split() if len(word) > 1 and word.isalnum()}
    assert rare
    assert not rare.isdisjoint(indexed_words(text).casefold().split())


@pytest.mark.parametrize(("query", "text"), [("C++", "C# and C"), ("C#", "C++"), (".NET", "the net is wide")])
def test_names_with_signs_are_told_apart(query: str, text: str) -> None:
    assert set(identifiers(query)).isdisjoint(identifiers(text))


def test_paragraphs_end_words_and_what_is_no_cjk_keeps_its_lines() -> None:
    assert "假制" not in indexed_words("年假\n\n制度")
    assert indexed_words("leave\nrules") == "leave\nrules"
