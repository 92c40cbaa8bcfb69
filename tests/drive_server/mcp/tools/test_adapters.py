"""The drive's tools through langchain-mcp-adapters: what a model is shown of a refusal is enough to act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.tools import ToolException
from langchain_mcp_adapters.tools import load_mcp_tools

from tests.drive_server.hosts import Person, asking_host_of, host_of, show_whole_tools

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


def called(tools: list[BaseTool], tool_name: str, /, **arguments: Any) -> Any:
    (tool,) = [tool for tool in tools if tool.name == tool_name]
    return tool.ainvoke({"name": tool_name, "args": arguments, "id": "call-1", "type": "tool_call"})


@pytest.mark.parametrize(
    ("name", "arguments", "code", "hint"),
    [
        ("get_file_info", {"item_id": "/nowhere"}, "not_found", "List or search for the item"),
        ("create_folder", {"name": "a/b"}, "invalid_name", "Use a name of 1 to 255 bytes"),
        ("restore_item", {"item_id": "/Old"}, "state_conflict", "There is nothing to restore."),
        ("create_folder", {"name": "Old"}, "name_conflict", ""),
    ],
)
async def test_code_and_hint_survive_the_adapters(
    drive: Drive, alice: Actor, name: str, arguments: dict[str, Any], code: str, hint: str
) -> None:
    show_whole_tools(drive)
    await drive.files.create_folder(alice, "root", "Old")
    async with host_of(drive, alice) as host:
        tools = await load_mcp_tools(host.session)
        told = await called_and_refused(tools, name, **arguments)

    assert told.startswith(f"{code}: ")
    assert hint in told


async def test_a_no_of_the_person_survives_them_too(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Old")
    async with asking_host_of(drive, alice, Person("decline")) as host:
        told = await called_and_refused(await load_mcp_tools(host.session), "trash_item", item_id="/Old")

    assert told == "declined: The person said no; nothing was changed. Ask them what they want instead."


async def called_and_refused(tools: list[BaseTool], tool_name: str, /, **arguments: Any) -> str:
    """Return what the adapters make of a refusal: an exception, or a message with the status of one."""
    try:
        message = await called(tools, tool_name, **arguments)
    except ToolException as error:
        return str(error)
    assert message.status == "error"
    return message.content if isinstance(message.content, str) else message.content[0]["text"]
