"""Corrections, and edits of documents by their title, on the real drive with a scripted model."""

import json

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.offline.model import OfflineChatModel
from tests.fakes.chat_model import ScriptedChatModel, prompt_of, tool_call
from tests.graph.assistant import Assistant, Seen, approve, assemble, names, person


@pytest.fixture
def assistant(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    return assemble(model, real_pool, saver, person(actor))


def system_of(model: ScriptedChatModel) -> str:
    """Return the system message of the last request."""
    return prompt_of(model.requests[-1])


def agent_of(seen: Seen) -> tuple[str, str]:
    """Return who took the turn, and why."""
    (decision,) = seen.of("route_decision")
    return decision["agent"], decision["reason"]


@pytest.mark.parametrize(
    ("edit", "question", "correction", "reason"),
    [
        (
            "in lease.md change 30 days to 10 days",
            "which folders are there?",
            "no, make it 11 days",
            "This corrects what was done last.",
        ),
        ("把 lease.md 里的30 days改成10 days", "有哪些文件夹？", "不对，改成11天", "这是更正刚才所做的改动。"),
    ],
)
async def test_a_correction_goes_to_who_made_the_change_with_what_it_was_and_changes_it(
    assistant: Assistant,
    model: ScriptedChatModel,
    real_drive: Drive,
    actor: Actor,
    edit: str,
    question: str,
    correction: str,
    reason: str,
) -> None:
    lease = (await real_drive.documents.create(actor, "root", "lease.md", "Notice of 30 days.")).value.id
    first = {"find": "30 days", "replace": "10 days"}
    model.script = [tool_call("patch_file", "p1", file_id="/lease.md", edits=[first]), "Changed."]
    await assistant.say(edit)
    await assistant.answer(approve("p1"))
    assert "<last_change>\n" not in system_of(model)
    model.script = ["None."]
    await assistant.say(question)
    second = {"find": "10 days", "replace": "11 days"}
    model.script = [tool_call("patch_file", "p2", file_id=lease, edits=[second]), "Now 11."]
    seen = await assistant.say(correction)
    assert agent_of(seen) == ("document_agent", reason)
    shown = system_of(model).partition("<last_change>\n")[2].partition("\n</last_change>")[0]
    assert json.loads(shown)["args"] == {"file_id": "/lease.md", "edits": [first]}
    assert "lease.md" in json.loads(shown)["result"]
    await assistant.answer(approve("p2"))
    assert (await real_drive.documents.read_text(actor, lease)).text == "Notice of 11 days."


@pytest.mark.parametrize(
    ("order", "correction"),
    [("create a folder called Reprots", "no, call it Reports"), ("新建文件夹 Reprots", "不对，叫 Reports")],
)
async def test_what_the_drive_agent_did_is_corrected_by_it(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, order: str, correction: str
) -> None:
    model.script = [tool_call("create_folder", "c", name="Reprots"), "Made."]
    await assistant.say(order)
    model.script = [tool_call("rename_item", "r", item_id="/Reprots", name="Reports"), "Renamed."]
    seen = await assistant.say(correction)
    assert agent_of(seen)[0] == "drive_agent"
    assert '"tool":"create_folder"' in system_of(model).replace('": "', '":"')
    assert await names(real_drive, actor, "root") == ["Reports"]


async def test_whoever_gets_a_correction_handed_over_sees_what_was_done(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [tool_call("create_folder", "c", name="Reprots"), "Made."]
    await assistant.say("create a folder called Reprots")
    model.script = [tool_call("transfer_to_agent", "t", agent="document_agent", reason="A text."), "Done."]
    await assistant.say("no, call it Reports")
    assert "You are now the Document agent" in system_of(model)
    assert "<last_change>\n" in system_of(model)


async def test_after_another_question_only_words_that_name_a_change_correct_it(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    folder = (await real_drive.documents.create(actor, "root", "a.md", "x")).value.id
    model.script = [tool_call("create_folder", "c", name="A"), "Made."]
    await assistant.say("create a folder called A")
    model.script = ["None."]
    await assistant.say("which folders are there?")
    routed = tool_call("RouteDecision", agent="search_agent", needs_plan=False, confidence=0.9, reason="")
    for said in ("sorry, I meant Bob", "不是，应该是李伟"):
        model.script = [routed, "Bob."]
        assert "corrects" not in agent_of(await assistant.say(said))[1]
        assert "<last_change>\n" not in system_of(model)
    model.script = [routed, "Shorter."]
    await assistant.say("make this 100 words", file_id=folder)
    assert "<last_change>\n" not in system_of(model)


async def test_without_a_change_and_after_an_undo_there_is_nothing_to_correct(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    routed = tool_call("RouteDecision", agent="drive_agent", needs_plan=False, confidence=0.9, reason="")
    model.script = [routed, "What do you mean?"]
    seen = await assistant.say("no, make it 11 days")
    assert seen.of("route_decision")[0]["method"] == "model"
    model.script = [tool_call("create_folder", "c", name="A"), "Made."]
    await assistant.say("create a folder called A")
    model.script = [tool_call("undo_changes", "u"), "Taken back."]
    await assistant.say("undo that")
    await assistant.answer(approve("u"))
    model.script = [routed, "What do you mean?"]
    await assistant.say("no, make it 11 days")
    assert "<last_change>\n" not in system_of(model)
    assert await names(real_drive, actor, "root") == []


async def test_a_document_is_edited_by_its_title_without_being_open(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    await real_drive.files.create_folder(actor, "root", "Flat")
    lease = (await real_drive.documents.create(actor, "/Flat", "Lease contract.md", "Notice of 30 days.")).value.id
    routed = tool_call("RouteDecision", agent="document_agent", needs_plan=False, confidence=0.9, reason="")
    model.script = [
        routed,
        tool_call("search_files", "s", query="lease contract"),
        tool_call("read_file", "d", file_id=lease),
        tool_call("patch_file", "p", file_id=lease, edits=[{"find": "30 days", "replace": "10 days"}]),
        "Changed in Lease contract.md.",
    ]
    seen = await assistant.say("change the notice period in the lease contract to 10 days")
    assert agent_of(seen)[0] == "document_agent"
    assert lease in seen.results["s"]
    await assistant.answer(approve("p"))
    assert (await real_drive.documents.read_text(actor, lease)).text == "Notice of 10 days."


async def test_of_several_with_that_title_the_person_chooses(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    for folder in ("Old", "New"):
        await real_drive.files.create_folder(actor, "root", folder)
        await real_drive.documents.create(actor, f"/{folder}", "lease.md", "30 days")
    routed = tool_call("RouteDecision", agent="document_agent", needs_plan=False, confidence=0.9, reason="")
    model.script = [routed, tool_call("search_files", "s", query="lease"), "Which one: /Old/lease.md or /New/lease.md?"]
    seen = await assistant.say("change the notice period in the lease to 10 days")
    assert all(f"/{folder}/lease.md" in seen.results["s"] for folder in ("Old", "New"))
    edits = [{"find": "30 days", "replace": "10 days"}]
    model.script = [tool_call("patch_file", "p", file_id="/New/lease.md", edits=edits), "Changed."]
    await assistant.say("the one in New")
    await assistant.answer(approve("p"))
    assert (await real_drive.documents.read_text(actor, "/New/lease.md")).text == "10 days"
    assert (await real_drive.documents.read_text(actor, "/Old/lease.md")).text == "30 days"


@pytest.mark.parametrize(
    ("edit", "corrections", "text"),
    [
        ("replace 30 days with 10 days in lease.md", ["no, make it 11 days", "no, 12 days"], "Notice of 12 days."),
        ("把 lease.md 里的30 days改成10天", ["不对，改成11天"], "Notice of 11天."),
    ],
)
async def test_the_offline_model_corrects_its_last_edit(
    real_pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    real_drive: Drive,
    actor: Actor,
    edit: str,
    corrections: list[str],
    text: str,
) -> None:
    lease = (await real_drive.documents.create(actor, "root", "lease.md", "Notice of 30 days.")).value.id
    assistant = assemble(OfflineChatModel(), real_pool, saver, person(actor))
    for said in (edit, *corrections):
        seen = await assistant.say(said)
        assert seen.asked is not None, seen.text
        await assistant.answer(approve(seen.asked["actions"][0]["tool_call_id"]))
    assert (await real_drive.documents.read_text(actor, lease)).text == text


@pytest.mark.parametrize(
    ("order", "correction", "name"),
    [
        ("create a folder called Reprots", "no, call it Reports", "Reports"),
        ("新建文件夹 报搞", "不对，叫报告", "报告"),
        ("rename a.md to b.md", "no, call it c", "c.md"),
    ],
)
async def test_the_offline_model_corrects_a_name(
    real_pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    real_drive: Drive,
    actor: Actor,
    order: str,
    correction: str,
    name: str,
) -> None:
    if "a.md" in order:
        await real_drive.documents.create(actor, "root", "a.md", "x")
    assistant = assemble(OfflineChatModel(), real_pool, saver, person(actor))
    for said in (order, correction):
        await assistant.say(said)
    assert await names(real_drive, actor, "root") == [name]
