from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, cast, func, select

from drive_server.storage.tables.base import Base
from drive_server.storage.tables.items import HoldingRow
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.people import UserRow
from tests.drive_server.http.streamable_http.test_endpoint import open_by_hand, whoami

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

BOB = "bob@example.com"
CARA = "cara@example.com"
USERS = "/api/users"
ME = "/api/auth/me"


async def put(client: httpx.AsyncClient, name: str, text: str = "words", parent: str = "root") -> dict[str, Any]:
    response = await client.post("/api/drive/files", params={"name": name, "parent_id": parent}, content=text)
    assert response.status_code == 201, response.text
    return response.json()


async def user_id(client: httpx.AsyncClient) -> str:
    return (await client.get(ME)).json()["id"]


async def test_who_is_disabled_is_out_at_once_and_back_when_enabled(service: Service) -> None:
    key = await service.add_person(BOB)
    async with service.client() as owner, service.client(key) as bob, service.client("") as browser:
        await browser.post("/api/auth/login", json={"token": key})
        session_id = await open_by_hand(bob)
        worked = await whoami(bob, session_id, key)
        disabled = await owner.patch(f"{USERS}/{BOB}", json={"is_disabled": True})
        refused = [await bob.get(ME), await browser.post("/api/auth/login", json={"token": key})]
        gone, ended = await browser.get(ME), await whoami(bob, session_id, key)
        again = await owner.patch(f"{USERS}/{BOB}", json={"is_disabled": False})
        back, still_out = await bob.get(ME), await browser.get(ME)

    assert (disabled.status_code, disabled.json()["disabled_at"] is None) == (200, False)
    assert [(one.status_code, one.json()["code"]) for one in refused] == [(401, "account_disabled")] * 2
    assert (worked.status_code, gone.status_code, ended.status_code) == (200, 401, 401)
    assert again.json()["disabled_at"] is None
    assert (back.status_code, still_out.status_code) == (200, 401)


async def test_the_shares_of_who_is_disabled_stay(service: Service, bobs_client: httpx.AsyncClient) -> None:
    shared = await put(bobs_client, "plan.md")
    await bobs_client.post(f"/api/drive/items/{shared['id']}/shares", json={"email": CARA})
    async with service.client(await service.add_person(CARA)) as cara, service.client() as owner:
        await owner.patch(f"{USERS}/{BOB}", json={"is_disabled": True})

        assert (await cara.get(f"/api/drive/items/{shared['id']}")).status_code == 200


async def test_the_last_administrator_stays_one(service: Service, owner_client: httpx.AsyncClient) -> None:
    me = await user_id(owner_client)
    key = await service.add_person(BOB)
    for change in ({"is_disabled": True}, {"is_admin": False}):
        refused = await owner_client.patch(f"{USERS}/{me}", json=change)
        assert (refused.status_code, refused.json()["code"]) == (409, "state_conflict")
    await owner_client.patch(f"{USERS}/{BOB}", json={"is_admin": True})
    async with service.client(key) as bob:
        assert (await bob.patch(f"{USERS}/{me}", json={"is_disabled": True})).status_code == 200
        last = await bob.delete(f"{USERS}/{BOB}", params={"delete_files": True})
        local = await bob.delete(f"{USERS}/{me}", params={"delete_files": True})
    assert (last.status_code, local.status_code) == (409, 409)
    assert "administrator" in last.json()["detail"]


async def test_only_administrators_with_all_scopes_change_accounts(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient, service: Service
) -> None:
    weak = (await owner_client.post("/api/auth/keys", json={"name": "weak", "scopes": ["read", "write"]})).json()["key"]
    async with service.client(weak) as key:
        for client in (bobs_client, key):
            assert (await client.patch(f"{USERS}/{BOB}", json={"is_admin": True})).status_code == 403
            assert (await client.delete(f"{USERS}/{BOB}", params={"delete_files": True})).status_code == 403
    assert (await bobs_client.get(USERS)).status_code == 403
    assert (await owner_client.patch(f"{USERS}/eve@example.com", json={"is_admin": True})).status_code == 404


