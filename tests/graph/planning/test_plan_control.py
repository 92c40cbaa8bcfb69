"""A plan that a person changes, pauses, resumes and stops while the graph works on it."""

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.drive.connections import ConnectionPool
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.fakes.clock import SettableClock
from tests.fakes.shared_plan import SharedPlans
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, Seen, assemble

REQUEST = "create a folder Reports, move a there and share it with bob@example.com"
STEPS = plan_of(
    ("drive_agent", "create the folder A"),
    ("drive_agent", "create the folder B"),
    ("drive_agent", "create the folder C"),
)


@pytest.fixture
def plans() -> SharedPlans:
    return SharedPlans()


@pytest.fixture
def assistant(
    model: ScriptedChatModel, pool: ConnectionPool, saver: AsyncSqliteSaver, clock: SettableClock, plans: SharedPlans
) -> Assistant:
    return assemble(model, pool, saver, clock=clock, plans=plans)


def made(name: str) -> list[object]:
    """Return the model's lines that make a folder."""
    return [tool_call("create_folder", name, name=name), f"{name} is there."]


def names(drive: TinyDrive) -> list[str]:
    """Return the names of the folders that were really made."""
    return [call.args["name"] for call in drive.called("create_folder", dry=False)]


def kinds(seen: Seen) -> list[str]:
    """Return the types of the plan's events."""
    return [event["type"] for event in seen.events if event["type"].startswith("plan_")]


async def test_a_pause_counts_between_two_steps_and_goes_on_when_it_is_resumed(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, plans: SharedPlans
) -> None:
    model.script = [STEPS, *made("A")]
    plans.meanwhile = [lambda: plans.want("pause")]
    seen = await assistant.say(REQUEST)
    assert seen.asked is not None
    assert (seen.asked["type"], seen.asked["version"]) == ("plan_paused", 2)
    assert kinds(seen) == ["plan_paused"]
    assert names(drive) == ["A"]

    model.script = [*made("B"), *made("C")]
    plans.want("run")
    seen = await assistant.answer({"action": "run", "version": 3})
    assert kinds(seen) == ["plan_resumed"]
    assert names(drive) == ["A", "B", "C"]
    assert seen.state["plan"]["status"] == "done"


async def test_it_stays_paused_if_the_graph_is_waked_though_the_person_still_wants_it_so(
    assistant: Assistant, model: ScriptedChatModel, plans: SharedPlans
) -> None:
    model.script = [STEPS, *made("A")]
    plans.meanwhile = [lambda: plans.want("pause")]
    await assistant.say(REQUEST)
    seen = await assistant.answer({"action": "run"})
    assert seen.asked is not None
    assert seen.asked["type"] == "plan_paused"


async def test_a_stop_skips_the_rest_and_says_what_was_done(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, plans: SharedPlans
) -> None:
    model.script = [STEPS, *made("A")]
    plans.meanwhile = [lambda: plans.want("stop")]
    seen = await assistant.say(REQUEST)
    assert seen.asked is None
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["completed", "skipped", "skipped"]
    assert names(drive) == ["A"]
    assert "I stopped the plan, as you asked." in seen.text
    assert "Not done any more: “create the folder B”, “create the folder C”." in seen.text
    assert "Done: “create the folder A”." in seen.text


async def test_a_stop_in_chinese_is_told_in_chinese(
    assistant: Assistant, model: ScriptedChatModel, plans: SharedPlans
) -> None:
    model.script = [plan_of(("drive_agent", "新建文件夹甲"), ("drive_agent", "新建文件夹乙")), *made("甲")]
    plans.meanwhile = [lambda: plans.want("stop")]
    seen = await assistant.say("新建文件夹甲，然后把a移到甲")
    assert "已按你的要求停止计划。" in seen.text
    assert "不再执行：“新建文件夹乙”。" in seen.text
    assert "已完成：“新建文件夹甲”。" in seen.text


async def test_a_paused_plan_can_be_stopped_by_whatever_resumes_it(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, plans: SharedPlans
) -> None:
    model.script = [STEPS, *made("A")]
    plans.meanwhile = [lambda: plans.want("pause")]
    await assistant.say(REQUEST)
    plans.want("stop")
    seen = await assistant.answer({"action": "stop", "version": 3})
    assert seen.state["plan"]["status"] == "stopped"
    assert names(drive) == ["A"]


async def test_what_was_edited_is_what_is_done(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, plans: SharedPlans
) -> None:
    def change() -> None:
        assert plans.plan
        _, _, last = plans.plan["steps"]
        plans.edit(
            {"id": last["id"], "instruction": "create the folder Z"}, {"agent": "drive_agent", "instruction": "新建 Y"}
        )

    plans.meanwhile = [change]
    model.script = [STEPS, *made("A"), *made("Z"), *made("Y")]
    seen = await assistant.say(REQUEST)
    assert names(drive) == ["A", "Z", "Y"]
    assert kinds(seen) == ["plan_edited"]
    assert [step["instruction"] for step in seen.state["plan"]["steps"]][1:] == ["create the folder Z", "新建 Y"]


async def test_a_process_that_dies_after_the_copy_was_stored_begins_the_step_once(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, plans: SharedPlans
) -> None:
    class GoneError(BaseException):
        pass

    def die() -> None:
        raise GoneError

    real = plans.exchange

    async def exchange(thread_id: str, run_id: str, change: object) -> object:
        plan = await real(thread_id, run_id, change)  # type: ignore[arg-type]
        if len(plans.seen) == 2:
            die()
        return plan

    plans.exchange = exchange  # type: ignore[method-assign,assignment]
    model.script = [STEPS, *made("A"), *made("B"), *made("C")]
    with pytest.raises(GoneError):
        await assistant.say(REQUEST)
    seen = await assistant.run(None)
    assert names(drive) == ["A", "B", "C"]
    assert [step["attempts"] for step in seen.state["plan"]["steps"]] == [1, 1, 1]


async def test_without_a_service_the_graph_keeps_its_plan_itself(
    build: object, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    assistant: Assistant = build()  # type: ignore[operator]
    model.script = [STEPS, *made("A"), *made("B"), *made("C")]
    seen = await assistant.say(REQUEST)
    assert names(drive) == ["A", "B", "C"]
    assert seen.state["plan"]["status"] == "done"


async def test_in_studio_a_plan_is_paused_and_resumed_by_its_state(
    build: object, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    assistant: Assistant = build()  # type: ignore[operator]
    model.script = [STEPS, *made("A")]
    graph = assistant.graph
    graph.interrupt_before_nodes = ["begin_step"]
    await assistant.say(REQUEST)
    state = (await graph.aget_state(assistant.config)).values
    await graph.aupdate_state(assistant.config, {"plan": {**state["plan"], "wanted": "pause"}}, as_node="plan")
    graph.interrupt_before_nodes = []
    seen = await assistant.run(None)
    assert seen.asked is not None
    model.script = [*made("A"), *made("B"), *made("C")]
    await assistant.answer("go on")
    assert names(drive) == ["A", "B", "C"]


async def test_a_step_that_asks_waits_for_the_answer_though_the_copy_has_it_as_begun(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, plans: SharedPlans
) -> None:
    model.script = [STEPS, "Under which folder do you want A?", *made("B"), *made("C")]
    seen = await assistant.say(REQUEST)
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["pending", "completed", "completed"]
    assert seen.state["plan"]["status"] == "waiting"
    plans.plan = None  # the copy is the run's, and the answer begins another
    model.script = made("A")
    seen = await assistant.say("the first one")
    assert seen.state["plan"]["status"] == "done"
    assert names(drive) == ["B", "C", "A"]
