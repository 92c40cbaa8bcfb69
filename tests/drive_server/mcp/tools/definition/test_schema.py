"""Every tool, as a host sees it before it calls one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.hosts import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.types import Tool

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from tests.drive_server.hosts import Host

READERS = {
    "list_folder",
    "get_folder_tree",
    "get_file_info",
    "read_file",
    "list_versions",
    "search_files",
    "semantic_search_files",
    "find_related_files",
    "check_citations",
    "query_table",
    "get_index_status",
    "map_reduce_files",
    "read_bulk_result",
    "list_shares",
    "list_shared_with_me",
    "diff_versions",
    "compare_files",
    "list_changes",
    "list_trash",
    "whoami",
}
KEEPERS = {"reindex", "create_folder", "fill_template", "append_to_file", "restore_version", "authenticate"}
CHANGERS = {
    "get_download_url",
    "copy_item",
    "delete_item",
    "empty_trash",
    "move_items",
    "organize_items",
    "rename_items",
    "redo_changes",
    "restore_item",
    "create_file",
    "write_file",
    "patch_file",
    "rename_item",
    "move_item",
    "trash_item",
    "share_item",
    "create_share_link",
    "update_share",
    "revoke_share",
    "undo_changes",
}
ABSOLUTES = re.compile(r"\b(always|never|must|cannot|impossible|guaranteed?)\b", re.IGNORECASE)
PARTS = ("Use when: ", "Not for: ", "Notes: ")


@pytest.fixture
async def tools(assistant: Host) -> list[Tool]:
    return (await assistant.session.list_tools()).tools


def branches(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schema and all schemas inside it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])]
    if "items" in schema:
        inner.append(schema["items"])
    for part in inner:
        yield from branches(part)


async def test_the_tools_are_those_of_the_contract(tools: list[Tool]) -> None:
    assert {tool.name for tool in tools} == READERS | KEEPERS | CHANGERS


async def test_annotations_are_all_stated_and_true(tools: list[Tool]) -> None:
    for tool in tools:
        hints = tool.annotations
        assert hints is not None
        assert hints.readOnlyHint == (tool.name in READERS), tool.name
        assert hints.destructiveHint == (tool.name in CHANGERS), tool.name
        assert hints.idempotentHint is not None
        assert hints.openWorldHint is False


async def test_every_tool_has_a_title_and_typed_output(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.title
        assert tool.outputSchema is not None
        assert tool.outputSchema["type"] == "object"


async def test_a_list_of_a_hundred_is_one_short_block(
    drive: Drive, alice: Actor, alices: Host, assistant: Host
) -> None:
    for number in range(100):
        await drive.files.create_folder(alice, "root", f"{number}")
    outside = await alices.result("list_folder")
    inside = await assistant.result("list_folder")

    assert len(outside.content) == len(inside.content) == 1
    assert outside.structuredContent is not None
    assert len(outside.structuredContent["items"]) == 100
    assert len(text_of(outside)) < 10_000
    assert len(text_of(inside)) < 100


async def test_descriptions_say_when_when_not_and_what_to_note_without_absolutes(tools: list[Tool]) -> None:
    for tool in tools:
        description = tool.description or ""
        summary, *lines = description.split("\n")
        assert summary.endswith("."), tool.name
        assert [part for part in PARTS if any(line.startswith(part) for line in lines)] == list(PARTS), tool.name
        texts = [description, *(str(part.get("description", "")) for part in branches(tool.inputSchema))]
        assert not any(ABSOLUTES.search(text) for text in texts), tool.name


async def test_every_argument_is_described_and_has_its_limits(tools: list[Tool]) -> None:
    for tool in tools:
        for name, schema in tool.inputSchema["properties"].items():
            assert schema.get("description"), (tool.name, name)
        for part in branches(tool.inputSchema):
            match part.get("type"):
                case "string":
                    assert "maxLength" in part or "enum" in part, (tool.name, part)
                case "integer":
                    assert {"minimum", "maximum"} <= part.keys(), (tool.name, part)
                case "array":
                    assert "maxItems" in part, (tool.name, part)
                case "object":
                    assert part["additionalProperties"] is False, (tool.name, part)
                case _:
                    assert part.get("type") in {"boolean", "null", None}, (tool.name, part)


async def test_no_tool_takes_a_user_or_a_run_of_its_own(tools: list[Tool]) -> None:
    names = {name for tool in tools for name in tool.inputSchema["properties"]}

    assert not {name for name in names if "user" in name or "owner" in name or "principal" in name}
