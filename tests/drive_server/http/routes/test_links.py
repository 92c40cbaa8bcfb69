"""Links, from the outside: no key, just the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anyio
import httpx
import pytest

from drive_server.kernel.access import Actor
from drive_server.services.sharing.link_passwords import GUESSES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.drive import Drive
    from tests.drive_server.http.service import Service

PASSWORD = "correct 马 horse"
SENT_PASSWORD = {"X-Link-Password": quote(PASSWORD)}


@dataclass
class Linked:
    """The owner's folder `Reports` with `plan.md` in it and `Secret` beside it, and a visitor without a key."""

    owner: httpx.AsyncClient
    visitor: httpx.AsyncClient
    drive: Drive
    actor: Actor
    folder: dict[str, Any]
    file: dict[str, Any]

    async def link(self, item: dict[str, Any] | None = None, **terms: Any) -> str:
        """Make a link and return its token."""
        return (await self.made(item, **terms))["url"].rpartition("/")[2]

    async def made(self, item: dict[str, Any] | None = None, **terms: Any) -> dict[str, Any]:
        where = f"/api/drive/items/{(item or self.folder)['id']}/shares"
        response = await self.owner.post(where, json=terms)
        assert response.status_code == httpx.codes.CREATED, response.text
        return response.json()

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.visitor.get(f"/api/links/{path}", **options)


async def make_folder(owner: httpx.AsyncClient, name: str, parent_id: str = "root") -> dict[str, Any]:
    return (await owner.post("/api/drive/items", json={"kind": "folder", "name": name, "parent_id": parent_id})).json()


async def make_file(owner: httpx.AsyncClient, parent_id: str, name: str, content: bytes) -> dict[str, Any]:
    where = {"parent_id": parent_id, "name": name}
    return (await owner.post("/api/drive/files", params=where, content=content)).json()


@pytest.fixture
async def linked(service: Service, owner_client: httpx.AsyncClient) -> AsyncIterator[Linked]:
    folder = await make_folder(owner_client, "Reports")
    file = await make_file(owner_client, folder["id"], "plan.md", b"0123456789" * 100)
    async with service.client("") as visitor:
        actor = Actor(await service.drive.identity.authenticate(service.token))
        yield Linked(owner_client, visitor, service.drive, actor, folder, file)


async def test_a_folder_is_seen_listed_and_its_files_fetched(linked: Linked) -> None:
    token = await linked.link()
    below = await make_folder(linked.owner, "报告", linked.folder["id"])
    await make_file(linked.owner, below["id"], "deep.txt", b"deep")

    top = (await linked.get(token)).json()
    children = (await linked.get(f"{token}/children")).json()
    deep = (await linked.get(f"{token}/items/{below['id']}/children")).json()
    content = await linked.get(f"{token}/items/{deep['items'][0]['id']}/content")

    assert (top["name"], top["parent_id"], top["role"], top["child_count"]) == ("Reports", None, "viewer", 2)
    assert [item["name"] for item in children["items"]] == ["报告", "plan.md"]
    assert (content.status_code, content.content) == (200, b"deep")


