from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.drive_server.hosts import WHOLE, Host, Person
from tests.drive_server.http.service import running
from tests.handshake import HEADERS, INITIALIZE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service


@asynccontextmanager
async def remote(
    service: Service,
    key: str,
    path: str = "/mcp",
    person: Person | None = None,
    on_message: Any = None,
    kind: type[ClientSession] = ClientSession,
    seconds: int = 20,
) -> AsyncGenerator[Host]:
    """Open a session over HTTP. Enter and leave it within one test."""
    async with (
        service.client(key) as client,
        streamable_http_client(service.url + path, http_client=client) as (reading, writing, _),
        kind(
            reading, writing, timedelta(seconds=seconds), elicitation_callback=person, message_handler=on_message
        ) as session,
    ):
        await session.initialize()
        yield Host(session)


async def open_by_hand(client: httpx.AsyncClient) -> str:
    """Open a session and return its id."""
    response = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
    assert response.status_code == 200, response.text
    return response.headers["mcp-session-id"]


async def whoami(client: httpx.AsyncClient, session_id: str, key: str) -> httpx.Response:
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}}
    headers = {**HEADERS, "mcp-session-id": session_id, "Authorization": f"Bearer {key}"}
    return await client.post("/mcp", json=call, headers=headers)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_a_host_works_in_the_drive_over_http(service: Service, path: str) -> None:
    async with remote(service, service.token, path) as host:
        made = await host.call("create_file", name="计划.md", content="你好 🌍")
        read = await host.call("read_file", file_id=made["id"])
        me = await host.call("whoami", WHOLE)

    assert read["text"] == "你好 🌍"
    assert (me["email"], me["method"]) == ("me@localhost", "token")


async def test_two_people_have_two_drives(service: Service) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with remote(service, service.token) as owner:
        made = await owner.call("create_folder", name="A")
    async with remote(service, bobs_key) as bob:
        assert (await bob.call("list_folder"))["items"] == []
        assert (await bob.refused("get_file_info", item_id=made["id"]))["code"] == "not_found"


async def test_a_browsers_session_is_no_key_here_though_it_is_one_for_pages(service: Service) -> None:
    async with service.client("") as browser:
        await browser.post("/api/auth/login", json={"token": service.token})
        secret = browser.cookies["drive_session"]
        assert (await browser.get("/api/auth/me")).status_code == 200
    async with service.client(secret) as client:
        refused = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
    async with service.client() as client:
        in_open_session = await whoami(client, await open_by_hand(client), secret)

    assert (refused.status_code, in_open_session.status_code) == (401, 401)
    assert refused.json()["code"] == "unauthenticated"
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]


async def test_without_a_valid_key_no_session_is_opened(service: Service) -> None:
    for key in ("", "dak_wrong"):
        async with service.client(key) as client:
            response = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)

        assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
        assert response.headers["www-authenticate"].startswith("Bearer")


async def test_a_cookie_opens_no_session(service: Service) -> None:
    async with service.client("") as browser:
        await browser.post("/api/auth/login", json={"token": service.token})
        response = await browser.post("/mcp", json=INITIALIZE, headers=HEADERS)

    assert response.status_code == 401


async def test_each_request_counts_by_its_own_key(service: Service) -> None:
    async with service.client() as owner:
        body = {"name": "laptop", "scopes": ["read"]}
        laptop = (await owner.post("/api/auth/keys", json=body)).json()
        session_id = await open_by_hand(owner)

        by_token = await whoami(owner, session_id, service.token)
        by_laptop = await whoami(owner, session_id, laptop["key"])
        await owner.delete(f"/api/auth/keys/{laptop['id']}")
        revoked = await whoami(owner, session_id, laptop["key"])

    assert '"key_name":"local access token"' in by_token.text
    assert '"key_name":"laptop"' in by_laptop.text
    assert '"scopes":["read"]' in by_laptop.text
    assert revoked.status_code == 401


async def test_somebody_elses_session_is_not_found(service: Service) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with service.client() as owner:
        session_id = await open_by_hand(owner)
        response = await whoami(owner, session_id, bobs_key)

    assert response.status_code == 404


async def test_signing_in_is_not_needed_and_changes_nothing(service: Service) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with remote(service, service.token) as host:
        await host.call("authenticate", api_key=bobs_key)

        assert (await host.call("whoami"))["email"] == "me@localhost"


async def test_a_host_asks_its_person_over_http(service: Service) -> None:
    person = Person("decline", "accept")
    async with remote(service, service.token, person=person) as host:
        await host.call("create_folder", name="Old")
        refused = await host.refused("trash_item", item_id="/Old")
        await host.call("trash_item", item_id="/Old")

    assert refused["code"] == "declined"
    assert len(person.questions) == 2


async def test_resources_are_read_over_http(service: Service) -> None:
    uri: Any = "drive://folders/root"
    async with remote(service, service.token) as host:
        (contents,) = (await host.session.read_resource(uri)).contents

    assert contents.mimeType == "application/json"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "evil.example:8000"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Host": "localhost"}, 200),
        ({"Host": "localhost:1234"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Origin": "http://localhost:5173"}, 200),
    ],
)
async def test_a_page_whose_name_was_bound_to_this_machine_is_refused(
    service: Service, headers: dict[str, str], status: int
) -> None:
    async with service.client() as client:
        response = await client.post("/mcp", json=INITIALIZE, headers={**HEADERS, **headers})

    assert response.status_code == status
    assert status == 200 or response.json()["code"] in {"misdirected_request", "forbidden"}


async def test_a_proxy_may_let_others_in_by_the_names_that_are_set(drive_settings: DriveSettings) -> None:
    named = drive_settings.model_copy(update={"public_hosts": "drive.example.com, other.example"})
    async with running(named) as service, service.client() as client:
        for host, status in (("drive.example.com", 200), ("other.example:8443", 200), ("evil.example", 421)):
            response = await client.post("/mcp", json=INITIALIZE, headers={**HEADERS, "Host": host})
            assert response.status_code == status


async def test_nonsense_is_refused_and_the_service_goes_on(service: Service) -> None:
    async with service.client() as client:
        for content in (b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"[" * 50_000):
            headers = {**HEADERS, "Content-Type": "application/json"}
            response = await client.post("/mcp", content=content, headers=headers)
            assert 400 <= response.status_code < 500, content[:20]
        response = await client.post("/mcp", content=b"{}", headers={**HEADERS, "Content-Type": "text/plain"})
        assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")
        for session_id in ("unknown", "../x", "x" * 5000):
            assert (await whoami(client, session_id, service.token)).status_code in {400, 404}
    async with remote(service, service.token) as host:
        assert (await host.call("list_folder"))["items"] == []
