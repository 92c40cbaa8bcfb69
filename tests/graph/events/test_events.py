"""The events that a turn sends, against their typed contract."""

from typing import Annotated, Any, Literal, NotRequired, get_type_hints
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from graph.events.calls import OWN_TOOLS, named
from graph.events.definitions import EVENTS, definitions_of
from graph.events.markers import FINAL, KEY
from graph.events.sending import listening
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter
from graph.policy.contract import APPROVE_PLAN
from graph.state import AGENTS
from graph.tools.box import LOCAL_NAMES
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.graph.assistant import Assistant, Seen, approve
from tests.hostile import hostile_sample, live_paths

FIELDS: dict[str, set[str]] = {
    "run": {"run_id", "thread_id", "replaces"},
    "route_decision": {"agent", "confidence", "reason", "method", "step_id"},
    "task_plan": {"plan_id", "steps", "version", "bounds"},
    "task_step_update": {"step_id", "status", "result", "question", "error"},
    "plan_paused": {"plan_id", "version"},
    "plan_resumed": {"plan_id", "version"},
    "plan_edited": {"plan_id", "version", "steps"},
    "plan_revised": {"plan_id", "version", "why", "steps"},
    "map_progress": {"step_id", "item_id", "path", "status", "total"},
    "tool_call_start": {"tool_call_id", "name", "displayName", "args"},
    "tool_progress": {
        "tool_call_id",
        "name",
        "displayName",
        "status",
        "message",
        "progress",
        "total",
        "reason",
        "grant_id",
    },
    "approval_needed": {"approval_id", "expires_at", "actions"},
    "approval_resolved": {"approval_id", "decisions", "status"},
    "approval_expired": {"approval_id", "expires_at", "tool_call_ids"},
    "run_parked": {"run_id", "approval_id", "expires_at"},
    "tool_call_end": {"tool_call_id", "name", "displayName", "status", "result", "duration_ms"},
    "assistant.toolCall.updated": {"messageId", "toolCall"},
    "content": {"text", "message_id", "step_id", "restarts"},
    "reasoning": {"text", "message_id", "step_id"},
    "reading": {"read", "total", "step_id"},
    "citations": {"message_id", "citations"},
    "done": {"run_id", "status", "usage", "changes", "groups", "limit"},
    "error": {"run_id", "code", "message", "retryable", "changes", "groups"},
}


@pytest.mark.parametrize("kind", FIELDS)
def test_every_event_has_the_fields_that_outsiders_rely_on(kind: str) -> None:
    assert set(get_type_hints(EVENTS[kind].schema)) == {*FIELDS[kind], "type"}


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_says_what_it_means(kind: str) -> None:
    assert EVENTS[kind].schema.__doc__


def test_events_with_a_key_are_sent_once() -> None:
    assert {kind: event.key for kind, event in EVENTS.items() if event.key} == {
        "tool_call_start": "tool_call_id",
        "tool_call_end": "tool_call_id",
        "approval_resolved": "approval_id",
        "approval_expired": "approval_id",
        "citations": "message_id",
    }


@pytest.mark.parametrize("kind", EVENTS)
def test_a_hostile_text_in_any_field_of_an_event_leaves_inert(kind: str) -> None:
    sample = {**hostile_sample(EVENTS[kind].schema), "type": kind}
    sent = EVENTS[kind].filter_text(sample, LinkFilter(HostAllowlist()).clean)
    assert live_paths(sent) <= NOT_FILTERED


def test_what_is_not_filtered_is_listed_here() -> None:
    samples = [hostile_sample(definition.schema) for definition in EVENTS.values()]
    found = {
        path
        for definition, sample in zip(EVENTS.values(), samples, strict=True)
        for path in live_paths(definition.filter_text(sample, LinkFilter(HostAllowlist()).clean))
    }
    assert found == NOT_FILTERED


