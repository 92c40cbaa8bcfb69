from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.memory import LEFT_OUT, SUMMARY_CHARACTERS, blocks_of, fold, unanswered, window


def asking(key: str, *calls: str) -> AIMessage:
    return AIMessage("", id=key, tool_calls=[{"name": "read_file", "args": {}, "id": call} for call in calls])


def turn(number: int, size: int = 100) -> list[AnyMessage]:
    return [
        HumanMessage(f"question {number}", id=f"h{number}"),
        asking(f"a{number}", f"c{number}"),
        ToolMessage("r" * size, id=f"t{number}", tool_call_id=f"c{number}"),
        AIMessage(f"answer {number}", id=f"e{number}"),
    ]


def turns(count: int, size: int = 100) -> list[AnyMessage]:
    return [message for number in range(count) for message in turn(number, size)]


def test_what_fits_is_all_kept_and_needs_no_summary() -> None:
    folded = fold(turns(3), 10_000)
    assert (folded.summary, folded.window_start) == ("", None)
    assert window(turns(3), folded.window_start, 10_000) == turns(3)


def test_what_falls_out_is_summarised_by_turns_and_nothing_is_destroyed() -> None:
    messages = turns(10, 500)
    folded = fold(messages, 1_200)
    assert folded.window_start == "h8"
    assert "question 7" in folded.summary
    assert "answer 7" in folded.summary
    assert "question 8" not in folded.summary
    assert window(messages, "h8", 10_000)[0].id == "h8"
    assert len(messages) == 40


def test_the_newest_turn_is_kept_however_long_it_is() -> None:
    assert fold(turns(3, 5_000), 100).window_start == "h2"


def test_the_summary_is_bounded_and_prefers_what_is_new() -> None:
    folded = fold(turns(500), 100)
    assert len(folded.summary) <= SUMMARY_CHARACTERS + 500
    assert "question 498" in folded.summary
    assert "question 1\n" not in folded.summary


def test_the_same_thread_gives_the_same_summary() -> None:
    assert fold(turns(50), 500) == fold(turns(50), 500)


def test_results_stand_right_after_their_calls_wherever_they_were_written() -> None:
    late: list[AnyMessage] = [
        asking("a", "1", "2"),
        HumanMessage("moved on", id="h"),
        ToolMessage("two", tool_call_id="2"),
        ToolMessage("one", tool_call_id="1"),
    ]
    assert [message.text for block in blocks_of(late) for message in block] == ["", "one", "two", "moved on"]


def test_results_without_a_call_and_empty_answers_are_left_out() -> None:
    stray: list[AnyMessage] = [ToolMessage("x", tool_call_id="9"), AIMessage(""), HumanMessage("hi", id="h")]
    assert [message.type for block in blocks_of(stray) for message in block] == ["human"]


def test_too_long_a_turn_loses_its_oldest_results_but_no_call_its_result() -> None:
    long: list[AnyMessage] = [HumanMessage("go", id="h")]
    for number in range(6):
        long += [asking(f"a{number}", f"c{number}"), ToolMessage("r" * 1_000, tool_call_id=f"c{number}")]
    seen = window(long, None, 3_500)
    results = [message.text for message in seen if isinstance(message, ToolMessage)]
    assert results == [LEFT_OUT] * 3 + ["r" * 1_000] * 3
    assert [message.type for message in seen] == ["human", *["ai", "tool"] * 6]


def test_malformed_calls_wait_for_a_result_as_well() -> None:
    broken: Any = {"type": "invalid_tool_call", "id": "x", "name": "t", "args": "{", "error": None}
    message = AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "y"}], invalid_tool_calls=[broken])
    assert [call["id"] for call in unanswered([message, ToolMessage("r", tool_call_id="y")])] == ["x"]
