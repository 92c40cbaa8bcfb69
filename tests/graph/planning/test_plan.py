"""Requests of several parts: the plan, its steps, and what happens when one fails."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from graph.errors import ModelTimeoutError, ModelUnavailableError
from graph.messages.steps import is_step
from graph.planning.shape import MAX_STEPS
from tests.fakes.chat_model import ScriptedChatModel, plan_of, prompt_of, route_to, tool_call
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
    """Return the JSON of a section in the system message of one request, or in that of its step."""
    messages = model.requests[request]
    sent = "\n".join([prompt_of(messages), *(one.text for one in messages if is_step(one))])
    return json.loads(sent.split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0])


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


async def test_a_step_is_a_message_of_its_own_behind_the_request_and_the_thread_has_none(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "one"), ("drive_agent", "two")),
        "did one",
        tool_call("get_file_info", "i", item_id="a"),
        "did two",
    ]
    seen = await assistant.say(REQUEST)
    first, begun, going_on = model.requests[1:]
    assert [message.type for message in first] == ["system", "human"]
    assert REQUEST in first[1].text
    assert '"instruction":"one"' in first[1].text
    assert [message.type for message in begun] == ["system", "human", "ai", "human"]
    assert [message.type for message in going_on] == ["system", "human", "ai", "human", "ai", "tool"]
    assert '"instruction":"two"' in begun[3].text
    assert begun[3] == going_on[3]
    assert "<step>\n{" not in begun[0].text
    assert [message.text for message in seen.state["messages"] if message.type == "human"] == [REQUEST]


async def test_a_step_whose_calls_fail_is_tried_twice_more_and_the_rest_goes_on(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "rename nope"), ("drive_agent", "create the folder Reports")),
        tool_call("rename_item", "1", item_id="nope", name="x"),
        "It is not there.",
        tool_call("rename_item", "2", item_id="nope", name="y"),
        "It is still not there.",
        tool_call("rename_item", "3", item_id="nope", name="z"),
        "It is really not there.",
        "I don't know how else.",
        "I really don't.",
        tool_call("create_folder", "4", name="Reports"),
        "Made.",
    ]
    seen = await assistant.say(REQUEST)
    assert statuses(seen) == [
        (1, "in-progress"),
        (1, "in-progress"),
        (1, "in-progress"),
        (1, "failed"),
        (2, "in-progress"),
        (2, "completed"),
    ]
    assert "not_found" in seen.of("task_step_update")[3]["error"]
    assert "not_found" in section(model, 3, "step")["failed_before_with"]
    assert "not_found" in section(model, 5, "step")["failed_before_with"]
    assert "The step “rename nope” failed: There is no nope." in seen.text
    assert seen.text.endswith("Done: “create the folder Reports”.\nChanges in your drive: 1. You can undo them.")


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
    model.script = [plan_of(("drive_agent", "one"), ("drive_agent", "two")), down, down, down, down, "did two"]
    seen = await assistant.say(REQUEST)
    assert (1, "failed") in statuses(seen)
    assert statuses(seen)[-1] == (2, "completed")
    assert "“one” failed" in seen.text
    assert "Done: “two”." in seen.text


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
    assert "refused" in prompt_of(model.requests[1])


async def test_in_the_open_document_no_step_creates_a_file(assistant: Assistant, model: ScriptedChatModel) -> None:
    bad = plan_of(("document_agent", "replace x"), ("drive_agent", "create a new file with the summary"))
    good = plan_of(("document_agent", "replace x"), ("drive_agent", "share it with bob@example.com"))
    model.script = [bad, good, "replaced", "shared"]
    seen = await assistant.say("replace x with y and share it with bob@example.com", file_id="a")
    plan = seen.state["plan"]
    assert plan is not None
    assert [step["agent"] for step in plan["steps"]] == ["document_agent", "drive_agent"]


async def test_in_the_open_document_a_plan_of_three_steps_is_refused(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    long = plan_of(("document_agent", "replace x"), ("document_agent", "add y"), ("drive_agent", "share it"))
    model.script = [long, long, "did it all"]
    seen = await assistant.say("replace x with y and share it with bob@example.com", file_id="a")
    assert "at most 2 steps" in prompt_of(model.requests[1])
    assert len(seen.of("task_plan")[0]["steps"]) == 1


async def test_a_plan_that_ended_is_known_in_the_next_turn_with_what_came_of_its_steps(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [plan_of(("drive_agent", "make Reports"), ("drive_agent", "make Old")), "Reports is there.", "No."]
    await assistant.say(REQUEST)
    model.script = ["It was not made."]
    await assistant.say("list my files")
    (last_plan,) = [section(model, -1, "last_plan")]
    assert [(step["title"], step["status"]) for step in last_plan] == [
        ("make Reports", "completed"),
        ("make Old", "completed"),
    ]
    assert last_plan[0]["result"] == "Reports is there."


async def test_the_planner_knows_what_that_is(
    build_with_store: Any, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    assistant = build_with_store()
    model.script = [route_to("drive_agent"), tool_call("remember", fact="Ann is ann@example.com"), "I will."]
    await assistant.say("remember that Ann is ann@example.com")
    model.script = ["The leases end in May [1].", "The leases end in May [1]."]
    await assistant.say("search my files for the leases")
    model.script = [plan_of(("drive_agent", "create leases.md"), ("drive_agent", "share it")), "made", "shared"]
    await assistant.say("Save that as leases.md and share it with Ann", folder_id="root")
    planner = next(request for request in model.requests if "You split a person's request" in prompt_of(request))
    assert "ai: The leases end in May" in prompt_of(planner)
    assert "Ann is ann@example.com" in prompt_of(planner).split("<memories>\n")[1]
    assert prompt_of(planner).split("<listing>\n")[1].split("\n</l")[0] == "a a\nb b"
    assert '"now":"Saturday 2026-11-21 ' in prompt_of(planner)
    assert [message.type for message in planner] == ["system", "human"]
    del drive


async def test_rounds_that_run_out_end_the_plan(build: Any, model: ScriptedChatModel) -> None:
    assistant = build(max_tool_rounds=1)
    model.script = [STEPS, tool_call("create_folder", "1", name="A")]
    seen = await assistant.say(REQUEST)
    assert [status for _, status in statuses(seen)] == ["in-progress", "failed", "skipped", "skipped"]
    assert "1 rounds" in seen.text


def steps_of(*steps: dict[str, Any]) -> AIMessage:
    """Return the planner's answer with ids and dependencies."""
    listed = [{"agent": "drive_agent", "title": step["instruction"], **step} for step in steps]
    return tool_call("TaskPlan", steps=listed)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (plan_of(("document_agent", "create a folder Reports")), "drive_agent can"),
        (plan_of(("search_agent", "把计划.md移到归档")), "search_agent can't do this (move)"),
        (
            steps_of(
                {"id": "1", "instruction": "a", "depends_on": ["2"]}, {"id": 2, "instruction": "b", "depends_on": [1]}
            ),
            "circle",
        ),
        (steps_of({"id": "1", "instruction": "a", "depends_on": ["7"]}), "depends on 7"),
        (steps_of({"id": "1", "instruction": "a"}, {"id": "1", "instruction": "b"}), "two steps"),
        (steps_of({"id": "1", "instruction": "a", "kind": "map"}), "only search_agent"),
    ],
)
async def test_a_wrong_plan_goes_back_once_with_what_is_wrong(
    assistant: Assistant, model: ScriptedChatModel, wrong: AIMessage, words: str
) -> None:
    model.script = [wrong, plan_of(("drive_agent", "one"), ("drive_agent", "two")), "did one", "did two"]
    seen = await assistant.say(REQUEST)
    assert words in prompt_of(model.requests[1])
    assert statuses(seen)[-1] == (2, "completed")


