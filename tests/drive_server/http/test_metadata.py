from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from mcp.client.auth.utils import extract_resource_metadata_from_www_auth, extract_scope_from_www_auth
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

from drive_server.kernel.http.challenges import challenge
from tests.drive_server.http.alone import alone
from tests.drive_server.http.service import running
from tests.drive_server.issuer import issuing
from tests.handshake import HEADERS, INITIALIZE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

METADATA = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"


def parameters(header: str) -> dict[str, str]:
    """Read a challenge (RFC 9110, section 11.2)."""
    assert header.startswith("Bearer ")
    return dict(re.findall(r'(\w+)="([^"]*)"', header))


def tool_call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.fixture
async def issued(drive_settings: DriveSettings) -> AsyncIterator[Service]:
    """A service that takes an issuer's tokens."""
    async with running(drive_settings.model_copy(update={"jwt_issuer": "https://login.example.com"})) as service:
        yield service


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/mcp", SERVER, f"{SERVER}/mcp", "/authorize"])
@pytest.mark.parametrize("off", [{"oauth_server": False}, {"public_url": "http://drive.example.com"}])
async def test_where_nobody_gives_tokens_no_program_is_led_to_a_registration(
    drive_settings: DriveSettings, path: str, off: dict[str, Any]
) -> None:
    async with running(drive_settings.model_copy(update=off)) as service, service.client("") as client:
        described = await client.get(path)
        refused = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        registered = await client.post("/register", json={"redirect_uris": ["https://claude.example/"]})

    assert registered.status_code == 404
    assert (described.status_code, described.json()["code"]) == (404, "not_found")
    assert refused.status_code == 401
    assert parameters(refused.headers["www-authenticate"]) == {"realm": "drive", "scope": "read write"}


async def test_a_service_without_an_issuer_gives_tokens_itself(service: Service) -> None:
    async with service.client("") as client:
        refused = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        elsewhere = await client.get("/api/auth/me")
        resource = (await client.get(f"{METADATA}/mcp")).json()
        servers = [(await client.get(path)).json() for path in (SERVER, f"{SERVER}/mcp")]

    assert parameters(refused.headers["www-authenticate"])["resource_metadata"] == f"{service.url}{METADATA}/mcp"
    assert "resource_metadata" not in parameters(elsewhere.headers["www-authenticate"])
    assert (resource["resource"], resource["authorization_servers"]) == (f"{service.url}/mcp", [service.url])
    assert resource["scopes_supported"] == ["read", "write"]
    assert servers[0] == servers[1]
    assert servers[0]["issuer"] == service.url
    assert servers[0]["code_challenge_methods_supported"] == ["S256"]
    assert OAuthMetadata.model_validate(servers[0]).client_id_metadata_document_supported is True


async def test_a_service_behind_an_issuer_gives_no_tokens_itself(issued: Service) -> None:
    async with issued.client("") as client:
        answers = [await client.get(path) for path in (SERVER, f"{SERVER}/mcp", "/authorize?client_id=x")]
        answers.append(await client.post("/token", data={"grant_type": "refresh_token"}))

    assert [answer.status_code for answer in answers] == [404] * 4


