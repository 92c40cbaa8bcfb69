"""Every tool refuses wrong input with a code and a sentence, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import McpError

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from tests.drive_server.hosts import Host

ITEM = "ITEM"
CALLS: dict[str, dict[str, Any]] = {
    "list_folder": {"folder_id": ITEM},
    "get_folder_tree": {"folder_id": ITEM},
    "get_file_info": {"item_id": ITEM},
    "create_folder": {"name": "x", "folder_id": ITEM},
    "create_file": {"name": "x", "content": "x", "folder_id": ITEM},
    "read_file": {"file_id": ITEM},
    "write_file": {"file_id": ITEM, "content": "x"},
    "patch_file": {"file_id": ITEM, "edits": [{"find": "a", "replace": "b"}]},
    "rename_item": {"item_id": ITEM, "name": "x"},
    "move_item": {"item_id": ITEM, "folder_id": "root"},
    "trash_item": {"item_id": ITEM},
    "restore_item": {"item_id": ITEM},
    "list_versions": {"file_id": ITEM},
    "restore_version": {"file_id": ITEM, "version": 1},
    "search_files": {"query": "x", "folder_id": ITEM},
    "semantic_search_files": {"query": "x", "folder_id": ITEM},
    "find_related_files": {"file_id": ITEM},
    "share_item": {"item_id": ITEM, "email": "carol@example.com"},
    "list_shares": {"item_id": ITEM},
    "revoke_share": {"item_id": ITEM, "email": "carol@example.com"},
    "list_changes": {"item_id": ITEM},
}
REFS = {
    "unknown id": "0" * 32,
    "no id at all": "nonsense",
    "empty": "",
    "NUL": "a\0b",
    "dots": "/../../etc/passwd",
    "somebody's path": "/Alice/secret.md",
    "quote": "' OR 1=1 --",
    "emoji": "🙂" * 100,
    "right to left": "\u202egnp.exe",
    "long": "x" * 8192,
    "looks like JSON": '["a"]',
    "null as text": "null",
}
NAMES = {
    "empty": "",
    "slash": "a/b",
    "backslash": "a\\b",
    "NUL": "a\0b",
    "dots": "..",
    "line break": "a\nb",
    "right to left": "a\u202eb",
    "spaces": "  ",
    "256 bytes of Chinese": "名" * 86,
    "4 kB": "x" * 4096,
}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("get_index_status", {"wait_seconds": -1}, "wait_seconds"),
    ("get_index_status", {"wait_seconds": 10**9}, "wait_seconds"),
    ("list_folder", {"limit": 0}, "limit"),
    ("list_folder", {"limit": 10**9}, "limit"),
    ("list_folder", {"limit": "many"}, "limit"),
    ("list_folder", {"limit": True}, "limit"),
    ("list_folder", {"folder_id": 7}, "folder_id"),
    ("list_folder", {"folder_id": ["a"]}, "folder_id"),
    ("list_folder", {"folder_id": "x" * 8193}, "folder_id"),
    ("get_folder_tree", {"depth": -1}, "depth"),
    ("get_folder_tree", {"depth": 10**30}, "depth"),
    ("get_file_info", {}, "item_id"),
    ("get_file_info", {"item_id": None}, "item_id"),
    ("read_file", {"file_id": "/a.md", "start": -1}, "start"),
    ("read_file", {"file_id": "/a.md", "start": 2**70}, "start"),
    ("read_file", {"file_id": "/a.md", "start": 5, "end": 2}, ""),
    ("read_file", {"file_id": "/a.md", "start": 0, "first_line": 1}, ""),
    ("read_file", {"file_id": "/a.md", "first_line": 0}, "first_line"),
    ("create_file", {"name": "x", "content": {"a": 1}}, "content"),
    ("create_file", {"name": "x", "content": None}, "content"),
    ("create_file", {"name": "x", "content": "x" * 10_000_001}, "content"),
    ("patch_file", {"file_id": "/a.md", "edits": []}, "edits"),
    ("patch_file", {"file_id": "/a.md", "edits": "not JSON"}, "edits"),
    ("patch_file", {"file_id": "/a.md", "edits": "[" * 100_000}, "edits"),
    ("patch_file", {"file_id": "/a.md", "edits": [{"find": "", "replace": "x"}]}, "edits.0.find"),
    ("patch_file", {"file_id": "/a.md", "edits": [{"find": "x"}]}, "edits.0.replace"),
    ("patch_file", {"file_id": "/a.md", "edits": [{"find": "x", "replace": "y", "all": True}]}, "edits.0.all"),
    ("patch_file", {"file_id": "/a.md", "edits": [{"find": "x", "replace": "y"}] * 101}, "edits"),
    ("write_file", {"file_id": "/a.md", "content": "x", "if_match": "x" * 129}, "if_match"),
    ("restore_version", {"file_id": "/a.md", "version": 0}, "version"),
    ("restore_version", {"file_id": "/a.md", "version": 2**31}, "version"),
    ("restore_version", {"file_id": "/a.md", "version": True}, "version"),
    ("search_files", {"query": ""}, ""),
    ("search_files", {"query": " \u3000 "}, ""),
    ("search_files", {"query": "x" * 1001}, "query"),
    ("search_files", {"query": "x", "kind": "symlink"}, "kind"),
    ("semantic_search_files", {"query": "x\0y"}, ""),
    ("semantic_search_files", {"query": "x", "limit": 101}, "limit"),
    ("map_reduce_files", {"instruction": "", "folder_id": "root"}, "instruction"),
    ("map_reduce_files", {"instruction": "x" * 4001, "folder_id": "root"}, "instruction"),
    ("map_reduce_files", {"instruction": "x", "file_ids": ["a"] * 501}, "file_ids"),
    ("map_reduce_files", {"instruction": "x", "folder_id": "root", "max_files": 501}, "max_files"),
    ("map_reduce_files", {"instruction": "x", "folder_id": "root", "language": "<en>"}, "language"),
    ("map_reduce_files", {"instruction": "x", "folder_id": "root", "recursive": "yes"}, "recursive"),
    ("read_bulk_result", {"result_id": "x" * 65}, "result_id"),
    ("share_item", {"item_id": "/a.md", "email": "not an address"}, ""),
    ("share_item", {"item_id": "/a.md", "email": "x" * 321}, "email"),
    ("share_item", {"item_id": "/a.md", "email": "b@example.com", "role": "admin"}, "role"),
    ("undo_changes", {"change_id": 0}, "change_id"),
    ("undo_changes", {"change_id": 1, "run_id": "r"}, ""),
    ("undo_changes", {"run_id": "x" * 65}, "run_id"),
    ("undo_changes", {"preview": "perhaps"}, "preview"),
    ("undo_changes", {"preview": "no"}, "preview"),
    ("undo_changes", {"preview": 0}, "preview"),
    ("list_changes", {"limit": 1001}, "limit"),
    ("authenticate", {"api_key": "x" * 257}, "api_key"),
    ("whoami", {"user_id": "somebody"}, ""),
]


def filled(tool: str, item: str) -> dict[str, Any]:
    """Return arguments for the tool that are right but for the item."""
    return {name: item if value == ITEM else value for name, value in CALLS[tool].items()}


@pytest.fixture
async def alices_file(drive: Drive, alice: Actor) -> str:
    return (await drive.documents.create(alice, "root", "secret.md", "the secret plan")).value.id


@pytest.fixture
async def bobs_file(drive: Drive, bob: Actor) -> str:
    return (await drive.documents.create(bob, "root", "a.md", "text")).value.id


async def state_of(host: Host) -> tuple[Any, Any]:
    """Return what a refused call could have changed."""
    items = (await host.call("list_folder"))["items"]
    return [(item["path"], item["etag"], item.get("shared")) for item in items], await host.call("list_changes")


async def test_somebody_elses_item_is_answered_exactly_like_one_that_does_not_exist(
    bobs: Host, alices_file: str
) -> None:
    for tool in CALLS:
        foreign = await bobs.refused(tool, **filled(tool, alices_file))
        unknown = await bobs.refused(tool, **filled(tool, "0" * 32))

        assert foreign["code"] == unknown["code"] == "not_found", tool
        assert (foreign["message"], foreign["hint"]) == (unknown["message"], unknown["hint"]), tool
        assert foreign["details"] == {"id": alices_file}
    assert (await bobs.refused("move_item", item_id=alices_file, folder_id="root"))["code"] == "not_found"


async def test_a_folder_of_somebody_else_is_no_place_to_put_things(
    bobs: Host, bobs_file: str, drive: Drive, alice: Actor
) -> None:
    folder = (await drive.files.create_folder(alice, "root", "Alice")).value.id

    for tool, arguments in (("move_item", {"item_id": bobs_file}), ("restore_item", {"item_id": bobs_file})):
        await bobs.call("trash_item", item_id=bobs_file) if tool == "restore_item" else None
        assert (await bobs.refused(tool, folder_id=folder, **arguments))["code"] == "not_found"


async def test_a_ref_that_leads_nowhere_is_not_found_by_every_tool(bobs: Host, alices_file: str) -> None:
    del alices_file
    before = await state_of(bobs)

    for case, ref in REFS.items():
        for tool in CALLS:
            error = await bobs.refused(tool, **filled(tool, ref))

            assert error["code"] == "not_found", (tool, case)
            assert len(error["details"]["id"]) <= 64
    assert await state_of(bobs) == before


async def test_a_name_that_nothing_may_have_is_refused(bobs: Host, bobs_file: str) -> None:
    before = await state_of(bobs)
    calls = (("create_folder", {}), ("create_file", {"content": "x"}), ("rename_item", {"item_id": bobs_file}))

    for case, name in NAMES.items():
        for tool, arguments in calls:
            error = await bobs.refused(tool, name=name, **arguments)

            assert error["code"] == "invalid_name", (tool, case)
    assert await state_of(bobs) == before


async def test_the_same_name_in_another_normal_form_is_the_same_name(bobs: Host) -> None:
    await bobs.call("create_folder", name="caf\u00e9")

    assert (await bobs.refused("create_folder", name="cafe\u0301"))["code"] == "name_conflict"
    assert (await bobs.call("get_file_info", item_id="/cafe\u0301"))["name"] == "caf\u00e9"


async def test_an_argument_of_the_wrong_form_is_refused_by_its_name(bobs: Host, bobs_file: str) -> None:
    del bobs_file
    before = await state_of(bobs)

    for tool, arguments, argument in WRONG:
        case = f"{tool} {str(arguments)[:80]}"
        error = await bobs.refused(tool, **arguments)

        assert error["code"] == "invalid_argument", case
        assert not argument or argument in [found["argument"] for found in error["details"]["errors"]], case
        assert len(error["message"]) < 1000, case
    assert await state_of(bobs) == before


async def test_an_unknown_argument_is_refused_by_every_tool(bobs: Host) -> None:
    for tool in (*CALLS, "undo_changes", "whoami", "authenticate"):
        error = await bobs.refused(tool, **CALLS.get(tool, {}), as_user="alice@example.com")

        assert error["code"] == "invalid_argument"
        assert error["details"]["unknown"] == ["as_user"]


async def test_a_text_that_is_not_unicode_is_refused(bobs: Host, bobs_file: str) -> None:
    for tool in CALLS:
        assert (await bobs.refused(tool, **filled(tool, "\ud800")))["code"] == "invalid_argument", tool
    for tool, arguments in (("create_file", {"name": "x"}), ("write_file", {"file_id": bobs_file})):
        assert (await bobs.refused(tool, content="\udfff", **arguments))["code"] == "invalid_argument"


async def test_a_tool_that_does_not_exist_is_an_error_of_the_protocol(bobs: Host) -> None:
    for name in ("delete_everything", "", "../etc", "x" * 10_000):
        with pytest.raises(McpError) as refused:
            await bobs.result(name)
        assert refused.value.error.code == -32602
        assert refused.value.error.data is not None
        assert refused.value.error.data["code"] == "invalid_argument"
        assert len(str(refused.value.error)) < 1000
