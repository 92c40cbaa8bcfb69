import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.language import Language
from graph.limits.limits import (
    LIMIT,
    REFUSED,
    RETRY_AFTER,
    TEXTS,
    fingerprint,
    limit_reached,
    messages_of_turn,
    repeated_calls,
    result_text,
)
from graph.settings import AgentSettings
from graph.state import State, new_turn


def test_a_result_is_its_text_and_its_data_as_compact_json() -> None:
    assert (
        result_text("One item.", {"items": [{"name": "育儿假"}]}, 1_000) == 'One item.\n{"items":[{"name":"育儿假"}]}'
    )
    assert result_text("Fine.", None, 1_000) == "Fine."


def test_a_long_text_is_cut_inside_valid_json_with_the_place_to_go_on_from() -> None:
    text = result_text("It:", {"text": "a" * 5_000, "start": 100, "total_characters": 9_000}, 1_000)
    data = json.loads(text.split("\n")[1])
    assert len(data["text"]) < 1_000
    assert data["truncated"] is True
    assert data["end"] == 100 + len(data["text"])
    assert f"start={data['end']}" in text


def test_anything_else_is_cut_at_its_end_with_a_pointer() -> None:
    text = result_text("Items:", {"items": ["x" * 100] * 100}, 1_000)
    assert len(text) < 1_200
    assert "1000 of" in text
    assert "cursor" in text
    assert len(result_text("y" * 5_000, None, 1_000)) < 1_200


def state(language: Language = "en", usage: dict[str, int] | None = None, **more: Any) -> State:
    turn = {**new_turn("r1", language), "usage": usage or {}}
    return {"messages": [HumanMessage("hi", id="r1")], "turn": turn, **more}  # pyright: ignore[reportReturnType] - a part of a state


def refused(key: str, limit: str, **more: Any) -> list[Any]:
    call = {"name": "read_file", "args": {}, "id": key}
    return [
        AIMessage("", tool_calls=[call]),
        ToolMessage("no", tool_call_id=key, additional_kwargs={LIMIT: limit, **more}),
    ]


def test_a_turn_without_a_limit_goes_on() -> None:
    spent = {"input_tokens": 10**9, "output_tokens": 10**9, "total_tokens": 2 * 10**9}
    assert limit_reached(state(usage=spent, rounds=19), AgentSettings()) is None


def test_the_end_of_the_rounds_is_said_in_both_languages() -> None:
    told = limit_reached(state(rounds=20), AgentSettings())
    assert told is not None
    assert told["code"] == "tool_rounds"
    assert "20 rounds" in told["message"]
    told = limit_reached(state("zh", rounds=20), AgentSettings())
    assert told is not None
    assert "20 轮" in told["message"]


def test_tokens_end_a_turn_at_their_limit_and_not_before() -> None:
    settings = AgentSettings(max_run_tokens=100)
    assert limit_reached(state(usage={"total_tokens": 99}), settings) is None
    told = limit_reached(state("zh", usage={"total_tokens": 100}), settings)
    assert told is not None
    assert told["code"] == "run_tokens"
    assert "100" in told["message"]


def test_cost_ends_a_turn_by_the_prices_of_the_settings() -> None:
    settings = AgentSettings(max_run_cost=0.5, input_price=1, output_price=10)
    assert limit_reached(state(usage={"input_tokens": 400_000, "output_tokens": 9_000}), settings) is None
    told = limit_reached(state(usage={"input_tokens": 400_000, "output_tokens": 10_000}), settings)
    assert told is not None
    assert told["code"] == "run_cost"
    assert "0.5000" in told["message"]


def test_without_prices_nothing_costs_anything() -> None:
    assert limit_reached(state(usage={"total_tokens": 10**9}), AgentSettings(max_run_cost=0.01)) is None