NOT_FILTERED = {
    "message_id",
    "step_id",
    "run_id",
    "thread_id",
    "plan_id",
    "approval_id",
    "grant_id",
    "tool_call_id",
    "tool_call_ids",
    "item_id",
    "file_id",
    "etag",
    "grant_kind",
    "editable",
    "code",
    "expires_at",
    "uri",
    "address",
    "action",
    "undo",
    "args",
    "result",
    "messageId",
    "id",
    "serverId",
    "server_id",
    "arguments",
    "schema",
    "url",
    "host",
}
"""Ids, codes, times and addresses that the product makes, and the data of tools and of their servers."""


class Line(TypedDict):
    text: NotRequired[str]
    number: int


class MadeUpEvent(TypedDict):
    type: Annotated[Literal["made_up", "also_made_up"], FINAL]
    id: Annotated[str, KEY]
    lines: NotRequired[list[Line] | None]
    heading: NotRequired[Line]


def test_a_class_is_all_that_defines_an_event() -> None:
    made_up, also = definitions_of(MadeUpEvent)
    assert (made_up.name, also.name, made_up.is_final) == ("made_up", "also_made_up", True)
    event = {"type": "made_up", "id": "1", "lines": [{"text": "a", "number": 1}, {"number": 2}]}
    assert made_up.replay_key(event) == ("made_up", "1")
    assert made_up.filter_text(event, str.upper) == {**event, "lines": [{"text": "A", "number": 1}, {"number": 2}]}
    assert made_up.filter_text({"type": "made_up", "id": "a"}, str.upper) == {"type": "made_up", "id": "A"}
    assert made_up.filter_text({"heading": {"text": "a", "number": 1}}, str.upper)["heading"]["text"] == "A"


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
        TypeAdapter(EVENTS[event["type"]].schema).validate_python(event, strict=True)
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
        "content",
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


async def test_an_event_that_names_a_tool_names_its_server_too(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [tool_call("trash_item", "t", item_id="a"), tool_call("list_memories", "m"), "ok"]
    seen = [await assistant.say("delete a")]
    assert seen[0].asked is not None
    (action,) = seen[0].asked["actions"]
    assert (action["name"], action["displayName"]) == ("trash_item", "mcp__drive__trash_item")
    seen.append(await assistant.answer(approve("t")))
    told = [event for part in seen for event in part.events if event["type"].startswith("tool_")]
    assert {(event["type"], event["name"], event["displayName"]) for event in told} == {
        *((f"tool_{kind}", "trash_item", "mcp__drive__trash_item") for kind in ("call_start", "progress", "call_end")),
        *((f"tool_{kind}", "list_memories", "list_memories") for kind in ("call_start", "call_end")),
    }


def test_only_the_assistants_own_tools_have_no_server() -> None:
    assert {*LOCAL_NAMES, APPROVE_PLAN} == OWN_TOOLS
    assert named("mcp__Notes__add")["displayName"] == "mcp__Notes__add"


async def streamed(assistant: Assistant, text: str) -> tuple[list[dict[str, Any]], str]:
    """Say something as a client of LangGraph's own API does, in a new thread; return the events and the text."""
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    events, said = list[dict[str, Any]](), ""
    asked: Any = {"messages": [HumanMessage(text)]}
    modes: Any = ["custom", "messages"]
    stream: Any = assistant.graph.astream(asked, config, context=assistant.who, stream_mode=modes)
    async for mode, part in stream:
        if mode == "custom":
            events.append(part)
        elif part[1]["langgraph_node"] in AGENTS and isinstance(part[0], AIMessage):
            said += part[0].text
    return events, said


async def test_a_listener_hears_what_is_else_in_the_streams_of_langgraph(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    script = [tool_call("list_folder", "l", folder_id="root"), "Two files: a and b."]
    model.script = [*script]
    heard = await assistant.say("list my files")
    model.script = [*script]
    events, said = await streamed(assistant, "list my files")
    assert said == heard.text
    assert said.strip() == "Two files: a and b."
    assert [without_time(event) for event in events] == [without_time(event) for event in heard.events]
    model.script = [*script]
    overheard = Seen()
    with listening(overheard.hear):
        events, _ = await streamed(assistant, "list my files")
    assert events == []
    assert overheard.text == heard.text


def without_time(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "duration_ms"}