async def test_no_person_is_named(linked: Linked) -> None:
    token = await linked.link(role="editor")
    item = linked.file["id"]
    stale = {"If-Match": '"00000000-9"'}
    answers = [
        await linked.get(token),
        await linked.get(f"{token}/children"),
        await linked.get(f"{token}/items/{item}"),
        await linked.visitor.get(f"/s/{token}"),
        await linked.visitor.put(f"/api/links/{token}/items/{item}/content", content=b"x", headers=stale),
        await linked.visitor.post(f"/api/links/{token}/files", params={"name": "plan.md"}, content=b"x"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 409, 409]
    assert not [answer.text for answer in answers if "localhost" in answer.text or "me@" in answer.text]


async def test_nothing_outside_is_reached_and_every_try_gets_one_answer(linked: Linked) -> None:
    outside = await make_file(linked.owner, "root", "secret.md", b"secret")
    token = await linked.link(linked.file)
    root = (await linked.owner.get("/api/drive/items/root")).json()
    told: list[dict[str, Any]] = []
    for item in (outside["id"], linked.folder["id"], root["id"], "root", "%2Fsecret.md", "0" * 32, "%E6%8A%A5"):
        for path in (f"items/{item}", f"items/{item}/children", f"items/{item}/content"):
            answer = await linked.get(f"{token}/{path}")
            assert answer.status_code == httpx.codes.NOT_FOUND, path
            told.append({key: value for key, value in answer.json().items() if key not in {"details", "hint"}})
        page = await linked.visitor.get(f"/s/{token}", params={"item": item})
        assert (page.status_code, "secret" in page.text) == (404, False)
    routed = [answer for answer in told if answer["detail"] != "Not Found."]
    assert routed
    assert all(answer == routed[0] for answer in routed)


async def test_a_viewers_link_writes_nothing(linked: Linked) -> None:
    token = await linked.link()
    put = await linked.visitor.put(f"/api/links/{token}/items/{linked.file['id']}/content", content=b"x")
    post = await linked.visitor.post(f"/api/links/{token}/files", params={"name": "new.txt"}, content=b"x")
    assert [answer.json()["code"] for answer in (put, post)] == ["forbidden", "forbidden"]


async def test_an_editors_link_replaces_and_adds_files_once_per_key(linked: Linked) -> None:
    token = await linked.link(role="editor")
    key = {"Idempotency-Key": "k"}
    where = f"/api/links/{token}/items/{linked.file['id']}/content"

    put = await linked.visitor.put(where, content=b"new", headers={"If-Match": linked.file["etag"]})
    stale = await linked.visitor.put(where, content=b"newer", headers={"If-Match": linked.file["etag"]})
    first = await linked.visitor.post(f"/api/links/{token}/files", params={"name": "a.txt"}, content=b"x", headers=key)
    again = await linked.visitor.post(f"/api/links/{token}/files", params={"name": "a.txt"}, content=b"x", headers=key)

    assert (put.status_code, put.json()["version"], stale.status_code) == (200, 2, 409)
    assert (first.status_code, again.json()["id"]) == (201, first.json()["id"])
    owners = (await linked.owner.get(f"/api/drive/items/{linked.folder['id']}/children")).json()
    assert [item["name"] for item in owners["items"]] == ["a.txt", "plan.md"]
    assert {item["owner"] for item in owners["items"]} == {"me@localhost"}


async def test_a_key_of_the_owner_is_not_the_visitors_to_guess(linked: Linked) -> None:
    token = await linked.link(role="editor")
    key = {"Idempotency-Key": "k"}
    mine = {"kind": "folder", "name": "mine", "parent_id": "root"}
    await linked.owner.post("/api/drive/items", json=mine, headers=key)
    theirs = await linked.visitor.post(f"/api/links/{token}/files", params={"name": "a"}, content=b"x", headers=key)
    assert theirs.status_code == httpx.codes.CREATED


async def test_the_owners_room_counts_and_is_not_told(linked: Linked) -> None:
    token = await linked.link(role="editor")
    await linked.drive.quota.set_quota(linked.actor, linked.actor.user_id, 2_000)
    put = await linked.visitor.put(f"/api/links/{token}/items/{linked.file['id']}/content", content=b"x" * 1_500)
    post = await linked.visitor.post(f"/api/links/{token}/files", params={"name": "a"}, content=b"x" * 1_500)
    fits = await linked.visitor.post(f"/api/links/{token}/files", params={"name": "a"}, content=b"x" * 500)
    assert [answer.json()["code"] for answer in (put, post)] == ["quota_exceeded", "quota_exceeded"]
    assert not [answer.text for answer in (put, post) if "2000" in answer.text or "1000" in answer.text]
    assert fits.status_code == httpx.codes.CREATED


async def test_uploads_are_streamed_beyond_the_limit_of_other_requests(linked: Linked) -> None:
    token = await linked.link(role="editor")
    large, too_large = b"x" * 1_000_000, b"x" * 3_000_001
    where = f"/api/links/{token}/items/{linked.file['id']}/content"
    assert (await linked.visitor.put(where, content=large)).status_code == httpx.codes.OK
    assert (await linked.visitor.put(where, content=too_large)).json()["code"] == "too_large"
    added = await linked.visitor.post(f"/api/links/{token}/files", params={"name": "a"}, content=large)
    assert added.json()["size"] == len(large)


async def test_the_password_is_asked_for_and_guessing_it_is_slowed_down(linked: Linked) -> None:
    token = await linked.link(password=PASSWORD)
    paths = ["", "/children", f"/items/{linked.file['id']}", f"/items/{linked.file['id']}/content"]
    for path in paths:
        answer = await linked.get(token + path)
        assert (answer.status_code, answer.json()["code"]) == (403, "password_required")
    wrong = [await linked.get(token, headers={"X-Link-Password": "wrong horse"}) for _ in range(GUESSES + 1)]
    assert [answer.status_code for answer in wrong] == [403] * GUESSES + [429]
    assert 0 < int(wrong[-1].headers["Retry-After"]) <= 60
    other = await linked.link(password=PASSWORD)
    assert [(await linked.get(other + path, headers=SENT_PASSWORD)).status_code for path in paths] == [200] * 4


async def test_who_guesses_locks_out_nobody_who_comes_from_elsewhere(linked: Linked) -> None:
    token = await linked.link(password=PASSWORD)
    for _ in range(GUESSES):
        await linked.get(token, headers={"X-Link-Password": "wrong horse"})
    assert (await linked.get(token, headers=SENT_PASSWORD)).status_code == 429
    elsewhere = httpx.AsyncHTTPTransport(local_address="127.0.0.2")
    async with httpx.AsyncClient(base_url=linked.visitor.base_url, transport=elsewhere) as other:
        assert (await other.get(f"/api/links/{token}", headers=SENT_PASSWORD)).status_code == 200


async def test_no_proxy_keeps_what_only_the_password_opens(linked: Linked) -> None:
    token = await linked.link(password=PASSWORD)
    item = linked.file["id"]
    for path in ("", "/children", f"/items/{item}", f"/items/{item}/children", "/items/unknown"):
        answer = await linked.get(token + path, headers=SENT_PASSWORD)
        assert answer.headers["Cache-Control"] == "no-store", path
    content = await linked.get(f"{token}/items/{item}/content", headers=SENT_PASSWORD)
    assert content.headers.get_list("Cache-Control") == ["no-store"]
    for path in ("/api/drive/items/root", "/api/drive/items/root/children", f"/api/drive/items/{item}/shares"):
        assert (await linked.owner.get(path)).headers.get_list("Cache-Control") == ["no-store"], path


async def test_ranges_of_one_download_count_once_and_whole_files_each_time(linked: Linked) -> None:
    token = await linked.link(max_downloads=2)
    where = f"{token}/items/{linked.file['id']}/content"

    async def part(spec: str) -> httpx.Response:
        return await linked.get(where, headers={"Range": f"bytes={spec}"})

    parts = [await part(spec) for spec in ("0-249", "250-499", "500-749", "750-")]
    whole = await linked.get(where)
    head = await linked.visitor.head(f"/api/links/{where}")
    used_up = await linked.get(where)

    assert [answer.status_code for answer in parts] == [206] * 4
    assert b"".join(answer.content for answer in parts) == whole.content
    assert head.headers["Content-Length"] == "1000"
    assert (used_up.status_code, used_up.json()["detail"]) == (404, "There is no such link.")


async def test_a_limit_holds_exactly_for_many_at_once(linked: Linked) -> None:
    token = await linked.link(max_downloads=3)
    codes: list[int] = []

    async def fetch() -> None:
        codes.append((await linked.get(f"{token}/items/{linked.file['id']}/content")).status_code)

    async with anyio.create_task_group() as group:
        for _ in range(15):
            group.start_soon(fetch)

    assert sorted(codes) == [200] * 3 + [404] * 12
    shares = (await linked.owner.get(f"/api/drive/items/{linked.folder['id']}/shares")).json()["shares"]
    assert [share["downloads"] for share in shares] == [3]


async def test_looking_at_what_has_not_changed_is_no_download(linked: Linked) -> None:
    token = await linked.link(max_downloads=1)
    where = f"{token}/items/{linked.file['id']}/content"
    etag = (await linked.visitor.head(f"/api/links/{where}")).headers["ETag"]
    for headers in ({"If-None-Match": etag}, {"Range": "bytes=5000-"}):
        assert (await linked.get(where, headers=headers)).status_code in {304, 416}
    assert (await linked.get(where)).status_code == httpx.codes.OK


async def test_a_link_that_is_over_answers_like_one_that_never_was(linked: Linked) -> None:
    revoked, trashed = await linked.made(), await linked.link(linked.file)
    token = revoked["url"].rpartition("/")[2]
    gone = await linked.owner.delete(f"/api/drive/items/{linked.folder['id']}/shares/{revoked['id']}")
    await linked.drive.files.trash(linked.actor, linked.file["id"])
    assert gone.status_code == httpx.codes.OK
    answers = [(await linked.get(path)).json() for path in (token, trashed, "unknown", f"{token}/children")]
    pages = [(await linked.visitor.get(f"/s/{path}")).text for path in (token, trashed, "unknown")]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["code"] == "not_found"
    assert len(set(pages)) == 1


async def test_a_guests_upload_keeps_its_own_date(linked: Linked) -> None:
    token = await linked.link(role="editor")
    old = {"X-OC-Mtime": "981169506"}
    address = f"/api/links/{token}/files"
    made = await linked.visitor.post(address, params={"name": "old.txt"}, content=b"1", headers=old)
    assert made.json()["modified_at"] == "2001-02-03T03:05:06Z"
    replaced = await linked.visitor.put(
        f"/api/links/{token}/items/{linked.file['id']}/content", content=b"2", headers=old
    )
    assert replaced.json()["modified_at"] == "2001-02-03T03:05:06Z"
    damaged = {"OC-Checksum": f"SHA1:{'0' * 40}"}
    refused = await linked.visitor.post(address, params={"name": "x.txt"}, content=b"1", headers=damaged)
    assert refused.status_code == httpx.codes.BAD_REQUEST