def test_a_model_is_told_once_that_a_call_was_not_made_and_the_second_time_the_turn_ends() -> None:
    messages = [HumanMessage("hi", id="r1"), *refused("1", "tool_rate", **{RETRY_AFTER: 9})]
    assert limit_reached(state(messages=messages), AgentSettings()) is None
    messages += refused("2", "tool_rate", **{RETRY_AFTER: 7})
    told = limit_reached(state(messages=messages), AgentSettings())
    assert told is not None
    assert (told["code"], told.get("retry_after_seconds")) == ("tool_rate", 7)
    assert "7 seconds" in told["message"]


def test_calls_that_were_refused_in_an_earlier_turn_do_not_count() -> None:
    earlier = [HumanMessage("before"), *refused("1", "repeated_call"), *refused("2", "repeated_call")]
    assert limit_reached(state(messages=[*earlier, HumanMessage("hi", id="r1")]), AgentSettings()) is None


@pytest.mark.parametrize("code", sorted(code for code in TEXTS.codes if code.startswith("stopped.")))
def test_every_limit_has_its_words_in_both_languages_and_says_what_is_next(code: str) -> None:
    facts = {"limit": 1, "used": 2, "seconds": 3}
    english, chinese = (TEXTS.say(code, language, **facts) for language in ("en", "zh"))
    assert "stays done" in english
    assert "已完成的操作会保留" in chinese
    assert {f"stopped.{refused}" for refused in REFUSED} <= TEXTS.codes


def made(key: str, result: str, **args: Any) -> list[AnyMessage]:
    call = {"name": "read_file", "args": args, "id": key}
    return [AIMessage("", tool_calls=[call]), ToolMessage(result, tool_call_id=key)]


def times(messages: list[AnyMessage], **args: Any) -> int:
    return repeated_calls(messages)[fingerprint({"name": "read_file", "args": args})]


def test_the_same_call_with_the_same_result_is_counted() -> None:
    messages = [*made("1", "30 days", file_id="a"), *made("2", "30 days", file_id="a")]
    assert times(messages, file_id="a") == 2
    assert times(messages, file_id="b") == 0


def test_arguments_in_another_order_are_the_same_call() -> None:
    messages = [*made("1", "x", file_id="a", start=1), *made("2", "x", start=1, file_id="a")]
    assert times(messages, start=1, file_id="a") == 2


def test_a_call_that_finds_something_new_each_time_is_not_in_vain() -> None:
    messages = [message for number in range(9) for message in made(str(number), f"{number} of 9", file_id="a")]
    assert times(messages, file_id="a") == 1


def test_two_results_in_turns_are_each_counted() -> None:
    messages = [message for number in range(6) for message in made(str(number), f"{number % 2}", file_id="a")]
    assert times(messages, file_id="a") == 3


def test_calls_that_can_not_be_read_are_counted_too() -> None:
    broken: dict[str, Any] = {"name": "read_file", "args": '{"file_id', "error": "cut"}
    messages: list[AnyMessage] = []
    for key in ("1", "2"):
        messages += [AIMessage("", invalid_tool_calls=[{**broken, "id": key}]), ToolMessage("no", tool_call_id=key)]
    assert repeated_calls(messages)[fingerprint(broken)] == 2


def test_a_turn_begins_after_the_persons_newest_message() -> None:
    turn = made("2", "x", file_id="a")
    assert list(messages_of_turn([HumanMessage("1"), *made("1", "x", file_id="a"), HumanMessage("2"), *turn])) == turn
    assert list(messages_of_turn(turn)) == turn


def test_cost_is_counted_call_by_call_at_the_prices_of_each_model() -> None:
    settings = AgentSettings(model="gpt-4.1", max_run_cost=0.01)
    assert limit_reached(state(usage={"input_tokens": 10**9, "cost_micros": 9_999}), settings) is None
    reached = limit_reached(state(usage={"input_tokens": 1, "cost_micros": 10_001}), settings)
    assert reached is not None
    assert reached["code"] == "run_cost"
    assert "0.0100" in reached["message"]
