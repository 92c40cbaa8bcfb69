from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from drive_server.http.access import WRONG_KEYS as FAILURES
from drive_server.kernel.clock import utc_now
from drive_server.services.identity import challenges, passkeys
from drive_server.storage.tables.people import PasskeyRow
from tests.fakes.authenticator import Authenticator, encode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.drive_server.http.service import Service

BOB = "bob@example.com"
ME = "/api/auth/me"
PASSKEYS = "/api/auth/passkeys"
LOGIN = "/api/auth/login/passkey"


def named(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """Have the client reach the service by a name: at a number there are no passkeys."""
    client.base_url = str(client.base_url).replace("127.0.0.1", "localhost")
    return client


def origin(client: httpx.AsyncClient) -> str:
    return str(client.base_url).rstrip("/")


@pytest.fixture
async def bob(bobs_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return named(bobs_client)


@pytest.fixture
async def browser(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client("") as client:
        yield named(client)


async def creation_options(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.post(f"{PASSKEYS}/options")
    assert answer.status_code == 200, answer.text
    return answer.json()["options"]


async def register(client: httpx.AsyncClient, name: str = "Laptop") -> tuple[Authenticator, dict[str, Any]]:
    device = Authenticator(origin(client))
    made = device.create(await creation_options(client))
    answer = await client.post(PASSKEYS, json={"name": name, "credential": made})
    assert answer.status_code == 201, answer.text
    return device, answer.json()


async def login_options(client: httpx.AsyncClient) -> dict[str, Any]:
    return (await client.post(f"{LOGIN}/options")).json()["options"]


async def log_in(client: httpx.AsyncClient, credential: dict[str, Any]) -> httpx.Response:
    return await client.post(LOGIN, json={"credential": credential})


def answers(*found: httpx.Response) -> set[tuple[int, str]]:
    return {(one.status_code, one.json()["code"]) for one in found}


async def test_a_passkey_is_registered_logs_in_and_is_removed(
    bob: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    options = await creation_options(bob)
    device, made = await register(bob, "笔记本")
    logged_in = await log_in(browser, device.sign(await login_options(browser)))
    me, (listed,) = (await browser.get(ME)).json(), (await bob.get(PASSKEYS)).json()["items"]
    excluded = (await creation_options(bob))["excludeCredentials"]
    removed = [(await bob.delete(f"{PASSKEYS}/{made['id']}")).status_code for _ in range(2)]
    refused = await log_in(browser, device.sign(await login_options(browser)))

    assert options["rp"]["id"] == "localhost"
    assert (options["attestation"], options["authenticatorSelection"]["residentKey"]) == ("none", "required")
    assert options["authenticatorSelection"]["userVerification"] == "preferred"
    assert (logged_in.status_code, me["email"], len(me["scopes"]), me["method"]) == (200, BOB, 4, "session")
    assert (listed["name"], made["last_used_at"], listed["last_used_at"] is None) == ("笔记本", None, False)
    assert [one["id"] for one in excluded] == [encode(device.id)]
    assert removed == [204, 404]
    assert answers(refused) == {(401, "unauthenticated")}


async def test_a_challenge_counts_once_in_time_and_for_its_own_purpose(
    service: Service, bob: httpx.AsyncClient, browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, _ = await register(bob)
    options = await login_options(browser)
    other = Authenticator(origin(bob))
    late = await creation_options(bob)
    signed = device.sign(options)
    assert (await log_in(browser, signed)).status_code == 200
    again = [await log_in(browser, signed), await log_in(browser, device.sign(options))]
    crossed = await log_in(browser, device.sign({**late, "rpId": "localhost"}))
    taken = await bob.post(PASSKEYS, json={"name": "x", "credential": other.create(late)})
    stale, later = await login_options(browser), utc_now() + challenges.HOLDS_FOR + timedelta(seconds=1)
    monkeypatch.setattr(service.drive.passkeys._challenges, "_clock", lambda: later)  # pyright: ignore[reportPrivateUsage] - the clock of one part
    assert answers(*again, crossed, await log_in(browser, device.sign(stale))) == {(401, "unauthenticated")}
    assert taken.status_code == 201, "a try for another purpose uses nobody's challenge up"


async def test_forged_answers_log_nobody_in(bob: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    device, _ = await register(bob)
    stranger = Authenticator(device.origin)
    stranger.id, stranger.user = device.id, device.user
    phished = [stranger.sign(await login_options(browser))]
    device.origin = "https://evil.example.com"
    phished.append(device.sign(await login_options(browser)))
    device.origin = origin(bob)
    phished.append(device.sign({**await login_options(browser), "rpId": "evil.example.com"}))
    handle, device.user = device.user, b"somebody else's."
    phished.append(device.sign(await login_options(browser)))
    device.user = handle
    bare = device.sign(await login_options(browser))
    phished.append({**bare, "response": {**bare["response"], "authenticatorData": encode(b"\xff" * 40)}})
    phished.append({**bare, "response": {**bare["response"], "clientDataJSON": "é["}})
    assert answers(*[await log_in(browser, one) for one in phished]) == {(401, "unauthenticated")}


async def test_a_counter_that_does_not_grow_is_a_copy(bob: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    device, _ = await register(bob)
    for _ in range(2):
        assert (await log_in(browser, device.sign(await login_options(browser)))).status_code == 200
    device.counter = 1
    assert (await log_in(browser, device.sign(await login_options(browser)))).status_code == 401


async def test_after_many_tries_an_address_waits(browser: httpx.AsyncClient) -> None:
    nobody = Authenticator(origin(browser))
    asked = [(await browser.post(f"{LOGIN}/options")) for _ in range(FAILURES + 1)]
    options = asked[0].json()["options"]
    tried = [(await log_in(browser, nobody.sign(options))).status_code for _ in range(FAILURES + 1)]
    assert [one.status_code for one in asked] == [200] * (FAILURES + 1), "an office logs in at nine"
    assert tried == [422] * (FAILURES + 1)  # without a person there is no passkey
    nobody.user = b"x"
    tried = [(await log_in(browser, nobody.sign(options))).status_code for _ in range(FAILURES + 1)]
    assert tried == [401] * FAILURES + [429]


async def test_a_right_passkey_gets_in_where_many_wrong_ones_came_from(
    bob: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    device, _ = await register(bob)
    stranger = Authenticator(device.origin)
    stranger.user = b"x"
    tried = [await log_in(browser, stranger.sign(await login_options(browser))) for _ in range(FAILURES + 1)]
    assert tried[-1].status_code == 429
    assert (await log_in(browser, device.sign(await login_options(browser)))).status_code == 200


async def test_removing_a_passkey_logs_out_the_browsers_that_it_let_in(
    service: Service, bob: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    device, made = await register(bob)
    other, _ = await register(bob, "Phone")
    assert (await log_in(browser, device.sign(await login_options(browser)))).status_code == 200
    async with service.client("") as second, service.client("") as third:
        for client, one in ((named(second), device), (named(third), other)):
            assert (await log_in(client, one.sign(await login_options(client)))).status_code == 200
        assert (await browser.delete(f"{PASSKEYS}/{made['id']}")).status_code == 204
        assert (await browser.get(ME)).status_code == 200, "the one that asks stays"
        assert (await second.get(ME)).status_code == 401
        assert (await third.get(ME)).status_code == 200


async def test_what_is_no_passkey_of_ones_own_is_not_registered(bob: httpx.AsyncClient) -> None:
    device, _ = await register(bob)
    options = await creation_options(bob)
    twice = await bob.post(PASSKEYS, json={"name": "x", "credential": device.create(options)})
    other = Authenticator("https://evil.example.com")
    foreign = await bob.post(PASSKEYS, json={"name": "x", "credential": other.create(await creation_options(bob))})
    broken = Authenticator(device.origin).create(await creation_options(bob))
    broken["response"]["attestationObject"] = encode(b"\x9f" * 2000)
    deep = await bob.post(PASSKEYS, json={"name": "x", "credential": broken}, params={"lang": "zh"})
    assert answers(twice) == {(409, "state_conflict")}
    assert answers(foreign, deep) == {(422, "invalid_argument")}
    assert "通行密钥" in deep.json()["detail"]
    assert len((await bob.get(PASSKEYS)).json()["items"]) == 1


async def test_a_key_that_is_weak_or_ends_registers_none_and_a_number_has_none(
    service: Service, bob: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, made = await register(bob)
    scopes = ["read", "write", "share", "delete"]
    for key in ({"scopes": scopes[:2]}, {"scopes": scopes, "days": 1}):
        secret = (await bob.post("/api/auth/keys", json={"name": "k", **key})).json()["key"]
        async with service.client(secret) as weak:
            assert (await named(weak).post(f"{PASSKEYS}/options")).status_code == 403
            assert "days" in key or (await weak.delete(f"{PASSKEYS}/{made['id']}")).status_code == 403
    async with service.client() as owner:
        assert answers(await owner.post(f"{PASSKEYS}/options")) == {(409, "state_conflict")}
        assert (await owner.delete(f"{PASSKEYS}/{made['id']}")).status_code == 404
        assert (await owner.get(PASSKEYS)).json()["items"] == []
    monkeypatch.setattr(passkeys, "MAX_OF_ONE_PERSON", 1)
    assert answers(await bob.post(f"{PASSKEYS}/options")) == {(409, "state_conflict")}


async def test_who_is_disabled_or_removed_logs_in_no_more(
    service: Service, bob: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    device, _ = await register(bob)
    async with service.client() as owner:
        await owner.patch(f"/api/users/{BOB}", json={"is_disabled": True})
        disabled = await log_in(browser, device.sign(await login_options(browser)))
        await owner.delete(f"/api/users/{BOB}", params={"delete_files": True})
        removed = await log_in(browser, device.sign(await login_options(browser)))
    assert (answers(disabled), answers(removed)) == ({(401, "account_disabled")}, {(401, "unauthenticated")})
    async with service.drive.database.read() as session:
        assert await session.scalar(select(func.count()).select_from(PasskeyRow)) == 0
