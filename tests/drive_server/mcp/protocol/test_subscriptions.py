from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from anyio import create_task_group
from mcp.shared.exceptions import McpError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCRequest

from drive_server.kernel.context import current_principal
from drive_server.mcp.protocol.subscriptions import MAX_SUBSCRIPTIONS
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import host_of
from tests.drive_server.protocol.listener import listening, settled
from tests.handshake import INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anyio.streams.memory import MemoryObjectReceiveStream

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item

UPDATED = "notifications/resources/updated"
ROOT: Any = "drive://folders/root"


def uri(item: Item) -> Any:
    return f"drive://{'files' if item.kind == 'file' else 'folders'}/{item.id}"


async def note(drive: Drive, actor: Actor, name: str = "a.md", parent: str = "root") -> Item:
    return (await drive.documents.create(actor, parent, name, "one")).value


async def folder(drive: Drive, actor: Actor, name: str, parent: str = "root") -> Item:
    return (await drive.files.create_folder(actor, parent, name)).value


@asynccontextmanager
async def not_reading(drive: Drive, actor: Actor, watched: str) -> AsyncGenerator[MemoryObjectReceiveStream[Any]]:
    """Open a session whose client subscribes, and then reads nothing until the test does."""
    token = current_principal.set(actor.principal)
    protocol = drive.server.protocol
    try:
        async with create_client_server_memory_streams() as ((reading, writing), theirs), create_task_group() as group:
            group.start_soon(protocol.run, *theirs, protocol.create_initialization_options())
            for number, (method, params) in enumerate(
                [("initialize", INTRODUCTION), ("resources/subscribe", {"uri": watched})]
            ):
                request = JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)
                await writing.send(SessionMessage(JSONRPCMessage(request)))
                await reading.receive()
            yield reading
            group.cancel_scope.cancel()
    finally:
        current_principal.reset(token)


async def read_update(stream: MemoryObjectReceiveStream[Any]) -> str:
    """Return the URI of the next notification that a resource changed."""
    while True:
        message: SessionMessage = await stream.receive()
        read = message.message.model_dump()
        if read.get("method") == UPDATED:
            return read["params"]["uri"]


async def test_a_subscriber_is_told_of_each_change_once(drive: Drive, alice: Actor) -> None:
    item = await note(drive, alice)
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(uri(item))
        await session.subscribe_resource(uri(item))
        await drive.documents.write_text(alice, item.id, "two")
        await drive.documents.write_text(alice, item.id, "three")
        await heard.until(lambda heard: len(heard.updated) >= 2)
        await settled(drive, heard)

    assert heard.updated == [uri(item)] * 2