@pytest.mark.parametrize("path", [METADATA, f"{METADATA}/mcp"])
async def test_programs_are_told_what_the_drive_is_as_a_resource(issued: Service, path: str) -> None:
    async with issued.client("") as client:
        answer = await client.get(path)

    assert answer.headers["content-type"] == "application/json"
    assert "access-control-allow-origin" not in answer.headers
    assert answer.json() == {
        "resource": "http://127.0.0.1:8000/mcp",
        "scopes_supported": ["read", "write", "share", "delete"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Drive",
        "authorization_servers": ["https://login.example.com"],
    }


async def test_programs_are_told_where_to_get_a_token(drive_settings: DriveSettings) -> None:
    update = {"jwt_issuer": "https://login.example.com/tenant", "public_url": "https://drive.example.com/"}
    async with running(drive_settings.model_copy(update=update)) as service, service.client("") as client:
        told = (await client.get(METADATA)).json()

    assert told["resource"] == "https://drive.example.com/mcp"
    assert told["authorization_servers"] == ["https://login.example.com/tenant"]


@pytest.mark.parametrize("path", ["/mcp", "/api/auth/me"])
async def test_a_request_without_a_token_is_told_where_to_look(issued: Service, path: str) -> None:
    async with issued.client("") as client:
        response = await client.get(path, headers=HEADERS)
        told = parameters(response.headers["www-authenticate"])
        found = await client.get(f"/{told['resource_metadata'].split('/', 3)[3]}")

    assert response.status_code == 401
    assert told == {
        "realm": "drive",
        "scope": "read write",
        "resource_metadata": f"http://127.0.0.1:8000{METADATA}/mcp",
    }
    assert found.json()["resource"] == "http://127.0.0.1:8000/mcp"


@pytest.mark.parametrize("path", ["/mcp", "/api/auth/me"])
@pytest.mark.parametrize("token", ["dak_wrong", "a.b.c", "é", "x" * 20_000])
async def test_a_request_with_a_bad_token_is_told_that_it_is_bad(service: Service, path: str, token: str) -> None:
    async with service.client("") as client:
        client.headers = httpx.Headers({**HEADERS, "Authorization": f"Bearer {token}"}, encoding="utf-8")
        response = await client.get(path)

    assert response.status_code == 401
    assert parameters(response.headers["www-authenticate"])["error"] == "invalid_token"


async def test_a_key_without_the_scope_is_told_which_one_over_http(service: Service) -> None:
    async with service.client() as owner:
        body = {"name": "reader", "scopes": ["read"]}
        reader = (await owner.post("/api/auth/keys", json=body)).json()["key"]
    async with service.client(reader) as client:
        refused = await client.post("/api/drive/items", json={"kind": "folder", "name": "A"})

    told = parameters(refused.headers["www-authenticate"])
    assert (refused.status_code, told["error"], told["scope"]) == (403, "insufficient_scope", "write")


async def test_a_token_that_lacks_a_scope_is_challenged_before_the_call(drive_settings: DriveSettings) -> None:
    async with issuing() as issuer:
        settings = drive_settings.model_copy(update={"jwt_issuer": issuer.url, "jwt_create_users": True})
        async with running(settings) as service, service.client(issuer.token(scope="read")) as client:
            opened = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
            session = {**HEADERS, "mcp-session-id": opened.headers["mcp-session-id"]}
            await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
            reading = await client.post("/mcp", json=tool_call("list_folder"), headers=session)
            writing = await client.post("/mcp", json=tool_call("create_folder", name="A"), headers=session)
            more = {**session, "Authorization": f"Bearer {issuer.token(scope='read write')}"}
            stepped_up = await client.post("/mcp", json=tool_call("create_folder", name="A"), headers=more)
            less = {**session, "Authorization": f"Bearer {issuer.token(scope='')}"}
            resource = {
                "jsonrpc": "2.0",
                "id": 3,
                "method": "resources/read",
                "params": {"uri": "drive://folders/root"},
            }
            nothing = await client.post("/mcp", json=resource, headers=less)

    told = parameters(writing.headers["www-authenticate"])
    assert reading.status_code == 200
    assert (writing.status_code, writing.json()["code"]) == (403, "missing_scope")
    assert (told["error"], told["scope"]) == ("insufficient_scope", "read write")
    assert told["resource_metadata"].endswith(f"{METADATA}/mcp")
    assert stepped_up.status_code == 200
    assert '"name":"A"' in stepped_up.text
    assert parameters(nothing.headers["www-authenticate"])["scope"] == "read"


async def test_a_token_that_lacks_a_scope_is_challenged_without_a_session_too(drive_settings: DriveSettings) -> None:
    async with issuing() as issuer:
        settings = drive_settings.model_copy(update={"jwt_issuer": issuer.url, "jwt_create_users": True})
        async with running(settings) as service:
            async with alone(service, issuer.token(scope="read")) as reader:
                reading = await reader.call("list_folder")
                call = reader.request("tools/call", name="create_folder", arguments={"name": "A"})
                writing = await reader.send(call)
            async with alone(service, issuer.token(scope="")) as nobody:
                wishes = {"resourceSubscriptions": ["drive://index"]}
                listening = await nobody.send(nobody.request("subscriptions/listen", notifications=wishes))

    assert reading["isError"] is False
    assert (writing.status_code, parameters(writing.headers["www-authenticate"])["scope"]) == (403, "read write")
    assert (listening.status_code, parameters(listening.headers["www-authenticate"])["scope"]) == (403, "read")


async def test_a_key_that_lacks_a_scope_is_told_by_the_tool(service: Service) -> None:
    async with service.client() as owner:
        body = {"name": "reader", "scopes": ["read"]}
        reader = (await owner.post("/api/auth/keys", json=body)).json()["key"]
    async with service.client(reader) as client:
        opened = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        session = {**HEADERS, "mcp-session-id": opened.headers["mcp-session-id"]}
        refused = await client.post("/mcp", json=tool_call("create_folder", name="A"), headers=session)

    assert refused.status_code == 200
    assert '"isError":true' in refused.text
    assert '"code":"missing_scope"' in refused.text


async def test_an_issuer_that_is_away_is_a_503_and_no_reason_to_sign_in_again(drive_settings: DriveSettings) -> None:
    async with issuing() as issuer:
        settings = drive_settings.model_copy(
            update={"jwt_issuer": issuer.url, "jwt_keys_url": issuer.url + "/nothing-here"}
        )
        async with running(settings) as service, service.client(issuer.token()) as client:
            for path in ("/mcp", "/api/auth/me"):
                response = await client.get(path, headers=HEADERS)

                assert (response.status_code, response.json()["code"]) == (503, "unavailable")
                assert int(response.headers["retry-after"]) > 0
                assert "www-authenticate" not in response.headers
            async with service.client() as owner:
                assert (await owner.get("/api/auth/me")).status_code == 200


async def test_the_sdks_client_understands_what_it_is_told(drive_settings: DriveSettings) -> None:
    settings = drive_settings.model_copy(update={"jwt_issuer": "https://login.example.com"})
    async with running(settings) as service, service.client("") as client:
        response = await client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        described = ProtectedResourceMetadata.model_validate_json((await client.get(f"{METADATA}/mcp")).content)

    assert extract_resource_metadata_from_www_auth(response) == f"http://127.0.0.1:8000{METADATA}/mcp"
    assert extract_scope_from_www_auth(response) == "read write"
    assert str(described.resource) == "http://127.0.0.1:8000/mcp"
    assert [str(url) for url in described.authorization_servers] == ["https://login.example.com/"]


def test_a_challenge_leaves_out_what_is_not_so(drive_settings: DriveSettings) -> None:
    assert challenge(drive_settings, scopes=("read",)) == 'Bearer realm="drive", scope="read"'
