from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import pytest
from mcp.shared.exceptions import McpError, UrlElicitationRequiredError
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import ElicitCompleteNotification, ServerNotification

from drive_server.kernel.access import Principal, Scope
from drive_server.mcp.results import WhoamiResult
from drive_server.mcp.server import build_server
from drive_server.services.identity.sign_ins import SignInService
from tests.drive_server.actors import local_owner, new_person, with_scopes
from tests.drive_server.hosts import Host, host_of, text_of

if TYPE_CHECKING:
    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def test_whoami_tells_the_person_and_what_the_key_may_do(assistant: Host) -> None:
    me = await assistant.call("whoami")
    moment = {key: me.pop(key) for key in ("today", "time", "time_zone", "authenticated_at")}

    assert all(isinstance(value, str) for value in moment.values())
    assert me == {
        "email": "alice@example.com",
        "name": "",
        "languages": [],
        "scopes": ["delete", "read", "share", "write"],
        "method": "in_process",
        "key_name": None,
        "used_bytes": 0,
        "quota_bytes": 0,
        "index": {"pending": 0, "indexing": 0, "indexed": 0, "skipped": 0, "failed": 0},
    }


@pytest.mark.parametrize("proved", [None, datetime(2026, 11, 1, 8, tzinfo=UTC)])
def test_whoami_says_when_the_person_proved_who_they_are_and_a_key_does_with_each_call(proved: datetime | None) -> None:
    now = datetime(2026, 11, 30, 9, tzinfo=timezone(timedelta(hours=8)))
    person = Principal("1", "ann@example.com", frozenset(), "session", proved_at=proved)
    usage: dict[str, Any] = {"languages": [], "used_bytes": 0, "quota_bytes": 0, "index": {}}
    shown = WhoamiResult.of(person, now, "Asia/Shanghai", **usage).authenticated_at
    assert shown == ("2026-11-01T08:00:00Z" if proved else "2026-11-30T01:00:00Z")


async def test_whoami_tells_how_far_the_files_can_be_searched(drive: Drive, assistant: Host) -> None:
    await assistant.call("create_file", folder_id="/", name="notes.txt", content="Nothing but noodles.")
    await drive.ingester.drain()
    assert (await assistant.call("whoami"))["index"]["indexed"] == 1


async def test_in_process_nobody_signs_in_as_somebody_else(drive: Drive, assistant: Host) -> None:
    _, bobs_key = await drive.identity.create_user(await local_owner(drive.identity), "bob@example.com")

    answer = await assistant.result("authenticate", api_key=bobs_key)

    assert text_of(answer).startswith("Not needed")
    assert (await assistant.call("whoami"))["email"] == "alice@example.com"


async def test_without_an_identity_every_tool_is_refused_and_says_what_to_do(drive: Drive) -> None:
    async with create_connected_server_and_client_session(drive.server) as session:
        host = Host(session)
        error = await host.refused("list_folder")

    assert error["code"] == "unauthenticated"
    assert "authenticate" in error["hint"]


async def test_a_session_signs_in_with_a_key_and_no_other_session_with_it(drive: Drive) -> None:
    _, key = await drive.identity.create_user(await local_owner(drive.identity), "bob@example.com")
    async with (
        create_connected_server_and_client_session(drive.server) as first,
        create_connected_server_and_client_session(drive.server) as second,
    ):
        assert (await Host(first).refused("authenticate", api_key="dak_wrong"))["code"] == "unauthenticated"
        await Host(first).call("authenticate", api_key=key)

        assert (await Host(first).call("whoami"))["email"] == "bob@example.com"
        assert (await Host(second).refused("whoami"))["code"] == "unauthenticated"


async def test_a_key_that_is_revoked_ends_at_once(drive: Drive, alice: Actor) -> None:
    key, secret = await drive.identity.create_key(alice, "laptop", ["read"])
    async with create_connected_server_and_client_session(build_server(drive, default_key=secret)) as session:
        assert (await Host(session).call("whoami"))["key_name"] == "laptop"
        await drive.identity.revoke_key(alice, key.id)

        assert (await Host(session).refused("whoami"))["code"] == "unauthenticated"


