"""Requests of several parts: the plan, its steps, and what happens when one fails."""

import json
from typing import Any

import pytest
from langchain_core.messages import SystemMessage

from graph.errors import ModelTimeoutError, ModelUnavailableError
from graph.nodes.plan import MAX_STEPS
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, Seen, approve, reject

REQUEST = "create a folder Reports, move a there and share it with bob@example.com"
STEPS = plan_of(
    ("drive_agent", "create the folder Reports"),
    ("drive_agent", "move a into Reports"),
    ("drive_agent", "share a with bob@example.com"),
)


def statuses(seen: Seen) -> list[tuple[int, str]]:
    """(number of the step, status) of each update."""
    steps = seen.state["plan"]
    assert steps is not None
    ids = [step["id"] for step in steps["steps"]]
    return [(ids.index(event["step_id"]) + 1, event["status"]) for event in seen.of("task_step_update")]


def section(model: ScriptedChatModel, request: int, tag: str) -> Any:
    """Return the JSON of a section in the system message of one request."""
    system = model.requests[request][0]
    assert isinstance(system, SystemMessage)
    return json.loads(system.text.split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0])


async def test_steps_run_in_order_and_hand_their_results_on(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [
        STEPS,
        tool_call("create_folder", "c", name="Reports"),
        "Reports is there.",
        tool_call("move_item", "m", item_id="a", folder_id="root"),
        "a is in Reports.",
        tool_call("share_item", "s", item_id="a", email="bob@example.com"),
        "Bob sees it.",
    ]
    seen = await assistant.say(REQUEST)
    assert [step["status"] for step in seen.of("task_plan")[0]["steps"]] == ["pending"] * 3
    assert statuses(seen) == [
        (1, "in-progress"),
        (1, "completed"),
        (2, "in-progress"),
        (2, "completed"),
        (3, "in-progress"),
    ]
    assert seen.asked is not None
    assert section(model, 3, "step")["instruction"] == "move a into Reports"
    assert section(model, 3, "earlier_results")[0]["result"].strip() == "Reports is there."
    seen = await assistant.answer(approve("s"))
    assert statuses(seen) == [(3, "completed")]
    assert [name for name, _ in drive.done] == ["create_folder", "move_item", "share_item"]


async def test_the_person_is_the_only_human_in_what_a_step_sees(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [plan_of(("drive_agent", "one"), ("drive_agent", "two")), "did one", "did two"]
    await assistant.say(REQUEST)
    humans = [message.text for message in model.requests[-1] if message.type == "human"]
    assert humans == [REQUEST]


async def test_a_step_whose_calls_fail_is_tried_once_more_and_the_rest_goes_on(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "rename nope"), ("drive_agent", "create Reports")),
        tool_call("rename_item", "1", item_id="nope", name="x"),
        "It is not there.",
        tool_call("rename_item", "2", item_id="nope", name="x"),
        "It is really not there.",
        tool_call("create_folder", "3", name="Reports"),
        "Made.",
    ]
    seen = await assistant.say(REQUEST)
    assert statuses(seen) == [
        (1, "in-progress"),
        (1, "in-progress"),
        (1, "failed"),
        (2, "in-progress"),
        (2, "completed"),
    ]
    assert "not_found" in seen.of("task_step_update")[2]["error"]
    assert "not_found" in section(model, 3, "step")["failed_before_with"]
    assert seen.text.rstrip().endswith("Try something else.")


async def test_a_step_that_the_person_rejects_is_skipped_and_not_asked_again(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [
        plan_of(("drive_agent", "delete a"), ("drive_agent", "create Reports")),
        tool_call("trash_item", "1", item_id="a"),
        "Not deleted.",
        tool_call("create_folder", "2", name="Reports"),
        "Made.",
    ]
    await assistant.say(REQUEST)
    seen = await assistant.answer(reject("1"))
    assert statuses(seen) == [(1, "skipped"), (2, "in-progress"), (2, "completed")]
    assert [name for name, _ in drive.done] == ["create_folder"]


async def test_a_model_that_fails_in_a_step_is_tried_again(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [plan_of(("drive_agent", "one"), ("drive_agent", "two")), ModelTimeoutError(), "did one", "did two"]
    seen = await assistant.say(REQUEST)
    assert statuses(seen)[-1] == (2, "completed")


async def test_a_model_that_keeps_failing_fails_the_step_and_the_person_is_told(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    down = ModelUnavailableError()
    model.script = [plan_of(("drive_agent", "one"), ("drive_agent", "two")), down, down, "did two"]
    seen = await assistant.say(REQUEST)
    assert (1, "failed") in statuses(seen)
    assert statuses(seen)[-1] == (2, "completed")
    assert "“one” failed" in seen.text


@pytest.mark.parametrize(
    "nonsense",
    [
        "I would first create the folder.",
        tool_call("TaskPlan", steps=[]),
        tool_call("TaskPlan", steps=[{"title": "x", "agent": "root_agent", "instruction": "x"}]),
        plan_of(*[("drive_agent", f"step {number}") for number in range(MAX_STEPS + 1)]),
    ],
)
async def test_a_malformed_plan_is_asked_for_once_more_and_then_it_is_one_step(
    assistant: Assistant, model: ScriptedChatModel, nonsense: Any
) -> None:
    model.script = [nonsense, nonsense, "did it all"]
    seen = await assistant.say(REQUEST)
    plan = seen.state["plan"]
    assert plan is not None
    assert [(step["agent"], step["instruction"]) for step in plan["steps"]] == [("drive_agent", REQUEST)]
    assert "refused" in model.requests[1][0].text


async def test_in_the_open_document_no_step_creates_a_file(assistant: Assistant, model: ScriptedChatModel) -> None:
    bad = plan_of(("document_agent", "replace x"), ("drive_agent", "create a new file with the summary"))
    good = plan_of(("document_agent", "replace x"), ("drive_agent", "share it with bob@example.com"))
    model.script = [bad, good, "replaced", "shared"]
    seen = await assistant.say("replace x with y and share it with bob@example.com", file_id="a")
    plan = seen.state["plan"]
    assert plan is not None
    assert [step["agent"] for step in plan["steps"]] == ["document_agent", "drive_agent"]


async def test_rounds_that_run_out_end_the_plan(build: Any, model: ScriptedChatModel) -> None:
    assistant = build(max_tool_rounds=1)
    model.script = [STEPS, tool_call("create_folder", "1", name="A")]
    seen = await assistant.say(REQUEST)
    assert [status for _, status in statuses(seen)] == ["in-progress", "failed", "skipped", "skipped"]
    assert "1 rounds" in seen.text
