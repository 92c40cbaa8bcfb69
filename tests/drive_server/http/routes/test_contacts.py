"""Who may be named when sharing: known people and groups, nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.items import done, file, share

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.drive_server.http.service import Service

BOB, CARL, DORA = "bob@example.com", "carl@example.com", "dora@example.com"


@pytest.fixture
async def carls_client(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client(await service.add_person(CARL)) as client:
        done(await client.patch("/api/auth/me", json={"name": "Carl 陈"}))
        yield client


async def contacts(client: httpx.AsyncClient, q: str = "", **query: int) -> list[str]:
    return [one["address"] for one in await found(client, q, **query)]


async def found(client: httpx.AsyncClient, q: str = "", **query: int) -> list[dict[str, Any]]:
    return done(await client.get("/api/drive/contacts", params={"q": q, **query}))["items"]


async def test_nobody_is_revealed_until_something_is_shared(
    bobs_client: httpx.AsyncClient, carls_client: httpx.AsyncClient
) -> None:
    for q in ("", "carl", CARL, "example.com", "%", "_"):
        assert await contacts(bobs_client, q) == []
    plan = await file(carls_client, "plan.txt")
    await share(carls_client, plan, BOB, "viewer")
    assert await found(bobs_client, "陈") == [{"kind": "person", "address": CARL, "name": "Carl 陈"}]
    assert await found(carls_client, "b") == [{"kind": "person", "address": BOB, "name": ""}]
    done(await carls_client.post(f"/api/drive/items/{plan['id']}/trash"))
    assert await contacts(bobs_client) == []


async def test_who_is_shared_with_is_told_as_they_were_written_with_an_account_or_without(
    bobs_client: httpx.AsyncClient, carls_client: httpx.AsyncClient
) -> None:
    plan = await file(bobs_client, "plan.txt")
    for email in (CARL, "nobody@example.org"):
        await share(bobs_client, plan, email, "viewer")
    assert await found(bobs_client) == [
        {"kind": "person", "address": CARL, "name": ""},
        {"kind": "person", "address": "nobody@example.org", "name": ""},
    ]
    assert await contacts(carls_client) == [BOB]


async def test_groups_are_found_by_name_and_their_members_by_each_other(
    service: Service,
    owner_client: httpx.AsyncClient,
    bobs_client: httpx.AsyncClient,
    carls_client: httpx.AsyncClient,
) -> None:
    await service.add_person(DORA)
    done(await owner_client.post("/api/groups", json={"name": "Board", "members": [BOB, CARL]}))
    done(await owner_client.post("/api/groups", json={"name": "Others", "members": [DORA]}))
    assert await found(bobs_client, "bOA") == [{"kind": "group", "address": "group:Board", "name": "Board"}]
    assert await contacts(bobs_client) == ["group:Board", CARL, "group:Others"]
    assert await contacts(bobs_client, "do") == []
    assert await contacts(carls_client, "o", limit=1) == ["group:Others"]


async def test_administrators_find_everybody_but_who_was_removed(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    for email in (CARL, DORA):
        await service.add_person(email)
    assert await contacts(owner_client) == [CARL, DORA]
    assert await contacts(owner_client, "rl@") == [CARL]
    assert (await owner_client.delete(f"/api/users/{DORA}", params={"delete_files": True})).is_success
    assert await contacts(owner_client) == [CARL]
    async with service.client("") as nobody:
        assert (await nobody.get("/api/drive/contacts")).status_code == 401


async def account(client: httpx.AsyncClient, address: str) -> Any:
    return await client.get("/api/drive/contacts/account", params={"address": address})


async def test_who_shares_is_told_before_whether_anybody_has_the_address(
    bobs_client: httpx.AsyncClient, carls_client: httpx.AsyncClient
) -> None:
    assert done(await account(bobs_client, "Carl@Example.com")) == {
        "kind": "person",
        "address": CARL,
        "has_account": True,
    }
    assert done(await account(bobs_client, DORA))["has_account"] is False
    assert (await account(bobs_client, "dora")).status_code == 422
    assert (await account(bobs_client, "group:none")).status_code == 404
    made = done(await carls_client.post("/api/drive/items", json={"kind": "folder", "name": "Plans"}))
    path = f"/api/drive/items/{made['id']}/shares"
    for email, has_account in ((BOB, True), (DORA, False)):
        shared = done(await carls_client.post(path, json={"email": email}))
        assert shared["has_account"] is has_account
    assert {one["has_account"] for one in done(await carls_client.get(path))["shares"]} == {None}
    assert done(await carls_client.delete(f"{path}/{DORA}"))["has_account"] is None


async def test_neither_guests_nor_programs_that_may_not_share_learn_of_accounts(
    service: Service, bobs_client: httpx.AsyncClient
) -> None:
    key = done(await bobs_client.post("/api/auth/keys", json={"name": "reader", "scopes": ["read", "write"]}))["key"]
    async with service.client(key) as reader:
        assert (await account(reader, DORA)).status_code == 403
    async with service.client("wrong") as guest:
        assert (await account(guest, DORA)).status_code == 401


async def test_beyond_a_number_of_addresses_in_an_hour_nothing_is_told(
    bobs_client: httpx.AsyncClient, carls_client: httpx.AsyncClient
) -> None:
    told = [done(await account(bobs_client, f"p{number}@example.com"))["has_account"] for number in range(102)]
    assert (told[:100], told[100:]) == ([False] * 100, [None, None])
    assert done(await account(carls_client, BOB))["has_account"] is True
    made = done(await bobs_client.post("/api/drive/items", json={"kind": "folder", "name": "Plans"}))
    shared = done(await bobs_client.post(f"/api/drive/items/{made['id']}/shares", json={"email": DORA}))
    assert (shared["email"], shared["has_account"]) == (DORA, None)