async def test_a_scope_that_lacks_is_named(drive: Drive, alice: Actor) -> None:
    made = await drive.files.create_folder(alice, "root", "A")
    refused = {
        Scope.READ: ("list_folder", {}),
        Scope.WRITE: ("create_folder", {"name": "B"}),
        Scope.SHARE: ("share_item", {"item_id": "/A", "email": "bob@example.com"}),
        Scope.DELETE: ("trash_item", {"item_id": "/A"}),
    }
    for lacking, (tool, arguments) in refused.items():
        others = [scope for scope in Scope if scope != lacking]
        async with host_of(drive, with_scopes(alice, *others)) as host:
            error = await host.refused(tool, **arguments)

        assert (error["code"], error["details"]["scope"]) == ("missing_scope", lacking)
    assert await drive.files.get(alice, made.value.id) == made.value


async def test_two_people_on_one_server_stay_apart(drive: Drive, alice: Actor, bob: Actor) -> None:
    async with host_of(drive, alice) as alices, host_of(drive, replace(bob)) as bobs:
        await alices.call("create_folder", name="Alice's")
        await bobs.call("create_folder", name="Bob's")

        assert [item["name"] for item in (await alices.call("list_folder"))["items"]] == ["Alice's"]
        assert [item["name"] for item in (await bobs.call("list_folder"))["items"]] == ["Bob's"]


async def no_forms(context: Any, params: Any) -> Any:
    """Let the host announce elicitation; nobody is asked anything in a form here."""
    raise AssertionError((context, params))


class Listener:
    """A host that hears when a page was answered."""

    def __init__(self) -> None:
        self.completed: list[str] = []
        self.heard = anyio.Event()

    async def __call__(self, message: Any) -> None:
        notification = message.root if isinstance(message, ServerNotification) else None
        if isinstance(notification, ElicitCompleteNotification):
            self.completed.append(notification.params.elicitationId)
            self.heard.set()


async def sent_to(session: ClientSession, tool: str = "list_folder") -> tuple[str, str, str]:
    """Call a tool that has to send its person to a page; return the page's id, token and code."""
    with pytest.raises(McpError) as caught:
        await session.call_tool(tool, {})
    assert caught.value.error.code == -32042
    (page,) = UrlElicitationRequiredError.from_error(caught.value.error).elicitations
    code = re.search(r"[A-Z2-7]{4}-[A-Z2-7]{4}", page.message)
    assert code is not None
    parts = urlsplit(page.url)
    assert (parts.netloc, parts.query) == ("127.0.0.1:8000", "")
    return page.elicitationId, parts.path.removeprefix("/connect/"), code[0]


async def test_a_host_that_opens_pages_is_let_in_by_its_person(drive: Drive, alice: Actor) -> None:
    drive.sign_ins = SignInService(drive.database, drive.signer, drive.address, looked_every_seconds=0.001)
    elsewhere = SignInService(drive.database, drive.signer, drive.address)
    listener = Listener()
    async with create_connected_server_and_client_session(
        build_server(drive).protocol, elicitation_callback=no_forms, message_handler=listener
    ) as session:
        sign_in_id, token, code = await sent_to(session)
        assert await sent_to(session, "whoami") == (sign_in_id, token, code)
        assert (await elsewhere.open(token)).code == code

        key = await elsewhere.accept(alice, token, ["read"], 1)
        with anyio.fail_after(20):
            await listener.heard.wait()

        assert listener.completed == [sign_in_id]
        assert (await Host(session).call("whoami"))["key_name"] == "mcp"
        assert (await Host(session).refused("create_folder", name="A"))["code"] == "missing_scope"
        await drive.identity.revoke_key(alice, key.id)
        again, _, _ = await sent_to(session)
        assert again != sign_in_id
    await drive.sign_ins.close()


