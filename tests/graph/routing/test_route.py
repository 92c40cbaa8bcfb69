"""The choice of the specialist for a turn, in each of the three ways."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from graph.errors import ModelUnavailableError
from tests.fakes.chat_model import ScriptedChatModel, prompt_of, tool_call
from tests.graph.assistant import Assistant, Seen


def decision(agent: str, **other: Any) -> Any:
    given = {"agent": agent, "needs_plan": False, "confidence": 0.8, "reason": "Because.", **other}
    return tool_call("RouteDecision", **given)


def routed(seen: Seen) -> tuple[str, str]:
    event = seen.of("route_decision")[0]
    return event["agent"], event["method"]


async def test_a_pattern_decides_without_a_model_and_says_why_in_the_persons_language(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = ["好的"]
    seen = await assistant.say("找到育儿假的规定")
    event = seen.of("route_decision")[0]
    assert (event["agent"], event["method"]) == ("search_agent", "pattern")
    assert "文件" in event["reason"]
    assert event["confidence"] >= 0.9


async def test_a_continuation_stays_with_the_last_specialist(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = ["ok", "ok", "ok"]
    await assistant.say("find the budget")
    assert routed(await assistant.say("and the second one?")) == ("search_agent", "sticky")
    assert routed(await assistant.say("delete it")) == ("drive_agent", "pattern")


async def test_the_document_agent_is_left_when_the_document_is_closed(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = ["ok", "ok", decision("search_agent"), "ok"]
    await assistant.say("summarise this document", file_id="a")
    assert routed(await assistant.say("and then?", file_id="a")) == ("document_agent", "sticky")
    assert routed(await assistant.say("and then?")) == ("search_agent", "model")


async def test_else_one_model_call_decides_who_and_whether_a_plan_is_needed(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [decision("search_agent", reason="It is about Q3."), "answer"]
    seen = await assistant.say("Could you tell us how the third quarter went in the end?", file_id="a")
    assert routed(seen) == ("search_agent", "model")
    assert seen.of("route_decision")[0]["reason"] == "It is about Q3."
    assert model.bound[-2:][0] == ["RouteDecision"] or ["RouteDecision"] in model.bound
    place = prompt_of(model.requests[0]).split("<place>\n")[1].split("\n</place>")[0]
    assert place.splitlines()[0].startswith("file: a /")
    assert "folder: root /root" in place


async def test_a_model_that_wants_a_plan_gets_one(assistant: Assistant, model: ScriptedChatModel) -> None:
    steps = [{"title": "x", "agent": "drive_agent", "instruction": "x"}]
    model.script = [decision("drive_agent", needs_plan=True), tool_call("TaskPlan", steps=steps), "ok"]
    seen = await assistant.say("Please get everything ready for the board meeting of next week")
    assert len(seen.of("task_plan")) == 1


GREETING = "Good morning to you, dear assistant of mine, how are you?"
ABOUT_THE_LEASE = "Kindly let me hear how long the notice period of the lease is"
WRONG_SHAPES = [
    "",
    "the drive agent, I guess",
    '{"agent": "search_agent", "needs_plan": fal',
    '{"agent": "search_agent"}',
    "[]",
    decision("root_agent"),
    decision("drive_agent", confidence=7),
    tool_call("RouteDecision"),
    tool_call("delete_everything", name="Old"),
    AIMessage("", invalid_tool_calls=[{"name": "RouteDecision", "args": '{"agent": ', "id": "1", "error": "cut"}]),
]


@pytest.mark.parametrize("nonsense", [*WRONG_SHAPES, ModelUnavailableError()])
async def test_the_likeliest_specialist_takes_the_turn_if_the_routers_model_fails(
    assistant: Assistant, model: ScriptedChatModel, nonsense: Any
) -> None:
    unavailable = isinstance(nonsense, ModelUnavailableError)
    model.script = [nonsense, "hello"] if unavailable else [nonsense, nonsense, "hello"]
    assert routed(await assistant.say(ABOUT_THE_LEASE)) == ("search_agent", "score")


@pytest.mark.parametrize("nonsense", WRONG_SHAPES)
async def test_a_wrong_shape_is_sent_back_once_with_what_is_wrong(
    assistant: Assistant, model: ScriptedChatModel, nonsense: Any
) -> None:
    model.script = [nonsense, decision("search_agent"), "hello"]
    assert routed(await assistant.say(GREETING)) == ("search_agent", "model")
    *before, own, fault = model.requests[1]
    assert before == model.requests[0]
    assert (own.type, fault.type) == ("ai", "human")
    assert own.text
    assert "That was no answer: " in fault.text
    assert "RouteDecision" in fault.text


async def test_the_fault_names_the_field_and_shows_no_more_than_it_must(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [decision("root_agent", reason="x" * 100_000), decision("search_agent"), "hello"]
    await assistant.say(GREETING)
    own, fault = model.requests[1][-2:]
    assert "agent: Input should be 'document_agent'" in fault.text
    assert len(own.text) + len(fault.text) < 3_000


async def test_an_object_between_other_words_is_an_answer(assistant: Assistant, model: ScriptedChatModel) -> None:
    answer = '{"agent": "search_agent", "needs_plan": false, "confidence": 1, "reason": "r"}'
    model.script = [f"Sure!\n```json\n{answer}\n```\nHope this helps.", "hello"]
    assert routed(await assistant.say(GREETING)) == ("search_agent", "model")


@pytest.mark.parametrize(
    ("first", "follow_up", "shift"),
    [
        ("find the budget", "and translate it", "by the way, how are you?"),
        ("find the budget", "那就改成表格", "换个话题，你今天怎么样？"),
        ("找一下预算", "再短一点", "对了，分享链接怎么用"),
        ("找一下预算", "make it a table", "another question: what's the weather tomorrow"),
    ],
)
async def test_a_follow_up_stays_and_a_clear_shift_lets_go(
    assistant: Assistant, model: ScriptedChatModel, first: str, follow_up: str, shift: str
) -> None:
    model.script = ["ok", "ok", decision("drive_agent"), "ok"]
    await assistant.say(first)
    assert routed(await assistant.say(follow_up)) == ("search_agent", "sticky")
    assert routed(await assistant.say(shift)) == ("drive_agent", "model")


@pytest.mark.parametrize("request_of_another", ["then move budget.xlsx to Archive", "那就把预算.xlsx移到归档"])
async def test_what_is_another_specialists_is_let_go_without_a_model(
    assistant: Assistant, model: ScriptedChatModel, request_of_another: str
) -> None:
    model.script = ["ok", "ok"]
    await assistant.say("找一下预算")
    assert routed(await assistant.say(request_of_another)) == ("drive_agent", "pattern")


async def test_the_reason_is_in_the_persons_language_if_the_routers_model_fails(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = ["不知道", "不知道", "你好"]
    event = (await assistant.say("早上好呀，亲爱的助手，最近过得怎么样呢？")).of("route_decision")[0]
    assert (event["agent"], event["method"]) == ("drive_agent", "score")
    assert "云盘" in event["reason"]


async def test_the_routers_words_do_not_reach_the_person(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = ['{"agent": "drive_agent", "needs_plan": false, "confidence": 1, "reason": "r"}', "hello"]
    seen = await assistant.say("Good morning to you, dear assistant of mine, how are you?")
    assert seen.text.strip() == "hello"
