from __future__ import annotations

import pytest

from drive_server.knowledge.embedding.embedder import CjkEmbedder, LocalEmbedder
from drive_server.knowledge.index.fusion import (
    CJK_TRUST,
    MIN_SIMILARITY,
    QUESTION,
    TRUST,
    WESTERN_TRUST,
    Side,
    fuse,
    scaled,
    share_beside,
    spread_of,
)


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
VAGUE = [0.32, *([0.3] * 60)]


def test_meaning_counts_least_where_nothing_stands_out_and_up_to_three_quarters() -> None:
    assert LocalEmbedder.weight * WESTERN_TRUST.of(spread_of(VAGUE)) == pytest.approx(0.4125)
    assert LocalEmbedder.weight * WESTERN_TRUST.of(spread_of(CLEAR)) == pytest.approx(0.75)


def test_the_model_of_chinese_counts_for_three_parts_of_four_at_least_and_its_spreads_are_smaller() -> None:
    assert CjkEmbedder.weight * CJK_TRUST.of(spread_of(VAGUE)) == pytest.approx(0.765)
    assert CjkEmbedder.weight * CJK_TRUST.of(CJK_TRUST.high) == CjkEmbedder.weight
    assert CJK_TRUST.high < TRUST.high


def test_the_fewer_words_of_the_question_any_passage_has_the_more_meaning_counts() -> None:
    assert share_beside(0.6, 1.0) == pytest.approx(0.6)
    assert share_beside(0.6, 0.5) == pytest.approx(0.75)
    assert share_beside(0.6, 0.0) == 1


def test_trust_grows_with_the_spread_between_its_bounds() -> None:
    trusts = [TRUST.of(spread / 10) for spread in range(11)]
    assert trusts == sorted(trusts)
    assert (trusts[0], trusts[-1]) == (TRUST.least, 1)
    assert TRUST.least < TRUST.of((TRUST.low + TRUST.high) / 2) < 1


def test_the_range_of_a_models_cosines_does_not_matter() -> None:
    middle = [0.6, *([0.3] * 60)]
    narrow = [1 - (1 - cosine) / 10 for cosine in middle]
    assert spread_of(narrow) == pytest.approx(spread_of(middle))


def test_few_passages_have_no_field_of_their_own() -> None:
    assert (
        spread_of([0.8]) == spread_of([0.8, 0.79, 0.78]) == pytest.approx((0.8 - MIN_SIMILARITY) / (1 - MIN_SIMILARITY))
    )
    assert spread_of([MIN_SIMILARITY]) == spread_of([0.1]) == spread_of([1.0] * 60) == 0


def test_what_has_no_vector_is_judged_by_its_words_alone() -> None:
    scores = fuse({"unread": 10.0, "read": 10.0}, [Side({"read": 0.3, "near": 0.6}, weight=0.8)])
    assert scores == pytest.approx({"unread": 1.0, "read": 0.2 + 0.4, "near": 0.8})


def test_each_models_similarities_count_as_shares_of_their_own_best() -> None:
    scores = fuse({"a": 10.0, "c": 5.0}, [Side({"a": 0.4, "b": 0.8}, 0.5), Side({"c": 0.3}, 0.8)])
    assert scores == pytest.approx({"a": 0.75, "b": 0.5, "c": 0.1 + 0.8})


def test_a_similarity_counts_from_the_models_floor() -> None:
    assert [scaled(cosine, 0.7) for cosine in (0.7, 0.85, 1.0)] == pytest.approx([0, 0.5, 1])
    assert scaled(0.4, 0.0) == 0.4


def test_for_a_question_with_short_answers_meaning_counts_more_and_never_less_than_else() -> None:
    assert QUESTION.of(0.5, 100) == QUESTION.of(0.5, 500) == 0.9
    assert QUESTION.of(0.5, 575) == pytest.approx(0.7)
    assert QUESTION.of(0.5, 650) == QUESTION.of(0.5, 1000) == 0.5
    assert QUESTION.of(0.95, 100) == 0.95