async def test_the_files_of_who_is_removed_go_to_another_one(service: Service) -> None:
    key, cara_key = await service.add_person(BOB), await service.add_person(CARA)
    async with service.client() as owner, service.client(key) as bob, service.client(cara_key) as cara:
        bobs_id = await user_id(bob)
        plan, twice = await put(bob, "plan.md", "the plan"), await put(bob, "twice.md", "the same words")
        await put(cara, "same.md", "the same words")
        await owner.patch(f"{USERS}/{CARA}", json={"quota_bytes": 16})
        refused = await owner.delete(f"{USERS}/{bobs_id}", params={"hand_over_to": CARA})
        stays = await bob.get(ME)
        await owner.patch(f"{USERS}/{CARA}", json={"quota_bytes": None})
        removed = [await owner.delete(f"{USERS}/{bobs_id}", params={"hand_over_to": CARA}) for _ in range(2)]
        got = (await cara.get(f"/api/drive/items/{plan['id']}")).json()
        text = await cara.get(f"/api/drive/files/{plan['id']}/content")
        usage = (await cara.get(ME)).json()["used_bytes"]
        out = await bob.get(ME)
        listed = [user["email"] for user in (await owner.get(USERS)).json()["items"]]

    assert (refused.status_code, refused.json()["code"], stays.status_code) == (507, "quota_exceeded", 200)
    assert [one.status_code for one in removed] == [204, 204]
    assert (got["owner"], got["role"]) == (CARA, "owner")
    assert got["path"].startswith("/Handed over 20")
    assert (text.text, usage) == ("the plan", len("the plan") + len("the same words"))
    assert twice["id"]
    assert out.status_code == 401
    assert listed == [CARA, "me@localhost"]
    async with service.drive.database.read() as session:
        held = await session.execute(
            select(HoldingRow.owner_id, func.sum(HoldingRow.versions)).group_by(HoldingRow.owner_id)
        )
        assert [total for _, total in held] == [3]


async def test_who_is_removed_leaves_no_trace_of_their_name(service: Service) -> None:
    key, cara_key = await service.add_person(BOB), await service.add_person(CARA)
    await service.add_person(f"jo{BOB}")
    async with service.client() as owner, service.client(key) as bob, service.client(cara_key) as cara:
        await bob.patch(ME, json={"name": "Bob Stone"})
        mine, theirs = await put(bob, "mine.md"), await put(cara, "theirs.md")
        for client, item, email in ((bob, mine, CARA), (cara, theirs, BOB), (cara, theirs, f"jo{BOB}")):
            await client.post(f"/api/drive/items/{item['id']}/shares", json={"email": email})
        link = (await bob.post(f"/api/drive/items/{mine['id']}/shares", json={})).json()["url"]
        assert (await owner.get(link)).status_code == 200
        assert (await owner.delete(f"{USERS}/{BOB}", params={"delete_files": True})).status_code == 204
        seen = [await cara.get(f"/api/drive/items/{mine['id']}"), await owner.get(link), await bob.get(ME)]
        people = (await cara.get(f"/api/drive/items/{theirs['id']}/shares")).json()["shares"]
        changes = (await owner.get("/api/drive/changes", params={"everybodys": True})).json()["changes"]

    assert [one.status_code for one in seen] == [404, 404, 401]
    assert [one["email"] for one in people] == [f"jo{BOB}"]
    assert "Removed an account with all of its files." in [one["summary"] for one in changes]
    async with service.drive.database.read() as session:
        for table in Base.metadata.sorted_tables:
            for row in await session.execute(select(*(cast(column, Text) for column in table.columns))):
                text = " ".join(str(value) for value in row).replace(f"jo{BOB}", "")
                assert BOB not in text, (table.name, row)
                assert "Bob Stone" not in text, (table.name, row)
        assert (await session.scalar(select(func.count()).where(ChangeRow.user_id != "")) or 0) >= 5
        assert await session.scalar(select(UserRow.used_bytes).where(UserRow.removed_at.is_not(None))) == 0


async def test_a_removal_has_to_say_what_becomes_of_the_files(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    bob = f"{USERS}/{BOB}"
    for choice in ({}, {"delete_files": True, "hand_over_to": CARA}, {"hand_over_to": BOB}):
        assert (await owner_client.delete(bob, params=choice)).status_code == 422
    assert (await owner_client.delete(bob, params={"hand_over_to": "eve@example.com"})).status_code == 404
    assert (await bobs_client.get(ME)).status_code == 200


async def test_an_address_that_was_removed_can_have_a_new_account_with_nothing_of_the_old(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    async with service.client(await service.add_person(BOB)) as bob:
        before = await user_id(bob)
    await owner_client.delete(f"{USERS}/{BOB}", params={"delete_files": True})
    async with service.client(await service.add_person(BOB)) as bob:
        assert await user_id(bob) != before
        assert (await bob.get("/api/drive/changes")).json()["changes"] == []
