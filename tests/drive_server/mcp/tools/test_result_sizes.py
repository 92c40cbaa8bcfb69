"""The structured results that hosts get are at most twice as long as the text beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest
from jsonschema import validate

from drive_server.kernel.access import Scope
from tests.drive_server.hosts import WHOLE, assistant_of, host_of, show_whole_tools, text_of
from tests.drive_server.lender import Lender, lending_host_of

if TYPE_CHECKING:
    from mcp.types import CallToolResult

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

SENTENCES: Final = "The harvest of 2024 was better than that of the year before. " * 8
QUOTE: Final = "The harvest of 2024 was better than that of the year before."
FINDING: Final = (
    f"Better than in the year before, by a good eighth in the north, and no reason is given for it.\nQUOTE: {QUOTE}"
)
SALES: Final = "day,region,amount\n" + "".join(
    f"2024-03-{day:02},{'north' if day % 2 else 'south'},{day * 7}\n" for day in range(1, 29)
)
BOB: Final = "bob@example.com"
REPORT: Final = "/Reports/report 1.md"
TABLE: Final = "/Reports/sales.csv"
RESULT, TRASHED = "the id of the stored result", "the id of the item in the trash"
CALLS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("list_folder", {"folder_id": "/Reports"}),
    ("get_folder_tree", {}),
    ("get_file_info", {"item_id": REPORT}),
    ("whoami", {}),
    ("authenticate", {"api_key": "dak_unused"}),
    ("get_index_status", {}),
    ("search_files", {"query": "report"}),
    ("search_files", {"query": "harvest"}),
    ("semantic_search_files", {"query": "how was the harvest"}),
    ("find_related_files", {"file_id": REPORT}),
    ("read_file", {"file_id": REPORT}),
    (
        "check_citations",
        {"citations": [{"file_id": REPORT, "quote": QUOTE}, {"file_id": REPORT, "quote": "It was worse."}]},
    ),
    ("query_table", {"file_id": TABLE}),
    (
        "query_table",
        {"file_id": TABLE, "group_by": ["region"], "aggregates": [{"function": "sum", "column": "amount"}]},
    ),
    ("map_reduce_files", {"instruction": "How was the harvest?", "folder_id": "/Reports"}),
    ("read_bulk_result", {"result_id": RESULT}),
    ("list_trash", {}),
    ("list_versions", {"file_id": "/Reports/report 2.md"}),
    ("diff_versions", {"file_id": "/Reports/report 2.md", "from_version": 1}),
    ("compare_files", {"file_id": REPORT, "other_file_id": "/Reports/report 2.md"}),
    ("get_download_url", {"file_id": REPORT}),
    ("list_changes", {}),
    ("create_folder", {"name": "New"}),
    ("create_file", {"name": "n.md", "content": "x"}),
    ("rename_item", {"item_id": "/n.md", "name": "m.md"}),
    ("move_item", {"item_id": "/m.md", "folder_id": "/New"}),
    ("copy_item", {"item_id": "/New/m.md", "folder_id": "/Reports"}),
    ("move_items", {"item_ids": ["/Reports/m.md"], "folder_id": "/Reports/Old"}),
    ("rename_items", {"folder_id": "/Reports/Old", "pattern": "{name} {number}"}),
    ("organize_items", {"folder_id": "/Reports/Old", "folders": "{type}"}),
    ("write_file", {"file_id": "/New/m.md", "content": "y y"}),
    ("patch_file", {"file_id": "/New/m.md", "edits": [{"find": "y y", "replace": "z"}]}),
    ("append_to_file", {"file_id": "/New/m.md", "content": "more"}),
    ("restore_version", {"file_id": "/New/m.md", "version": 1}),
    (
        "fill_template",
        {"template_id": "/letter.md", "values": [{"name": "client", "value": "Ann"}], "name": "filled.md"},
    ),
    ("share_item", {"item_id": REPORT, "email": BOB}),
    ("share_item", {"item_id": REPORT, "email": "nobody@example.com"}),
    ("update_share", {"item_id": REPORT, "email": BOB, "role": "editor"}),
    ("create_share_link", {"item_id": REPORT, "expires_in_hours": 24, "max_downloads": 5}),
    ("list_shares", {"item_id": REPORT}),
    ("revoke_share", {"item_id": REPORT, "email": BOB}),
    ("list_shared_with_me", {}),
    ("trash_item", {"item_id": "/New/m.md"}),
    ("undo_changes", {}),
    ("redo_changes", {}),
    ("restore_item", {"item_id": TRASHED}),
    ("trash_item", {"item_id": "/New/m.md"}),
    ("delete_item", {"item_id": TRASHED}),
    ("empty_trash", {}),
    ("reindex", {"folder_id": "/Reports"}),
]


@pytest.fixture(autouse=True)
async def _reports(drive: Drive, alice: Actor, bob: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Reports")
    await drive.files.create_folder(alice, "/Reports", "Old")
    for number in range(4):
        await drive.documents.create(alice, "/Reports", f"report {number}.md", f"# Report {number}\n{SENTENCES}\n")
    await drive.documents.write_text(alice, "/Reports/report 2.md", f"# Report 2\nRevised: {SENTENCES}")
    await drive.documents.create(alice, "/Reports", "sales.csv", SALES)
    await drive.documents.create(alice, "root", "letter.md", "Dear {{client}}")
    await drive.files.trash(alice, "/Reports/report 3.md")
    lent = await drive.documents.create(bob, "root", "lent.md", "of Bob")
    await drive.sharing.share(bob, lent.value.id, "alice@example.com", "viewer")
    await drive.ingester.drain()


@pytest.fixture
def keeper(alice: Actor) -> Actor:
    """Alice with a key that may delete for good."""
    scopes = alice.principal.scopes | {Scope.PURGE}
    return replace(alice, principal=replace(alice.principal, scopes=scopes))


async def test_a_structured_result_is_at_most_twice_its_text_and_of_its_schema(drive: Drive, keeper: Actor) -> None:
    show_whole_tools(drive)
    said = Lender(dict.fromkeys((*(f"report {number}.md" for number in range(3)), "sales.csv"), FINDING))
    ids: dict[str, str] = {}
    async with lending_host_of(drive, keeper, said) as host:
        schemas = {tool.name: tool.outputSchema for tool in (await host.session.list_tools()).tools}
        assert {tool for tool, _ in CALLS} == set(schemas)
        for tool, arguments in CALLS:
            result = await host.result(tool, **{name: ids.get(str(one), one) for name, one in arguments.items()})
            structured = result.structuredContent or {}
            assert_at_most_twice_the_text(tool, result)
            validate(structured, schemas[tool] or {})
            if tool == "map_reduce_files":
                ids[RESULT] = structured["result_id"]
            if tool == "trash_item":
                ids[TRASHED] = structured["id"]


def assert_at_most_twice_the_text(tool: str, result: CallToolResult) -> None:
    structured = json.dumps(result.structuredContent, ensure_ascii=False, separators=(",", ":"))
    assert not result.isError, (tool, result.content)
    assert len(structured) <= 2 * len(text_of(result)), (tool, text_of(result), structured)
    assert '"zh":' not in structured


async def test_the_files_that_could_not_be_read_are_told_with_as_much_in_both(drive: Drive, alice: Actor) -> None:
    for number in range(30):
        await drive.documents.create(alice, "root", f"broken {number}.pdf", b"%PDF-1.7 broken")
    await drive.ingester.drain()
    async with host_of(drive, alice) as host, assistant_of(drive, alice) as assistant:
        result = await host.result("get_index_status")
        whoami = await host.result("whoami")
        whole = await assistant.call("get_index_status")
    assert_at_most_twice_the_text("get_index_status", result)
    assert_at_most_twice_the_text("whoami", whoami)
    shown = result.structuredContent or {}
    assert set(shown) == {"summary", "problems"}
    assert len(shown["problems"]) == 10 < len(whole["problems"])
    assert "more files" in text_of(result)
    assert (whoami.structuredContent or {})["index"] == shown["summary"]


async def test_a_host_that_asks_for_it_and_the_assistant_get_every_field(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host, assistant_of(drive, alice) as assistant:
        for tool, arguments in CALLS[:3]:
            assert await host.call(tool, WHOLE, **arguments) == await assistant.call(tool, **arguments)
        (change, *_) = (await host.call("list_changes", WHOLE))["changes"]
        caller = await host.call("whoami", WHOLE)
        index = await host.call("get_index_status", WHOLE)
        share = await host.call("share_item", WHOLE, item_id=REPORT, email=BOB)
        table = await host.call("query_table", WHOLE, file_id=TABLE)
    assert change["method"] == "api_key"
    assert "zh" in change["messages"]["summary"]
    assert {"method", "languages", "index"} <= set(caller)
    assert index["summary"]["pending"] == 0
    assert (share["created_by"], share["has_account"]) == ("alice@example.com", True)
    assert table["rows"][0]["cells"] == ["line=2"]


async def test_a_record_says_what_is_out_of_the_ordinary(drive: Drive, alice: Actor, bob: Actor) -> None:
    await drive.sharing.share(alice, REPORT, BOB, "viewer")
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


async def test_shares_are_told_apart_by_their_names_in_both(drive: Drive, alice: Actor) -> None:
    await drive.sharing.share(alice, "/Reports", BOB, "viewer")
    async with host_of(drive, alice) as host:
        new = await host.call("share_item", item_id=REPORT, email="nobody@example.com")
        link = await host.call("create_share_link", item_id=REPORT)
        listed = await host.result("list_shares", item_id=REPORT)
    assert new == {"kind": "person", "email": "nobody@example.com", "role": "viewer", "has_account": False}
    assert set(link) == {"id", "kind", "role", "url", "downloads"}
    shares = (listed.structuredContent or {})["shares"]
    assert {"kind": "person", "email": BOB, "role": "viewer", "inherited_from": "/Reports"} in shares
    assert f"- person {BOB}: viewer, from /Reports" in text_of(listed)
