"""A whole drive given out over HTTP, and taken in again by another person's drive."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.items import DRIVE, FILES, ITEMS, done, file, folder, names, refused, share, undo

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

IMPORTS = f"{DRIVE}/imports"
TIME = "2020-02-03T04:05:06Z"


async def exported(client: httpx.AsyncClient, limit: int = 200) -> dict[str, dict[str, Any]]:
    """Return all items of a drive by name, read page by page."""
    found: dict[str, dict[str, Any]] = {}
    cursor = None
    while True:
        params = {"limit": str(limit)} | ({"cursor": cursor} if cursor else {})
        page = done(await client.get(f"{DRIVE}/export", params=params))
        found |= {item["name"]: item for item in page["items"]}
        cursor = page["cursor"]
        if cursor is None:
            assert page["total"] == len(found)
            return found


async def stored(client: httpx.AsyncClient, content: bytes) -> dict[str, Any]:
    """Store a content for an import."""
    return done(await client.put(f"{IMPORTS}/contents/{sha256(content).hexdigest()}", content=content))


def item(name: str, *versions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an item to import: a file if it has versions."""
    shown = [
        {**version, "number": number, "media_type": "text/plain", "created_at": f"2020-01-{number:02}T00:00:00Z"}
        for number, version in enumerate(versions, 1)
    ]
    kind = "file" if versions else "folder"
    defaults: dict[str, Any] = {"id": f"id of {name}", "kind": kind, "created_at": TIME, "updated_at": TIME}
    return {**defaults, "name": name, "versions": shown, **fields}


async def imported(
    client: httpx.AsyncClient, *items: dict[str, Any], into: str = "root", export_id: str = "e"
) -> httpx.Response:
    return await client.post(IMPORTS, json={"export_id": export_id, "into": into, "items": [*items]})


async def test_an_export_lists_all_that_belongs_to_each_item_also_in_the_trash_and_nothing_of_others(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "团队")
    plan = await file(owner_client, "plan.md", b"one", place["id"])
    done(await owner_client.put(f"{FILES}/{plan['id']}/content", content=b"two"))
    await share(owner_client, place, "bob@example.com", "editor")
    terms = {"password": "a long one 1", "max_downloads": 3}
    done(await owner_client.post(f"{ITEMS}/{plan['id']}/shares", json=terms))
    done(await owner_client.put(f"{ITEMS}/{plan['id']}/star"))
    old = await file(owner_client, "old.md", b"old")
    done(await owner_client.post(f"{ITEMS}/{old['id']}/trash"))
    await file(bobs_client, "bobs.md", b"bob's", place["id"])
    await file(bobs_client, "private.md", b"private")

    found = await exported(owner_client, limit=2)

    assert found.keys() == {"团队", "plan.md", "old.md", "bobs.md"}
    assert found["团队"]["parent_id"] is None
    assert found["plan.md"]["parent_id"] == place["id"]
    assert [(version["number"], version["sha256"]) for version in found["plan.md"]["versions"]] == [
        (1, sha256(b"one").hexdigest()),
        (2, sha256(b"two").hexdigest()),
    ]
    assert [(one["email"], one["role"]) for one in found["团队"]["shares"]] == [("bob@example.com", "editor")]
    (link,) = found["plan.md"]["links"]
    assert (link["has_password"], link["max_downloads"]) == (True, 3)
    assert {"url", "token", "password", "password_hash"}.isdisjoint(link)
    assert found["plan.md"]["starred_at"]
    assert found["old.md"]["trash_id"] == old["id"]
    assert found["bobs.md"]["versions"][0]["author"] == "bob@example.com"
    assert (await exported(bobs_client)).keys() == {"private.md"}


