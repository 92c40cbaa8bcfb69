"""The own date of a content, from whatever door it comes in to whatever door it goes out."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.items import DRIVE, FILES, ITEMS, done, folder, undo
from tests.drive_server.http.routes.files.test_uploads import begin, send

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

SECONDS = "981169506"
THEN = "2001-02-03T03:05:06Z"
DATED = {"X-OC-Mtime": SECONDS}
LATER = {"X-OC-Mtime": "1000000000"}
AFTER = "2001-09-09T01:46:40Z"


async def dated(
    client: httpx.AsyncClient, name: str, content: bytes = b"one", parent: str = "root", **terms: str
) -> dict[str, Any]:
    """Upload a file of 2001."""
    params = {"name": name, "parent_id": parent, **terms}
    return done(await client.post(FILES, params=params, content=content, headers=DATED))


async def item(client: httpx.AsyncClient, ref: str) -> dict[str, Any]:
    return done(await client.get(f"{ITEMS}/{ref}"))


async def test_an_upload_keeps_the_date_that_its_sender_gives_it(owner_client: httpx.AsyncClient) -> None:
    made = await dated(owner_client, "old.txt")
    assert made["modified_at"] == THEN
    assert made["updated_at"] == made["created_at"] > "2026"
    assert (await item(owner_client, made["id"]))["modified_at"] == THEN
    (listed,) = done(await owner_client.get(f"{ITEMS}/root/children"))["items"]
    assert listed["modified_at"] == THEN
    content = await owner_client.get(f"{FILES}/{made['id']}/content")
    assert content.headers["last-modified"] == "Sat, 03 Feb 2001 03:05:06 GMT"


@pytest.mark.parametrize("wrong", ["", "soon", "nan", "9" * 15])
async def test_a_date_that_is_none_is_no_error_and_the_file_is_of_now(
    owner_client: httpx.AsyncClient, wrong: str
) -> None:
    params = {"name": "now.txt"}
    made = done(await owner_client.post(FILES, params=params, content=b"1", headers={"X-OC-Mtime": wrong}))
    assert made["modified_at"] == made["updated_at"]


async def test_a_new_content_has_its_own_date_or_is_of_now_and_an_earlier_version_brings_its_date_back(
    owner_client: httpx.AsyncClient,
) -> None:
    made = await dated(owner_client, "plan.txt")
    address = f"{FILES}/{made['id']}/content"
    second = done(await owner_client.put(address, content=b"two", headers=LATER))
    assert (second["version"], second["modified_at"]) == (2, AFTER)
    third = done(await owner_client.put(address, content=b"three"))
    assert (third["version"], third["modified_at"]) == (3, third["updated_at"])
    versions = done(await owner_client.get(f"{FILES}/{made['id']}/versions"))["versions"]
    assert [version["modified_at"] for version in versions] == [third["modified_at"], AFTER, THEN]
    restored = await owner_client.post(f"{FILES}/{made['id']}/versions/1/restore")
    assert (done(restored)["version"], done(restored)["modified_at"]) == (4, THEN)
    await undo(owner_client, restored)
    assert (await item(owner_client, made["id"]))["modified_at"] == third["modified_at"]


async def test_the_same_content_with_another_date_is_no_new_version_and_can_be_undone_and_redone(
    owner_client: httpx.AsyncClient,
) -> None:
    made = await dated(owner_client, "plan.txt")
    answer = await owner_client.put(f"{FILES}/{made['id']}/content", content=b"one", headers=LATER)
    assert (done(answer)["version"], done(answer)["modified_at"]) == (1, AFTER)
    assert done(answer)["etag"] != made["etag"]
    undone = await undo(owner_client, answer)
    assert (await item(owner_client, made["id"]))["modified_at"] == THEN
    done(await owner_client.post(f"{DRIVE}/changes/{undone['change_id']}/undo"))
    assert (await item(owner_client, made["id"]))["modified_at"] == AFTER
    again = done(await owner_client.put(f"{FILES}/{made['id']}/content", content=b"one"))
    assert again["modified_at"] == AFTER, "no new content, no new date"


async def test_a_change_of_content_is_undone_with_its_date(owner_client: httpx.AsyncClient) -> None:
    made = await dated(owner_client, "plan.txt")
    answer = await owner_client.patch(f"{FILES}/{made['id']}/content", json={"append": "more"})
    assert done(answer)["modified_at"] == done(answer)["updated_at"]
    await undo(owner_client, answer)
    assert (await item(owner_client, made["id"]))["modified_at"] == THEN


async def test_moving_renaming_trashing_and_copying_keep_it(owner_client: httpx.AsyncClient) -> None:
    place = await folder(owner_client, "place")
    made = await dated(owner_client, "old.txt")
    address = f"{ITEMS}/{made['id']}"
    moved = done(await owner_client.patch(address, json={"name": "older.txt", "parent_id": place["id"]}))
    assert moved["modified_at"] == THEN
    assert moved["updated_at"] > made["updated_at"]
    trashed = await owner_client.post(f"{address}/trash")
    assert done(trashed)["modified_at"] == THEN
    assert done(await owner_client.post(f"{address}/restore"))["modified_at"] == THEN
    copied = done(await owner_client.post(f"{address}/copy", json={"parent_id": "root"}))
    assert copied["modified_at"] == THEN
    whole = done(await owner_client.post(f"{ITEMS}/{place['id']}/copy", json={"parent_id": "root", "name": "whole"}))
    (inside,) = done(await owner_client.get(f"{ITEMS}/{whole['id']}/children"))["items"]
    assert inside["modified_at"] == THEN
    assert whole["modified_at"] == place["modified_at"]


async def test_search_finds_files_by_their_own_dates(owner_client: httpx.AsyncClient) -> None:
    made = await dated(owner_client, "mt.txt")
    done(await owner_client.post(FILES, params={"name": "mt new.txt"}, content=b"2"))

    async def found(**terms: str) -> list[str]:
        answer = done(await owner_client.get(f"{DRIVE}/search", params={"q": "mt", "mode": "name", **terms}))
        return [hit["file"]["id"] for hit in answer["hits"]]

    assert await found(modified_before="2002-01-01T00:00:00Z") == [made["id"]]
    assert await found(modified_after="2001-02-03T03:05:06Z", modified_before="2001-02-03T03:05:07Z") == [made["id"]]
    assert made["id"] not in await found(modified_after="2002-01-01T00:00:00Z")


async def test_recent_files_stay_those_that_a_person_worked_on(owner_client: httpx.AsyncClient) -> None:
    done(await owner_client.post(FILES, params={"name": "new.txt"}, content=b"2"))
    made = await dated(owner_client, "old.txt")
    recent = done(await owner_client.get(f"{DRIVE}/recent"))["items"]
    assert recent[0]["id"] == made["id"]


@pytest.mark.parametrize(("key", "value"), [("mtime", SECONDS), ("lastModified", f"{SECONDS}000")])
async def test_a_resumable_upload_has_it_in_its_metadata(service: Service, key: str, value: str) -> None:
    async with service.client() as client:
        url = await begin(client, 3, "old.bin", **{key: value})
        item_id = (await send(client, url, 0, b"abc")).headers["upload-item-id"]
        assert (await item(client, item_id))["modified_at"] == THEN
        wrong = await begin(client, 3, "new.bin", **{key: "soon"})
        new = await item(client, (await send(client, wrong, 0, b"abc")).headers["upload-item-id"])
        assert new["modified_at"] == new["updated_at"]


async def test_a_zip_file_has_it_by_the_clock_of_the_person_and_as_the_moment(owner_client: httpx.AsyncClient) -> None:
    done(await owner_client.patch("/api/auth/me", json={"time_zone": "Asia/Shanghai"}))
    place = await folder(owner_client, "place")
    await dated(owner_client, "old.txt", parent=place["id"])
    for name, seconds in (("first.txt", "-157766400"), ("far.txt", "32503680000")):
        params = {"name": name, "parent_id": place["id"]}
        done(await owner_client.post(FILES, params=params, content=b"1", headers={"X-OC-Mtime": seconds}))

    answer = await owner_client.get(f"{DRIVE}/archive", params={"ids": place["id"]})

    entries = {entry.filename: entry for entry in zipfile.ZipFile(io.BytesIO(answer.content)).infolist()}
    assert entries["place/old.txt"].date_time == (2001, 2, 3, 11, 5, 6)
    assert moment_of(entries["place/old.txt"]) == int(SECONDS)
    assert entries["place/first.txt"].date_time == (1980, 1, 1, 0, 0, 0)
    assert moment_of(entries["place/first.txt"]) == -157766400
    assert entries["place/far.txt"].date_time == (2107, 12, 31, 23, 59, 58)


def moment_of(entry: zipfile.ZipInfo) -> int:
    """Return the time of the entry's extended timestamp (Info-ZIP's field `UT`), in seconds since 1970."""
    assert entry.extra[:5] == b"UT\x05\x00\x01"
    return int.from_bytes(entry.extra[5:9], "little", signed=True)
