"""`more_tools`: a host's model gets the tools beside the core when it asks for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.memory import create_connected_server_and_client_session

from drive_server.kernel.access import Scope
from drive_server.mcp.server import GROUPS
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import host_of, text_of
from tests.drive_server.http.alone import alone
from tests.drive_server.http.service import running
from tests.drive_server.http.wire import events_of, wired
from tests.drive_server.programs import PROGRAM, StdioProgram

if TYPE_CHECKING:
    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings

REST = {spec.name for group in GROUPS for spec in group.specs() if not spec.is_core}
CHANGED = "notifications/tools/list_changed"
TRASH = ["list_trash", "restore_item", "delete_item", "empty_trash"]


async def names(session: ClientSession) -> list[str]:
    return [tool.name for tool in (await session.list_tools()).tools]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("trash", TRASH),
        ("Trash", TRASH),
        ("copy_item", ["copy_item"]),
        ("compare files", ["compare_files"]),
        ("\u6062\u590d\u7248\u672c", ["restore_version"]),
        ("what day is it", ["whoami"]),
        ("list_folder", ["list_folder"]),
    ],
)
async def test_a_group_a_name_and_words_bring_tools(drive: Drive, alice: Actor, words: str, found: list[str]) -> None:
    async with host_of(drive, alice) as host:
        answer = await host.result("more_tools", names=[words])
    told = (answer.structuredContent or {})["tools"]

    assert {tool["name"] for tool in told} >= set(found)
    assert all(set(tool) == {"name", "arguments", "sentence"} for tool in told)
    assert f"- {found[0]}(" in text_of(answer)
    assert len(json.dumps(answer.structuredContent, ensure_ascii=False)) <= 2 * len(text_of(answer))


async def test_they_are_in_the_sessions_list_from_then_on_and_in_no_others(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host, host_of(drive, alice) as other:
        before = await names(host.session)
        await host.call("more_tools", names=["trash"])
        await host.call("more_tools", names=["copy_item", "trash", "list_folder"])

        assert await names(host.session) == [*before, *TRASH, "copy_item"]
        assert await names(other.session) == before


async def test_all_that_is_not_in_the_core_can_be_asked_for(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        (more,) = [tool for tool in (await host.session.list_tools()).tools if tool.name == "more_tools"]
        assert all(name in (more.description or "") for name in REST)
        await host.call("more_tools", names=sorted(REST))
        assert set(await names(host.session)) > REST


async def test_words_that_no_tool_fits_are_named_and_nothing_but_such_is_refused(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        answer = await host.result("more_tools", names=["copy_item", "brew coffee"])
        refused = await host.refused("more_tools", names=["brew coffee"])

    assert (answer.structuredContent or {})["missing"] == ["brew coffee"]
    assert "No further tool fits: brew coffee." in text_of(answer)
    assert refused["code"] == "invalid_argument"
    assert refused["details"]["groups"]["trash"] == TRASH


async def test_a_key_gets_no_tools_that_its_scopes_do_not_allow(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, with_scopes(alice, Scope.READ)) as host:
        answer = await host.call("more_tools", names=["trash"])
        refused = await host.refused("more_tools", names=["empty_trash"])

    assert [tool["name"] for tool in answer["tools"]] == ["list_trash"]
    assert refused["details"]["groups"]["trash"] == ["list_trash"]


async def test_the_host_is_notified_on_the_stream_of_the_call_and_once_for_what_is_new(
    drive_settings: DriveSettings,
) -> None:
    async with running(drive_settings) as service, wired(service) as wire:
        asked: dict[str, Any] = {"name": "more_tools", "arguments": {"names": ["trash"]}}
        first, second = [await wire.post("tools/call", asked) for _ in range(2)]
        heard = [event.message.get("method") for event in events_of(first.text)]

    assert heard == [CHANGED, None]
    assert CHANGED not in second.text


async def test_without_a_session_the_answer_has_the_definitions(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service, alone(service) as client:
        before = await client.ask("tools/list")
        told = await client.ask("tools/call", name="more_tools", arguments={"names": ["copy_item"]})
        after = await client.ask("tools/list")
        made = await client.ask("tools/call", name="create_folder", arguments={"name": "a"})
        copied = await client.ask("tools/call", name="copy_item", arguments={"item_id": "/a", "folder_id": "/a"})
    (tool,) = told["structuredContent"]["tools"]

    assert tool["definition"]["inputSchema"]["required"] == ["item_id", "folder_id"]
    assert json.dumps(tool["definition"], ensure_ascii=False) in told["content"][0]["text"]
    assert before["tools"] == after["tools"]
    assert not made.get("isError")
    assert copied["structuredContent"]["code"] == "state_conflict"


async def test_a_session_that_nobody_signed_in_is_shown_how_to(drive: Drive, alice: Actor) -> None:
    _, secret = await drive.identity.create_key(alice, "host", ["read"])
    async with create_connected_server_and_client_session(drive.server) as session:
        before = await names(session)
        await session.call_tool("authenticate", {"api_key": secret})
        after = await names(session)

    assert "authenticate" in before
    assert "authenticate" not in after


async def test_over_stdio_too(drive: Drive, alice: Actor) -> None:
    _, secret = await drive.identity.create_key(alice, "host", ["read"])
    with StdioProgram(drive.settings, *PROGRAM, DRIVE_API_KEY=secret) as host:
        host.introduce()
        host.ask(1, "tools/call", {"name": "more_tools", "arguments": {"names": ["whoami"]}})
        while host.hear().get("method") != CHANGED:
            pass
        host.ask(2, "tools/list")
        shown = [tool["name"] for tool in host.answer(2)["result"]["tools"]]

    assert shown[-1] == "whoami"
