from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest

from drive_server.kernel.context import META_IDEMPOTENCY_KEY
from drive_server.mcp.server import GROUPS
from drive_server.services.journal.changes import ChangeKind
from tests.drive_server.hosts import WHOLE, Host, text_of

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

RUN = {"drive-agent/run-id": "run-1"}


async def test_what_was_done_last_is_undone_and_done_again(assistant: Host) -> None:
    await assistant.call("create_folder", name="A")
    await assistant.call("rename_item", item_id="/A", name="B")

    undone = await assistant.call("undo_changes")
    assert (await assistant.call("get_file_info", item_id="/A"))["name"] == "A"
    await assistant.call("undo_changes", change_id=undone["change_id"])

    assert [change["summary"] for change in undone["undone"]] == ["Renamed 'A' to 'B'."]
    assert (await assistant.call("get_file_info", item_id="/B"))["name"] == "B"


async def test_a_preview_tells_what_would_be_taken_back_and_changes_nothing(assistant: Host) -> None:
    await assistant.call("create_folder", RUN, name="A")
    await assistant.call("create_folder", RUN, name="B")

    preview = await assistant.result("undo_changes", run_id="run-1", preview=True)

    assert preview.structuredContent is not None
    assert preview.structuredContent["preview"]
    assert len(preview.structuredContent["undone"]) == 2
    assert preview.meta is not None
    assert preview.meta["drive-agent/effect"]["count"] == 2
    assert (await assistant.call("list_folder"))["total"] == 2


async def test_what_a_person_changed_since_is_left(assistant: Host) -> None:
    made = await assistant.call("create_file", RUN, name="a.md", content="one")
    await assistant.call("write_file", RUN, file_id=made["id"], content="two")
    await assistant.call("write_file", file_id=made["id"], content="mine")

    undone = await assistant.call("undo_changes", run_id="run-1")

    assert undone["skipped"]
    assert (await assistant.call("read_file", file_id=made["id"]))["text"] == "mine"


async def test_what_was_undone_is_done_again_and_a_preview_says_so_before(assistant: Host) -> None:
    await assistant.call("create_folder", RUN, name="A")
    await assistant.call("rename_item", RUN, item_id="/A", name="B")
    await assistant.call("undo_changes", run_id="run-1")

    preview = await assistant.result("redo_changes", run_id="run-1", preview=True)
    before = await assistant.call("list_folder")
    redone = await assistant.result("redo_changes", run_id="run-1")

    assert preview.structuredContent is not None
    assert (preview.structuredContent["preview"], preview.structuredContent["change_id"]) == (True, None)
    assert before["total"] == 0
    assert redone.structuredContent is not None
    assert [change["action"] for change in redone.structuredContent["redone"]] == ["create_folder", "rename"]
    assert text_of(redone) == "Did 2 changes again."
    assert (await assistant.call("get_file_info", item_id="/B"))["name"] == "B"
    assert (await assistant.refused("redo_changes"))["code"] == "state_conflict"


async def test_changes_are_found_by_tool_kind_and_time_and_tell_who_did_them_with_which_key(
    assistant: Host, alices: Host
) -> None:
    await assistant.call("create_folder", RUN, name="A")
    await assistant.call("rename_item", RUN, item_id="/A", name="B")

    renames = await alices.result("list_changes", WHOLE, tool="rename_item", kind="organise", since="2026-01-01")
    none = await alices.call("list_changes", until="2026-01-01T00:00:00Z")
    wrong = await alices.refused("list_changes", since="once upon a time")

    assert renames.structuredContent is not None
    (change,) = renames.structuredContent["changes"]
    assert (change["tool"], change["user"], change["method"]) == ("rename_item", "alice@example.com", "in_process")
    assert "Renamed 'A' to 'B'." in text_of(renames)
    assert "alice@example.com, rename_item" in text_of(renames)
    assert none["changes"] == []
    assert wrong["code"] == "invalid_argument"


