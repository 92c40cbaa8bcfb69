from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service

BOB = "bob@example.com"


@pytest.fixture
async def folder(owner_client: httpx.AsyncClient) -> dict[str, Any]:
    made = await owner_client.post("/api/drive/items", json={"kind": "folder", "name": "Reports"})
    return made.json()


@pytest.fixture
def where(folder: dict[str, Any]) -> str:
    return f"/api/drive/items/{folder['id']}/shares"


async def test_a_person_is_given_a_role_another_one_and_none(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient, folder: dict[str, Any], where: str
) -> None:
    given = await owner_client.post(where, json={"email": BOB})
    seen = await bobs_client.get(f"/api/drive/items/{folder['id']}")
    changed = await owner_client.patch(f"{where}/{BOB}", json={"role": "editor"})
    listed = await owner_client.get(where)
    taken = await owner_client.delete(f"{where}/{BOB}")
    unseen = await bobs_client.get(f"/api/drive/items/{folder['id']}")

    assert (given.status_code, given.json()["kind"], given.json()["role"]) == (201, "person", "viewer")
    assert (seen.status_code, changed.json()["role"]) == (200, "editor")
    assert [entry["email"] for entry in listed.json()["shares"]] == [BOB]
    assert (taken.status_code, taken.json()["role"], unseen.status_code) == (200, "editor", 404)


async def test_a_person_leaves_what_was_shared_with_them_and_comes_back_by_an_undo(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient, folder: dict[str, Any], where: str
) -> None:
    await owner_client.post(where, json={"email": BOB})
    left = await bobs_client.delete(f"{where}/{BOB}")
    gone = await bobs_client.get(f"/api/drive/items/{folder['id']}")
    undone = await bobs_client.post(f"/api/drive/changes/{left.headers['drive-change-id']}/undo")
    back = await bobs_client.get(f"/api/drive/items/{folder['id']}")
    own = await owner_client.delete(f"{where}/me@localhost")

    assert (left.status_code, left.content, gone.status_code) == (204, b"", 404)
    assert (undone.status_code, back.json()["role"]) == (200, "viewer")
    assert own.status_code == 422


async def test_a_link_is_made_changed_and_ended(owner_client: httpx.AsyncClient, where: str) -> None:
    made = (await owner_client.post(where, json={"password": "correct horse", "max_downloads": 2})).json()
    changed = await owner_client.patch(f"{where}/{made['id']}", json={"remove": ["password"], "expires_in_hours": 1})
    ended = await owner_client.delete(f"{where}/{made['id']}")

    assert (made["kind"], made["has_password"], made["max_downloads"]) == ("link", True, 2)
    assert (changed.json()["has_password"], changed.json()["expires_at"] is None) == (False, False)
    assert ended.json()["id"] == made["id"]
    assert (await owner_client.get(where)).json()["shares"] == []
    assert (await owner_client.delete(f"{where}/{made['id']}")).status_code == httpx.codes.NOT_FOUND


async def test_a_repeated_key_is_done_once_also_when_it_took_something_away(
    owner_client: httpx.AsyncClient, where: str
) -> None:
    await owner_client.post(where, json={"email": BOB})
    link = (await owner_client.post(where, json={})).json()
    for who in (BOB, link["id"]):
        key = {"Idempotency-Key": who}
        first = await owner_client.delete(f"{where}/{who}", headers=key)
        again = await owner_client.delete(f"{where}/{who}", headers=key)
        assert (first.status_code, again.status_code, again.json()) == (200, 200, first.json())


@pytest.mark.parametrize(
    "body",
    [
        {"email": "nobody"},
        {"email": BOB, "role": "owner"},
        {"email": BOB, "password": "correct horse"},
        {"password": "short"},
        {"max_downloads": "3"},
        {"expires_in_hours": 0},
        {"unknown": 1},
        [],
    ],
)
async def test_what_makes_no_sense_is_refused(owner_client: httpx.AsyncClient, where: str, body: object) -> None:
    answer = await owner_client.post(where, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_argument")
    assert (await owner_client.get(where)).json()["total"] == 0


async def test_who_has_no_role_learns_nothing(bobs_client: httpx.AsyncClient, where: str) -> None:
    unknown = f"/api/drive/items/{'0' * 32}/shares"
    for path in (where, unknown):
        answers = [
            await bobs_client.get(path),
            await bobs_client.post(path, json={}),
            await bobs_client.patch(f"{path}/{BOB}", json={"role": "viewer"}),
            await bobs_client.delete(f"{path}/{BOB}"),
        ]
        assert [answer.json()["code"] for answer in answers] == ["not_found"] * 4


async def test_the_addresses_are_those_of_this_service(
    service: Service, owner_client: httpx.AsyncClient, where: str
) -> None:
    made = (await owner_client.post(where, json={})).json()
    assert made["url"].startswith(f"{service.url}/s/")


async def test_an_item_of_that_name_is_not_taken_for_the_list(owner_client: httpx.AsyncClient) -> None:
    await owner_client.post("/api/drive/items", json={"kind": "folder", "name": "shares"})
    found = await owner_client.get("/api/drive/items/%2Fshares")
    assert found.json()["name"] == "shares"
