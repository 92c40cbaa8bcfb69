from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.kernel.text.sentences import sentence_spans, split_sentences, split_words


def test_english_sentences_end_at_full_stops_but_not_at_abbreviations() -> None:
    text = 'Dr. Smith left. "Really?" He said so, e.g. yesterday. See Fig. 3 for U.S. data. 3.5 m were sold!'
    assert split_sentences(text) == [
        "Dr. Smith left.",
        '"Really?"',
        "He said so, e.g. yesterday.",
        "See Fig. 3 for U.S. data.",
        "3.5 m were sold!",
    ]


def test_lower_case_text_has_sentences_too() -> None:
    assert split_sentences("the flow is laminar . the wall is heated. it works") == [
        "the flow is laminar .",
        "the wall is heated.",
        "it works",
    ]


def test_chinese_sentences_end_at_their_own_marks() -> None:
    text = "员工可以休假。需要申请！（见附件。）他说：“好。”然后走了"
    assert split_sentences(text) == ["员工可以休假。", "需要申请！", "（见附件。）", "他说：“好。”", "然后走了"]


def test_words_are_words_han_characters_and_marks() -> None:
    assert split_words("12-week leave, 育儿假") == ["12", "-", "week", "leave", ",", "育", "儿", "假"]


@given(st.text())
def test_sentences_are_in_order_and_lose_nothing_but_white_space(text: str) -> None:
    spans = list(sentence_spans(text))
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


@pytest.mark.parametrize("piece", [".", " ", "\n", ". ", "。", "\n ", ".\n", '."', "a"])
def test_a_long_run_of_one_thing_takes_no_quadratic_time(piece: str) -> None:
    begin = time.process_time()
    list(sentence_spans(piece * 200_000))
    assert time.process_time() - begin < 5
