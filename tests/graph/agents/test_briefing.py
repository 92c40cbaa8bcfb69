"""The place, the open document and the moment in what each model is shown, on the real drive."""

import json
import re
from typing import Any

import pytest

from drive_server.connect import Actor, Drive
from graph.agents.surroundings import subject_of
from tests.fakes.chat_model import ScriptedChatModel, plan_of, prompt_of, route_to, tool_call
from tests.fakes.clock import SettableClock
from tests.graph.assistant import Assistant

LEASE = "# Lease of the garage\n\nThe rent is 90.\n\n## Notice period\n\nThree months.\n"


@pytest.fixture
async def lease(real_drive: Drive, actor: Actor) -> str:
    await real_drive.files.create_folder(actor, "root", "Flat")
    await real_drive.documents.create(actor, "/Flat", "keys.txt", "two")
    return (await real_drive.documents.create(actor, "/Flat", "lease.md", LEASE)).value.id


def section(text: str, tag: str) -> str:
    return text.split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0]


async def test_with_a_file_open_here_is_its_folder_and_who_has_not_its_text_knows_how_it_begins(
    mine: Assistant, model: ScriptedChatModel, lease: str
) -> None:
    model.script = [route_to("drive_agent", needs_plan=True), plan_of(("drive_agent", "x"), ("search_agent", "y"))]
    model.script += ["did x", "did y"]
    await mine.say("Could you get everything here ready for next week?", file_id=lease)
    assert len(model.requests) == 4
    for request in model.requests:
        system = prompt_of(request)
        place = section(system, "place")
        assert "lease.md" in place
        assert "/Flat" in place.partition("folder")[2]
        assert all(name in section(system, "listing") for name in ("keys.txt", "lease.md"))
        assert "The rent is 90." in system.split("<beginning>\n")[1]


async def test_every_prompt_ends_with_the_moment_and_a_turn_has_one(
    mine: Assistant, model: ScriptedChatModel, lease: str, clock: SettableClock
) -> None:
    def later(_: Any) -> str:
        clock.advance(hours=20)
        return "did x"

    model.script = [route_to("drive_agent", needs_plan=True), plan_of(("drive_agent", "x"), ("document_agent", "y"))]
    model.script += [later, "did y"]
    await mine.say("Could you get everything here ready for next week?", file_id=lease)
    tails = {prompt_of(request).rpartition("<moment>\n")[2] for request in model.requests}
    (tail,) = tails
    assert tail.endswith("\n</moment>")
    assert json.loads(tail.removesuffix("\n</moment>"))["now"].startswith("Saturday 2026-11-21 ")
    assert all("2026" not in prompt_of(request).partition("<moment>\n{")[0] for request in model.requests)


async def test_related_passages_are_found_by_the_subject_of_the_document_too(
    mine: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, lease: str
) -> None:
    await real_drive.documents.create(actor, "root", "law.md", "A notice period of a garage is three months by law.")
    await real_drive.ingester.drain()
    model.script = ["Shorter."]
    await mine.say("make this text shorter", file_id=lease)
    related = prompt_of(model.requests[0]).split("<related>\n")[1].split("\n</related>")[0]
    assert related.startswith("[/law.md]\n")
    assert "<document>\n# Lease of the garage" in prompt_of(model.requests[0])


def test_the_subject_is_the_name_and_the_headings() -> None:
    document = {"file": {"name": "lease.md"}, "text": LEASE}
    assert subject_of(document) == "lease\nLease of the garage\nNotice period"
    assert subject_of({"file": {"name": "合同"}, "text": "no heading"}) == "合同"


async def test_who_attaches_a_file_is_still_known_to_have_another_one_open(
    mine: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, lease: str
) -> None:
    note = (await real_drive.documents.create(actor, "root", "note.md", "Ask for a discount.")).value.id
    model.script = ["Done."]
    await mine.say("copy this next to the open one", file_id=lease, attachments=[{"kind": "file", "id": note}])
    system = prompt_of(model.requests[-1])
    assert "Ask for a discount." in section(system, "attachments")
    assert "The rent is 90." in section(system, "beginning")


async def test_the_router_and_the_planner_see_short_ids_and_a_folder_of_theirs_is_the_whole_one(
    mine: Assistant, model: ScriptedChatModel, lease: str, real_drive: Drive, actor: Actor
) -> None:
    folder = (await real_drive.files.get(actor, "/Flat")).id
    planned = tool_call(
        "TaskPlan",
        steps=[
            {
                "title": "Read",
                "agent": "search_agent",
                "instruction": "Sum it up.",
                "kind": "map",
                "folder": folder[:6],
            },
            {"title": "Make", "agent": "drive_agent", "instruction": "Create the folder Sums."},
        ],
    )
    model.script = [route_to("search_agent", needs_plan=True), planned, *["It says so."] * 9]
    seen = await mine.say("Could you get everything here ready for next week?", file_id=lease)
    assert seen.state["plan"]["steps"][0]["folder"] == folder
    for request in model.requests[:2]:
        shown = prompt_of(request)
        assert not re.search(r"[0-9a-f]{32}", shown)
        assert f"{lease[:6]} lease.md" in section(shown, "listing")
