"""MCP's own lists, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import McpError
from mcp.types import PaginatedRequestParams

from drive_server.mcp.resources import INDEX_URI
from drive_server.mcp.server import build_server
from tests.drive_server.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

LISTS = {
    "list_tools": ("tools", "name"),
    "list_prompts": ("prompts", "name"),
    "list_resources": ("resources", "uri"),
    "list_resource_templates": ("resourceTemplates", "uriTemplate"),
}


@pytest.fixture
async def small_pages(drive: Drive) -> Drive:
    """The drive with pages of one or two entries."""
    drive.settings.page_size = 1
    drive.settings.mcp_tools = "whole"
    drive.server = build_server(drive)
    return drive


@pytest.fixture
async def session(small_pages: Drive, alice: Actor) -> AsyncIterator[ClientSession]:
    for name in ("a.md", "b.md", "c.md"):
        await small_pages.documents.create(alice, "root", name, name)
    async with host_of(small_pages, alice) as host:
        yield host.session


def asked(session: ClientSession, what: str) -> Callable[..., Awaitable[Any]]:
    return getattr(session, what)


async def walk(session: ClientSession, what: str) -> tuple[list[str], list[str]]:
    """Return the names on all pages, and the cursors that led there."""
    field, name = LISTS[what]
    names: list[str] = []
    cursors: list[str] = []
    cursor = None
    while True:
        page = await asked(session, what)(params=PaginatedRequestParams(cursor=cursor))
        names += [str(getattr(entry, name)) for entry in getattr(page, field)]
        cursor = page.nextCursor
        if cursor is None:
            return names, cursors
        cursors.append(cursor)


@pytest.mark.parametrize("what", LISTS)
async def test_the_pages_of_a_list_are_the_list(drive: Drive, session: ClientSession, what: str) -> None:
    names, cursors = await walk(session, what)
    drive.server = build_server(drive)
    if what == "list_resources":
        assert names.pop() == INDEX_URI
    assert len(names) == len(set(names)) == len(cursors) + 1
    if what == "list_tools":
        assert names == [tool.name for tool in await drive.server.list_tools() if tool.name != "more_tools"]
    if what == "list_resources":
        assert len(names) == 3


@pytest.mark.parametrize("what", LISTS)
async def test_a_cursor_of_another_list_or_person_or_of_nobody_is_refused(
    small_pages: Drive, session: ClientSession, bob: Actor, what: str
) -> None:
    async with host_of(small_pages, bob) as host:
        await small_pages.documents.create(bob, "root", "x.md", "x")
        await small_pages.documents.create(bob, "root", "y.md", "x")
        foreign = [(await walk(host.session, what))[1][0]]
    foreign += [(await walk(session, other))[1][0] for other in LISTS if other != what]
    folder_page = await small_pages.files.list_folder(bob, "root", limit=1)
    for cursor in [*foreign, folder_page.cursor, "", "x", "计划", "A" * 100_000]:
        with pytest.raises(McpError) as refused:
            await asked(session, what)(params=PaginatedRequestParams(cursor=cursor))
        assert refused.value.error.code == -32602
        assert refused.value.error.data is not None
        assert refused.value.error.data["code"] == "invalid_cursor"
        assert refused.value.error.data["hint"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_folder", {}),
        ("list_folder", {"folder_id": "trash"}),
        ("list_folder", {"folder_id": "shared"}),
        ("list_versions", {"file_id": "/a.md"}),
        ("list_changes", {}),
        ("search_files", {"query": "md"}),
    ],
)
async def test_a_bad_cursor_of_a_tool_is_an_error_of_the_protocol(
    session: ClientSession, tool: str, arguments: dict[str, Any]
) -> None:
    (cursor, *_) = (await walk(session, "list_tools"))[1]
    for bad in ("", "x", cursor):
        with pytest.raises(McpError) as refused:
            await session.call_tool(tool, {**arguments, "cursor": bad})
        assert refused.value.error.code == -32602
        assert refused.value.error.data is not None
        assert refused.value.error.data["code"] == "invalid_cursor"


async def test_the_cursor_of_a_tool_is_good_for_its_own_arguments_only(session: ClientSession) -> None:
    first = (await session.call_tool("search_files", {"query": "md", "limit": 1})).structuredContent
    assert first is not None
    second = await session.call_tool("search_files", {"query": "md", "limit": 5, "cursor": first["cursor"]})

    assert second.structuredContent is not None
    assert len(second.structuredContent["hits"]) == 2
    with pytest.raises(McpError):
        await session.call_tool("search_files", {"query": "a.md", "cursor": first["cursor"]})
    with pytest.raises(McpError):
        await session.call_tool("list_folder", {"cursor": first["cursor"]})
