"""A wrong room is no dead end: the specialist hands the turn over, or its step, or has a plan made."""

import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from graph.state import AGENTS
from tests.fakes.chat_model import ScriptedChatModel, plan_of, prompt_of, tool_call, tool_calls
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, Seen, reject

TO_DRIVE = "list my files"
ROLE = re.compile("<role>\nYou are now the (Document|Drive|Search) agent")


def transfer(agent: Any, key: str = "t", reason: Any = "It needs what a document says.") -> AIMessage:
    return tool_call("transfer_to_agent", key, agent=agent, reason=reason)


def asked(model: ScriptedChatModel) -> list[str]:
    """Return which specialist each request was for; the planner's are left out."""
    roles = [ROLE.findall(prompt_of(request)) for request in model.requests]
    return [f"{found[-1].lower()}_agent" for found in roles if found]


def handovers(seen: Seen) -> list[dict[str, Any]]:
    return [event for event in seen.of("route_decision") if event["method"] == "handover"]


async def test_the_turn_goes_on_with_the_specialist_that_it_was_handed_to(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [transfer("search_agent"), tool_call("read_file", "r", file_id="a"), "30 days."]
    seen = await assistant.say(TO_DRIVE)
    assert asked(model) == ["drive_agent", "search_agent", "search_agent"]
    assert [(event["agent"], event["method"]) for event in seen.of("route_decision")] == [
        ("drive_agent", "pattern"),
        ("search_agent", "handover"),
    ]
    assert handovers(seen)[0]["reason"] == "It needs what a document says."
    assert "step_id" not in handovers(seen)[0]
    assert seen.ends == [("transfer_to_agent", "done"), ("read_file", "done")]
    assert seen.state["route"]["agent"] == "search_agent"
    assert seen.text.strip() == "30 days."


async def test_whoever_gets_the_turn_reads_why_and_no_request_ends_with_an_assistants_message(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [transfer("search_agent"), "Very well."]
    await assistant.say(TO_DRIVE)
    last = model.requests[-1][-1]
    assert isinstance(last, ToolMessage)
    assert "search_agent" in last.text
    assert "It needs what a document says." in last.text
    assert {request[-1].type for request in model.requests} == {"human", "tool"}


async def test_the_next_turn_stays_with_the_specialist_that_had_it_last(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [transfer("search_agent"), "Very well.", "Gladly."]
    await assistant.say(TO_DRIVE)
    seen = await assistant.say("and the second one?")
    assert [(event["agent"], event["method"]) for event in seen.of("route_decision")] == [("search_agent", "sticky")]


async def test_a_turn_is_handed_over_twice_at_most_and_still_ends_in_an_answer(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    back = [transfer("search_agent", "1"), transfer("drive_agent", "2"), transfer("search_agent", "3")]
    model.script = [*back, "I did what I can."]
    seen = await assistant.say(TO_DRIVE)
    assert asked(model) == ["drive_agent", "search_agent", "drive_agent", "drive_agent"]
    assert len(handovers(seen)) == 2
    assert seen.results["3"].startswith("too_many: ")
    assert seen.text.strip() == "I did what I can."
    model.script = [transfer("search_agent", "4"), "Here."]
    assert len(handovers(await assistant.say(TO_DRIVE))) == 1


@pytest.mark.parametrize(
    ("message", "words"),
    [(TO_DRIVE, "has the request now"), ("列出我的文件", "请求已交给")],
)
async def test_the_result_is_in_the_persons_language(
    assistant: Assistant, model: ScriptedChatModel, message: str, words: str
) -> None:
    model.script = [transfer("search_agent"), "ok"]
    seen = await assistant.say(message)
    assert words in seen.of("tool_call_end")[0]["result"]


@pytest.mark.parametrize(
    "wrong",
    [
        transfer("root_agent"),
        transfer(7),
        transfer("search_agent", reason=" "),
        transfer("search_agent", reason=None),
        transfer("drive_agent"),
        AIMessage("", invalid_tool_calls=[{"name": "transfer_to_agent", "args": "{", "id": "t", "error": "cut"}]),
    ],
)
async def test_a_handover_to_nobody_is_refused_and_the_turn_goes_on(
    assistant: Assistant, model: ScriptedChatModel, wrong: AIMessage
) -> None:
    model.script = [wrong, "Two files."]
    seen = await assistant.say(TO_DRIVE)
    assert asked(model) == ["drive_agent", "drive_agent"]
    assert seen.ends == [("transfer_to_agent", "error")]
    assert seen.results["t"].startswith("invalid_argument: ")
    assert handovers(seen) == []


async def test_beside_other_calls_it_is_refused_and_these_are_made(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    both = tool_calls(tool_call("create_folder", "c", name="Reports"), transfer("document_agent"))
    model.script = [both, transfer("document_agent", "again"), "Written."]
    seen = await assistant.say("create a folder Reports")
    assert [name for name, _ in drive.done] == ["create_folder"]
    assert "alone" in seen.results["t"]
    assert asked(model) == ["drive_agent", "drive_agent", "document_agent"]


async def test_whoever_gets_the_turn_has_only_tools_of_its_own(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [transfer("search_agent"), tool_call("trash_item", "x", item_id="a"), "I can't."]
    seen = await assistant.say(TO_DRIVE)
    assert seen.results["x"].startswith("not_yours: ")
    assert drive.done == []


async def test_in_a_plan_only_the_running_step_changes_its_agent(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "say what a says"), ("drive_agent", "list the files")),
        transfer("search_agent"),
        "30 days.",
        "Two files.",
    ]
    seen = await assistant.say("create a folder Reports, move a there and share it with bob@example.com")
    steps = seen.state["plan"]["steps"]
    assert [(step["agent"], step["status"]) for step in steps] == [
        ("search_agent", "completed"),
        ("drive_agent", "completed"),
    ]
    assert asked(model) == ["drive_agent", "search_agent", "drive_agent"]
    assert [event["step_id"] for event in handovers(seen)] == [steps[0]["id"]]
    assert seen.state["route"]["agent"] == "drive_agent"


async def test_a_step_that_wants_a_plan_of_its_own_is_told_to_do_its_part_and_has_not_failed(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [plan_of(("drive_agent", "list the files")), tool_call("make_plan", "p"), "Two files."]
    seen = await assistant.say("create a folder Reports, move a there and share it with bob@example.com")
    assert seen.results["p"].startswith("conflict: ")
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["completed"]


async def test_a_specialist_has_a_plan_made_of_a_request_of_several_parts(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [
        tool_call("make_plan", "p"),
        plan_of(("drive_agent", "create the folder Reports"), ("search_agent", "say what a says")),
        tool_call("create_folder", "c", name="Reports"),
        "Reports is there.",
        "30 days.",
    ]
    seen = await assistant.say(TO_DRIVE)
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["completed", "completed"]
    assert [event["method"] for event in seen.of("route_decision")] == ["pattern"]
    assert len(seen.of("task_plan")) == 1
    assert seen.results["p"] == "A plan is made of the request."
    assert model.requests[1][-1].text == TO_DRIVE
    assert [name for name, _ in drive.done] == ["create_folder"]
    model.script = ["Two files."]
    assert (await assistant.say(TO_DRIVE)).of("task_plan") == []


async def test_no_plan_is_made_over_what_was_done_already(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [tool_call("create_folder", "c", name="Reports"), tool_call("make_plan", "p"), "Reports is there."]
    seen = await assistant.say("create a folder Reports")
    assert seen.results["p"].startswith("conflict: ")
    assert seen.of("task_plan") == []
    assert [name for name, _ in drive.done] == ["create_folder"]


async def test_no_plan_is_made_to_ask_again_for_what_was_rejected(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [tool_call("trash_item", "t", item_id="a"), tool_call("make_plan", "p"), "You did not want that."]
    await assistant.say("delete a")
    seen = await assistant.answer(reject("t"))
    assert seen.results["p"].startswith("conflict: The person rejected")
    assert seen.of("task_plan") == []


async def test_who_answered_something_else_is_not_said_to_have_rejected_it(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [tool_call("trash_item", "t", item_id="a"), tool_call("make_plan", "p"), "As you say."]
    await assistant.say("delete a")
    seen = await assistant.answer({"decisions": [{"tool_call_id": "t", "type": "respond", "message": "Keep it."}]})
    assert seen.results["p"].startswith("conflict: The person answered a call in this turn with other words")


async def test_a_state_that_is_edited_in_studio_leads_on_from_there(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [transfer("search_agent"), "Very well."]
    seen = await assistant.say(TO_DRIVE)
    for agent in AGENTS:
        until_there = seen.state["messages"][:3]
        assert isinstance(until_there[-1], ToolMessage)
        thread = Assistant(assistant.graph, assistant.who)
        edited = {"messages": until_there, "route": {**seen.state["route"], "agent": agent}, "turn": seen.state["turn"]}
        await thread.graph.aupdate_state(thread.config, edited, as_node="search_agent")
        assert (await thread.graph.aget_state(thread.config)).next == (agent,)
