from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp.shared.exceptions import McpError

from drive_server.kernel.access import Scope
from drive_server.mcp.resources import INDEX, INDEX_URI
from tests.drive_server.actors import with_scopes
from tests.drive_server.hosts import host_of
from tests.drive_server.protocol.listener import Listener, listening, settled

if TYPE_CHECKING:
    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def counts(session: ClientSession) -> dict[str, int]:
    """Read the resource, and return its counts."""
    (contents,) = (await session.read_resource(INDEX.uri)).contents
    return json.loads(contents.model_dump()["text"])["counts"]


def has_news(heard: Listener) -> bool:
    return INDEX_URI in heard.updated


async def test_a_subscriber_is_told_until_the_new_file_can_be_searched(drive: Drive, alice: Actor) -> None:
    async with listening(drive, alice) as (session, heard):
        await session.subscribe_resource(INDEX.uri)
        await drive.documents.create(alice, "root", "面条.md", "Nothing but noodles.")
        with anyio.fail_after(30):
            while await counts(session) != {"ready": 1}:
                await heard.until(has_news)
                heard.updated.remove(INDEX_URI)


async def test_others_files_are_no_news_and_neither_is_anything_after_unsubscribing(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    async with listening(drive, alice) as (session, heard), listening(drive, bob) as (bobs, bob_heard):
        await session.subscribe_resource(INDEX.uri)
        await bobs.subscribe_resource(INDEX.uri)
        await drive.documents.create(bob, "root", "bobs.md", "x")
        await bob_heard.until(has_news)
        await session.unsubscribe_resource(INDEX.uri)
        await drive.documents.create(alice, "root", "hers.md", "x")
        bob_heard.updated.clear()
        await drive.documents.create(bob, "root", "second.md", "x")
        await bob_heard.until(has_news)
        await settled(drive, heard)

    assert heard.updated == []


async def test_it_is_listed_last_and_tells_what_could_not_be_read(drive: Drive, alice: Actor) -> None:
    await drive.documents.create(alice, "root", "program.bin", bytes(range(256)))
    await drive.ingester.drain()
    async with host_of(drive, alice) as host:
        listed = (await host.session.list_resources()).resources
        assert str(listed[-1].uri) == INDEX_URI
        assert await counts(host.session) == {"unsupported": 1}


async def test_a_key_without_read_neither_reads_nor_watches_it(drive: Drive, alice: Actor) -> None:
    async with host_of(drive, with_scopes(alice, Scope.WRITE)) as host:
        for attempt in (host.session.read_resource, host.session.subscribe_resource):
            with pytest.raises(McpError, match="read"):
                await attempt(INDEX.uri)