async def test_what_was_changed_before_is_not_told(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (session, heard):
        item = await note(drive, alice)
        await session.subscribe_resource(uri(item))
        await settled(drive, heard)

    assert heard.updated == []


async def test_a_change_comes_from_any_session(drive: Drive, alice: Actor) -> None:
    item = await note(drive, alice)
    async with listening(drive, alice) as (session, heard), host_of(drive, alice) as other:
        await session.subscribe_resource(uri(item))
        await session.call_tool("rename_item", {"item_id": item.id, "name": "b.md"})
        await other.call("write_file", file_id=item.id, content="two")
        await heard.until(lambda heard: len(heard.updated) >= 2)
        await settled(drive, heard)

    assert heard.updated == [uri(item)] * 2


async def test_a_dry_run_and_a_refused_change_are_no_changes(drive: Drive, alice: Actor) -> None:
    item = await note(drive, alice)
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(uri(item))
        await session.call_tool("write_file", {"file_id": item.id, "content": "x"}, meta={"drive-agent/dry-run": True})
        await session.call_tool("write_file", {"file_id": item.id, "content": "x", "if_match": "stale"})
        await settled(drive, heard)

    assert heard.updated == []


async def test_a_folder_changes_with_what_is_directly_in_it(drive: Drive, alice: Actor) -> None:
    first, second = await folder(drive, alice, "A"), await folder(drive, alice, "B")
    deeper = await folder(drive, alice, "C", first.id)
    async with listening(drive, alice) as (session, heard):
        for place in (first, second):
            await session.subscribe_resource(uri(place))
        item = await note(drive, alice, parent=first.id)
        await heard.until(lambda heard: len(heard.updated) == 1)
        await drive.files.move(alice, item.id, second.id)
        await heard.until(lambda heard: len(heard.updated) == 3)
        await note(drive, alice, parent=deeper.id)
        await settled(drive, heard)

    assert heard.updated[0] == uri(first)
    assert sorted(heard.updated[1:]) == sorted([uri(first), uri(second)])


async def test_the_root_is_told_of_under_the_name_it_was_asked_for(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(ROOT)
        await note(drive, alice)
        await heard.until(lambda heard: bool(heard.updated))

    assert heard.updated == [ROOT]


@pytest.mark.parametrize("change", ["rename", "move", "trash"])
async def test_what_happens_to_a_folder_happens_to_all_below_it(drive: Drive, alice: Actor, change: str) -> None:
    top = await folder(drive, alice, "A")
    middle = await folder(drive, alice, "B", top.id)
    other = await folder(drive, alice, "Other")
    item, beside = await note(drive, alice, parent=middle.id), await note(drive, alice, parent=other.id)
    async with listening(drive, alice) as (session, heard):
        for watched in (item, beside, middle):
            await session.subscribe_resource(uri(watched))
        if change == "rename":
            await drive.files.rename(alice, top.id, "Z")
        elif change == "move":
            await drive.files.move(alice, top.id, other.id)
        else:
            await drive.files.trash(alice, top.id)
        await heard.until(lambda heard: len(heard.updated) >= 2)
        await settled(drive, heard)

    assert sorted(heard.updated) == sorted([uri(item), uri(middle)])


async def test_after_unsubscribing_nothing_is_told(drive: Drive, alice: Actor) -> None:
    item, other = await note(drive, alice), await note(drive, alice, "b.md")
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(uri(item))
        await session.subscribe_resource(uri(other))
        await session.unsubscribe_resource(uri(item))
        await drive.documents.write_text(alice, item.id, "two")
        await drive.documents.write_text(alice, other.id, "two")
        await heard.until(lambda heard: bool(heard.updated))
        await settled(drive, heard)

    assert heard.updated == [uri(other)]


async def test_a_revoke_ends_the_subscriptions_to_all_below(drive: Drive, alice: Actor, bob: Actor) -> None:
    shared = await folder(drive, alice, "A")
    item = await note(drive, alice, parent=shared.id)
    await drive.sharing.share(alice, shared.id, "bob@example.com", "viewer")
    async with listening(drive, bob) as (session, heard), listening(drive, alice) as (owners, owner_heard):
        await session.subscribe_resource(uri(item))
        await owners.subscribe_resource(uri(item))
        await drive.documents.write_text(alice, item.id, "two")
        await heard.until(lambda heard: bool(heard.updated))
        await drive.sharing.revoke(alice, shared.id, "bob@example.com")
        await drive.documents.write_text(alice, item.id, "three")
        await owner_heard.until(lambda heard: len(heard.updated) == 3)
        await settled(drive, heard)
        await drive.sharing.share(alice, shared.id, "bob@example.com", "viewer")
        await drive.documents.write_text(alice, item.id, "four")
        await settled(drive, heard)

    assert heard.updated == [uri(item)]


async def test_what_goes_to_the_trash_is_lost_to_those_who_only_view_it(drive: Drive, alice: Actor, bob: Actor) -> None:
    item = await note(drive, alice)
    await drive.sharing.share(alice, item.id, "bob@example.com", "viewer")
    async with listening(drive, bob) as (session, heard):
        await session.subscribe_resource(uri(item))
        await drive.files.trash(alice, item.id)
        await settled(drive, heard)

    assert heard.updated == []


async def test_only_what_the_caller_sees_can_be_subscribed_to(drive: Drive, alice: Actor, bob: Actor) -> None:
    item = await note(drive, alice)
    async with listening(drive, bob) as (session, _):
        for foreign in (uri(item), f"drive://files/{'0' * 32}", "drive://keys/x", "https://example.com/x"):
            with pytest.raises(McpError) as refused:
                await session.subscribe_resource(foreign)  # pyright: ignore[reportArgumentType] - pydantic takes a str
            assert refused.value.error.code == -32002
            assert refused.value.error.data is not None
            assert refused.value.error.data["code"] == "not_found"
    async with listening(drive, with_scopes(alice)) as (session, _):
        with pytest.raises(McpError, match="lacks the scope"):
            await session.subscribe_resource(uri(item))


async def test_a_session_has_room_for_so_many_subscriptions(drive: Drive, alice: Actor) -> None:
    item = await note(drive, alice)
    async with listening(drive, alice) as (session, _):
        (open_session,) = drive.server.sessions
        open_session.subscriptions |= {f"drive://files/{number}": None for number in range(MAX_SUBSCRIPTIONS)}  # pyright: ignore[reportAttributeAccessIssue] - they only have to be there
        with pytest.raises(McpError, match="too many subscriptions"):
            await session.subscribe_resource(uri(item))
        await session.unsubscribe_resource("drive://files/7")  # pyright: ignore[reportArgumentType] - pydantic takes a str
        open_session.subscriptions.clear()


async def test_subscriptions_end_with_their_session(drive: Drive, alice: Actor) -> None:
    item = await note(drive, alice)
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(uri(item))
    assert len(drive.server.sessions) == 0

    await drive.documents.write_text(alice, item.id, "two")
    await drive.feed.catch_up()

    assert heard.updated == []


async def test_a_client_that_does_not_read_holds_up_nobody(drive: Drive, alice: Actor) -> None:
    item = await note(drive, alice)
    async with listening(drive, alice) as (session, heard), not_reading(drive, alice, uri(item)) as stalled:
        await session.subscribe_resource(uri(item))
        for number in range(30):
            await drive.documents.write_text(alice, item.id, str(number))
        await heard.until(lambda heard: len(heard.updated) == 30)

        late = [await read_update(stalled) for _ in range(30)]

    assert late == [uri(item)] * 30


async def test_hosts_are_told_that_the_list_of_recent_files_changed(drive: Drive, alice: Actor, bob: Actor) -> None:
    async with listening(drive, alice) as (_, heard), listening(drive, bob) as (session, bobs):
        item = await note(drive, alice)
        await heard.until(lambda heard: heard.lists == 1)
        assert bobs.lists == 0
        await drive.sharing.share(alice, item.id, "bob@example.com", "viewer")
        await bobs.until(lambda heard: heard.lists == 1)
        await drive.sharing.revoke(alice, item.id, "bob@example.com")
        await bobs.until(lambda heard: heard.lists == 2)
        before = bobs.lists
        await drive.documents.write_text(alice, item.id, "two")
        await heard.until(lambda heard: heard.lists >= 2)
        await session.send_ping()

    assert bobs.lists == before


async def test_a_burst_of_changes_is_one_change_of_the_list(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(ROOT)
        for number in range(20):
            await note(drive, alice, f"{number}.md")
        await heard.until(lambda heard: len(heard.updated) == 20 and heard.lists > 0)

    assert heard.lists < 20


async def test_plain_resources_can_be_subscribed_to(drive: Drive, alice: Actor) -> None:
    plain: Any = "test://watched"

    @drive.server.resource(plain)
    def watched() -> str:
        return "x"

    assert watched() == "x"
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(plain)
        drive.server.subscriptions.updated(plain)
        await heard.until(lambda heard: heard.updated == [plain])
