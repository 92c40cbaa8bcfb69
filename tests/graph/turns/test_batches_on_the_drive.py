"""Many items renamed and organized by the assistant on the real drive: one card, one change, one undo."""

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.graph.assistant import Assistant, approve, assemble, names, person, reject


@pytest.fixture
def assistant(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    return assemble(model, real_pool, saver, person(actor))


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ("rename all files in Trip to Photo 001 and so on", ["Rename 60 items.", "- /Trip/0.md: becomes 'P 01.md'"]),
        ("把 Trip 文件夹里的文件按顺序批量重命名", ["重命名 60 项。", "- /Trip/0.md: 改名为“P 01.md”"]),
    ],
)
async def test_many_names_change_after_one_yes_that_saw_all_of_them_and_come_back_by_one_undo(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, said: str, lines: list[str]
) -> None:
    trip = (await real_drive.files.create_folder(actor, "root", "Trip")).value.id
    for number in range(60):
        await real_drive.documents.create(actor, trip, f"{number}.md", "x")
    before = await names(real_drive, actor, trip)
    model.script = [
        tool_call("rename_items", "p", folder_id=trip, pattern="P {number:2}", preview=True),
        tool_call("rename_items", "r", folder_id=trip, pattern="P {number:2}"),
        "Done.",
    ]
    seen = await assistant.say(said, key="run-1")
    assert seen.ends == [("rename_items", "done")]
    assert seen.asked is not None
    (action,) = seen.asked["actions"]
    preview = action["preview"].splitlines()
    assert preview[:2] == lines
    assert len([line for line in preview if line.startswith("- /Trip/")]) == 60
    assert (action["risk"], action["grant_kind"]) == ("write", "rename")
    seen = await assistant.answer(approve("r"))
    assert (await names(real_drive, actor, trip))[-1] == "P 60.md"
    (change,) = [one for one in (await real_drive.journal.list_changes(actor)).items if one.run_id == "run-1"]
    assert (change.action, change.approved_by) == ("rename_many", actor.principal.email)
    await real_drive.undo.undo(actor, run_id="run-1")
    assert await names(real_drive, actor, trip) == before


async def test_organizing_into_folders_waits_for_a_yes_and_a_no_makes_no_folder(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    for name in ("a.md", "b.png"):
        await real_drive.documents.create(actor, "root", name, "x")
    model.script = [tool_call("organize_items", "o", folder_id="root", folders="{type}"), "Left as it was."]
    seen = await assistant.say("sort my files into folders by type")
    assert seen.asked is not None
    assert "- /Text: is made" in seen.asked["actions"][0]["preview"]
    await assistant.answer(reject("o"))
    assert await names(real_drive, actor, "root") == ["a.md", "b.png"]
    model.script = [tool_call("organize_items", "o2", folder_id="root", folders="{type}"), "Sorted."]
    await assistant.say("sort my files into folders by type after all")
    await assistant.answer(approve("o2"))
    assert await names(real_drive, actor, "root") == ["Images", "Text"]


@pytest.mark.parametrize("said", ["fill in the template letter.md for Ada", "用模板 letter.md 给 Ada 写一封信"])
async def test_a_template_is_filled_in_once_its_values_are_there(
    assistant: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, said: str
) -> None:
    await real_drive.documents.create(actor, "root", "letter.md", "Dear {{name}}, pay {{sum}}.")
    values = [{"name": "name", "value": "Ada"}]
    routed = tool_call("RouteDecision", agent="document_agent", needs_plan=False, confidence=0.9, reason="")
    model.script = [
        *([] if said.isascii() else [routed]),
        tool_call("fill_template", "f1", template_id="/letter.md", values=values, name="To Ada"),
        "Which sum?",
    ]
    seen = await assistant.say(said)
    assert "sum" in seen.results["f1"]
    assert await names(real_drive, actor, "root") == ["letter.md"]
    values.append({"name": "sum", "value": "5"})
    model.script = [tool_call("fill_template", "f2", template_id="/letter.md", values=values, name="To Ada"), "Done."]
    await assistant.say("5")
    assert (await real_drive.documents.read_text(actor, "/To Ada.md")).text == "Dear Ada, pay 5."