async def test_changes_are_listed_by_run_and_by_item_with_the_tool_that_made_them(
    assistant: Host, alices: Host
) -> None:
    await assistant.call("create_folder", RUN, name="A")
    await assistant.call("rename_item", RUN, item_id="/A", name="B")
    await assistant.call("create_folder", name="C")

    of_run = await assistant.call("list_changes", run_id="run-1")
    of_item = await alices.result("list_changes", item_id="/B", limit=1)

    assert [change["tool"] for change in of_run["changes"]] == ["rename_item", "create_folder"]
    assert of_item.structuredContent is not None
    assert [change["tool"] for change in of_item.structuredContent["changes"]] == ["rename_item"]
    assert of_item.structuredContent["cursor"]
    assert "Renamed 'A' to 'B'." in text_of(of_item)
    assert "entries" not in of_run["changes"][0]


async def test_other_peoples_changes_and_runs_are_neither_seen_nor_undone(assistant: Host, bobs: Host) -> None:
    made = await assistant.result("create_folder", RUN, name="A")
    assert made.meta is not None

    assert (await bobs.call("list_changes", run_id="run-1"))["changes"] == []
    assert (await bobs.refused("undo_changes", run_id="run-1"))["code"] == "not_found"
    assert (await bobs.refused("undo_changes", change_id=made.meta["drive-agent/change-id"]))["code"] == "not_found"


async def test_with_nothing_done_there_is_nothing_to_undo(assistant: Host) -> None:
    assert (await assistant.refused("undo_changes"))["code"] == "state_conflict"


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("create_folder", {"name": "A"}),
    ("create_file", {"folder_id": "/A", "name": "a.md", "content": "one"}),
    ("create_file", {"name": "t.md", "content": "{{{{x}}}}"}),
    ("fill_template", {"template_id": "/t.md", "values": [{"name": "x", "value": "y"}], "name": "filled"}),
    ("write_file", {"file_id": "/A/a.md", "content": "two"}),
    ("append_to_file", {"file_id": "/A/a.md", "content": "three"}),
    ("patch_file", {"file_id": "/A/a.md", "edits": [{"find": "two", "replace": "four"}]}),
    ("restore_version", {"file_id": "/A/a.md", "version": 1}),
    ("rename_item", {"item_id": "/A/a.md", "name": "b.md"}),
    ("copy_item", {"item_id": "/A/b.md", "folder_id": "root"}),
    ("move_item", {"item_id": "/A/b.md", "folder_id": "root", "on_conflict": "rename"}),
    ("move_items", {"item_ids": ["/b.md"], "folder_id": "/A"}),
    ("rename_items", {"folder_id": "/A", "find": "b", "replace": "c1"}),
    ("organize_items", {"folder_id": "/A", "folders": "Text", "match": "c*"}),
    ("rename_items", {"names": [{"item_id": "/A/Text/c1.md", "name": "b.md"}]}),
    ("move_item", {"item_id": "/A/Text/b.md", "folder_id": "/A", "on_conflict": "replace"}),
    ("share_item", {"item_id": "/A", "email": "bob@example.com"}),
    ("update_share", {"item_id": "/A", "email": "bob@example.com", "role": "editor"}),
    ("revoke_share", {"item_id": "/A", "email": "bob@example.com"}),
    ("create_share_link", {"item_id": "/A"}),
    ("update_share", {"item_id": "/A", "link_id": "{create_share_link}", "role": "editor"}),
    ("revoke_share", {"item_id": "/A", "link_id": "{create_share_link}"}),
    ("undo_changes", {}),
    ("redo_changes", {}),
    ("trash_item", {"item_id": "/A/b.md"}),
    ("restore_item", {"item_id": "{trash_item}"}),
    ("trash_item", {"item_id": "/A/b.md"}),
    ("delete_item", {"item_id": "{trash_item}"}),
    ("trash_item", {"item_id": "/A"}),
    ("empty_trash", {}),
]


