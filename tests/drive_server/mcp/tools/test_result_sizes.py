"""The structured results that hosts get are at most twice as long as the text beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import validate

from tests.drive_server.hosts import WHOLE, assistant_of, host_of, show_whole_tools, text_of

if TYPE_CHECKING:
    from drive_server.access import Actor
    from drive_server.drive import Drive

SENTENCES = "The harvest of 2024 was better than that of the year before. " * 8
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_folder", {"folder_id": "/Reports"}),
    ("get_folder_tree", {}),
    ("get_file_info", {"item_id": "/Reports/report 1.md"}),
    ("search_files", {"query": "report"}),
    ("search_files", {"query": "harvest"}),
    ("read_file", {"file_id": "/Reports/report 1.md"}),
    ("list_trash", {}),
    ("list_versions", {"file_id": "/Reports/report 2.md"}),
    ("list_changes", {}),
    ("create_folder", {"name": "New"}),
    ("create_file", {"name": "n.md", "content": "x"}),
    ("rename_item", {"item_id": "/n.md", "name": "m.md"}),
    ("move_item", {"item_id": "/m.md", "folder_id": "/New"}),
    ("copy_item", {"item_id": "/New/m.md", "folder_id": "/Reports"}),
    ("write_file", {"file_id": "/New/m.md", "content": "y y"}),
    ("patch_file", {"file_id": "/New/m.md", "edits": [{"find": "y y", "replace": "z"}]}),
    ("trash_item", {"item_id": "/New/m.md"}),
    ("undo_changes", {}),
]


@pytest.fixture(autouse=True)
async def _reports(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Reports")
    await drive.files.create_folder(alice, "/Reports", "Old")
    for number in range(4):
        await drive.documents.create(alice, "/Reports", f"report {number}.md", f"# Report {number}\n{SENTENCES}\n")
    await drive.documents.write_text(alice, "/Reports/report 2.md", "# Report 2\nnew")
    await drive.files.trash(alice, "/Reports/report 3.md")


async def test_a_structured_result_is_at_most_twice_its_text_and_of_its_schema(drive: Drive, alice: Actor) -> None:
    show_whole_tools(drive)
    async with host_of(drive, alice) as host:
        schemas = {tool.name: tool.outputSchema for tool in (await host.session.list_tools()).tools}
        await host.call("get_index_status", wait_seconds=30)
        for tool, arguments in CALLS:
            result = await host.result(tool, **arguments)
            structured = json.dumps(result.structuredContent, ensure_ascii=False, separators=(",", ":"))
            assert not result.isError, result.content
            assert len(structured) <= 2 * len(text_of(result)), (tool, text_of(result), structured)
            validate(result.structuredContent, schemas[tool] or {})
            assert "zh" not in structured


async def test_a_host_that_asks_for_it_and_the_assistant_get_every_field(drive: Drive, alice: Actor) -> None:
    await drive.ingester.drain()
    async with host_of(drive, alice) as host, assistant_of(drive, alice) as assistant:
        for tool, arguments in CALLS[:3]:
            assert await host.call(tool, WHOLE, **arguments) == await assistant.call(tool, **arguments)
        (change, *_) = (await host.call("list_changes", WHOLE))["changes"]
    assert change["method"] == "api_key"
    assert "zh" in change["messages"]["summary"]


async def test_a_record_says_what_is_out_of_the_ordinary(drive: Drive, alice: Actor, bob: Actor) -> None:
    await drive.sharing.share(alice, "/Reports/report 1.md", "bob@example.com", "viewer")
    async with host_of(drive, alice) as host, host_of(drive, bob) as bobs:
        items = {item["name"]: item for item in (await host.call("list_folder", folder_id="/Reports"))["items"]}
        (shared,) = (await bobs.call("list_shared_with_me"))["items"]
        (trashed,) = (await host.call("list_trash"))["items"]
        empty = await host.call("list_folder", folder_id="/Reports/Old")
    assert list(items["report 0.md"]) == ["id", "kind", "name", "path", "etag", "size", "modified_at"]
    assert items["report 1.md"]["shared"] is True
    assert items["Old"]["child_count"] == 0
    assert (shared["owner"], shared["role"]) == ("alice@example.com", "viewer")
    assert trashed["trashed_at"]
    assert empty == {"items": [], "cursor": None, "total": 0}
