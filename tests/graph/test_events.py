"""The events that a turn sends, against their typed contract."""

from typing import Any, get_type_hints

import pytest
from pydantic import TypeAdapter

from graph.events import EVENTS
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.graph.assistant import Assistant, approve

CONTRACT: dict[str, set[str]] = {
    "run": {"run_id", "thread_id"},
    "route_decision": {"agent", "confidence", "reason", "method"},
    "task_plan": {"plan_id", "steps", "version", "bounds"},
    "task_step_update": {"step_id", "status", "result", "error"},
    "plan_paused": {"plan_id", "version"},
    "plan_resumed": {"plan_id", "version"},
    "plan_edited": {"plan_id", "version", "steps"},
    "plan_revised": {"plan_id", "version", "why", "steps"},
    "map_progress": {"step_id", "item_id", "path", "status", "total"},
    "tool_call_start": {"tool_call_id", "name", "args"},
    "tool_progress": {"tool_call_id", "name", "status", "message", "progress", "total", "reason", "grant_id"},
    "approval_needed": {"approval_id", "expires_at", "actions"},
    "approval_resolved": {"approval_id", "decisions", "status"},
    "approval_expired": {"approval_id", "expires_at", "tool_call_ids"},
    "run_parked": {"run_id", "approval_id", "expires_at"},
    "tool_call_end": {"tool_call_id", "name", "status", "result", "duration_ms"},
    "content": {"text"},
    "citations": {"message_id", "citations"},
    "done": {"run_id", "status", "usage", "changes", "groups", "limit"},
    "error": {"code", "message", "retryable", "changes", "groups"},
}


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_has_the_fields_that_outsiders_rely_on(kind: str) -> None:
    assert set(get_type_hints(EVENTS[kind])) == {*CONTRACT[kind], "type"}
    assert EVENTS[kind].__doc__


def test_no_event_is_missing() -> None:
    assert set(EVENTS) == set(CONTRACT)


async def test_what_a_turn_sends_is_what_the_contract_says(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [
        plan_of(("drive_agent", "create Reports"), ("drive_agent", "delete a")),
        tool_call("create_folder", "c", name="Reports"),
        "Made.",
        tool_call("trash_item", "t", item_id="a"),
        "Gone.",
    ]
    first = await assistant.say("create a folder Reports and delete a")
    second = await assistant.answer(approve("t"))
    events = [*first.events, *second.events]
    for event in events:
        TypeAdapter(EVENTS[event["type"]]).validate_python(event, strict=True)
    assert [event["type"] for event in events] == [
        "route_decision",
        "task_plan",
        "task_step_update",
        "tool_call_start",
        "tool_progress",
        "tool_call_end",
        "task_step_update",
        "task_step_update",
        "tool_call_start",
        "approval_resolved",
        "tool_progress",
        "tool_call_end",
        "task_step_update",
    ]


async def test_every_call_that_starts_ends_once_whatever_becomes_of_it(
    assistant: Assistant, model: ScriptedChatModel, drive: Any
) -> None:
    model.script = [tool_call("trash_item", "t", item_id="a"), tool_call("nonsense", "n"), "ok"]
    seen = [await assistant.say("delete a")]
    drive.touch("a")
    seen.append(await assistant.answer(approve("t")))
    seen.append(await assistant.answer({"decisions": [{"tool_call_id": "t", "type": "reject"}]}))
    starts = [event["tool_call_id"] for part in seen for event in part.of("tool_call_start")]
    ends = [event["tool_call_id"] for part in seen for event in part.of("tool_call_end")]
    assert starts == ["t", "n"]
    assert ends == ["t", "n"]
