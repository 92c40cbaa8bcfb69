from __future__ import annotations

import pytest

from drive_server.knowledge.fusion import LEAST_SIMILARITY, fuse


def test_each_side_counts_as_a_share_of_its_best() -> None:
    scores = fuse({"a": 10.0, "b": 5.0}, {"a": 0.4, "b": 0.8}, weight=0.75)
    assert scores == pytest.approx({"a": 0.25 + 0.375, "b": 0.125 + 0.75})


def test_a_passage_that_only_resembles_a_little_is_no_answer() -> None:
    assert fuse({}, {"a": LEAST_SIMILARITY - 0.01, "b": 0.5}, weight=0.75).keys() == {"b"}


def test_a_passage_with_the_words_counts_whatever_its_meaning() -> None:
    assert fuse({"a": 3.0}, {"a": -0.2}, weight=0.75) == pytest.approx({"a": 0.25})


def test_nothing_found_is_nothing() -> None:
    assert fuse({}, {}, weight=0.5) == {}
