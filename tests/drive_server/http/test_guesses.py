"""Guesses are counted before they are checked, at every door alike; who is known gets in meanwhile."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from argon2 import PasswordHasher

from drive_server.http.access import WRONG_KEYS
from drive_server.services.identity.passwords import MAX_WRONG, MAX_WRONG_OF_AN_ACCOUNT, Source

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service

BOB = "bob@example.com"
PASSWORD = "correct horse battery"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
MCP = {"Accept": "application/json, text/event-stream"}


async def with_password(service: Service) -> None:
    async with service.client(await service.add_person(BOB)) as bob:
        assert (await bob.put("/api/auth/password", json={"new": PASSWORD})).status_code == 204


async def log_in(client: httpx.AsyncClient, password: str, email: str = BOB) -> httpx.Response:
    return await client.post("/api/auth/login", json={"email": email, "password": password})


async def knock(client: httpx.AsyncClient, door: str, key: str) -> int:
    """Return how a door answers to a key."""
    bearer = {"Authorization": f"Bearer {key}"}
    if door == "http":
        return (await client.get("/api/auth/me", headers=bearer)).status_code
    if door == "mcp":
        return (await client.post("/mcp", json=INITIALIZE, headers=bearer | MCP)).status_code
    if door == "login":
        return (await client.post("/api/auth/login", json={"token": key})).status_code
    basic = b64encode(f"x:{key}".encode()).decode()
    headers = bearer if door == "dav bearer" else {"Authorization": f"Basic {basic}"}
    return (await client.request("PROPFIND", "/dav/", headers=headers | {"Depth": "0"})).status_code


DOORS = ("http", "mcp", "login", "dav bearer", "dav basic")


async def test_of_two_hundred_wrong_passwords_at_once_ten_are_looked_at(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def noted(hasher: PasswordHasher, stored: str, password: str) -> bool:
        del hasher, stored
        checked.append(password)
        return False

    monkeypatch.setattr(PasswordHasher, "verify", noted)
    async with service.client("") as client:
        client.timeout = httpx.Timeout(60)
        tries = [log_in(client, "not the password", f"p{number}@example.com") for number in range(200)]
        answers = [one.status_code for one in await asyncio.gather(*tries)]
    assert len(checked) == MAX_WRONG
    assert (answers.count(401), answers.count(429)) == (MAX_WRONG, 200 - MAX_WRONG)


async def test_many_people_who_log_in_at_once_with_right_passwords_all_get_in(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_password(service)

    def is_right(hasher: PasswordHasher, stored: str, password: str) -> bool:
        del hasher, stored
        return password == PASSWORD

    monkeypatch.setattr(PasswordHasher, "verify", is_right)
    async with service.client("") as client:
        answers = await asyncio.gather(*(log_in(client, PASSWORD) for _ in range(3 * MAX_WRONG)))
    assert {one.status_code for one in answers} == {200}


async def test_an_account_under_attack_is_open_to_its_known_browser_and_to_its_keys(service: Service) -> None:
    await with_password(service)
    passwords = service.drive.passwords
    async with service.client("") as known, service.client("") as unknown:
        assert (await log_in(known, PASSWORD)).status_code == 200
        await known.post("/api/auth/logout")
        attack = [
            passwords.verify(BOB, "guess", Source(f"192.0.2.{number}")) for number in range(MAX_WRONG_OF_AN_ACCOUNT)
        ]
        await asyncio.gather(*attack, return_exceptions=True)
        assert (await log_in(unknown, PASSWORD)).status_code == 429
        assert (await log_in(known, PASSWORD)).status_code == 200
        changed = await known.put("/api/auth/password", json={"old": PASSWORD, "new": PASSWORD + "2"})
        assert changed.status_code == 204, "who is logged in changes the password"
        stolen, guessed = known.cookies["drive_browser"], list[int]()
        for number in range(MAX_WRONG + 1):
            unknown.cookies.set("drive_browser", stolen if number % 2 else stolen + "x")
            guessed.append((await log_in(unknown, f"guess {number}")).status_code)
        assert guessed[-1] == 429, "a cookie of before the change is unknown"


async def test_a_known_browser_has_ten_wrong_passwords_too_however_often_it_logs_in(service: Service) -> None:
    await with_password(service)
    async with service.client("") as known:
        for _ in range(2):
            assert (await log_in(known, PASSWORD)).status_code == 200
        wrong = [(await log_in(known, "not the password")).status_code for _ in range(MAX_WRONG + 1)]
        assert wrong == [401] * MAX_WRONG + [429]
        assert (await log_in(known, "x", "eve@example.com")).status_code == 401, "its cookie is for one account"


async def test_a_key_that_is_no_person_s_proof_makes_no_browser_known(service: Service) -> None:
    async with service.client("") as client:
        await client.post("/api/auth/login", json={"token": service.token})
        assert "drive_browser" not in client.cookies


@pytest.mark.parametrize("door", DOORS)
async def test_a_stale_key_is_slowed_alone_and_all_doors_count_together(service: Service, door: str) -> None:
    async with service.client("") as client:
        stale = [await knock(client, door, "dak_stale") for _ in range(WRONG_KEYS + 1)]
        assert stale == [401] * WRONG_KEYS + [429]
        assert [await knock(client, other, "dak_stale") for other in DOORS] == [429] * len(DOORS)
        assert await knock(client, door, "dak_typo") == 401, "others of the office are told what is wrong"
        right = [await knock(client, other, service.token) for other in DOORS]
        assert right == [200, 200, 200, 207, 207]


@pytest.mark.parametrize("door", DOORS)
async def test_a_network_has_ten_different_wrong_keys_and_right_ones_get_in(service: Service, door: str) -> None:
    async with service.client("") as client:
        guessed = [await knock(client, door, f"dak_{number}") for number in range(2 * WRONG_KEYS)]
        assert guessed == [401] * WRONG_KEYS + [429] * WRONG_KEYS
        assert await knock(client, door, service.token) in {200, 207}


@pytest.mark.parametrize("door", DOORS)
async def test_a_key_that_was_revoked_is_no_guess(service: Service, door: str) -> None:
    async with service.client() as owner, service.client("") as client:
        made: dict[str, Any] = (await owner.post("/api/auth/keys", json={"name": "x", "scopes": ["read"]})).json()
        await owner.delete(f"/api/auth/keys/{made['id']}")
        answers = [await knock(client, door, made["key"]) for _ in range(2 * WRONG_KEYS)]
    assert set(answers) == {401}


async def test_an_old_cookie_is_told_to_log_in_however_often_it_comes(service: Service) -> None:
    async with service.client("") as browser:
        answers = [
            (await browser.get("/api/auth/me", headers={"Cookie": "drive_session=das_old"})).status_code
            for _ in range(3 * WRONG_KEYS)
        ]
    assert set(answers) == {401}
