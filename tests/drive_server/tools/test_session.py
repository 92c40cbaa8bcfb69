from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcp.shared.memory import create_connected_server_and_client_session

from drive_server.access import Scope
from drive_server.server import build_server
from tests.drive_server.actors import local_owner, with_scopes
from tests.drive_server.hosts import Host, host_of, text_of

if TYPE_CHECKING:
    from drive_server.access import Actor
    from drive_server.drive import Drive


async def test_whoami_tells_the_person_and_what_the_key_may_do(assistant: Host) -> None:
    me = await assistant.call("whoami")

    assert me == {
        "email": "alice@example.com",
        "scopes": ["delete", "read", "share", "write"],
        "method": "in_process",
        "key_name": None,
    }


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
