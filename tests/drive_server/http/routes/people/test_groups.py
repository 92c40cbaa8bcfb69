from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.streamable_http.test_endpoint import remote

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.drive_server.http.service import Service

BOB = "bob@example.com"
CARA = "cara@example.com"
GROUPS = "/api/groups"
TEAM = "group:Sales Team"


@pytest.fixture
async def team(owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient) -> dict[str, Any]:
    del bobs_client  # makes the account
    made = await owner_client.post(GROUPS, json={"name": "Sales  Team ", "members": [BOB]})
    assert made.status_code == 201, made.text
    return made.json()


@pytest.fixture
async def cara(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client(await service.add_person(CARA)) as client:
        yield client


@pytest.fixture
async def shared(cara: httpx.AsyncClient, team: dict[str, Any]) -> dict[str, Any]:
    folder = (await cara.post("/api/drive/items", json={"kind": "folder", "name": "Offers"})).json()
    made = await cara.post("/api/drive/files", params={"name": "a.md", "parent_id": folder["id"]}, content="tulips")
    given = await cara.post(f"/api/drive/items/{folder['id']}/shares", json={"email": " group:sales team"})
    assert (given.status_code, given.json()["kind"], given.json()["email"]) == (201, "group", TEAM), team
    return {"folder": folder["id"], "file": made.json()["id"]}


async def test_administrators_manage_groups_and_others_see_their_names(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient, cara: httpx.AsyncClient, team: dict[str, Any]
) -> None:
    assert (team["name"], team["address"], team["members"]) == ("Sales Team", TEAM, [BOB])
    seen = (await bobs_client.get(GROUPS)).json()["items"]
    assert [(one["name"], one["is_member"], one["members"]) for one in seen] == [("Sales Team", True, None)]
    assert (await cara.get(GROUPS)).json()["items"][0]["is_member"] is False
    changed = await owner_client.patch(f"{GROUPS}/sales team", json={"name": "销售", "add": [CARA], "remove": [BOB]})
    assert (changed.json()["name"], changed.json()["members"]) == ("销售", [CARA])
    for body in (
        {"name": "销售"},
        {"name": "a/b"},
        {"name": "\u202e"},
        {"name": "new", "members": ["eve@example.com"]},
    ):
        assert (await owner_client.post(GROUPS, json=body)).status_code in {404, 409, 422}
    for client in (bobs_client, cara):
        assert (await client.post(GROUPS, json={"name": "mine"})).status_code == 403
        assert (await client.patch(f"{GROUPS}/{team['id']}", json={"add": [BOB]})).status_code == 403
        assert (await client.delete(f"{GROUPS}/{team['id']}")).status_code == 403
    assert [one["name"] for one in (await owner_client.get(GROUPS)).json()["items"]] == ["销售"]


async def test_a_member_reads_what_was_shared_with_the_group_over_mcp_and_nothing_once_taken_out(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient, shared: dict[str, Any]
) -> None:
    await service.drive.ingester.drain()
    key = (await bobs_client.post("/api/auth/keys", json={"name": "host", "scopes": ["read"]})).json()["key"]
    where, path = f"/api/drive/items/{shared['file']}", f"{GROUPS}/Sales Team"
    async with remote(service, key) as host:
        read = await host.call("read_file", file_id="/Shared with me/Offers/a.md")
        given = await host.call("list_shared_with_me")
        found = await host.call("search_files", query="tulips")
        assert (await bobs_client.get(where)).json()["role"] == "viewer"
        await owner_client.patch(path, json={"remove": [BOB]})
        assert (await bobs_client.get(where)).status_code == 404
        refused = await host.refused("read_file", file_id=shared["file"])
        nothing = [await host.call("list_shared_with_me"), await host.call("search_files", query="tulips")]
        await owner_client.patch(path, json={"add": [BOB]})
        await host.call("read_file", file_id=shared["file"])
        await owner_client.delete(path)
        assert (await host.refused("read_file", file_id=shared["file"]))["code"] == "not_found"

    assert read["text"] == "tulips"
    assert [item["name"] for item in given["items"]] == ["Offers"]
    assert shared["file"] in str(found)
    assert refused["code"] == "not_found"
    assert nothing[0]["items"] == []
    assert shared["file"] not in str(nothing[1])


async def test_the_highest_role_counts_whether_the_persons_or_the_groups(
    bobs_client: httpx.AsyncClient, cara: httpx.AsyncClient, shared: dict[str, Any]
) -> None:
    shares, where = f"/api/drive/items/{shared['folder']}/shares", f"/api/drive/items/{shared['folder']}"
    await cara.post(shares, json={"email": BOB, "role": "editor"})
    assert (await bobs_client.get(where)).json()["role"] == "editor"
    assert [one["name"] for one in (await bobs_client.get("/api/drive/items/shared/children")).json()["items"]] == [
        "Offers"
    ]
    listed = (await cara.get(shares)).json()["shares"]
    assert [(one["kind"], one["email"], one["role"]) for one in listed] == [
        ("person", BOB, "editor"),
        ("group", TEAM, "viewer"),
    ]
    await cara.patch(f"{shares}/{TEAM}", json={"role": "editor"})
    await cara.delete(f"{shares}/{BOB}")
    assert (await bobs_client.get(where)).json()["role"] == "editor"
    gone = await cara.delete(f"{shares}/group:SALES TEAM")
    assert (gone.json()["email"], (await bobs_client.get(where)).status_code) == (TEAM, 404)


async def test_a_share_with_a_group_is_undone_and_shows_its_name(
    service: Service, bobs_client: httpx.AsyncClient, cara: httpx.AsyncClient, shared: dict[str, Any]
) -> None:
    changes = (await cara.get("/api/drive/changes", params={"kind": "share"})).json()["changes"]
    assert [one["summary"] for one in changes] == [f"Shared 'Offers' with {TEAM} as viewer."]
    key = (await cara.post("/api/auth/keys", json={"name": "host", "scopes": ["read", "write", "share"]})).json()["key"]
    async with remote(service, key) as host:
        undone = await host.call("undo_changes", change_id=changes[0]["id"])
        assert undone["undone"], undone
        assert (await bobs_client.get(f"/api/drive/items/{shared['file']}")).status_code == 404


async def test_a_group_that_does_not_exist_is_not_shared_with(cara: httpx.AsyncClient, shared: dict[str, Any]) -> None:
    shares = f"/api/drive/items/{shared['folder']}/shares"
    assert (await cara.post(shares, json={"email": "group:nobody"})).status_code == 404
    assert (await cara.post(shares, json={"email": "group:"})).status_code == 404
