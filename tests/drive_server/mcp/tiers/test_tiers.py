"""The core of tools that hosts are shown at first, and how they are shown all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from drive_server.kernel.access import Scope
from drive_server.mcp.server import GROUPS, build_server
from graph.tools.core import CORE as CORE_OF_MODELS
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import assistant_of, host_of
from tests.drive_server.http.alone import alone
from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote
from tests.drive_server.http.wire import wired
from tests.drive_server.mcp.protocol.test_tool_lists import CHANGED, Notices

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import Tool

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings

SPECS = [spec for group in GROUPS for spec in group.specs()]
CORE = [spec.name for spec in SPECS if spec.is_core]
MAX_BYTES = 40_000
MAX_CHARACTERS = 24_000
"""Of a list of 6,000 tokens: such JSON has 4 characters a token or more (4.1 counted with o200k_base)."""


async def listed(session: ClientSession) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await session.list_tools()).tools}


def written(tools: list[Any]) -> str:
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":"))


def references(schema: Any) -> bool:
    return "$ref" in json.dumps(schema)


async def test_a_host_is_shown_the_core_that_the_assistants_models_know(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        shown = await listed(host.session)

    assert list(shown) == [*CORE, "more_tools"]
    assert set(CORE) == CORE_OF_MODELS.keys() - {"remember", "transfer_to_agent", "make_plan"}


async def test_the_core_is_small_with_icons_and_all(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service, wired(service) as wire:
        tools = (await wire.post("tools/list", {})).json()["result"]["tools"]
    text = written(tools)

    assert len(tools) == len(CORE) + 1
    assert len(text.encode()) <= MAX_BYTES
    assert len(text) <= MAX_CHARACTERS
    assert all(tool["icons"] and "outputSchema" not in tool for tool in tools)


async def test_a_tool_in_few_words_says_all_arguments_and_which_are_needed(drive: Drive, alice: Actor) -> None:
    drive.server.tiers.stated = "all"
    async with host_of(drive, alice) as host, assistant_of(drive, alice) as assistant:
        short, whole = await listed(host.session), await listed(assistant.session)

    assert short.keys() == whole.keys() == {spec.name for spec in SPECS}
    for name, tool in short.items():
        assert tool.inputSchema["properties"].keys() == whole[name].inputSchema["properties"].keys()
        assert tool.inputSchema.get("required") == whole[name].inputSchema.get("required")
        assert not references(tool.inputSchema), name
        assert (tool.title, tool.annotations, tool.meta) == (
            whole[name].title,
            whole[name].annotations,
            whole[name].meta,
        )
    assert all(tool.outputSchema for tool in whole.values())


async def test_what_a_key_may_not_do_is_not_in_the_core_either(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, with_scopes(alice, Scope.READ)) as host:
        shown = await listed(host.session)

    assert shown.keys() == {spec.name for spec in SPECS if spec.is_core and spec.scope is Scope.READ} | {"more_tools"}
    assert "share_item" not in (shown["more_tools"].description or "")
    assert "list_shares" in (shown["more_tools"].description or "")
    assert "create_share_link" not in (shown["more_tools"].description or "")


@pytest.mark.parametrize("tier", ["all", "whole"])
async def test_an_address_asks_for_all_tools_in_both_revisions(drive_settings: DriveSettings, tier: str) -> None:
    async with running(drive_settings) as service, alone(service) as client, wired(service) as wire:
        client.path = wire.path = f"/mcp?tools={tier}"
        lists = [(await wire.post("tools/list", {})).json()["result"]["tools"]]
        lists.append((await client.ask("tools/list"))["tools"])

    for tools in lists:
        assert {tool["name"] for tool in tools} == {spec.name for spec in SPECS}
        assert all(("outputSchema" in tool) == (tier == "whole") for tool in tools)


async def test_an_address_with_another_word_is_told_the_words(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service, wired(service) as wire:
        wire.path = "/mcp?tools=some"
        refused = (await wire.post("tools/list", {})).json()["error"]

    assert refused["data"]["details"] == {"tiers": ["core", "all", "whole"]}
    assert refused["data"]["messages"]["message"]["zh"]


async def test_the_settings_say_it_for_hosts_that_say_nothing(drive: Drive, alice: Actor) -> None:
    drive.settings.mcp_tools = "all"
    drive.server = build_server(drive)
    async with host_of(drive, alice) as host:
        assert (await listed(host.session)).keys() == {spec.name for spec in SPECS}


async def test_a_key_says_it_from_the_next_list_on_and_the_host_is_notified(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service, service.client() as owner:
        new = {"name": "host", "scopes": ["read"], "tools": "all"}
        made = (await owner.post("/api/auth/keys", json=new)).json()
        notices = Notices()
        async with remote(service, made["key"], on_message=notices) as host:
            assert "whoami" in await listed(host.session)

            changed = await owner.patch(f"/api/auth/keys/{made['id']}", json={"tools": "core"})
            await notices.wait_for(CHANGED)
            assert "more_tools" in await listed(host.session)

        both = await owner.patch(f"/api/auth/keys/{made['id']}", json={"scopes": ["read", "write"], "tools": None})
        neither = await owner.patch(f"/api/auth/keys/{made['id']}", json={})
    assert (made["tools"], changed.json()["tools"], changed.json()["scopes"]) == ("all", "core", ["read"])
    assert (both.json()["tools"], both.json()["scopes"]) == (None, ["read", "write"])
    assert neither.status_code == 422


async def test_a_tool_that_is_not_listed_can_be_called_all_the_same(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        assert "whoami" not in await listed(host.session)
        assert (await host.call("whoami"))["email"] == "alice@example.com"


async def test_icons_are_drawings_at_the_address_that_was_called_and_need_no_key(drive_settings: DriveSettings) -> None:
    async with running(drive_settings) as service, wired(service) as wire, service.client("") as anybody:
        lists = [(await wire.post(method, {})).json()["result"] for method in ("tools/list", "prompts/list")]
        lists.append((await wire.post("resources/templates/list", {})).json()["result"])
        entries = [entry for found in lists for value in found.values() if isinstance(value, list) for entry in value]
        addresses = {icon["src"] for entry in entries for icon in entry["icons"]}
        answers = [await anybody.get(address) for address in sorted(addresses)]
        unknown = await anybody.get("/icons/nothing.svg")

    assert len(addresses) > 5
    assert all(address.startswith(f"{service.url}/icons/") for address in addresses)
    for answer in answers:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
        assert answer.headers["cache-control"] == "public, max-age=604800"
        assert ElementTree.fromstring(answer.text).tag.endswith("svg")  # noqa: S314 - our own drawing
    assert unknown.status_code == 404


async def test_without_a_service_that_is_known_nothing_has_an_icon(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, alice) as host:
        assert not [tool.name for tool in (await listed(host.session)).values() if tool.icons]
