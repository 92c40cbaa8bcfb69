"""The tools that a session sees, and the notice it gets when its scopes change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import ServerNotification

from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.context import META_TOOL
from drive_server.mcp.server import GROUPS
from graph.context import RunContext
from graph.drive.connections import ConnectionPool, drive_sessions
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import assistant_of, host_of, show_whole_tools
from tests.drive_server.http.service import running
from tests.drive_server.http.streamable_http.test_endpoint import remote
from tests.drive_server.http.wire import answer_of, wired
from tests.drive_server.programs import PROGRAM, StdioProgram

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

PATIENCE = 20
SPECS = {spec.name: spec for group in GROUPS for spec in group.specs()}
CHANGED = "notifications/tools/list_changed"


def allowed(*scopes: str) -> set[str]:
    return {name for name, spec in SPECS.items() if spec.scope is None or spec.scope.value in scopes}


async def listed(session: ClientSession) -> set[str]:
    return {tool.name for tool in (await session.list_tools()).tools}


class Notices:
    """The notifications that a session gets."""

    def __init__(self) -> None:
        self.methods: list[str] = []
        self._came = anyio.Event()

    async def __call__(self, message: Any) -> None:
        """Take one."""
        if isinstance(message, ServerNotification):
            self.methods.append(message.root.method)
            self._came.set()
            self._came = anyio.Event()

    async def wait_for(self, method: str) -> None:
        with anyio.fail_after(PATIENCE):
            while method not in self.methods:
                await self._came.wait()
        self.methods.clear()


@pytest.fixture
async def service(drive_settings: DriveSettings) -> AsyncIterator[Service]:
    async with running(drive_settings) as service:
        show_whole_tools(service.drive)
        yield service


@pytest.mark.parametrize("scopes", [(), ("read",), ("write",), ("read", "write"), tuple(Scope)])
async def test_a_session_is_shown_just_what_its_scopes_allow(
    drive: Drive, alice: Actor, scopes: tuple[str, ...]
) -> None:
    show_whole_tools(drive)
    caller = with_scopes(alice, *map(Scope, scopes))
    async with host_of(drive, caller) as host, assistant_of(drive, caller) as assistant:
        assert await listed(host.session) == await listed(assistant.session) == allowed(*scopes)


async def test_a_reading_key_is_shown_no_tool_that_changes_and_a_call_of_one_is_refused(
    drive: Drive, alice: Actor
) -> None:
    show_whole_tools(drive)
    async with host_of(drive, with_scopes(alice, Scope.READ)) as host:
        tools = (await host.session.list_tools()).tools
        refused = await host.refused("create_folder", name="A")

    assert {(tool.meta or {})[META_TOOL].get("scope") for tool in tools} == {"read", None}
    assert (refused["code"], refused["details"]) == ("missing_scope", {"scope": "write"})


async def test_a_session_over_http_hears_when_its_keys_scopes_change(service: Service) -> None:
    async with service.client() as owner:
        body = {"name": "host", "scopes": ["read", "write"]}
        made = (await owner.post("/api/auth/keys", json=body)).json()
        notices = Notices()
        async with remote(service, made["key"], on_message=notices) as host:
            assert await listed(host.session) == allowed("read", "write")

            for scopes in (["read"], ["read", "share"]):
                await owner.patch(f"/api/auth/keys/{made['id']}", json={"scopes": scopes})
                await notices.wait_for(CHANGED)
                assert await listed(host.session) == allowed(*scopes)

            await owner.patch(f"/api/auth/keys/{made['id']}", json={"scopes": ["share", "read"]})
            await host.call("whoami")
    assert CHANGED not in notices.methods


async def test_a_session_over_http_hears_when_it_comes_with_another_key(service: Service) -> None:
    async with service.client() as owner:
        reader = (await owner.post("/api/auth/keys", json={"name": "reader", "scopes": ["read"]})).json()["key"]
    async with wired(service) as wire:
        await wire.post("tools/list")
        wire.client.headers["Authorization"] = f"Bearer {reader}"
        shown = answer_of(await wire.post("tools/list"))
        async with wire.stream() as events:
            heard = (await anext(event async for event in events if event.data)).message

    assert {tool["name"] for tool in shown["result"]["tools"]} == allowed("read")
    assert heard["method"] == CHANGED


async def test_a_session_hears_when_somebody_signs_it_in(drive: Drive, alice: Actor) -> None:
    show_whole_tools(drive)
    _, secret = await drive.identity.create_key(alice, "host", ["read"])
    notices = Notices()
    async with create_connected_server_and_client_session(drive.server, message_handler=notices) as session:
        assert await listed(session) == SPECS.keys()
        await session.call_tool("authenticate", {"api_key": secret})
        await notices.wait_for(CHANGED)
        assert await listed(session) == allowed("read")


async def test_a_session_over_stdio_hears_when_another_process_changes_its_key(drive: Drive, alice: Actor) -> None:
    key, secret = await drive.identity.create_key(alice, "host", ["read", "write"])
    with StdioProgram(drive.settings, *PROGRAM, DRIVE_API_KEY=secret, DRIVE_MCP_TOOLS="whole") as host:
        host.introduce()
        host.ask(1, "tools/list")
        before = host.answer(1)["result"]["tools"]
        await drive.identity.change_scopes(alice, key.id, ["read"])
        while host.hear().get("method") != CHANGED:
            pass
        host.ask(2, "tools/list")
        after = host.answer(2)["result"]["tools"]

    assert {tool["name"] for tool in before} >= allowed("read", "write")
    assert allowed("read") <= {tool["name"] for tool in after}
    assert allowed("read", "write").isdisjoint({tool["name"] for tool in after} - allowed("read"))


async def test_the_assistants_toolbox_has_what_the_persons_scopes_allow(drive: Drive, alice: Actor) -> None:
    pool = ConnectionPool(drive_sessions(drive))
    try:
        for scopes in (("read",), ("read", "write"), tuple(Scope)):
            toolbox = await pool.toolbox(RunContext(alice.user_id, "alice@example.com", scopes))
            assert toolbox.tools.keys() == allowed(*scopes)
    finally:
        await pool.aclose()
