"""A run that is cancelled anywhere leaves a thread that can be talked to."""

import asyncio

import anyio
import pytest

from graph.memory.recall import UNKNOWN
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, cancelled


async def test_cancelled_while_a_tool_runs_the_next_turn_knows_that_it_may_have_happened(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    running, gate = drive.hold_create_folder()
    model.script = [tool_call("create_folder", "c", name="A"), "I will look first."]
    await cancelled(asyncio.create_task(assistant.say("create a folder A", key="r1")), running)
    gate.set()
    seen = await assistant.say("list my files")
    assert seen.results["c"] == UNKNOWN
    assert seen.state["last_run_id"] == "r1"
    assert seen.text.strip() == "I will look first."


async def test_cancelled_while_the_model_speaks_the_next_turn_starts_afresh(
    assistant: Assistant, model: ScriptedChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaking = anyio.Event()

    async def never_ends(*_: object, **__: object) -> object:
        speaking.set()
        await anyio.sleep_forever()
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr("graph.agents.specialist.ask", never_ends)
        await cancelled(asyncio.create_task(assistant.say("list my files")), speaking)
    model.script = ["a and b"]
    seen = await assistant.say("list my files")
    assert [message.type for message in seen.state["messages"]] == ["human", "human", "ai"]


async def test_a_cancelled_approval_is_not_executed_and_can_not_be_answered_later(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [tool_call("trash_item", "t", item_id="a"), "ok", "nothing waits"]
    await assistant.say("delete a")
    seen = await assistant.say("list my files")
    assert "Not executed" in seen.results["t"]
    assert [event["agent"] for event in seen.of("route_decision")] == ["drive_agent"]
    await assistant.answer({"decisions": [{"tool_call_id": "t", "type": "approve"}]})
    assert drive.done == []
