from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.messages.grouping import blocks_of, current_turn, messages_from, open_calls, turns_of, unanswered
from tests.graph.talk import asking, turns


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


def test_malformed_calls_wait_for_a_result_as_well() -> None:
    call = {"type": "tool_call", "name": "t", "args": {}, "id": "y"}
    message = AIMessage(
        "",
        tool_calls=[call],  # pyright: ignore[reportArgumentType] - a plain dict is what is read back from JSON
        invalid_tool_calls=[{"type": "invalid_tool_call", "id": "x", "name": "t", "args": "{", "error": None}],
    )
    assert [call["id"] for call in unanswered([message, ToolMessage("r", tool_call_id="y")])] == ["x"]


def test_only_the_running_turn_is_searched_for_calls_without_a_result() -> None:
    messages: list[AnyMessage] = [HumanMessage("one", id="h1"), asking("a1", "c1"), HumanMessage("two", id="h2")]
    assert unanswered(messages) == []
    assert [call["id"] for call in open_calls(messages)] == ["c1"]
    assert [message.id for message in current_turn(messages)] == ["h2"]


def test_a_turn_begins_with_what_the_person_says() -> None:
    found = [[block[0].id for block in turn] for turn in turns_of(blocks_of(turns(2)))]
    assert found == [["h0", "a0", "e0"], ["h1", "a1", "e1"]]


def test_messages_are_taken_from_an_id_on_and_all_of_them_if_it_is_not_there() -> None:
    messages = turns(2)
    assert messages_from(messages, "h1")[0].id == "h1"
    assert messages_from(messages, "nowhere") == messages_from(messages, None) == messages
