from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

CHANGES = "/api/drive/changes"
ITEMS = "/api/drive/items"


async def make(client: httpx.AsyncClient, name: str) -> str:
    answer = await client.post(ITEMS, json={"kind": "folder", "name": name})
    return answer.json()["id"]


async def test_a_person_reads_their_own_changes_with_who_and_how(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    await make(owner_client, "owner's")
    await make(bobs_client, "bob's")

    (change,) = (await bobs_client.get(CHANGES)).json()["changes"]

    assert (change["user"], change["tool"], change["method"]) == ("bob@example.com", "create_folder", "api_key")
    assert change["key_name"]
    assert change["summary"] == "Created the folder 'bob's' in the root folder."
    assert "entries" not in change


async def test_administrators_read_everybodys_changes_by_person_and_item_and_others_do_not(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    await make(owner_client, "owner's")
    bobs = await make(bobs_client, "bob's")

    everything = (await owner_client.get(CHANGES, params={"everybodys": "true"})).json()["changes"]
    by_bob = await owner_client.get(CHANGES, params={"everybodys": "true", "by": "bob@example.com"})
    of_item = await owner_client.get(CHANGES, params={"everybodys": "true", "item_id": bobs})
    refused = await bobs_client.get(CHANGES, params={"everybodys": "true"})
    unseen = await owner_client.get(CHANGES, params={"item_id": bobs})

    assert {change["user"] for change in everything} >= {"bob@example.com"}
    assert len(everything) == 2
    for found in (by_bob, of_item):
        assert [change["item_id"] for change in found.json()["changes"]] == [bobs]
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert unseen.status_code == 404


async def test_filters_and_pages_work_and_bad_ones_are_refused(bobs_client: httpx.AsyncClient) -> None:
    for name in "abc":
        await make(bobs_client, name)

    first = (await bobs_client.get(CHANGES, params={"limit": 2, "kind": "create", "since": "2026-01-01"})).json()
    query = {"limit": 2, "kind": "create", "since": "2026-01-01", "cursor": first["cursor"]}
    second = (await bobs_client.get(CHANGES, params=query)).json()
    refused = [
        await bobs_client.get(CHANGES, params=params)
        for params in ({"since": "yesterday"}, {"kind": "nothing"}, {"cursor": first["cursor"]}, {"by": "nobody"})
    ]

    assert [len(first["changes"]), len(second["changes"]), second["cursor"]] == [2, 1, None]
    assert [answer.status_code for answer in refused] == [422] * 4
    assert (await bobs_client.get(CHANGES, params={"tool": "other"})).json()["changes"] == []


async def test_without_a_key_nothing_is_told(owner_client: httpx.AsyncClient) -> None:
    answer = await owner_client.get(CHANGES, headers={"Authorization": "Bearer nothing"})

    assert answer.status_code == 401
