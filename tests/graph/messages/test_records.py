"""The records of outside calls in the messages of a thread."""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from graph.messages.others import mark, withhold
from graph.messages.records import outside_calls, records_in, with_sources
from graph.messages.written import result_message
from graph.policy.tools import OutsideServer, ToolFacts

FACTS = {"mcp__s__t": ToolFacts("mcp__s__t", server=OutsideServer("s1", "s", "t", "T"))}


def calling(key: str, text: str = "", name: str = "mcp__s__t") -> AIMessage:
    call = {"name": name, "args": {"a": key}, "id": key}
    return with_sources(AIMessage(text, id=f"m-{key}", tool_calls=[call]), FACTS)


def done(key: str) -> AnyMessage:
    return result_message(key, "mcp__s__t", f"answer {key}", "done")


def test_consecutive_calls_stand_in_the_message_of_the_first() -> None:
    thread: list[AnyMessage] = [
        HumanMessage("go"),
        *(calling("1", "Let me look."), done("1")),
        *(calling("2"), done("2")),
        *(calling("d", name="list_folder"), calling("3"), done("3")),
        *(calling("4", "One more."), done("4")),
        AIMessage("That is all.", id="m-5"),
        HumanMessage("again"),
        calling("6"),
    ]
    found = records_in(thread, [], "en", is_over=False)
    assert {key: [one["id"] for one in listed] for key, listed in found.items()} == {
        "m-1": ["1", "2", "3"],
        "m-4": ["4"],
        "m-6": ["6"],
    }
    assert [one["status"] for one in found["m-1"]] == ["done"] * 3
    assert found["m-6"][0]["status"] == "pending"


def test_a_call_without_an_outcome_in_a_thread_at_rest_was_cancelled() -> None:
    found = records_in([HumanMessage("go"), calling("1")], [], "zh", is_over=True)
    assert (found["m-1"][0]["status"], found["m-1"][0]["response"]) == ("cancelled", "在发送之前被取消。")


def test_records_of_what_is_withheld_keep_their_place_without_words() -> None:
    made = mark(calling("1"), ["x"], ["x"])
    thread: list[AnyMessage] = [HumanMessage("go"), made, mark(done("1"), ["x"], ["x"])]
    assert outside_calls(thread)["1"]["others"] == ["x"]
    shown = records_in(withhold(thread, {"x"}, "en"), [], "en", is_over=True)["m-1"][0]
    assert shown["arguments"] == {}
    assert shown["status"] == "done"
    assert shown["response"].startswith("[Withheld")
