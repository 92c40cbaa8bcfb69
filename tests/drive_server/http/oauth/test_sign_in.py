from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.drive_server.http.oauth.program import answer_in, form_token, registered

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service


class Storage(TokenStorage):
    """The tokens and the registration of a program, in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """A person with a browser, who logs in and says yes on the pages that a program opens."""

    def __init__(self, browser: httpx.AsyncClient, token: str) -> None:
        self.browser = browser
        self.token = token
        self.pages: list[str] = []
        self.answer: dict[str, str] = {}

    async def open(self, url: str) -> None:
        """Answer the page at the address."""
        address = url.removeprefix(str(self.browser.base_url).rstrip("/"))
        shown = await self.browser.get(address)
        assert "name='password'" in shown.text
        shown = await self.browser.post(address, data={"action": "log_in", "token": self.token}, follow_redirects=True)
        self.pages.append(shown.text)
        choice = {"action": "allow", "form": form_token(shown), "scope": ["read", "write"], "days": "30"}
        self.answer = answer_in((await self.browser.post(address, data=choice)).headers["location"])

    async def wait(self) -> tuple[str, str | None]:
        return self.answer["code"], self.answer.get("state")


def provider_of(service: Service, storage: Storage, person: Person, **metadata: Any) -> OAuthClientProvider:
    fields = {"client_name": "The SDK's client", "redirect_uris": ["http://127.0.0.1:3030/callback"]}
    return OAuthClientProvider(
        f"{service.url}/mcp",
        OAuthClientMetadata.model_validate({**fields, **metadata}),
        storage,
        redirect_handler=person.open,
        callback_handler=person.wait,
    )


async def tools_of(service: Service, provider: httpx.Auth) -> list[str]:
    async with (
        httpx.AsyncClient(auth=provider, timeout=20) as client,
        streamable_http_client(f"{service.url}/mcp", http_client=client) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        return [tool.name for tool in (await session.list_tools()).tools]


@pytest.mark.parametrize("method", ["none", "client_secret_post", "client_secret_basic", None])
async def test_the_sdks_client_registers_signs_in_works_and_signs_out(service: Service, method: str | None) -> None:
    storage = Storage()
    async with service.client("") as browser:
        person = Person(browser, service.token)
        provider = provider_of(service, storage, person, token_endpoint_auth_method=method)
        tools = await tools_of(service, provider)
        assert storage.tokens is not None
        assert storage.client is not None
        first = storage.tokens
        provider.context.token_expiry_time = 1
        again = await tools_of(service, provider)
        keys = (await browser.get("/api/auth/keys")).json()["items"]
        gone = {"token": storage.tokens.access_token, "client_id": storage.client.client_id or ""}
        secret = storage.client.client_secret
        basic = httpx.BasicAuth(gone["client_id"], secret) if secret and method == "client_secret_basic" else None
        posted = {"client_secret": secret} if secret and basic is None else {}
        async with service.client("") as outside:
            revoked = await outside.post("/revoke", data={**gone, **posted}, auth=basic or httpx.USE_CLIENT_DEFAULT)
            refused = await outside.get("/mcp", headers={"Authorization": f"Bearer {storage.tokens.access_token}"})

    assert "list_folder" in tools
    assert "delete_item" not in tools
    assert tools == again
    assert first.refresh_token != storage.tokens.refresh_token
    assert (len(person.pages), "me@localhost" in person.pages[0]) == (1, True)
    assert [key["scopes"] for key in keys if key["name"] == "The SDK's client (localhost)"] == [["read", "write"]]
    assert not [key for key in keys if key["prefix"].startswith("dat_")]
    assert (revoked.status_code, refused.status_code) == (200, 401)


async def test_what_a_program_does_names_it(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in()
        opened = await program.mcp(tokens["access_token"])
        headers = {
            "Authorization": f"Bearer {tokens['access_token']}",
            "mcp-session-id": opened.headers["mcp-session-id"],
            "Accept": "application/json, text/event-stream",
        }
        call = {"name": "create_folder", "arguments": {"name": "Made by a program"}}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        await program.outside.post("/mcp", json=body, headers=headers)
        changes = (await program.browser.get("/api/drive/changes")).json()

    assert "Claude (claude.example)" in str(changes)


async def test_a_person_says_no(service: Service) -> None:
    async with registered(service) as program:
        told = await program.decide("decline")

        assert told == {"error": "access_denied", "state": "the state", "iss": service.url}
        assert await program.keys() == []


async def test_a_person_narrows_what_a_program_may_do(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in(scope=("read",), days="1")
        [key] = await program.keys()

    assert tokens["scope"] == "read"
    assert key["scopes"] == ["read"]
    assert key["created_at"][:8] == key["expires_at"][:8] or key["expires_at"] > key["created_at"]


async def test_a_person_ends_a_program_in_the_list_of_keys(service: Service) -> None:
    async with registered(service) as program:
        tokens = await program.signed_in()
        [key] = await program.keys()
        before = await program.mcp(tokens["access_token"])
        await program.browser.delete(f"/api/auth/keys/{key['id']}")
        after = await program.mcp(tokens["access_token"])
        refreshed = await program.refresh(tokens["refresh_token"])

    assert (before.status_code, after.status_code) == (200, 401)
    assert (refreshed.status_code, refreshed.json()["error"]) == (400, "invalid_grant")


async def test_a_person_logs_in_by_password_on_the_page(service: Service) -> None:
    async with service.client() as owner:
        await owner.put("/api/auth/password", json={"new": "four words of a password"})
    async with registered(service, logs_in=False) as program:
        wrong = {"action": "log_in", "email": "me@localhost", "password": "another password of words"}
        right = {**wrong, "password": "four words of a password"}
        refused = await program.browser.post(program.address(), data=wrong)
        led = await program.browser.post(program.address(), data=right)
        shown = await program.browser.get(led.headers["location"])

    assert (refused.status_code, "Email or password is wrong" in refused.text) == (401, True)
    assert (led.status_code, urlsplit(led.headers["location"]).path) == (303, "/authorize")
    assert "me@localhost" in shown.text


async def test_a_browser_that_keeps_its_cookie_back_is_led_to_the_page_once_more(service: Service) -> None:
    async with registered(service, logs_in=False) as program:
        shown = await program.browser.get(program.address(), headers={"Sec-Fetch-Site": "cross-site"})
        address = shown.headers["refresh"].removeprefix("0; url=")
        again = await program.browser.get(address, headers={"Sec-Fetch-Site": "same-origin"})

    assert shown.status_code == 200
    assert "name='password'" not in shown.text
    assert "refresh" not in again.headers
    assert "name='password'" in again.text


@pytest.mark.parametrize(("language", "words"), [("en", "make, change, move"), ("zh", "新建、修改")])
async def test_the_page_says_who_asks_for_what(service: Service, language: str, words: str) -> None:
    async with registered(service) as program:
        shown = await program.browser.get(program.address(), headers={"Accept-Language": language})

    for part in ("Claude", "claude.example", "me@localhost", words):
        assert part in shown.text
    assert "value='delete'" not in shown.text
    assert "<script" not in shown.text


async def test_a_program_without_scopes_asks_for_the_first_ones(service: Service) -> None:
    async with registered(service) as program:
        shown = await program.browser.get(program.address(scope=None))
        others = await program.browser.get(program.address(scope="openid read offline_access"))

    assert [scope for scope in ("read", "write", "share", "delete") if f"value='{scope}'" in shown.text] == [
        "read",
        "write",
    ]
    assert "value='read'" in others.text
    assert "value='write'" not in others.text


async def test_programs_on_the_persons_computer_come_back_by_any_port(service: Service) -> None:
    async with registered(service, redirect_uris=["http://127.0.0.1/callback"]) as program:
        program.redirect = "http://127.0.0.1:51004/callback"
        answer = await program.signed_in()
        shown = await program.browser.get(program.address())

    assert answer["token_type"] == "Bearer"
    assert "a program on this computer" in shown.text
    assert "form-action 'self' http://127.0.0.1:51004;" in shown.headers["content-security-policy"]


async def test_a_program_that_asks_for_more_is_led_to_a_new_token(service: Service) -> None:
    async with registered(service) as program:
        access = (await program.signed_in(scope=("read",)))["access_token"]
        opened = await program.mcp(access)
        headers = {
            "Authorization": f"Bearer {access}",
            "mcp-session-id": opened.headers["mcp-session-id"],
            "Accept": "application/json, text/event-stream",
        }
        call = {"name": "create_folder", "arguments": {"name": "A"}}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        refused = await program.outside.post("/mcp", json=body, headers=headers)

    assert refused.status_code == 403
    told = refused.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in told
    assert 'scope="read write"' in told
    assert f'resource_metadata="{service.url}/.well-known/oauth-protected-resource/mcp"' in told
