from __future__ import annotations

import json
from typing import Any

import pytest

from graph.models.client.answers import INVALID_CHARACTERS, MAX_ANSWER, Answer, AnswerTooLongError, usage_of


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def call(arguments: Any, index: int | None = 0, key: str | None = None, name: str | None = None) -> dict[str, Any]:
    given = {"index": index, "id": key, "function": {"name": name, "arguments": arguments}}
    return chunk(tool_calls=[{part: value for part, value in given.items() if value is not None}])


def calls_of(*chunks: dict[str, Any]) -> list[tuple[str | None, str, Any]]:
    answer = Answer()
    answer.add(chunks)
    return [(made["id"], made["name"], made["args"]) for made in answer.last().tool_calls]


def test_what_arrived_together_is_one_piece_of_text() -> None:
    answer = Answer()
    piece = answer.add([chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo")])
    assert piece is not None
    assert piece.text == "Hello"
    assert answer.add([chunk(content=None), {"choices": []}]) is None


def test_calls_in_turns_are_each_put_together() -> None:
    assert calls_of(
        call('{"a":', 0, "one", "patch"),
        call('{"b":', 1, "two", "read"),
        call("1}", 0),
        call("2}", 1),
    ) == [("one", "patch", {"a": 1}), ("two", "read", {"b": 2})]


@pytest.mark.parametrize("indices", [(None, None), (0, 0), (0, 1), (3, 7)])
def test_calls_with_ids_of_their_own_are_kept_apart_whatever_their_numbers(
    indices: tuple[int | None, int | None],
) -> None:
    first, second = indices
    made = calls_of(call('{"a":1}', first, "one", "patch"), call('{"b":2}', second, "two", "read"))
    assert made == [("one", "patch", {"a": 1}), ("two", "read", {"b": 2})]


def test_pieces_without_number_and_id_belong_to_the_newest_call() -> None:
    made = calls_of(call("", None, "one", "patch"), call('{"a":', None), call("1}", None))
    assert made == [("one", "patch", {"a": 1})]


def test_calls_without_numbers_in_one_chunk_are_told_apart_by_their_places() -> None:
    both = [{"function": {"name": name, "arguments": "{}"}} for name in ("patch", "read")]
    assert [name for _, name, _ in calls_of(chunk(tool_calls=both))] == ["patch", "read"]


def test_a_name_that_is_repeated_and_arguments_that_are_an_object_are_understood() -> None:
    assert calls_of(call("", 0, "one", "patch"), call({"a": "四"}, 0, None, "patch")) == [("one", "patch", {"a": "四"})]


def test_only_the_first_choice_counts() -> None:
    answer = Answer()
    piece = answer.add([chunk(content="a"), chunk(index=1, content="b"), chunk(finish="stop", index=1)])
    assert piece is not None
    assert piece.text == "a"
    assert not answer.whole


def test_what_a_model_refuses_with_is_its_answer() -> None:
    piece = Answer().add([chunk(refusal="I can't "), chunk(refusal="do that.", content=None)])
    assert piece is not None
    assert piece.text == "I can't do that."


def test_reasoning_is_not_said() -> None:
    answer = Answer()
    thought = answer.add([chunk(reasoning_content="hm"), chunk(reasoning="hm")])
    assert thought is not None
    assert (thought.text, thought.additional_kwargs) == ("", {"reasoning_content": "hmhm"})
    assert answer.begun


@pytest.mark.parametrize("arguments", ["{nope}" * 100_000, '{"a":' * 100_000, "[" * 200_000, '"' + "x" * 300_000])
def test_long_garbage_is_an_invalid_call_at_once(arguments: str) -> None:
    answer = Answer()
    answer.add([call(arguments, 0, "one", "patch")])
    last = answer.last()
    assert last.tool_calls == []
    assert len(last.invalid_tool_calls[0]["args"] or "") <= INVALID_CHARACTERS + 1


def test_garbage_that_is_cut_behind_a_whole_object_does_not_become_a_call() -> None:
    whole = json.dumps({"a": "x" * (INVALID_CHARACTERS - 9)})
    answer = Answer()
    answer.add([call(whole + "}" * 10, 0, "one", "patch")])
    assert len(whole) == INVALID_CHARACTERS
    last = answer.last()
    assert (last.tool_calls, len(last.invalid_tool_calls)) == ([], 1)
    with pytest.raises(ValueError, match="Extra data"):
        json.loads(last.invalid_tool_calls[0]["args"] or "")


@pytest.mark.parametrize("endless", [chunk(content="x" * 1_000_000), call("x" * 1_000_000)])
def test_an_answer_that_does_not_end_is_ended(endless: dict[str, Any]) -> None:
    answer = Answer()
    with pytest.raises(AnswerTooLongError):
        answer.add([endless] * (MAX_ANSWER // 1_000_000 + 1))


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": ["x"]},
        {"choices": 7},
        {"choices": [{"delta": "x"}]},
        {"choices": [{"delta": {"tool_calls": ["x"]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": "x"}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": ["x"]}]}}], "usage": []},
        {"usage": "x"},
        {"usage": {"prompt_tokens": "many"}},
    ],
)
def test_chunks_of_another_shape_are_an_error_or_nothing(odd: dict[str, Any]) -> None:
    answer = Answer()
    try:
        assert answer.add([odd]) is None
        answer.last()
    except ValueError:
        return


def test_counts_that_a_service_leaves_out_are_nothing() -> None:
    assert usage_of({"prompt_tokens": 2, "completion_tokens": None}) == {
        "input_tokens": 2,
        "output_tokens": 0,
        "total_tokens": 2,
        "input_token_details": {},
        "output_token_details": {},
    }