async def test_a_plan_that_stays_wrong_becomes_one_step(assistant: Assistant, model: ScriptedChatModel) -> None:
    wrong = plan_of(("document_agent", "delete plan.md"))
    model.script = [wrong, wrong, "did it"]
    seen = await assistant.say(REQUEST)
    assert [step["instruction"] for step in seen.state["plan"]["steps"]] == [REQUEST]


async def test_steps_are_put_in_an_order_that_can_be_kept_and_those_that_could_go_together_are_marked(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        steps_of(
            {"id": 1, "instruction": "share it", "depends_on": [2, 3]},
            {"id": 2, "instruction": "one"},
            {"id": 3, "instruction": "two"},
            {"id": 4, "instruction": "the one of step 2"},
        ),
        *["done"] * 4,
    ]
    seen = await assistant.say(REQUEST)
    steps = seen.of("task_plan")[0]["steps"]
    assert [step["title"] for step in steps] == ["one", "two", "share it", "the one of step 2"]
    assert [(step["wave"], step["parallel"]) for step in steps] == [(1, True), (1, True), (2, True), (2, True)]
    assert steps[3]["depends_on"] == [steps[0]["id"]]


async def test_after_a_failure_the_rest_is_planned_once_more_and_what_was_done_is_not_done_again(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    again = {"id": "n", "title": "make Old", "agent": "drive_agent", "instruction": "create Old", "depends_on": ["1"]}
    model.script = [
        steps_of(
            {"id": "1", "instruction": "create Reports"},
            {"id": "2", "instruction": "rename nope", "depends_on": ["1"]},
            {"id": "3", "instruction": "share nope", "depends_on": ["2"]},
        ),
        tool_call("create_folder", "r", name="Reports"),
        "Made.",
        *[tool_call("rename_item", item_id="nope", name="x"), "It is not there."],
        *[tool_call("rename_item", item_id="nope", name="y"), "It is not there."],
        *[tool_call("rename_item", item_id="nope", name="z"), "It is not there."],
        tool_call("RevisedPlan", why="There is no nope, so Old is made instead.", steps=[again]),
        tool_call("create_folder", "o", name="Old"),
        "Made too.",
    ]
    seen = await assistant.say(REQUEST)
    told = section(model, 9, "plan_so_far")
    assert [(step["id"], step["status"]) for step in told] == [("1", "completed"), ("2", "failed"), ("3", "pending")]
    assert "not_found" in told[1]["told"]
    revised = seen.of("plan_revised")[0]
    assert [step["title"] for step in revised["steps"]] == ["create Reports", "rename nope", "make Old"]
    assert "There is no nope, so Old is made instead." in seen.text
    assert [name for name, _ in drive.done] == ["create_folder", "create_folder"]
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["completed", "failed", "completed"]
    assert "The step “rename nope” failed" in seen.text


async def test_a_revision_that_repeats_what_was_done_is_refused_and_the_dependents_are_skipped(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    repeated = {"id": "n", "title": "again", "agent": "drive_agent", "instruction": "create Reports"}
    model.script = [
        steps_of(
            {"id": "1", "instruction": "create Reports"},
            {"id": "2", "instruction": "rename nope"},
            {"id": "3", "instruction": "share nope", "depends_on": ["2"]},
            {"id": "4", "instruction": "create Other"},
        ),
        *[tool_call("create_folder", "r", name="Reports"), "Made."],
        *[tool_call("rename_item", item_id="nope", name="x"), "It is not there."],
        *[tool_call("rename_item", item_id="nope", name="y"), "It is not there."],
        *[tool_call("rename_item", item_id="nope", name="z"), "It is not there."],
        *[tool_call("RevisedPlan", steps=[repeated])] * 2,
        *[tool_call("create_folder", "o", name="Other"), "Made."],
    ]
    seen = await assistant.say(REQUEST)
    assert "was done already" in prompt_of(model.requests[10])
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["completed", "failed", "skipped", "completed"]
    assert len(drive.done) == 2
    assert "Skipped, because they need it: “share nope”." in seen.text
    assert "Done: “create Reports”, “create Other”." in seen.text


async def test_a_plan_is_revised_once_only(assistant: Assistant, model: ScriptedChatModel) -> None:
    fails = [entry for key in "xyz" for entry in (tool_call("rename_item", item_id="nope", name=key), "No.")]
    more = [entry for key in "uvw" for entry in (tool_call("rename_item", item_id="nope", name=key), "No.")]
    other = {"title": "b", "agent": "drive_agent", "instruction": "rename nope otherwise"}
    model.script = [
        steps_of({"id": "1", "instruction": "rename nope"}),
        *fails,
        tool_call("RevisedPlan", steps=[other]),
        *more,
    ]
    seen = await assistant.say(REQUEST)
    assert len(seen.of("plan_revised")) == 1
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["failed", "failed"]


async def test_what_needs_a_rejected_step_is_skipped_and_the_person_is_told_in_their_language(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [
        steps_of(
            {"id": "1", "title": "删除a", "instruction": "删除a"},
            {"id": "2", "title": "清理", "instruction": "重命名b", "depends_on": ["1"]},
        ),
        *[tool_call("trash_item", "1", item_id="a"), "没有删除。"],
    ]
    await assistant.say("删除a，然后把b重命名为c")
    seen = await assistant.answer(reject("1"))
    assert statuses(seen) == [(1, "skipped"), (2, "skipped")]
    assert "步骤“删除a”未执行，因为你拒绝了它。" in seen.text
    assert "因依赖它而跳过：“清理”。" in seen.text
    assert "没有完成任何步骤。" in seen.text
    assert drive.done == []