async def test_every_action_that_a_call_records_is_of_the_kind_in_its_tools_record(
    drive: Drive, alice: Actor, bob: Actor, assistant: Host
) -> None:
    theirs = (await drive.files.create_folder(bob, "root", "Theirs")).value
    await drive.sharing.share(bob, theirs.id, "alice@example.com", "viewer")
    leaving = ("revoke_share", {"item_id": theirs.id, "email": "alice@example.com"})
    found: dict[str, str] = {}
    for number, (tool, arguments) in enumerate((*CALLS, leaving)):
        named = {key: value.format(**found) if isinstance(value, str) else value for key, value in arguments.items()}
        result = await assistant.call(tool, {META_IDEMPOTENCY_KEY: f"call {number}"}, **named)
        found[tool] = result.get("id", "")

    recorded = (await drive.journal.list_changes(alice, limit=100)).items
    specs = drive.server.specs
    assert len(recorded) == len(CALLS) + 1
    assert {(change.tool, change.action) for change in recorded} == {
        (name, action) for name, spec in specs.items() for action in spec.changes
    }
    for kind in get_args(ChangeKind):
        of_the_kind = {change.id for change in (await drive.journal.list_changes(alice, kind=kind, limit=100)).items}
        assert of_the_kind == {
            change.id for change in recorded if specs[change.tool or ""].changes[change.action] == kind
        }
        assert of_the_kind


def test_an_action_belongs_to_one_tool() -> None:
    actions = [action for group in GROUPS for spec in group.specs() for action in spec.changes]
    assert len(set(actions)) == len(actions)


async def test_what_no_tool_does_has_a_kind_too(drive: Drive) -> None:
    of_tools = {action: kind for spec in drive.server.specs.values() for action, kind in spec.changes.items()}
    others = {
        "expire": "trash",
        "delete_group": "share",
        "remove_person": "trash",
        "import_items": "create",
        "remove_passing": "trash",
        "set_date": "edit",
    }
    assert drive.journal.kinds == {**of_tools, **others}


NO_OPS: dict[str, dict[str, Any]] = {
    "rename_item": {"item_id": "/a.md", "name": "a.md"},
    "move_item": {"item_id": "/a.md", "folder_id": "/"},
    "move_items": {"item_ids": ["/a.md", "/Shared"], "folder_id": "/"},
    "rename_items": {"folder_id": "/", "find": "zz", "replace": "y"},
    "write_file": {"file_id": "/a.md", "content": "a"},
    "patch_file": {"file_id": "/a.md", "edits": [{"find": "a", "replace": "a"}]},
    "create_file": {"name": "a.md", "content": "a", "on_conflict": "replace"},
    "restore_version": {"file_id": "/a.md", "version": 1},
    "share_item": {"item_id": "/Shared", "email": "bob@example.com", "role": "viewer"},
    "update_share": {"item_id": "/Shared", "email": "bob@example.com", "role": "viewer"},
    "empty_trash": {},
}


@pytest.mark.parametrize("tool", NO_OPS)
async def test_a_call_that_changes_nothing_is_no_change_and_nothing_to_undo(assistant: Host, tool: str) -> None:
    await assistant.call("create_file", name="a.md", content="a")
    await assistant.call("create_folder", name="Shared")
    await assistant.call("share_item", item_id="/Shared", email="bob@example.com")
    before = await assistant.call("list_changes")
    keyed = {"drive-agent/idempotency-key": "call-1", "drive-agent/run-id": "run-1"}

    for is_repeat in (False, True):
        result = await assistant.result(tool, keyed, **NO_OPS[tool])
        assert (result.isError, result.meta) == (False, {"drive-agent/replayed": is_repeat, "drive-agent/foreign": []})

    assert await assistant.call("list_changes") == before
    assert (await assistant.call("list_changes", run_id="run-1"))["changes"] == []
    refused = await assistant.refused("undo_changes", run_id="run-1")
    assert refused["messages"]["message"]["code"] == "nothing_to_undo"
