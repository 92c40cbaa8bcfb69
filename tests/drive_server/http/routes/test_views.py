"""The lists across folders: the trash, recent, shared and starred."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.services.files import stars
from tests.drive_server.http.items import DRIVE, FILES, ITEMS, done, file, folder, refused, share

if TYPE_CHECKING:
    import httpx


async def listed(client: httpx.AsyncClient, view: str) -> list[str]:
    """Return the names in a view, read page by page."""
    found: list[str] = []
    cursor = None
    while True:
        params = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = done(await client.get(f"{DRIVE}/{view}", params=params))
        assert len(page["items"]) <= 2
        found += [item["name"] for item in page["items"]]
        cursor = page["cursor"]
        if cursor is None:
            return found


async def test_the_trash_is_listed_newest_first_and_emptied_once_for_good(owner_client: httpx.AsyncClient) -> None:
    for name in ("a", "b", "c"):
        done(await owner_client.post(f"{ITEMS}/{(await file(owner_client, name))['id']}/trash"))

    assert await listed(owner_client, "trash") == ["c", "b", "a"]
    emptied = await owner_client.delete(f"{DRIVE}/trash", headers={"Idempotency-Key": "k"})
    assert done(emptied)["count"] == 3
    again = await owner_client.delete(f"{DRIVE}/trash", headers={"Idempotency-Key": "k"})
    assert again.json() == emptied.json()
    assert await listed(owner_client, "trash") == []


async def test_recent_files_are_those_that_were_opened_or_changed_last(owner_client: httpx.AsyncClient) -> None:
    files = [await file(owner_client, name) for name in ("a", "b", "c")]

    assert await listed(owner_client, "recent") == ["c", "b", "a"]
    await owner_client.get(f"{FILES}/{files[0]['id']}/content")
    assert await listed(owner_client, "recent") == ["a", "c", "b"]
    done(await owner_client.patch(f"{FILES}/{files[1]['id']}/content", json={"append": "x"}))
    assert await listed(owner_client, "recent") == ["b", "a", "c"]
    done(await owner_client.post(f"{ITEMS}/{files[1]['id']}/trash"))
    assert await listed(owner_client, "recent") == ["a", "c"]


async def test_what_others_share_is_listed_and_nothing_else(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "团队")
    await share(owner_client, place, "bob@example.com", "viewer")
    await file(bobs_client, "mine")

    assert await listed(bobs_client, "shared") == ["团队"]
    assert await listed(owner_client, "shared") == []


async def test_a_star_is_for_its_person_alone_and_goes_and_comes_with_the_item(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "Team")
    made = [await file(owner_client, name, parent=place["id"]) for name in ("a", "b", "c")]
    await share(owner_client, place, "bob@example.com", "viewer")
    for item in made:
        done(await owner_client.put(f"{ITEMS}/{item['id']}/star"))
    done(await owner_client.put(f"{ITEMS}/{made[0]['id']}/star"))
    done(await bobs_client.put(f"{ITEMS}/{made[1]['id']}/star"))

    assert await listed(owner_client, "starred") == ["c", "b", "a"]
    assert await listed(bobs_client, "starred") == ["b"]
    assert done(await owner_client.get(f"{DRIVE}/changes"))["changes"][0]["action"] == "share"

    done(await owner_client.post(f"{ITEMS}/{place['id']}/trash"))
    assert await listed(owner_client, "starred") == []
    done(await owner_client.post(f"{ITEMS}/{place['id']}/restore"))
    assert await listed(owner_client, "starred") == ["c", "b", "a"]
    done(await owner_client.delete(f"{ITEMS}/{made[2]['id']}/star"))
    done(await owner_client.delete(f"{ITEMS}/{made[2]['id']}/star"))
    assert await listed(owner_client, "starred") == ["b", "a"]


async def test_a_star_on_what_is_no_longer_shared_is_seen_no_more(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    made = await file(owner_client, "a")
    assert refused(await bobs_client.put(f"{ITEMS}/{made['id']}/star")) == (404, "not_found")
    await share(owner_client, made, "bob@example.com", "viewer")
    done(await bobs_client.put(f"{ITEMS}/{made['id']}/star"))
    done(await owner_client.delete(f"{ITEMS}/{made['id']}/shares/bob@example.com"))
    assert await listed(bobs_client, "starred") == []


async def test_a_deletion_for_good_takes_the_stars_along(owner_client: httpx.AsyncClient) -> None:
    made = await file(owner_client, "a")
    done(await owner_client.put(f"{ITEMS}/{made['id']}/star"))
    done(await owner_client.post(f"{ITEMS}/{made['id']}/trash"))
    assert refused(await owner_client.put(f"{ITEMS}/{made['id']}/star")) == (409, "state_conflict")
    done(await owner_client.delete(f"{ITEMS}/{made['id']}"))
    assert await listed(owner_client, "starred") == []


async def test_a_cursor_is_good_for_its_own_list_only(owner_client: httpx.AsyncClient) -> None:
    for name in ("a", "b"):
        done(await owner_client.put(f"{ITEMS}/{(await file(owner_client, name))['id']}/star"))
    cursor = done(await owner_client.get(f"{DRIVE}/starred", params={"limit": 1}))["cursor"]
    for view in ("trash", "recent", "shared"):
        answer = await owner_client.get(f"{DRIVE}/{view}", params={"cursor": cursor})
        assert refused(answer) == (422, "invalid_cursor")


async def test_every_answer_with_an_item_says_whether_its_reader_starred_it(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "Team")
    plain, starred = [await file(owner_client, name, parent=place["id"]) for name in ("a", "b")]
    assert plain["starred"] is False
    await share(owner_client, place, "bob@example.com", "editor")
    address = f"{ITEMS}/{starred['id']}"
    assert done(await owner_client.put(f"{address}/star"))["starred"] is True

    for client, expected in ((owner_client, True), (bobs_client, False)):
        listing = done(await client.get(f"{ITEMS}/{place['id']}/children"))["items"]
        assert [item["starred"] for item in listing] == [False, expected]
        answers = [
            done(await client.get(address)),
            done(await client.patch(address, json={"name": f"of {expected}"})),
            done(await client.put(f"{FILES}/{starred['id']}/content", content=str(expected).encode())),
        ]
        change = {"action": "trash", "items": [{"id": starred["id"]}, {"id": plain["id"]}]}
        bulk = done(await client.post(f"{ITEMS}/bulk", json=change))["results"]
        assert [result["item"]["starred"] for result in bulk] == [expected, False]
        answers.append(done(await client.post(f"{address}/restore")))
        done(await client.post(f"{ITEMS}/{plain['id']}/restore"))
        assert [answer["starred"] for answer in answers] == [expected] * 4


@pytest.mark.parametrize("most", [3, 1], ids=["few stars", "more stars than are read at once"])
async def test_a_long_list_marks_what_is_starred(
    owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(stars, "FEW_IDS", 1)
    monkeypatch.setattr(stars, "MAX_STARS", most)
    made = [await file(owner_client, name) for name in ("a", "b", "c")]
    for item in made[:2]:
        done(await owner_client.put(f"{ITEMS}/{item['id']}/star"))

    page = done(await owner_client.get(f"{ITEMS}/root/children"))

    assert {item["name"]: item["starred"] for item in page["items"]} == {"a": True, "b": True, "c": False}