async def test_a_content_is_given_out_by_its_hash_to_whose_drive_has_it_and_in_parts(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    old = await file(owner_client, "old.md", b"0123456789")
    done(await owner_client.post(f"{ITEMS}/{old['id']}/trash"))
    address = f"{DRIVE}/export/contents/{sha256(b'0123456789').hexdigest()}"

    assert (await owner_client.get(address)).content == b"0123456789"
    part = await owner_client.get(address, headers={"Range": "bytes=4-"})
    assert (part.status_code, part.content) == (206, b"456789")
    assert refused(await bobs_client.get(address)) == (404, "not_found")
    assert refused(await owner_client.get(f"{DRIVE}/export/contents/{'0' * 64}")) == (404, "not_found")


async def test_items_come_back_with_their_versions_times_access_and_place_in_the_trash_as_one_change(
    bobs_client: httpx.AsyncClient,
) -> None:
    one, two = await stored(bobs_client, b"one"), await stored(bobs_client, b"two")
    shares = [{"email": "ann@example.com", "role": "viewer", "created_at": TIME}]
    links = [{"id": "l", "role": "viewer", "has_password": False, "expires_at": None, "max_downloads": 5,
              "downloads": 2, "created_at": TIME}]  # fmt: skip
    answer = await imported(
        bobs_client,
        item("团队", shares=shares),
        item("plan.md", one, two, parent_id="id of 团队", links=links, starred_at=TIME),
        item("gone", trash_id="id of gone"),
        item("gone.md", one, parent_id="id of gone", trash_id="id of gone"),
    )

    found = await exported(bobs_client)
    assert answer.status_code == 201
    plan = found["plan.md"]
    assert plan["parent_id"] == found["团队"]["id"]
    assert [(version["number"], version["sha256"], version["created_at"]) for version in plan["versions"]] == [
        (1, sha256(b"one").hexdigest(), "2020-01-01T00:00:00Z"),
        (2, sha256(b"two").hexdigest(), "2020-01-02T00:00:00Z"),
    ]
    assert (plan["created_at"], plan["updated_at"]) == (TIME, TIME)
    assert plan["starred_at"] == TIME
    assert [(link["max_downloads"], link["downloads"]) for link in plan["links"]] == [(5, 2)]
    assert found["团队"]["shares"] == shares
    assert found["gone.md"]["trash_id"] == found["gone"]["trash_id"] == found["gone"]["id"]
    assert await names(bobs_client) == ["团队"]
    assert (await bobs_client.get(f"{FILES}/{plan['id']}/content")).content == b"two"

    await undo(bobs_client, answer)
    assert await names(bobs_client) == []


async def test_an_import_that_is_repeated_in_other_parts_makes_nothing_twice(bobs_client: httpx.AsyncClient) -> None:
    content = await stored(bobs_client, b"one")
    first, second, third = (item(name, content) for name in ("a", "b", "c"))

    whole = done(await imported(bobs_client, first, second))
    again = done(await imported(bobs_client, second, third))

    assert [one["is_new"] for one in (*whole["items"], *again["items"])] == [True, True, False, True]
    assert await names(bobs_client) == ["a", "b", "c"]
    usage = done(await bobs_client.get("/api/auth/me"))
    assert usage.get("used_bytes", 3) == 3


async def test_another_export_and_a_taken_name_come_beside_what_is_there(bobs_client: httpx.AsyncClient) -> None:
    content = await stored(bobs_client, b"one")

    done(await imported(bobs_client, item("a.md", content)))
    done(await imported(bobs_client, item("a.md", content), export_id="another"))

    assert await names(bobs_client) == ["a (2).md", "a.md"]


async def test_who_knows_a_hash_does_not_get_the_content(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    await file(owner_client, "secret.md", b"secret")
    digest = sha256(b"secret").hexdigest()
    of_owner = await stored(owner_client, b"secret")

    wanted = done(await bobs_client.post(f"{IMPORTS}/missing", json={"sha256": [digest]}))
    assert wanted == {"missing": [digest]}
    for receipt in ("", "x", of_owner["receipt"]):
        stolen = item("mine.md", {"sha256": digest, "size": 6, "receipt": receipt})
        assert refused(await imported(bobs_client, stolen)) == (409, "state_conflict")
    lying = {**(await stored(bobs_client, b"abc")), "size": 4}
    assert refused(await imported(bobs_client, item("long.md", lying))) == (409, "state_conflict")
    assert await names(bobs_client) == []
    wanted = done(await owner_client.post(f"{IMPORTS}/missing", json={"sha256": [digest]}))
    assert wanted == {"missing": []}


async def test_a_content_under_another_hash_is_refused(bobs_client: httpx.AsyncClient) -> None:
    answer = await bobs_client.put(f"{IMPORTS}/contents/{'0' * 64}", content=b"one")
    assert refused(answer) == (460, "invalid_argument")


async def test_an_import_goes_to_ones_own_drive_only_and_needs_its_scopes(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "团队")
    await share(owner_client, place, "bob@example.com", "editor")
    content = await stored(bobs_client, b"one")
    shares = [{"email": "ann@example.com", "role": "viewer", "created_at": TIME}]

    assert refused(await imported(bobs_client, item("a", content), into=place["id"])) == (403, "forbidden")
    made = done(await bobs_client.post("/api/auth/keys", json={"name": "w", "scopes": ["read", "write"]}))
    async with service.client(made["key"]) as writer:
        assert refused(await imported(writer, item("a", shares=shares))) == (403, "missing_scope")
        assert (await imported(writer, item("a"))).is_success


@pytest.mark.parametrize(
    "wrong",
    [
        {"versions": []},
        {"kind": "folder"},
        {"parent_id": "nobody"},
        {"trash_id": "nobody"},
        {"name": "a/b"},
        {"name": ".."},
        {"created_at": "2020-01-01T00:00:00"},
        {"unknown": 1},
    ],
    ids=str,
)
async def test_what_is_no_item_is_refused_and_leaves_nothing(
    bobs_client: httpx.AsyncClient, wrong: dict[str, Any]
) -> None:
    content = await stored(bobs_client, b"one")

    status, _ = refused(await imported(bobs_client, item("first", content), item("a", content) | wrong))

    assert status in {409, 422}
    assert await names(bobs_client) == []


async def test_what_of_the_access_can_not_be_given_again_is_told(bobs_client: httpx.AsyncClient) -> None:
    link: dict[str, Any] = {"id": "l", "role": "viewer", "has_password": True, "expires_at": None,
                            "max_downloads": None, "downloads": 0, "created_at": TIME}  # fmt: skip
    over = {**link, "id": "m", "has_password": False, "expires_at": TIME}
    shares = [
        {"email": "bob@example.com", "role": "viewer", "created_at": TIME},
        {"email": "no address", "role": "viewer", "created_at": TIME},
    ]

    answer = done(await imported(bobs_client, item("a", shares=shares, links=[link, over])))

    assert [left["what"] for left in answer["left"]] == ["bob@example.com", "no address", "link", "link"]
    assert all(left["reason"] and left["messages"]["reason"]["zh"] for left in answer["left"])
    (found,) = (await exported(bobs_client)).values()
    assert found["shares"] == found["links"] == []


async def test_a_role_of_a_group_is_exported_by_its_name_and_given_again_to_the_group_of_that_name(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    for name in ("Sales Team", "Gone"):
        done(await owner_client.post("/api/groups", json={"name": name, "members": ["bob@example.com"]}))
    place = await folder(owner_client, "Offers")
    for name in ("Sales Team", "Gone"):
        await share(owner_client, place, f"group:{name}", "editor")
    shares = (await exported(owner_client))["Offers"]["shares"]
    assert [(one["email"], one["role"]) for one in shares] == [("group:Gone", "editor"), ("group:Sales Team", "editor")]

    done_at_the_new_place = "/api/groups/Sales Team"
    done(await owner_client.patch(done_at_the_new_place, json={"name": "SALES team"}))
    assert (await owner_client.delete("/api/groups/Gone")).is_success
    done(await owner_client.post(f"{ITEMS}/{place['id']}/trash"))
    answer = done(await imported(owner_client, item("Offers again", shares=shares)))

    restored = (await exported(owner_client))["Offers again"]
    assert [(one["email"], one["role"]) for one in restored["shares"]] == [("group:SALES team", "editor")]
    (left,) = answer["left"]
    assert (left["what"], left["reason"]) == ("group:Gone", "There is no such group.")
    assert left["messages"]["reason"]["zh"] == "没有这个群组。"
    seen = done(await bobs_client.get(f"{DRIVE}/shared"))["items"]
    assert [(one["name"], one["role"]) for one in seen] == [("Offers again", "editor")]


async def test_an_import_sends_no_notices_of_the_roles_that_it_gives_again(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    shares = [{"email": "bob@example.com", "role": "viewer", "created_at": TIME}]
    done(await imported(owner_client, item("Offers", shares=shares)))

    assert done(await bobs_client.get(f"{DRIVE}/shared"))["items"][0]["name"] == "Offers"
    assert done(await bobs_client.get("/api/notices"))["items"] == []


async def test_a_role_or_a_link_that_is_named_twice_is_told_and_the_item_is_restored(
    bobs_client: httpx.AsyncClient,
) -> None:
    link: dict[str, Any] = {"id": "l", "role": "viewer", "has_password": False, "expires_at": None,
                            "max_downloads": None, "downloads": 0, "created_at": TIME}  # fmt: skip
    shares = [
        {"email": "ann@example.com", "role": "viewer", "created_at": TIME},
        {"email": "Ann@Example.com", "role": "editor", "created_at": TIME},
    ]

    answer = done(await imported(bobs_client, item("a", shares=shares, links=[link, link])))

    assert [left["what"] for left in answer["left"]] == ["Ann@Example.com", "link"]
    (found,) = (await exported(bobs_client)).values()
    assert [share["role"] for share in found["shares"]] == ["viewer"]
    assert len(found["links"]) == 1


async def test_a_name_of_an_older_drive_with_noncharacters_is_taken_in_without_them(
    bobs_client: httpx.AsyncClient,
) -> None:
    done(await imported(bobs_client, item("a\ufdd0\uffff", kind="folder"), item("b", kind="folder")))
    assert sorted(await names(bobs_client)) == ["a\ufffd\ufffd", "b"]
