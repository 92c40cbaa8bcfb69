"""What a proof makes ends with it, and something that lasts takes a fresh one."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from drive_server.kernel.clock import utc_now
from drive_server.storage.tables.people import ApiKeyRow
from tests.drive_server.http.routes.people.test_passkeys import Authenticator, log_in, login_options, named, register
from tests.drive_server.http.service import Service, running
from tests.drive_server.issuer import issuing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

    from drive_server.kernel.settings import DriveSettings

ME = "/api/auth/me"
KEYS = "/api/auth/keys"
PROOF = "/api/auth/proof"
PASSWORD = "correct horse battery"
BOB = "bob@example.com"
ALL = ["read", "write", "share", "delete"]
NEW_KEY = {"name": "k", "scopes": ["read"]}


async def let_time_pass(service: Service) -> None:
    """Have all browsers be logged in eleven minutes ago."""
    async with service.drive.database.write() as session:
        await session.execute(
            update(ApiKeyRow).where(ApiKeyRow.method == "session").values(proved_at=utc_now() - timedelta(minutes=11))
        )


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"] if answer.content else ""


@asynccontextmanager
async def browser_of(service: Service, **login: str) -> AsyncGenerator[httpx.AsyncClient]:
    async with service.client("") as browser:
        answer = await browser.post("/api/auth/login", json=login)
        assert answer.status_code == 200, answer.text
        yield browser


async def with_password(service: Service, client: httpx.AsyncClient) -> None:
    del service
    assert (await client.put("/api/auth/password", json={"new": PASSWORD})).status_code == 204


async def lasting(browser: httpx.AsyncClient) -> dict[str, httpx.Response]:
    """Ask for all that lasts, and return the answers."""
    other = {"email": "eve@example.com"}
    return {
        "password": await browser.put("/api/auth/password", json={"new": PASSWORD}),
        "key": await browser.post(KEYS, json=NEW_KEY),
        "passkey": await browser.post("/api/auth/passkeys/options"),
        "person": await browser.post("/api/users", json=other),
        "reset": await browser.post(f"/api/users/{BOB}/password-reset"),
        "administrator": await browser.patch(f"/api/users/{BOB}", json={"is_admin": True}),
    }


async def test_a_minute_s_token_sets_no_password_nor_anything_that_outlives_it(drive_settings: DriveSettings) -> None:
    async with issuing() as issuer:
        changes = {"jwt_issuer": issuer.url, "jwt_audience": "drive", "jwt_create_users": True}
        async with running(drive_settings.model_copy(update=changes)) as service:
            scope = " ".join(f"drive:{one}" for one in ALL)
            ends = utc_now().replace(microsecond=0) + timedelta(minutes=1)
            token = issuer.token(email=BOB, aud="drive", scope=scope, exp=int(ends.timestamp()))
            async with browser_of(service, token=token) as browser:
                link = (await browser.post("/api/auth/login-links")).json()["url"]
                key = (await browser.post(KEYS, json={"name": "k", "scopes": ALL})).json()
                async with service.client(key["key"]) as by_key, service.client(token) as by_token:
                    for client in (browser, by_key, by_token):
                        for answer in (
                            await client.put("/api/auth/password", json={"new": PASSWORD}),
                            await client.post("/api/auth/passkeys/options"),
                        ):
                            assert code(answer) == (403, "forbidden")
                sessions = (await browser.get("/api/auth/sessions")).json()["items"]
            async with service.client("") as second:
                await second.get(urlsplit(link).path)
                assert (await second.put("/api/auth/password", json={"new": PASSWORD})).status_code == 403
                sessions += (await second.get("/api/auth/sessions")).json()["items"]
            for made in (key, *sessions):
                assert datetime.fromisoformat(made["expires_at"]) <= ends


async def test_an_old_session_makes_nothing_that_lasts_until_its_person_confirms(
    service: Service, bobs_client: httpx.AsyncClient
) -> None:
    del bobs_client
    async with browser_of(service, token=service.token) as browser:
        named(browser)
        await browser.post("/api/auth/login", json={"token": service.token})
        await let_time_pass(service)
        refused = await lasting(browser)
        assert {code(one) for one in refused.values()} == {(403, "fresh_proof_needed")}, refused
        assert (await browser.get("/api/drive/items/root")).status_code == 200, "all else goes on"
        assert (await browser.post(PROOF, json={"token": service.token})).status_code == 204
        made = await lasting(browser)
        assert all(one.is_success for one in made.values()), made


async def test_a_session_that_is_shown_as_a_token_is_the_one_that_is_proved(service: Service) -> None:
    async with browser_of(service, token=service.token) as browser, service.client("") as other:
        other.headers["Authorization"] = f"Bearer {browser.cookies['drive_session']}"
        await let_time_pass(service)
        assert not (await other.get(PROOF)).json()["is_fresh"]
        assert (await other.post(PROOF, json={"token": service.token})).status_code == 204
        assert (await other.get(PROOF)).json()["is_fresh"]
        assert (await browser.get(PROOF)).json()["is_fresh"]


async def test_an_old_session_removes_no_passkey_but_ends_other_browsers_at_once(service: Service) -> None:
    async with browser_of(service, token=service.token) as browser, browser_of(service, token=service.token) as other:
        named(browser)
        await browser.post("/api/auth/login", json={"token": service.token})
        passkey = (await register(browser))[1]["id"]
        await let_time_pass(service)
        assert code(await browser.delete(f"/api/auth/passkeys/{passkey}")) == (403, "fresh_proof_needed")
        assert (await browser.delete("/api/auth/sessions")).status_code == 204
        assert (await other.get(ME)).status_code == 401
        assert (await browser.post(PROOF, json={"token": service.token})).status_code == 204
        assert (await browser.delete(f"/api/auth/passkeys/{passkey}")).status_code == 204


async def test_a_key_proves_its_owner_with_each_request(service: Service, owner_client: httpx.AsyncClient) -> None:
    await let_time_pass(service)
    assert (await owner_client.post(KEYS, json=NEW_KEY)).status_code == 201
    assert (await owner_client.get(PROOF)).json()["is_fresh"] is True
    assert code(await owner_client.post(PROOF, json={"token": service.token})) == (409, "state_conflict")


async def test_a_proof_is_of_the_same_person_and_no_weaker(service: Service, bobs_client: httpx.AsyncClient) -> None:
    await with_password(service, bobs_client)
    own = bobs_client.headers["Authorization"].removeprefix("Bearer ")
    weak = (await bobs_client.post(KEYS, json=NEW_KEY)).json()["key"]
    async with browser_of(service, email=BOB, password=PASSWORD) as browser:
        await let_time_pass(service)
        told = (await browser.get(PROOF)).json()
        assert (told["is_fresh"], told["password"], told["token"]) == (False, True, False)
        for given in (service.token, own, weak, browser.cookies["drive_session"]):
            assert code(await browser.post(PROOF, json={"token": given})) == (403, "forbidden")
        assert code(await browser.post(PROOF, json={"password": "not the password"})) == (401, "unauthenticated")
        assert (await browser.post(KEYS, json=NEW_KEY)).status_code == 403
        assert (await browser.post(PROOF, json={"password": PASSWORD})).status_code == 204
        assert (await browser.post(KEYS, json=NEW_KEY)).status_code == 201
    async with browser_of(service, token=own) as browser:
        await let_time_pass(service)
        assert code(await browser.post(PROOF, json={"token": weak})) == (403, "forbidden"), "fewer scopes"
        assert (await browser.post(PROOF, json={"password": PASSWORD})).status_code == 204, "stronger"


async def test_a_passkey_confirms_what_it_opened_and_a_password_does_not(
    service: Service, bobs_client: httpx.AsyncClient
) -> None:
    await with_password(service, bobs_client)
    device: Authenticator = (await register(named(bobs_client)))[0]
    async with service.client("") as browser:
        assert (await log_in(named(browser), device.sign(await login_options(browser)))).status_code == 200
        await let_time_pass(service)
        assert code(await browser.post(PROOF, json={"password": PASSWORD})) == (403, "forbidden")
        signed = device.sign(await login_options(browser))
        assert (await browser.post(f"{PROOF}/passkey", json={"credential": signed})).status_code == 204
        assert code(await browser.post(f"{PROOF}/passkey", json={"credential": signed})) == (401, "unauthenticated")
        assert (await browser.post(KEYS, json=NEW_KEY)).status_code == 201


async def test_a_session_lets_no_other_one_be_fresher_than_itself(service: Service) -> None:
    async with browser_of(service, token=service.token) as browser:
        await let_time_pass(service)
        link = (await browser.post("/api/auth/login-links")).json()["url"]
        for login in ("link", "token"):
            async with service.client("") as second:
                if login == "link":
                    await second.get(urlsplit(link).path)
                else:
                    await second.post("/api/auth/login", json={"token": browser.cookies["drive_session"]})
                assert code(await second.post(KEYS, json=NEW_KEY)) == (403, "fresh_proof_needed"), login


@pytest.mark.parametrize("by", ["time", "clock put back"])
async def test_a_proof_is_fresh_for_minutes_whatever_the_clock(service: Service, by: str) -> None:
    async with browser_of(service, token=service.token) as browser:
        moved = timedelta(minutes=11) * (-1 if by == "time" else 1)
        async with service.drive.database.write() as session:
            await session.execute(
                update(ApiKeyRow).where(ApiKeyRow.method == "session").values(proved_at=utc_now() + moved)
            )
        assert (await browser.post(KEYS, json=NEW_KEY)).status_code == 403


async def test_a_key_ends_with_all_that_was_made_with_it(service: Service, owner_client: httpx.AsyncClient) -> None:
    first = (await owner_client.post(KEYS, json={"name": "first", "scopes": ALL})).json()
    async with service.client(first["key"]) as by_first:
        second = (await by_first.post(KEYS, json={"name": "second", "scopes": ALL})).json()
    async with browser_of(service, token=second["key"]) as browser:
        third: dict[str, Any] = (await browser.post(KEYS, json={"name": "third", "scopes": ALL})).json()
        assert (await owner_client.patch(f"{KEYS}/{first['id']}", json={"scopes": ["read"]})).status_code == 200
        async with service.client(third["key"]) as by_third:
            assert (await by_third.get(ME)).json()["scopes"] == ["read"], "a scope that is taken is taken from all"
            assert (await owner_client.delete(f"{KEYS}/{first['id']}")).status_code == 204
            assert (await by_third.get(ME)).status_code == 401
        assert (await browser.get(ME)).status_code == 401
    listed = {key["name"]: key["revoked_at"] for key in (await owner_client.get(KEYS)).json()["items"]}
    assert all(listed[name] for name in ("first", "second", "third"))


async def test_keys_that_a_person_made_stay_when_they_log_out_or_change_their_password(
    service: Service, bobs_client: httpx.AsyncClient
) -> None:
    await with_password(service, bobs_client)
    async with browser_of(service, email=BOB, password=PASSWORD) as browser:
        key = (await browser.post(KEYS, json=NEW_KEY)).json()["key"]
        await browser.put("/api/auth/password", json={"old": PASSWORD, "new": PASSWORD + "2"})
        assert (await browser.get(ME)).status_code == 200
        await browser.post("/api/auth/logout")
    async with service.client(key) as program:
        assert (await program.get(ME)).status_code == 200


@pytest.mark.parametrize("how", ["key", "browser", "logout", "password"])
async def test_an_open_stream_ends_with_its_proof_at_once(
    service: Service, bobs_client: httpx.AsyncClient, how: str
) -> None:
    await with_password(service, bobs_client)
    made = (await bobs_client.post(KEYS, json={"name": "k", "scopes": ALL})).json()
    login = {"token": made["key"]} if how == "key" else {"email": BOB, "password": PASSWORD}
    async with browser_of(service, **login) as browser:
        session = (await browser.get("/api/auth/sessions")).json()["items"]
        current = next(one["id"] for one in session if one["is_current"])
        ending = {
            "key": lambda: bobs_client.delete(f"{KEYS}/{made['id']}"),
            "browser": lambda: bobs_client.delete(f"/api/auth/sessions/{current}"),
            "logout": lambda: bobs_client.post("/api/auth/logout?everywhere=true"),
            "password": lambda: bobs_client.put("/api/auth/password", json={"old": PASSWORD, "new": PASSWORD + "2"}),
        }[how]
        async with browser.stream("GET", "/api/drive/events") as stream:
            pieces = stream.aiter_bytes()
            assert await anext(pieces)
            assert (await ending()).is_success
            async with asyncio.timeout(10):  # a heartbeat comes after fifteen seconds
                assert {piece.partition(b"\n")[0] async for piece in pieces} <= {b": heartbeat"}


@pytest.mark.parametrize("door", ["http", "http again", "dav"])
@pytest.mark.parametrize("how", ["revoked", "scope"])
async def test_an_upload_whose_key_ends_meanwhile_stores_nothing(
    service: Service, owner_client: httpx.AsyncClient, door: str, how: str
) -> None:
    before = await owner_client.post("/api/drive/files", params={"name": "a.txt"}, content=b"one")
    made = (await owner_client.post(KEYS, json={"name": "k", "scopes": ["read", "write"]})).json()

    async def body() -> AsyncGenerator[bytes]:
        yield b"tw"
        own = f"{KEYS}/{made['id']}"
        ended = owner_client.delete(own) if how == "revoked" else owner_client.patch(own, json={"scopes": ["read"]})
        assert (await ended).is_success
        yield b"o"

    path = f"/api/drive/files/{before.json()['id']}/content"
    async with service.client(made["key"]) as program:
        if door == "http":
            answer = await program.post("/api/drive/files", params={"name": "b.txt"}, content=body())
        else:
            answer = await program.put(path if door == "http again" else "/dav/a.txt", content=body())
    assert answer.status_code == (401 if how == "revoked" else 403)
    assert (await owner_client.get(path)).content == b"one"
    assert [one["name"] for one in (await owner_client.get("/api/drive/items/root/children")).json()["items"]] == [
        "a.txt"
    ]
