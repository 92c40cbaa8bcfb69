from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.limits.limits import fingerprint, messages_of_turn, repeated_calls


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