async def test_a_host_is_let_in_at_its_next_call_whether_it_heard_or_not(drive: Drive, alice: Actor) -> None:
    async with create_connected_server_and_client_session(
        build_server(drive).protocol, elicitation_callback=no_forms
    ) as session:
        _, token, _ = await sent_to(session)
        await drive.sign_ins.accept(alice, token, ["read"], 1)

        assert (await Host(session).call("whoami"))["email"] == "alice@example.com"


async def test_many_calls_at_once_lead_to_one_page(drive: Drive, alice: Actor) -> None:
    found: list[tuple[str, str, str]] = []
    async with create_connected_server_and_client_session(
        build_server(drive).protocol, elicitation_callback=no_forms
    ) as session:

        async def call() -> None:
            found.append(await sent_to(session))

        for _ in range(2):
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(call)
            assert len(set(found)) == 1
            key = await drive.sign_ins.accept(alice, found[0][1], ["read"], 1)
            await Host(session).call("whoami")
            await drive.identity.revoke_key(alice, key.id)
            found.clear()


async def test_while_the_answer_is_no_the_host_hears_that_and_asks_no_more(drive: Drive) -> None:
    async with create_connected_server_and_client_session(
        build_server(drive).protocol, elicitation_callback=no_forms
    ) as session:
        _, token, _ = await sent_to(session)
        await drive.sign_ins.decline(token)

        for _ in range(2):
            assert (await Host(session).refused("whoami"))["code"] == "declined"


async def test_one_page_lets_one_session_in(drive: Drive, alice: Actor) -> None:
    server = build_server(drive).protocol
    async with (
        create_connected_server_and_client_session(server, elicitation_callback=no_forms) as first,
        create_connected_server_and_client_session(server, elicitation_callback=no_forms) as second,
    ):
        (one, token, _), (other, _, _) = await sent_to(first), await sent_to(second)
        await drive.sign_ins.accept(alice, token, ["read"], 1)

        assert one != other
        assert (await Host(first).call("whoami"))["email"] == "alice@example.com"
        assert (await sent_to(second))[0] == other


async def test_a_host_that_opens_no_pages_is_told_the_address(drive: Drive, alice: Actor) -> None:
    async with create_connected_server_and_client_session(build_server(drive).protocol) as session:
        error = await Host(session).refused("list_folder")
        address = re.search(r"http://127\.0\.0\.1:8000/connect/([\w-]+)", error["hint"])
        assert address is not None
        await drive.sign_ins.accept(alice, address[1], ["read"], 1)

        assert (await Host(session).call("whoami"))["email"] == "alice@example.com"


async def test_a_key_that_is_given_goes_before_a_page(drive: Drive, alice: Actor) -> None:
    _, secret = await drive.identity.create_key(alice, "given", ["read"])
    bob = await new_person(drive.identity, "bob@example.com")
    async with create_connected_server_and_client_session(
        build_server(drive).protocol, elicitation_callback=no_forms
    ) as session:
        _, token, _ = await sent_to(session)
        await Host(session).call("authenticate", api_key=secret)
        await drive.sign_ins.accept(bob, token, ["read"], 1)

        assert (await Host(session).call("whoami"))["key_name"] == "given"


async def test_a_key_whose_scopes_change_acts_by_the_new_ones_at_once(drive: Drive, alice: Actor) -> None:
    key, secret = await drive.identity.create_key(alice, "laptop", ["read"])
    async with create_connected_server_and_client_session(build_server(drive, default_key=secret).protocol) as session:
        host = Host(session)
        assert (await host.refused("create_folder", name="A"))["code"] == "missing_scope"
        await drive.identity.change_scopes(alice, key.id, ["read", "write"])
        await host.call("create_folder", name="A")
        await drive.identity.change_scopes(alice, key.id, ["write"])

        assert (await host.refused("list_folder"))["code"] == "missing_scope"


async def test_a_resource_is_kept_from_a_session_without_a_key(drive: Drive) -> None:
    uri: Any = "drive://folders/root"
    async with create_connected_server_and_client_session(
        build_server(drive).protocol, elicitation_callback=no_forms
    ) as session:
        with pytest.raises(McpError) as caught:
            await session.read_resource(uri)

    assert caught.value.error.code == -32042
