"""The graph on the real drive, with a scripted model: what the person asked for is what happens there."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import ALL_SCOPES, Actor, Drive
from graph.drive.connections import ConnectionPool
from tests.fakes.chat_model import ScriptedChatModel, prompt_of, tool_call, tool_calls
from tests.graph.assistant import Assistant, approve, assemble, names, person, reject

HANDBOOK = "# Handbook\n\nNotice of 30 days is required.\n"


@pytest.fixture
def assistant(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    return assemble(model, real_pool, saver, person(actor))


async def put(drive: Drive, actor: Actor, parent: str, name: str, text: str = "text") -> str:
    return (await drive.documents.create(actor, parent, name, text)).value.id


async def old_folder(drive: Drive, actor: Actor) -> list[str]:
    await drive.files.create_folder(actor, "root", "Old")
    return [await put(drive, actor, "/Old", name) for name in ("a.txt", "图片.txt")]


async def test_what_the_protocol_refuses_is_a_result_that_a_model_can_read(
    real_pool: ConnectionPool, actor: Actor
) -> None:
    box = await real_pool.toolbox(person(actor))
    refused = await box.call("list_folder", {"cursor": "made up"}, meta={})
    again = await box.call("list_folder", {}, meta={})

    assert refused.isError
    assert refused.structuredContent is not None
    assert refused.structuredContent["code"] == "invalid_cursor"
    assert "invalid_cursor: The cursor is not one that this list gave. Start again" in str(refused.content)
    assert not again.isError


async def test_deleting_shows_what_goes_and_a_rejection_changes_nothing(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    ids = await old_folder(real_drive, actor)
    model.script = [tool_calls(*(tool_call("trash_item", key, item_id=key) for key in ids)), "Nothing was deleted."]
    seen = await assistant.say("delete everything in Old")
    assert seen.asked is not None
    assert "图片.txt" in seen.asked["actions"][1]["preview"]
    assert all(action["risk"] == "delete" and action["reversible"] for action in seen.asked["actions"])
    seen = await assistant.answer(reject(*ids))
    assert await names(real_drive, actor, "/Old") == ["a.txt", "图片.txt"]
    assert seen.state["turn"]["changes"] == []


async def test_the_search_agent_sees_and_rebuilds_the_index_of_a_folder_without_asking(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    await old_folder(real_drive, actor)
    await real_drive.ingester.drain()
    model.script = [
        tool_call("get_index_status", "s", folder_id="/Old"),
        tool_call("reindex", "r", folder_id="/Old"),
        "They are read anew.",
    ]
    seen = await assistant.say("find the lease")
    assert seen.asked is None
    assert seen.ends == [("get_index_status", "done"), ("reindex", "done")]
    assert "2 files to be read anew." in seen.results["r"]
    assert seen.state["turn"]["changes"] == []
    assert await names(real_drive, actor, "/Old") == ["a.txt", "图片.txt"]


async def test_an_undo_of_nothing_named_is_of_this_conversation_and_of_no_undo(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    elsewhere = Assistant(assistant.graph, assistant.who)
    for one, name in ((assistant, "Here"), (elsewhere, "There")):
        model.script = [tool_call("create_folder", "c", name=name), "Made."]
        await one.say(f"create a folder {name}", key=f"run-{name}")
    model.script = [tool_call("undo_changes", "u"), "Taken back."]
    await assistant.say("undo that")
    await assistant.answer(approve("u"))
    assert await names(real_drive, actor, "root") == ["There"]
    model.script = [tool_call("undo_changes", "u"), "Nothing to take back."]
    seen = await assistant.say("undo that")
    assert await names(real_drive, actor, "root") == ["There"]
    assert "state_conflict" in [*seen.results.values()][-1]


async def test_undoing_shows_what_comes_back_and_brings_it_back(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    ids = await old_folder(real_drive, actor)
    model.script = [tool_calls(*(tool_call("trash_item", key, item_id=key) for key in ids)), "Gone."]
    await assistant.say("delete everything in Old", key="run-1")
    seen = await assistant.answer(approve(*ids))
    assert [change["tool"] for change in seen.state["turn"]["changes"]] == ["trash_item"] * 2
    assert await names(real_drive, actor, "/Old") == []
    model.script = [tool_call("undo_changes", "u", run_id="run-1"), "They are back."]
    seen = await assistant.say("undo that")
    assert seen.asked is not None
    assert "a.txt" in seen.asked["actions"][0]["preview"]
    assert await names(real_drive, actor, "/Old") == []
    await assistant.answer(approve("u"))
    assert await names(real_drive, actor, "/Old") == ["a.txt", "图片.txt"]


async def test_a_message_that_a_client_sends_again_is_not_taken_for_the_run_before(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    runs = set[str]()
    for talk in (assistant, Assistant(assistant.graph, assistant.who)):
        model.script = [tool_call("create_folder", "call_0", name="Plans"), "Done."]
        seen = await talk.run({"messages": [HumanMessage("make a folder", id="m1")]})
        assert seen.state["turn"]["message_id"] == "m1"
        assert await names(real_drive, actor, "root") == ["Plans"]
        await real_drive.files.trash(actor, "/Plans")
        runs.add(seen.state["turn"]["run_id"])
    assert len(runs - {"m1"}) == 2


async def test_a_run_has_the_same_id_when_it_is_resumed(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    ids = await old_folder(real_drive, actor)
    model.script = [tool_call("trash_item", "call_0", item_id=ids[0]), "Gone."]
    seen = await assistant.run({"messages": [HumanMessage("delete a.txt", id="m1")]})
    begun = seen.state["turn"]["run_id"]
    seen = await assistant.answer(approve("call_0"))
    assert seen.state["turn"]["run_id"] == begun != "m1"
    assert [change.tool for change in (await real_drive.journal.list_changes(actor, run_id=begun)).items] == [
        "trash_item"
    ]


async def test_an_edit_shows_its_difference_and_makes_a_version(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    key = await put(real_drive, actor, "root", "Handbook.md", HANDBOOK)
    edits = [{"find": "30 days", "replace": "45 days"}]
    model.script = [tool_call("patch_file", "p", file_id=key, edits=edits), "Done."]
    seen = await assistant.say("replace 30 days with 45 days in this document", file_id=key)
    assert HANDBOOK.strip() in prompt_of(model.requests[0])
    assert seen.asked is not None
    assert "-Notice of 30 days" in seen.asked["actions"][0]["preview"]
    assert "+Notice of 45 days" in seen.asked["actions"][0]["preview"]
    await assistant.answer(approve("p"))
    assert (await real_drive.documents.read_text(actor, key)).text == HANDBOOK.replace("30", "45")
    assert (await real_drive.files.get(actor, key)).version == 2


async def test_a_document_that_somebody_changed_meanwhile_is_shown_again(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    key = await put(real_drive, actor, "root", "Handbook.md", HANDBOOK)
    model.script = [tool_call("write_file", "w", file_id=key, content="new\n"), "Done."]
    await assistant.say("rewrite this document", file_id=key)
    await real_drive.documents.write_text(actor, key, "by somebody else\n")
    seen = await assistant.answer(approve("w"))
    assert seen.asked is not None
    assert "-by somebody else" in seen.asked["actions"][0]["preview"]
    assert (await real_drive.documents.read_text(actor, key)).text == "by somebody else\n"
    await assistant.answer(approve("w"))
    assert (await real_drive.documents.read_text(actor, key)).text == "new\n"


async def test_an_edit_that_matches_nothing_comes_back_with_the_nearest_lines(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    key = await put(real_drive, actor, "root", "Handbook.md", HANDBOOK)
    edits = [{"find": "Notice of 31 days", "replace": "x"}]
    model.script = [tool_call("patch_file", "p", file_id=key, edits=edits), "It does not say so."]
    seen = await assistant.say("replace 31 days in this document", file_id=key)
    assert seen.asked is None
    assert "edit_mismatch" in seen.results["p"]
    assert "Notice of 30 days" in seen.results["p"]


async def test_another_persons_file_is_as_good_as_none(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive
) -> None:
    admin = Actor(await real_drive.identity.authenticate((await real_drive.identity.ensure_local_user())[1]))
    bob, _ = await real_drive.identity.create_user(admin, "bob@example.com")
    theirs = Actor(await real_drive.identity.principal_for(bob.id, ALL_SCOPES))
    key = await put(real_drive, theirs, "root", "secret.txt", "TOP SECRET")
    model.script = [tool_call("read_file", "r", file_id=key), "I can't see it."]
    seen = await assistant.say("summarise this document", file_id=key)
    assert "not_found" in seen.results["r"]
    assert "SECRET" not in str(model.requests)


async def test_after_a_crash_in_the_middle_of_the_calls_each_is_done_exactly_once(
    real_pool: ConnectionPool,
    model: ScriptedChatModel,
    saver: AsyncSqliteSaver,
    real_drive: Drive,
    actor: Actor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = assemble(model, real_pool, saver, person(actor))
    folders = [tool_call("create_folder", name, name=name) for name in ("A", "B", "C")]
    model.script = [tool_calls(*folders), "Made."]
    with monkeypatch.context() as crashing:
        crashing.setattr("graph.approvals.act.report", crash_after("B"))
        with pytest.raises(SystemError):
            await before.say("create a folder A, B and C", key="run-1")
    after = assemble(model, real_pool, saver, person(actor))
    after.thread_id = before.thread_id
    seen = await after.run(None)
    assert await names(real_drive, actor, "root") == ["A", "B", "C"]
    assert seen.text.strip() == "Made."
    assert len((await real_drive.journal.list_changes(actor, run_id="run-1")).items) == 3
    assert len(seen.state["turn"]["changes"]) == 3


def crash_after(name: str) -> Any:
    """Return a `report` that fails once the call of that id was answered: the drive has done it, nobody knows."""

    def report(message: Any, duration_ms: int = 0) -> Any:
        del duration_ms
        if message.tool_call_id == name:
            raise SystemError("the lights went out")
        return message

    return report
