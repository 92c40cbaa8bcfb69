from __future__ import annotations

import pytest

from drive_server.knowledge.index.literal import has_literal

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
    assert has_literal(query, knows, ["the invoice", passage])


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
    assert not has_literal(query, lambda word: knows(word) or word.isdigit() or word == "inv", [passage])
