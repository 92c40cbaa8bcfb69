"""The doubles behave like the real parts: all tests that use one rely on this."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from langchain_core.messages import BaseMessage, HumanMessage

from graph.drive.connections import ConnectionPool
from tests.fakes.chat_model import ScriptedChatModel, ScriptExhaustedError, plan_of, tool_call, tool_calls
from tests.fakes.clock import START, SettableClock
from tests.fakes.openai_server import running_server, text
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import WHO


def test_the_clock_moves_only_when_it_is_told_to() -> None:
    clock = SettableClock()
    assert clock() == clock() == START
    clock.advance(90)
    assert (clock() - START).total_seconds() == 90


async def test_the_model_streams_its_lines_in_order_and_records_what_it_was_asked() -> None:
    model = ScriptedChatModel(script=["one two", tool_call("t", "k", n=1)])
    pieces = [chunk.text async for chunk in model.astream([HumanMessage("hi")])]
    assert [piece for piece in pieces if piece] == ["one ", "two "]
    answer = await model.ainvoke([HumanMessage("again")])
    assert answer.tool_calls[0]["args"] == {"n": 1}
    assert [request[-1].text for request in model.requests] == ["hi", "again"]


async def test_the_model_raises_what_the_script_says_and_says_when_it_is_over() -> None:
    model = ScriptedChatModel(script=[OSError("gone")])
    with pytest.raises(OSError, match="gone"):
        await model.ainvoke("hi")
    with pytest.raises(ScriptExhaustedError, match="request 2"):
        await model.ainvoke("hi")


async def test_a_line_may_depend_on_what_was_asked() -> None:
    def shout(messages: Sequence[BaseMessage]) -> str:
        return messages[-1].text.upper()

    model = ScriptedChatModel(script=[shout])
    assert (await model.ainvoke("hi")).text.strip() == "HI"


def test_calls_and_plans_are_written_down_briefly() -> None:
    both = tool_calls(tool_call("a", x=1), tool_call("b"))
    assert [call["id"] for call in both.tool_calls] == ["a-1", "b-1"]
    assert plan_of(("drive_agent", "go")).tool_calls[0]["args"]["steps"][0]["instruction"] == "go"


async def test_the_tiny_drive_keeps_its_promises_about_keys_etags_and_dry_runs() -> None:
    drive = TinyDrive()
    pool = ConnectionPool(drive.open_session)
    box = await pool.toolbox(WHO)
    dry = await box.call("trash_item", {"item_id": "a"}, meta={"drive-agent/dry-run": True})
    assert (dry.meta or {})["drive-agent/effect"]["etag"] == "a0"
    assert drive.done == []
    keyed = {"drive-agent/idempotency-key": "k", "drive-agent/if-match": "a0"}
    assert not (await box.call("trash_item", {"item_id": "a"}, meta=keyed)).isError
    stale = await box.call("trash_item", {"item_id": "a"}, meta={**keyed, "drive-agent/idempotency-key": "l"})
    assert (stale.structuredContent or {})["code"] == "etag_mismatch"
    again = await box.call("trash_item", {"item_id": "a"}, meta={"drive-agent/idempotency-key": "k"})
    assert (again.meta or {})["drive-agent/replayed"] is True
    assert drive.done == [("trash_item", "k")]
    await pool.aclose()


def test_the_server_of_models_begins_an_answer_when_its_gate_is_open(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with running_server() as server:
        server.replies = [replace(text("so it is"), gate=gate)]
        with httpx.stream("POST", f"{server.url}/chat/completions", json={}) as answer:
            lines = answer.iter_lines()
            assert "so it is" not in next(lines)
            gate.touch()
            assert "so it is" in "".join(lines)
