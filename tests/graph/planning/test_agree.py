"""A plan as a contract: agreed to once, asked no more inside of it, asked again outside, on a real drive."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from drive_server.connect import Actor, Drive
from tests.fakes.chat_model import ScriptedChatModel, tool_call, tool_calls
from tests.fakes.clock import SettableClock
from tests.graph.assistant import Assistant, approve, names, reject

REQUEST = "create a folder Reports, move a there and share it with bob@example.com"
CARD = "approve_plan"


@pytest.fixture
async def folders(real_drive: Drive, actor: Actor) -> dict[str, str]:
    """Ids of /Old with three files, and of /Kept with one."""
    ids: dict[str, str] = {}
    for name in ("Old", "Kept"):
        ids[name] = (await real_drive.files.create_folder(actor, "root", name)).value.id
    for name in ("a.txt", "b.txt", "c.txt"):
        ids[name] = (await real_drive.documents.create(actor, ids["Old"], name, name)).value.id
    ids["k.txt"] = (await real_drive.documents.create(actor, ids["Kept"], "k.txt", "k")).value.id
    return ids


def planned(*instructions: str, agent: str = "drive_agent", **bounds: Any) -> AIMessage:
    steps = [{"title": text, "agent": agent, "instruction": text} for text in instructions]
    return tool_call("TaskPlan", steps=steps, bounds=bounds or None)


def trash(*ids: str) -> AIMessage:
    return tool_calls(*[tool_call("trash_item", key, item_id=key) for key in ids])


async def asked_for(mine: Assistant, model: ScriptedChatModel, *steps: str, **bounds: Any) -> Any:
    """Return what is asked for right after planning."""
    model.script = [planned(*steps, **bounds)]
    seen = await mine.say(REQUEST)
    assert seen.asked is not None
    return seen.asked


async def test_inside_nothing_is_asked_and_outside_it_is(
    mine: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, folders: dict[str, str]
) -> None:
    asked = await asked_for(mine, model, "clear Old", "delete k.txt", folders=["/Old"], kinds=["trash"], max_items=2)
    action = asked["actions"][0]
    assert (action["name"], action["risk"]) == (CARD, "delete")
    assert action["args"] == {"folders": [folders["Old"]], "kinds": ["trash"], "max_items": 2}
    assert "`/Old`" in action["preview"]
    assert "2 items" in action["preview"]

    model.script = [trash(folders["a.txt"], folders["b.txt"]), "Cleared.", trash(folders["k.txt"])]
    seen = await mine.answer(approve(action["tool_call_id"]))
    assert seen.ends == [("trash_item", "done")] * 2
    assert await names(real_drive, actor, folders["Old"]) == ["c.txt"]
    assert seen.state["plan"]["contract"]["used"] == 2
    assert seen.asked is not None
    assert [one["tool_call_id"] for one in seen.asked["actions"]] == [folders["k.txt"]]

    model.script = ["Not deleted."]
    seen = await mine.answer(reject(folders["k.txt"]))
    assert await names(real_drive, actor, folders["Kept"]) == ["k.txt"]
    assert seen.state["plan"]["contract"] is None


async def test_of_parallel_calls_no_more_run_unasked_than_were_agreed_to(
    mine: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, folders: dict[str, str]
) -> None:
    asked = await asked_for(mine, model, "clear Old", folders=["/Old"], kinds=["trash"], max_items=2)
    model.script = [trash(folders["a.txt"], folders["b.txt"], folders["c.txt"])]
    seen = await mine.answer(approve(asked["actions"][0]["tool_call_id"]))
    assert seen.asked is not None
    assert len(seen.asked["actions"]) == 1
    assert seen.state["plan"]["contract"]["used"] == 2
    model.script = ["Two of three."]
    await mine.answer(reject(seen.asked["actions"][0]["tool_call_id"]))
    assert len(await names(real_drive, actor, folders["Old"])) == 1


async def test_nothing_agreed_covers_sharing_or_deleting_for_good(
    mine: Assistant, model: ScriptedChatModel, folders: dict[str, str]
) -> None:
    asked = await asked_for(mine, model, "tidy Old", folders=["/Old"], kinds=["trash", "move"], max_items=50)
    model.script = [
        tool_calls(
            tool_call("share_item", "s", item_id=folders["a.txt"], email="eve@example.com"),
            tool_call("create_share_link", "l", item_id=folders["a.txt"]),
            tool_call("delete_item", "d", item_id=folders["b.txt"]),
        )
    ]
    seen = await mine.answer(approve(asked["actions"][0]["tool_call_id"]))
    assert not [end for end in seen.ends if end[1] == "done"]
    asked_names = {one["name"] for one in seen.asked["actions"]} if seen.asked else set[str]()
    assert {"share_item", "create_share_link"} <= asked_names


async def test_what_a_plan_was_not_given_is_asked_about_each_time(
    mine: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, folders: dict[str, str]
) -> None:
    asked = await asked_for(mine, model, "clear Old", folders=["/Old"], kinds=["trash"], max_items=9)
    model.script = [trash(folders["a.txt"])]
    seen = await mine.answer(reject(asked["actions"][0]["tool_call_id"]))
    assert seen.of("approval_resolved")[0]["decisions"][0]["type"] == "reject"
    assert seen.asked is not None
    assert not seen.state["plan"].get("contract")
    assert len(await names(real_drive, actor, folders["Old"])) == 3


async def test_an_expired_card_gives_nothing_and_says_so(
    mine: Assistant, model: ScriptedChatModel, clock: SettableClock, folders: dict[str, str]
) -> None:
    asked = await asked_for(mine, model, "clear Old", folders=["/Old"], kinds=["trash"], max_items=9)
    clock.advance(301)
    model.script = [trash(folders["a.txt"])]
    seen = await mine.answer(approve(asked["actions"][0]["tool_call_id"]))
    assert seen.of("approval_expired")
    assert seen.of("approval_resolved")[0]["status"] == "expired"
    assert seen.asked is not None


@pytest.mark.parametrize("ref", ["root", "/", "ROOT_ID", "/nowhere", "a.txt"])
async def test_an_edited_card_names_no_bound_that_the_planner_may_not(
    mine: Assistant, model: ScriptedChatModel, real_drive: Drive, actor: Actor, folders: dict[str, str], ref: str
) -> None:
    root = (await real_drive.files.get(actor, "root")).id
    named = root if ref == "ROOT_ID" else folders.get(ref, ref)
    asked = await asked_for(mine, model, "clear Old", folders=["/Old"], kinds=["trash"], max_items=9)
    args = {"folders": [folders["Old"], named], "kinds": ["trash"], "max_items": 9}
    decision = {"tool_call_id": asked["actions"][0]["tool_call_id"], "type": "edit", "args": args}
    model.script = [trash(folders["k.txt"])]
    seen = await mine.answer({"decisions": [decision]})
    assert seen.asked is not None
    assert seen.state["plan"].get("contract") is None
    assert "never the whole drive" in seen.of("approval_resolved")[0]["decisions"][0]["message"]
    assert await names(real_drive, actor, folders["Kept"]) == ["k.txt"]


async def test_the_person_narrows_the_bounds_and_nonsense_gives_nothing(
    mine: Assistant, model: ScriptedChatModel, folders: dict[str, str]
) -> None:
    asked = await asked_for(mine, model, "clear Old", folders=["/Old"], kinds=["trash"], max_items=9)
    key = asked["actions"][0]["tool_call_id"]
    args = {"folders": [folders["Old"]], "kinds": ["trash"], "max_items": "1"}
    model.script = [trash(folders["a.txt"]), "One.", "Done."]
    seen = await mine.answer({"decisions": [{"tool_call_id": key, "type": "edit", "args": args}]})
    assert seen.ends == [("trash_item", "done")]
    assert seen.of("approval_resolved")[0]["decisions"][0]["about"] == (
        "Without asking again, and only until the plan ends: move to the trash in `/Old`, 1 items at most."
    )

    asked = await asked_for(mine, model, "clear Old", folders=["/Old"], kinds=["trash"], max_items=9)
    key = asked["actions"][0]["tool_call_id"]
    model.script = [trash(folders["b.txt"])]
    wide = {"folders": [], "kinds": ["share"], "max_items": 10**9}
    seen = await mine.answer({"decisions": [{"tool_call_id": key, "type": "edit", "args": wide}]})
    assert seen.of("approval_resolved")[0]["decisions"][0]["type"] == "reject"
    assert seen.asked is not None


@pytest.mark.parametrize(
    "bounds",
    [
        {},
        {"folders": ["/Old"], "kinds": ["create", "move"], "max_items": 5},
        {"folders": ["/nowhere"], "kinds": ["trash"], "max_items": 5},
        {"folders": ["root"], "kinds": ["trash"], "max_items": 5},
        {"folders": ["/Old/a.txt"], "kinds": ["trash"], "max_items": 5},
    ],
)
async def test_no_card_is_shown_for_bounds_that_ask_nothing_or_mean_nothing(
    mine: Assistant, model: ScriptedChatModel, folders: dict[str, str], bounds: dict[str, Any]
) -> None:
    assert folders
    model.script = [planned("look around", **bounds), "Looked."]
    seen = await mine.say(REQUEST)
    assert seen.asked is None
    assert seen.state["plan"]["status"] == "done"


async def test_the_card_is_in_the_persons_language(
    mine: Assistant, model: ScriptedChatModel, folders: dict[str, str]
) -> None:
    assert folders
    model.script = [planned("清空 Old", folders=["/Old"], kinds=["trash"], max_items=3)]
    seen = await mine.say("新建文件夹报告，然后把a移到报告")
    assert seen.asked is not None
    assert "在计划结束之前不再逐次询问" in seen.asked["actions"][0]["preview"]
    assert "最多 3 项" in seen.asked["actions"][0]["preview"]
