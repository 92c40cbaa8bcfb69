"""Logging in at a real issuer: discovery, PKCE, state and nonce, verified emails."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx
import orjson
import pytest

from drive_server.kernel.clock import utc_now
from tests.drive_server.http.service import Service, running
from tests.drive_server.issuer import Issuer, issuing
from tests.fakes.raw_server import listening

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator

    from drive_server.kernel.settings import DriveSettings

BOB = "bob@example.com"
ME = "/api/auth/me"


class Provider:
    """The token endpoint of an issuer: gives an ID token for a code, if the verifier fits the challenge."""

    def __init__(self, issuer: Issuer) -> None:
        self.issuer = issuer
        self.asked: dict[str, str] = {}
        self.changes: dict[str, Any] = {}
        self.codes = {"code-1"}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode().lower().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
        sent = {name: values[0] for name, values in parse_qs((await reader.readexactly(length)).decode()).items()}
        challenge = urlsafe_b64encode(sha256(sent["code_verifier"].encode()).digest()).decode().rstrip("=")
        fits = challenge == self.asked["code_challenge"] and sent["redirect_uri"] == self.asked["redirect_uri"]
        answer: Any
        if fits and sent["code"] in self.codes:
            self.codes.discard(sent["code"])
            answer = httpx.Response(
                200, json={"access_token": "a", "token_type": "Bearer", "id_token": self.id_token()}
            )
        else:
            answer = httpx.Response(400, json={"error": "invalid_grant"})
        writer.write(b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\n" % answer.status_code)
        writer.write(b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(answer.content) + answer.content)
        await writer.drain()
        writer.close()

    def id_token(self) -> str:
        claims = {"aud": "drive", "nonce": self.asked["nonce"], "email": BOB, "azp": None, **self.changes}
        return self.issuer.token({"typ": "JWT"}, **claims)


@asynccontextmanager
async def logging_in(settings: DriveSettings, **more: Any) -> AsyncGenerator[tuple[Service, Provider]]:
    async with issuing() as issuer:
        provider = Provider(issuer)
        async with listening(provider.serve) as listener:
            tokens = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/token"
            issuer.metadata = {"authorization_endpoint": f"{issuer.url}/authorize", "token_endpoint": tokens}
            changes = {"oidc_issuer": issuer.url, "oidc_client_id": "drive", **more}
            async with running(settings.model_copy(update=changes)) as service:
                yield service, provider


async def log_in(
    browser: httpx.AsyncClient, provider: Provider, start: str = "/login/oidc", **changes: str
) -> httpx.Response:
    """Go to the issuer and come back with a code; `changes` are of what comes back."""
    return await come_back(browser, provider, await browser.get(start), **changes)


async def come_back(
    browser: httpx.AsyncClient, provider: Provider, there: httpx.Response, **changes: str
) -> httpx.Response:
    assert there.status_code == 303, there.text
    provider.asked = {name: values[0] for name, values in parse_qs(urlsplit(there.headers["location"]).query).items()}
    provider.codes.add("code-1")
    back = {"code": "code-1", "state": provider.asked["state"], "iss": provider.issuer.url, **changes}
    return await browser.get("/login/oidc/callback", params=back)


async def test_a_person_with_an_account_logs_in_at_the_issuer_and_stays_the_same_with_another_email(
    drive_settings: DriveSettings,
) -> None:
    async with logging_in(drive_settings, oidc_link_by_email=True) as (service, provider):
        await service.add_person(BOB)
        async with service.client("") as browser:
            page = await browser.get("/login")
            done = await log_in(browser, provider)
            me = (await browser.get(ME)).json()
            replayed = await browser.get("/login/oidc/callback", params={"code": "code-1", "state": "x"})
        provider.changes = {"email": "other@example.com", "email_verified": False}
        async with service.client("") as browser:
            again = await log_in(browser, provider)
            same = (await browser.get(ME)).json()
        async with service.client() as owner, service.client("") as browser:
            await owner.patch(f"/api/users/{BOB}", json={"is_disabled": True})
            disabled = await log_in(browser, provider)
    assert "/login/oidc" in page.text
    assert provider.asked["code_challenge_method"] == "S256"
    assert (done.status_code, done.headers["refresh"], me["email"], me["method"]) == (200, "0; url=/", BOB, "session")
    assert (again.status_code, same["id"], replayed.status_code) == (200, me["id"], 401)
    assert (disabled.status_code, "disabled" in disabled.text) == (401, True)


@pytest.mark.parametrize(
    ("back", "on"),
    [
        ("/authorize?client_id=x&state=a%2Fb", "/authorize?client_id=x&amp;state=a%2Fb"),
        ("https://evil.example/authorize?x", "/"),
        ("//evil.example/authorize?x", "/"),
        ("/authorize?x'onclick='y", "/"),
        ("/authorize?x\r\nSet-Cookie: a=b", "/"),
        ("/other", "/"),
        ("/authorize?" + "x" * 5000, "/"),
    ],
)
async def test_a_login_leads_back_to_a_program_that_waits_and_to_no_other_page(
    drive_settings: DriveSettings, back: str, on: str
) -> None:
    async with (
        logging_in(drive_settings, oidc_create_users=True) as (service, provider),
        service.client("") as browser,
    ):
        begun = await browser.get("/login/oidc", params={"back": back})
        done = await come_back(browser, provider, begun)
        again = await log_in(browser, provider)

    assert done.status_code == 200
    assert f"href='{on}'" in done.text
    assert done.headers["refresh"] == f"0; url={on}".replace("&amp;", "&")
    assert again.headers["refresh"] == "0; url=/"


async def test_an_account_is_made_or_linked_only_where_the_settings_say_so(drive_settings: DriveSettings) -> None:
    async with logging_in(drive_settings, oidc_create_users=True) as (service, provider):
        async with service.client("") as browser:
            assert (await log_in(browser, provider)).status_code == 200
            assert (await browser.get(ME)).json()["is_admin"] is False
        await service.add_person("cara@example.com")
        for changes in (
            {"sub": "2", "email": "cara@example.com"},
            {"sub": "3", "email": "me@localhost"},
            {"sub": "4", "email": "new@example.com", "email_verified": False},
            {"sub": "5", "email": "new@example.com", "email_verified": None},
            {"sub": "6", "email": None},
        ):
            provider.changes = changes
            async with service.client("") as browser:
                assert (await log_in(browser, provider)).status_code == 401, changes
                assert (await browser.get(ME)).status_code == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"iss": "https://another.example.com"},
        {"exp": 1},
        {"azp": "another"},
        {"sub": None},
    ],
)
async def test_a_token_of_another_login_client_or_issuer_lets_nobody_in(
    drive_settings: DriveSettings, changes: dict[str, Any]
) -> None:
    async with logging_in(drive_settings, oidc_create_users=True) as (service, provider):
        provider.changes = changes
        async with service.client("") as browser:
            assert (await log_in(browser, provider)).status_code == 401
            assert (await browser.get(ME)).status_code == 401


async def test_an_answer_counts_for_the_browser_that_began_once(drive_settings: DriveSettings) -> None:
    async with logging_in(drive_settings, oidc_create_users=True) as (service, provider):
        async with service.client("") as browser, service.client("") as other:
            wrong = {"state": "x"}, {"iss": "https://another.example.com"}, {"code": "unknown"}, {"code": ""}
            for changes in wrong:
                assert (await log_in(browser, provider, **changes)).status_code == 401, changes
            await browser.get("/login/oidc")
            stolen = {"code": "code-1", "state": provider.asked["state"]}
            assert (await other.get("/login/oidc/callback", params=stolen)).status_code == 401
            provider.issuer.failure = httpx.Response(500)  # pyright: ignore[reportAttributeAccessIssue] - any failure does
            gone = await other.get("/login/oidc", params={"lang": "zh"})
        assert (gone.status_code, "登录服务没有响应" in gone.text) == (503, True)


async def test_a_login_that_an_earlier_version_began_is_begun_again(drive_settings: DriveSettings) -> None:
    async with logging_in(drive_settings, oidc_create_users=True) as (service, _), service.client("") as browser:
        ends = int(utc_now().timestamp()) + 600
        earlier = service.drive.signer.sign("oidc login", orjson.dumps(["state", "nonce", "verifier", ends]))
        browser.cookies.set("drive_oidc", earlier, path="/login/oidc")
        answer = await browser.get("/login/oidc/callback", params={"state": "state", "code": "code-1"})

    assert answer.status_code == 401


async def test_without_an_issuer_there_is_no_such_page(service: Service) -> None:
    async with service.client("") as browser:
        assert (await browser.get("/login/oidc")).status_code == 404
        assert "/login/oidc" not in (await browser.get("/login")).text


async def test_a_person_proves_anew_at_the_issuer_who_they_are_and_nobody_else_does(
    drive_settings: DriveSettings,
) -> None:
    async with logging_in(drive_settings, oidc_create_users=True) as (service, provider):
        async with service.client("") as browser:
            long_ago = int(utc_now().timestamp()) - 3600
            provider.changes = {"auth_time": long_ago}
            assert (await log_in(browser, provider)).status_code == 200
            new = {"name": "k", "scopes": ["read"]}
            assert (await browser.post("/api/auth/keys", json=new)).json()["code"] == "fresh_proof_needed"
            offered = (await browser.get("/api/auth/proof")).json()
            again = offered["oidc"]["url"]
            asked = await log_in(browser, provider, start=again)
            assert (provider.asked["prompt"], provider.asked["max_age"]) == ("login", "0")
            assert asked.status_code == 401, "the issuer did not ask the person"
            provider.changes = {"sub": "2", "email": "eve@example.com", "auth_time": int(utc_now().timestamp())}
            assert (await log_in(browser, provider, start=again)).status_code == 403
            assert (await browser.get(ME)).json()["email"] == BOB
            provider.changes = {"auth_time": int(utc_now().timestamp())}
            done = await log_in(browser, provider, start=again)
            assert (done.status_code, "refresh" in done.headers) == (200, False)
            assert (await browser.post("/api/auth/keys", json=new)).status_code == 201
            sessions = (await browser.get("/api/auth/sessions")).json()
            assert len(sessions["items"]) == 1, "the session itself was proved, none was left behind"
        async with service.client("") as nobody:
            assert (await nobody.get(again)).status_code == 401
        async with service.client() as key:
            assert (await key.get(again)).status_code == 409


async def test_a_session_that_ends_while_its_person_is_at_the_issuer_is_not_proved(
    drive_settings: DriveSettings,
) -> None:
    async with (
        logging_in(drive_settings, oidc_create_users=True) as (service, provider),
        service.client("") as browser,
    ):
        provider.changes = {"auth_time": int(utc_now().timestamp())}
        await log_in(browser, provider)
        there = await browser.get("/login/oidc?again=true")
        assert (await browser.post("/api/auth/logout")).is_success
        done = await come_back(browser, provider, there)
        assert done.status_code == 401
        assert (await browser.get(ME)).status_code == 401
