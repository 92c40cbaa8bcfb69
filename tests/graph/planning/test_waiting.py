"""A step that asks or refuses is not done, and a plan that succeeded says what was done."""

import pytest

from graph.planning.waiting import refuses
from graph.routing.questions import asks
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, Seen

REQUEST = "create a folder Reports, move a there and rename b to c"


def steps_of(seen: Seen) -> list[tuple[str, str]]:
    plan = seen.state["plan"]
    assert plan is not None
    return [(step["title"], step["status"]) for step in plan["steps"]]


async def test_a_step_that_asks_is_not_done_and_what_needs_it_waits_for_the_answer(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [
        plan_of(
            ("drive_agent", "create the folder"), ("drive_agent", "move a there", ["1"]), ("drive_agent", "look at b")
        ),
        "There are two places for it. Under which folder do you want Reports?",
        "b is a text.",
    ]
    seen = await assistant.say(REQUEST)
    asked = [event for event in seen.of("task_step_update") if event.get("question")]
    assert [(event["status"], event["question"].strip()[-8:]) for event in asked] == [("pending", "Reports?")]
    assert steps_of(seen) == [("create the folder", "pending"), ("move a there", "pending"), ("look at b", "completed")]
    assert "“create the folder” waits for your answer." in seen.text
    assert "After it: “move a there”." in seen.text
    model.script = [tool_call("create_folder", "c", name="Reports"), "Reports is there.", "a is in it."]
    after = await assistant.say("the first one")
    assert [event["plan_id"] for event in after.of("task_plan")] == [seen.of("task_plan")[0]["plan_id"]]
    assert {status for _, status in steps_of(after)} == {"completed"}
    assert [name for name, _ in drive.done] == ["create_folder"]


async def test_a_new_request_ends_a_plan_that_waits(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [
        plan_of(("drive_agent", "create the folder"), ("drive_agent", "move a there", ["1"])),
        "Where do you want it?",
    ]
    await assistant.say(REQUEST)
    model.script = [tool_call("list_folder", "l", folder_id="root"), "a and b."]
    seen = await assistant.say("list all my files")
    assert seen.state["plan"] is None
    assert seen.of("task_step_update") == []


async def test_a_step_that_refuses_has_failed_and_what_needs_it_is_not_begun(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "create the folder"), ("drive_agent", "move a there", ["1"])),
        "I'm sorry, but I can't do that here.",
        tool_call("RevisedPlan", why="", steps=[]),
    ]
    seen = await assistant.say(REQUEST)
    assert steps_of(seen) == [("create the folder", "failed"), ("move a there", "skipped")]
    assert "No step was done." in seen.text


async def test_a_question_outlives_the_revision_after_another_step_failed(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "create the folder"), ("drive_agent", "rename nope")),
        "Under which folder do you want Reports?",
        *[entry for key in "xyz" for entry in (tool_call("rename_item", item_id="nope", name=key), "It is not there.")],
        tool_call("RevisedPlan", why="", steps=[{"title": "look", "agent": "drive_agent", "instruction": "look"}]),
        "b is a text.",
    ]
    seen = await assistant.say(REQUEST)
    assert steps_of(seen) == [("create the folder", "pending"), ("rename nope", "failed"), ("look", "completed")]


async def test_a_step_that_asks_after_calls_that_failed_waits_for_the_answer(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "rename nope"), ("drive_agent", "look at b")),
        *[tool_call("rename_item", item_id="nope", name="x"), "There is no nope. Which item do you mean?"],
        "b is a text.",
    ]
    seen = await assistant.say(REQUEST)
    assert steps_of(seen) == [("rename nope", "pending"), ("look at b", "completed")]


async def test_a_plan_that_succeeded_ends_with_what_came_of_each_step_and_how_much_changed(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        plan_of(("drive_agent", "create the folder"), ("drive_agent", "look at b")),
        tool_call("create_folder", "c", name="Reports"),
        "Reports is there.\nAnything else?",
        "b is a text.",
    ]
    seen = await assistant.say(REQUEST)
    report = seen.state["messages"][-1].text
    assert report.split("\n") == [
        "All 2 steps are done:",
        "1. create the folder: Reports is there.",
        "2. look at b: b is a text.",
        "",
        "Changes in your drive: 1. You can undo them.",
    ]
    assert report in seen.text


async def test_a_report_does_not_say_a_steps_title_twice(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [
        plan_of(("drive_agent", "look at a"), ("drive_agent", "say 30")),
        "**Look at a.**",
        "30",
    ]
    seen = await assistant.say(REQUEST)
    report = seen.state["messages"][-1].text.split("\n")
    assert report[1:3] == ["1. look at a", "2. say 30: 30"]


@pytest.mark.parametrize(
    ("text", "is_question", "is_refusal"),
    [
        ("Which of the two do you mean?", True, False),
        ("**你想放在哪个文件夹？**", True, False),
        ("Done. Would you like me to share it too?", False, False),
        ("已完成。还有什么需要我做的吗？", False, False),
        ("Would you like me to put it in HR or Sales?", True, False),
        ("需要我帮你放到人事还是销售文件夹？", True, False),
        ("There are several. Which one do you mean?\n1. `/a.md`\n2. `/b.md`", True, False),
        ("有多个匹配项。你指的是哪一个？\n- `/a.md`\n- `/b.md`", True, False),
        ("Who wrote it?\n\nThat is the first question of the list.", False, False),
        ("I found nothing called “x”, and changed nothing.", False, True),
        ("“x” does not occur in a.md. Nothing was changed.", False, True),
        ("没有找到名为“x”的内容，没有做任何改动。", False, True),
        ("Nothing was changed by Ben since Monday.", False, False),
        ("It is in Leases.", False, False),
        ("I can’t open that file.", False, True),
        ("Sorry, I am unable to do this.", False, True),
        ("抱歉，我无法打开这个文件。", False, True),
        ("很遗憾，目前不能打开。", False, True),
        ("我不可以删除它。", False, True),
        ("不可以。合同第 3 条禁止转租。", False, False),
        ("The folder can't hold more than 100 files.", False, False),
    ],
)
def test_a_question_or_a_refusal_is_told_from_an_answer(text: str, *, is_question: bool, is_refusal: bool) -> None:
    assert (asks(text), refuses(text)) == (is_question, is_refusal)
