"""Limits over the real graph: each ends in a message for the person, and never in a loop."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage

from graph.context import RunContext
from graph.limits.enforcement import Rate, ToolRates, parse_rate, parse_rates
from graph.settings import AgentSettings
from tests.fakes.chat_model import ScriptedChatModel, tool_call, tool_calls
from tests.fakes.clock import SettableClock
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, approve

Build = Callable[..., Assistant]


def reading(number: int) -> AIMessage:
    return tool_call("read_file", f"r{number}", file_id="a")


def with_usage(message: AIMessage, total: int) -> AIMessage:
    usage = {"input_tokens": total - 1, "output_tokens": 1, "total_tokens": total}
    return message.model_copy(update={"usage_metadata": usage})


@pytest.mark.parametrize(
    ("request_", "sentence"), [("find the notice period", "same call"), ("查找通知期", "重复同一个调用")]
)
async def test_a_model_that_makes_the_same_call_for_ever_is_told_and_then_stopped(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, request_: str, sentence: str
) -> None:
    model.script = [reading(number) for number in range(20)]
    seen = await assistant.say(request_)
    assert len(drive.called("read_file")) == 3
    assert [status for _, status in seen.ends] == ["done"] * 3 + ["error"] * 2
    assert seen.results["r3"].startswith("repeated_call: ")
    assert sentence in seen.text
    assert seen.state["limit"]["code"] == "repeated_call"
    assert len(model.script) == 15


async def test_a_model_that_takes_the_hint_answers_and_no_limit_is_told(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [*(reading(number) for number in range(4)), "30 days."]
    seen = await assistant.say("find the notice period")
    assert seen.text.strip() == "30 days."
    assert seen.state.get("limit") is None


async def test_the_same_call_many_times_in_one_answer_is_made_as_often_as_it_may_be(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [tool_calls(*(reading(number) for number in range(50))), "30 days."]
    seen = await assistant.say("find the notice period")
    assert len(drive.called("read_file")) == 3
    assert len(seen.ends) == 50


async def test_the_next_turn_begins_with_all_its_limits_anew(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [reading(number) for number in range(5)]
    await assistant.say("find the notice period")
    model.script = [reading(9), "30 days."]
    seen = await assistant.say("find the notice period")
    assert seen.text.strip() == "30 days."
    assert seen.state.get("limit") is None
    assert len(drive.called("read_file")) == 4


async def test_a_tool_used_too_often_ends_the_turn_with_the_time_to_wait(
    build: Build, model: ScriptedChatModel, drive: TinyDrive, clock: SettableClock
) -> None:
    assistant = build(tool_rate="2/minute")
    files = [tool_call("create_folder", f"c{n}", name=f"{n}") for n in range(9)]
    model.script = [tool_calls(*files[:3]), files[3], files[4]]
    seen = await assistant.say("create nine folders")
    assert len(drive.done) == 2
    assert seen.results["c2"].startswith("rate_limited: create_folder was used 2 times within 60 seconds")
    assert seen.state["limit"]["code"] == "tool_rate"
    assert seen.state["limit"]["retry_after_seconds"] == 60
    assert "60 seconds" in seen.text
    clock.advance(60)
    model.script = [tool_call("create_folder", "again", name="x"), "Done."]
    seen = await assistant.say("create the folder x")
    assert seen.ends == [("create_folder", "done")]


async def test_one_persons_rate_is_not_anothers(build: Build, model: ScriptedChatModel, drive: TinyDrive) -> None:
    assistant = build(tool_rate="1/minute")
    model.script = [tool_call("create_folder", "1", name="A"), "ok"]
    await assistant.say("create the folder A")
    other = Assistant(assistant.graph, RunContext("u2", "you@example.com", ("read", "write")))
    model.script = [tool_call("create_folder", "2", name="B"), "ok"]
    seen = await other.say("create the folder B")
    assert seen.ends == [("create_folder", "done")]
    assert len(drive.done) == 2


async def test_a_call_that_is_over_its_rate_does_not_even_ask(
    build: Build, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    assistant = build(tool_rates="delete=1/hour")
    model.script = [
        tool_calls(tool_call("trash_item", "1", item_id="a"), tool_call("trash_item", "2", item_id="b")),
        "ok",
    ]
    seen = await assistant.say("delete a and b")
    assert seen.asked is not None
    assert [action["tool_call_id"] for action in seen.asked["actions"]] == ["1"]
    await assistant.answer(approve("1"))
    assert [tool for tool, _ in drive.done] == ["trash_item"]


async def test_tokens_end_a_turn_and_an_answer_that_is_there_stands(
    build: Build, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    assistant = build(max_run_tokens=1_000)
    model.script = [with_usage(reading(1), 400), with_usage(tool_call("read_file", "r2", file_id="b"), 600), "never"]
    seen = await assistant.say("find the notice period")
    assert seen.state["limit"]["code"] == "run_tokens"
    assert "1000 tokens" in seen.text
    assert model.script == ["never"]
    assert len(drive.called("read_file")) == 2
    model.script = [with_usage(AIMessage("30 days."), 5_000)]
    seen = await assistant.say("and now?")
    assert seen.text.strip() == "30 days."
    assert seen.state.get("limit") is None


async def test_what_the_router_and_the_planner_take_counts_as_well(build: Build, model: ScriptedChatModel) -> None:
    assistant = build(max_run_tokens=1_000)
    decided = tool_call("RouteDecision", agent="drive_agent", needs_plan=True, confidence=0.8, reason="Because.")
    steps = [{"title": "x", "agent": "drive_agent", "instruction": "x"}]
    planned = tool_call("TaskPlan", steps=steps)
    model.script = [with_usage(AIMessage("?"), 200), with_usage(decided, 300), with_usage(planned, 500), "never"]
    seen = await assistant.say("Please get everything ready for the board meeting of next week")
    assert seen.state["limit"]["code"] == "run_tokens"
    assert seen.state["turn"]["usage"]["total_tokens"] == 1_000
    assert model.script == ["never"]


async def test_a_service_that_reports_no_tokens_is_held_to_an_estimate(build: Build, model: ScriptedChatModel) -> None:
    assistant = build(max_run_tokens=200)
    model.script = [reading(1), "never", "never"]
    seen = await assistant.say("find the notice period in what I wrote here: " + "many words " * 100)
    assert seen.state["limit"]["code"] == "run_tokens"


async def test_cost_ends_a_turn(build: Build, model: ScriptedChatModel) -> None:
    assistant = build(max_run_cost=0.001, input_price=1, output_price=1)
    model.script = [with_usage(reading(1), 1_000), "never"]
    seen = await assistant.say("查找通知期")
    assert seen.state["limit"]["code"] == "run_cost"
    assert "费用" in seen.text


async def test_cost_ends_a_turn_by_the_listed_prices_of_a_known_model(build: Build, model: ScriptedChatModel) -> None:
    assistant = build(model="gpt-4.1", max_run_cost=0.001)
    model.script = [with_usage(reading(1), 1_000), "never"]
    seen = await assistant.say("find the notice period")
    assert seen.state["limit"]["code"] == "run_cost"
    assert seen.state["turn"]["usage"]["cost_micros"] >= 1_000


async def test_arguments_that_are_too_long_are_neither_run_nor_kept(
    build: Build, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    assistant = build(max_argument_characters=1_000)
    long = tool_call("create_folder", "long", name="x" * 10_000_000)
    model.script = [long, "Too long."]
    seen = await assistant.say("create a folder")
    assert drive.done == []
    assert seen.results["long"].startswith("argument_size: ")
    assert seen.ends == [("create_folder", "error")]
    assert len(repr(seen.state["messages"])) < 10_000
    assert len(repr(seen.events)) < 10_000
    assert max(len(repr(request)) for request in model.requests) < 50_000


async def test_a_model_that_keeps_sending_too_much_is_stopped(build: Build, model: ScriptedChatModel) -> None:
    assistant = build(max_argument_characters=1_000)
    model.script = [tool_call("create_folder", f"c{n}", name=str(n) * 2_000) for n in range(9)]
    seen = await assistant.say("create a folder")
    assert seen.state["limit"]["code"] == "argument_size"
    assert "smaller parts" in seen.text


TWICE_A_MINUTE = Rate(2, timedelta(minutes=1))


def test_rates_are_read_as_the_settings_write_them() -> None:
    assert parse_rate("60/minute") == Rate(60, timedelta(minutes=1))
    assert parse_rate("0") is None
    assert parse_rates(" share = 5/day, trash_item=0 ,") == {"share": Rate(5, timedelta(days=1)), "trash_item": None}
    assert parse_rates("") == {}


@pytest.mark.parametrize("text", ["60", "60/week", "-1/day", "1/day,", "01/day", "一/day", "1/day\n2/day"])
def test_a_rate_that_can_not_be_read_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="tool_rate"):
        AgentSettings(tool_rate=text)


def test_one_call_too_many_is_refused_and_told_when_there_is_room() -> None:
    clock = SettableClock()
    limits = ToolRates(TWICE_A_MINUTE, {}, clock)
    assert limits.take("u1", "read_file", "read") is None
    clock.advance(20)
    assert limits.take("u1", "read_file", "read") is None
    reached = limits.take("u1", "read_file", "read")
    assert reached is not None
    assert reached.retry_after_seconds == 40
    clock.advance(40)
    assert limits.take("u1", "read_file", "read") is None


def test_what_is_refused_does_not_count() -> None:
    clock = SettableClock()
    limits = ToolRates(Rate(1, timedelta(minutes=1)), {}, clock)
    assert limits.take("u1", "read_file", "read") is None
    clock.advance(59)
    assert limits.take("u1", "read_file", "read") is not None
    clock.advance(1)
    assert limits.take("u1", "read_file", "read") is None


def test_one_person_and_one_tool_leave_the_others_their_room() -> None:
    limits = ToolRates(Rate(1, timedelta(minutes=1)), {}, SettableClock())
    assert limits.take("u1", "read_file", "read") is None
    assert limits.take("u1", "read_file", "read") is not None
    assert limits.take("u2", "read_file", "read") is None
    assert limits.take("u1", "list_folder", "read") is None


def test_a_rate_of_a_risk_holds_for_all_its_tools_together() -> None:
    limits = ToolRates(None, {"share": TWICE_A_MINUTE}, SettableClock())
    assert limits.take("u1", "share_item", "share") is None
    assert limits.take("u1", "create_share_link", "share") is None
    assert limits.take("u1", "share_item", "share") is not None
    assert limits.take("u1", "read_file", "read") is None


def test_a_rate_of_a_tool_takes_the_place_of_the_general_one() -> None:
    limits = ToolRates(Rate(1, timedelta(days=1)), {"read_file": None, "list_folder": TWICE_A_MINUTE}, SettableClock())
    assert [limits.take("u1", "read_file", "read") for _ in range(50)] == [None] * 50
    assert [limits.take("u1", "list_folder", "read") is None for _ in range(3)] == [True, True, False]
