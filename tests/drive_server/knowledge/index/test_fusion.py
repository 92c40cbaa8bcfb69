from __future__ import annotations

import pytest

from drive_server.knowledge.index.fusion import MIN_SIMILARITY, Side, fuse, has_exact_match, scaled, vector_confidence


def test_each_side_counts_as_a_share_of_its_best() -> None:
    scores = fuse({"a": 10.0, "b": 5.0}, [Side({"a": 0.4, "b": 0.8}, weight=0.75)])
    assert scores == pytest.approx({"a": 0.25 + 0.375, "b": 0.125 + 0.75})


def test_a_passage_that_only_resembles_a_little_is_no_answer() -> None:
    assert fuse({}, [Side({"a": MIN_SIMILARITY - 0.01, "b": 0.5}, weight=0.75)]).keys() == {"b"}


def test_a_passage_with_the_words_counts_whatever_its_meaning() -> None:
    assert fuse({"a": 3.0}, [Side({"a": -0.2}, weight=0.75)]) == pytest.approx({"a": 0.25})


def test_nothing_found_is_nothing() -> None:
    assert fuse({}, [Side({}, weight=0.5)]) == {}


CLEAR = [0.8, *([0.2] * 60)]
VAGUE = [0.35, *([0.3] * 60)]


def test_a_similarity_that_stands_out_is_trusted_and_one_in_the_field_is_not() -> None:
    assert vector_confidence(CLEAR) == 1
    assert vector_confidence(VAGUE) < 0.1


def test_the_range_of_a_models_cosines_does_not_matter() -> None:
    middle = [0.6, *([0.3] * 60)]
    narrow = [1 - (1 - cosine) / 10 for cosine in middle]
    assert vector_confidence(narrow) == pytest.approx(vector_confidence(middle))


def test_few_passages_have_no_field_of_their_own() -> None:
    assert vector_confidence([0.8]) == vector_confidence([0.8, 0.79, 0.78]) == 1
    assert vector_confidence([MIN_SIMILARITY]) < 0.1
    assert vector_confidence([1.0] * 60) < 0.1


def test_more_is_asked_of_the_meaning_of_names() -> None:
    middle = [0.4, *([0.25] * 60)]
    assert vector_confidence(middle) == 1
    assert vector_confidence(middle, is_literal=True) < 0.1


def test_what_has_no_vector_is_judged_by_its_words_alone() -> None:
    scores = fuse({"unread": 10.0, "read": 10.0}, [Side({"read": 0.3, "near": 0.6}, weight=0.8)])
    assert scores == pytest.approx({"unread": 1.0, "read": 0.2 + 0.4, "near": 0.8})


def test_each_models_similarities_count_as_shares_of_their_own_best() -> None:
    scores = fuse({"a": 10.0, "c": 5.0}, [Side({"a": 0.4, "b": 0.8}, 0.5), Side({"c": 0.3}, 0.8)])
    assert scores == pytest.approx({"a": 0.75, "b": 0.5, "c": 0.1 + 0.8})


def test_a_similarity_counts_from_the_models_floor() -> None:
    assert [scaled(cosine, 0.7) for cosine in (0.7, 0.85, 1.0)] == pytest.approx([0, 0.5, 1])
    assert scaled(0.4, 0.0) == 0.4


KNOWN = {"part", "reviewed", "by", "the", "invoice", "what", "is", "about"}


def knows(word: str) -> bool:
    return word in KNOWN


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("part XJ4000", "Part number XJ4000."),
        ("reviewed by Brzykowski", "Signed, BRZYKOWSKI."),
        ("invoice INV-2024-0031", "See INV-2024-0031."),
        ("ＸＪ４０００", "part xj4000"),
        ("Brzykowski 的报告", "Brzykowski在年度报告中"),
    ],
)
def test_what_the_model_can_not_know_is_literal_where_it_stands(query: str, passage: str) -> None:
    assert has_exact_match(query, knows, ["the invoice", passage])


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("part XJ4000", "Part number XJ40001."),
        ("the invoice", "What is the invoice about?"),
        ("what is INV-2024-0031", "INV-2024-0032 and 0031 of the part"),
        ("年度报告", "年度报告"),
        ("Brzykowski", ""),
    ],
)
def test_known_words_and_words_that_stand_nowhere_are_not(query: str, passage: str) -> None:
    assert not has_exact_match(query, lambda word: knows(word) or word.isdigit() or word == "inv", [passage])
