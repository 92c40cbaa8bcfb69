"""Estimates of tokens: near enough in both languages, and never far below."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph.messages.tokens import corrected_scale, tokens_of, tokens_of_message

# English as OpenAI's tokenizers count it; a Chinese character is a token or a little more.
COUNTED = [
    ("The quick brown fox jumps over the lazy dog.", 10),
    ("记住我的会计是李伟", 9),
    ("Hello, world!", 4),
    ("", 0),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_estimates_are_on_the_safe_side_and_not_far_off(text: str, tokens: int) -> None:
    assert tokens <= tokens_of(text) <= 2 * tokens + 3


@pytest.mark.parametrize("text", ["a", "中", "😀", "שלום", "\ud800", '{"id":"3f2504e0-4f89-11d3"}', "سلام"])
def test_more_text_is_more_tokens(text: str) -> None:
    assert 0 < tokens_of(text) < tokens_of(text * 50) <= 50 * tokens_of(text) + 1


def test_calls_count_with_their_arguments() -> None:
    call = AIMessage("", tool_calls=[{"name": "read_file", "args": {"file_id": "x" * 400}, "id": "1"}])
    assert tokens_of_message(call) > tokens_of_message(HumanMessage("")) + 100


def test_what_models_report_corrects_the_estimates_step_by_step() -> None:
    scale = 1.0
    for _ in range(10):
        scale = corrected_scale(scale, 1_000, 1_500)
    assert scale == pytest.approx(1.5, abs=0.01)
    assert corrected_scale(1.0, 1_000, 1_000_000) <= 2.0
    assert corrected_scale(1.0, 1_000, 1) == 0.75
    assert corrected_scale(1.2, 100, 500) == 1.2
    assert corrected_scale(1.2, 1_000, 0) == 1.2
