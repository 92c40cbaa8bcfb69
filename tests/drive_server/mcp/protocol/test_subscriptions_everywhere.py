"""Subscriptions across transports and processes: over HTTP, over stdio, and between the two."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.drive_server.hosts import Host, session_over_stdio
from tests.drive_server.http.service import Service, running
from tests.drive_server.protocol.listener import Listener, settled

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from drive_server.kernel.settings import DriveSettings

TIMEOUT = timedelta(seconds=30)


@pytest.fixture
async def service(drive_settings: DriveSettings) -> AsyncIterator[Service]:
    async with running(drive_settings) as service:
        yield service


@asynccontextmanager
async def over_http(service: Service, key: str) -> AsyncGenerator[tuple[Host, Listener]]:
    listener = Listener()
    async with (
        service.client(key) as client,
        streamable_http_client(f"{service.url}/mcp", http_client=client) as (reading, writing, _),
        ClientSession(reading, writing, TIMEOUT, message_handler=listener) as session,
    ):
        await session.initialize()
        yield Host(session), listener


@asynccontextmanager
async def over_stdio(settings: DriveSettings, key: str) -> AsyncGenerator[tuple[Host, Listener]]:
    """Start a process of its own on the same drive."""
    listener = Listener()
    own = {"DRIVE_DATA_DIR": str(settings.root), "DRIVE_DATABASE_URL": settings.database_url, "DRIVE_API_KEY": key}
    env = {**os.environ, **own, "DRIVE_EMBEDDING_MODEL": "none"}
    program = StdioServerParameters(command=sys.executable, args=["-m", "drive_server"], env=env)
    async with session_over_stdio(program, read_timeout_seconds=TIMEOUT, message_handler=listener) as session:
        yield Host(session), listener


async def put(service: Service, key: str, file_id: str, text: str) -> None:
    """Change a file with a call over HTTP that has nothing to do with MCP."""
    async with service.client(key) as client:
        parent = (await client.get(f"/api/drive/items/{file_id}")).raise_for_status().json()
        uploaded = await client.post(
            "/api/drive/files",
            params={"parent_id": parent["parent_id"], "name": parent["name"], "on_conflict": "replace"},
            content=text.encode(),
        )
        uploaded.raise_for_status()


async def test_a_session_over_http_is_told_of_changes_from_everywhere(
    service: Service, drive_settings: DriveSettings
) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with over_http(service, service.token) as (owner, heard), over_http(service, bobs_key) as (bob, bobs):
        made = await owner.call("create_file", name="a.md", content="one")
        uri: Any = f"drive://files/{made['id']}"
        await owner.call("share_item", item_id=made["id"], email="bob@example.com", role="editor")
        for host in (owner, bob):
            await host.session.subscribe_resource(uri)
        await owner.call("write_file", file_id=made["id"], content="two")
        await bob.call("write_file", file_id=made["id"], content="three")
        await put(service, service.token, made["id"], "four")
        async with over_stdio(drive_settings, service.token) as (program, _):
            await program.call("write_file", file_id=made["id"], content="five")
        await heard.until(lambda heard: len(heard.updated) >= 4)
        await bobs.until(lambda heard: len(heard.updated) >= 4)
        await settled(service.drive, heard, bobs)
        await owner.call("revoke_share", item_id=made["id"], email="bob@example.com")
        await owner.call("write_file", file_id=made["id"], content="six")
        await heard.until(lambda heard: len(heard.updated) >= 6)
        await settled(service.drive, heard, bobs)

    assert heard.updated == [uri] * 6
    assert bobs.updated == [uri] * 4


async def test_a_session_over_stdio_is_told_of_what_another_process_does(
    service: Service, drive_settings: DriveSettings
) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with over_http(service, bobs_key) as (bob, _), over_stdio(drive_settings, bobs_key) as (program, heard):
        made = await bob.call("create_file", name="a.md", content="one")
        uri: Any = f"drive://files/{made['id']}"
        await program.session.subscribe_resource(uri)
        await bob.call("write_file", file_id=made["id"], content="two")
        await program.call("write_file", file_id=made["id"], content="three")
        await heard.until(lambda heard: len(heard.updated) >= 2 and heard.lists > 0)
        await program.session.unsubscribe_resource(uri)
        other = await bob.call("create_file", name="b.md", content="one")
        await program.session.subscribe_resource(f"drive://files/{other['id']}")  # pyright: ignore[reportArgumentType] - pydantic takes a str
        await bob.call("write_file", file_id=made["id"], content="four")
        await bob.call("write_file", file_id=other["id"], content="two")
        await heard.until(lambda heard: len(heard.updated) >= 3)

    assert heard.updated == [uri, uri, f"drive://files/{other['id']}"]


async def test_a_key_that_is_revoked_hears_nothing_more(service: Service) -> None:
    async with service.client() as owner:
        made = (await owner.post("/api/auth/keys", json={"name": "laptop", "scopes": ["read", "write"]})).json()
        async with (
            over_http(service, made["key"]) as (laptop, heard),
            over_http(service, service.token) as (other, others),
        ):
            item = await other.call("create_file", name="a.md", content="one")
            uri: Any = f"drive://files/{item['id']}"
            for host in (laptop, other):
                await host.session.subscribe_resource(uri)
            await other.call("write_file", file_id=item["id"], content="two")
            await heard.until(lambda heard: bool(heard.updated))
            await owner.delete(f"/api/auth/keys/{made['id']}")
            await other.call("write_file", file_id=item["id"], content="three")
            await others.until(lambda heard: len(heard.updated) >= 2)
            await settled(service.drive, others)
            assert all(
                not session.subscriptions
                for session in service.drive.server.sessions
                if session.request and made["key"] in str(session.request.headers)
            )

    assert heard.updated == [uri]
