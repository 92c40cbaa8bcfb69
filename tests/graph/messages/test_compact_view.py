"""A model's view with short ids, on the real drive: what it calls by them is done to the right items."""

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.messages.compact_view import compact_view, with_full_ids
from tests.fakes.chat_model import ScriptedChatModel, prompt_of, tool_call
from tests.graph.assistant import Assistant, approve, assemble, names, person


@pytest.fixture
def assistant(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    return assemble(model, real_pool, saver, person(actor))


async def test_a_short_id_is_enough_and_nobody_but_the_model_sees_it(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    kept = (await real_drive.documents.create(actor, "root", "keep.md", "x")).value.id
    gone = (await real_drive.documents.create(actor, "root", "gone.md", "x")).value.id
    model.script = [
        tool_call("search_files", "s", query="gone"),
        tool_call("trash_item", "t", item_id=gone[:6]),
        "Gone.",
    ]
    seen = await assistant.say("trash the file gone.md please", folder_id="root")
    if seen.asked:
        seen = await assistant.answer(approve("t"))
    assert await names(real_drive, actor, "root") == ["keep.md"]
    assert gone[:6] in prompt_of(model.requests[0])
    assert gone not in "".join(str(message) for message in model.requests[-1])
    assert kept[:6] in prompt_of(model.requests[0])
    assert [event["args"] for event in seen.of("tool_call_start") if event["name"] == "trash_item"] in (
        [], [{"item_id": gone}]
    )  # fmt: skip
    made = [call for message in seen.state["messages"] for call in getattr(message, "tool_calls", ())]
    assert made[-1]["args"] == {"item_id": gone}
    assert f'"id":"{gone}"' in seen.results["s"]


def test_two_results_with_ids_that_begin_alike_are_told_apart_in_one_view_only() -> None:
    first, second = ("abcdef" + digit * 26 for digit in "01")
    one, two = (
        ToolMessage(f'It.\n{{"items":[{{"id":"{key}","kind":"file","path":"/{key[-1]}"}}]}}', tool_call_id=key)
        for key in (first, second)
    )
    assert [message.text for message in compact_view([one, two])[0]] == ["It.\n- abcdef /0", "It.\n- abcdef1 /1"]
    assert [message.text for message in compact_view([two, one])[0]] == ["It.\n- abcdef /1", "It.\n- abcdef0 /0"]
    called = AIMessage("", tool_calls=[{"name": "move_items", "args": {"item_ids": ["abcdef", "abcdef0"]}, "id": "c"}])
    assert with_full_ids(called, compact_view([two, one])[1]).tool_calls[0]["args"] == {"item_ids": [second, first]}
