"""Items renamed, moved, copied, trashed, restored and deleted for good, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anyio
import pytest

from tests.drive_server.http.items import DRIVE, FILES, ITEMS, done, file, folder, names, refused, share, undo

if TYPE_CHECKING:
    import httpx

NAMES = ("计划书 2027.md", "🗂️ photos.md", "تقرير.md", "x" * 252 + ".md")


async def test_an_item_gets_another_name_another_folder_or_both_at_once_and_each_can_be_undone(
    owner_client: httpx.AsyncClient,
) -> None:
    reports, plan = await folder(owner_client, "Reports"), await file(owner_client, "plan.md")
    path = f"{ITEMS}/{plan['id']}"

    for change, expected in (
        ({"name": "Plan.md"}, "/Plan.md"),
        ({"parent_id": reports["id"]}, "/Reports/plan.md"),
        ({"parent_id": reports["id"], "name": "Plan 2.md"}, "/Reports/Plan 2.md"),
        ({"parent_id": "root", "name": "Plan 3.md"}, "/Plan 3.md"),
    ):
        answer = await owner_client.patch(path, json=change)
        assert done(answer)["path"] == expected
        assert done(answer)["id"] == plan["id"]
        taken_back = await undo(owner_client, answer)
        assert len(taken_back["undone"]) == 1
        assert done(await owner_client.get(path))["path"] == "/plan.md"


@pytest.mark.parametrize("name", NAMES)
async def test_names_of_any_script_and_length_are_given_kept_and_found(
    owner_client: httpx.AsyncClient, name: str
) -> None:
    plan, place = await file(owner_client, "plan.md"), await folder(owner_client, "文件夹")

    moved = done(await owner_client.patch(f"{ITEMS}/{plan['id']}", json={"name": name, "parent_id": place["id"]}))
    copied = done(
        await owner_client.post(f"{ITEMS}/{plan['id']}/copy", json={"parent_id": place["id"], "on_conflict": "rename"})
    )

    assert moved["name"] == name
    assert copied["name"].endswith(" (2).md")
    assert len(copied["name"].encode()) <= 255
    found = await owner_client.get(f"{ITEMS}/{quote(f'/文件夹/{name}', safe='')}")
    assert done(found)["id"] == plan["id"]


async def test_names_that_nothing_may_have_are_refused_and_change_nothing(owner_client: httpx.AsyncClient) -> None:
    plan, place = await file(owner_client, "plan.md"), await folder(owner_client, "A")
    for name in ("", "..", "a/b", "a\\b", "a\0b", "\u202egnp.exe", "x" * 256, "\ud800"):
        for method, path, body in (
            ("PATCH", "", {"name": name}),
            ("PATCH", "", {"name": name, "parent_id": place["id"]}),
            ("POST", "/copy", {"name": name, "parent_id": place["id"]}),
        ):
            content = str(body).replace("'", '"').encode("utf-8", "surrogatepass")
            answer = await owner_client.request(
                method, f"{ITEMS}/{plan['id']}{path}", content=content, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == 422, (name, answer.text)
    assert await names(owner_client) == ["A", "plan.md"]
    assert await names(owner_client, place["id"]) == []


async def test_a_request_that_changes_nothing_or_misspells_a_field_is_refused(owner_client: httpx.AsyncClient) -> None:
    plan = await file(owner_client, "plan.md")
    for body in ({}, {"on_conflict": "rename"}, {"title": "x"}, {"name": "x", "on_conflict": "overwrite"}, [], None):
        assert (await owner_client.patch(f"{ITEMS}/{plan['id']}", json=body)).status_code == 422, body


async def test_a_name_that_is_taken_is_refused_numbered_or_replaced_and_an_undo_brings_both_back(
    owner_client: httpx.AsyncClient,
) -> None:
    place = await folder(owner_client, "A")
    here, there = await file(owner_client, "a.txt", b"new"), await file(owner_client, "a.txt", b"old", place["id"])

    def change(on_conflict: str) -> dict[str, Any]:
        return {"parent_id": place["id"], "on_conflict": on_conflict}

    taken = await owner_client.patch(f"{ITEMS}/{here['id']}", json=change("fail"))
    assert refused(taken) == (409, "name_conflict")
    assert taken.json()["details"]["suggestion"] == "a (2).txt"

    numbered = await owner_client.patch(f"{ITEMS}/{here['id']}", json=change("rename"))
    assert done(numbered)["name"] == "a (2).txt"
    await undo(owner_client, numbered)

    replaced = await owner_client.patch(f"{ITEMS}/{here['id']}", json=change("replace"))
    assert done(replaced)["name"] == "a.txt"
    assert await names(owner_client, "trash") == ["a.txt"]
    await undo(owner_client, replaced)
    assert await names(owner_client, place["id"]) == ["a.txt"]
    assert (await owner_client.get(f"{FILES}/{there['id']}/content")).content == b"old"


async def test_a_change_at_an_older_etag_is_refused_and_says_who_changed_what(owner_client: httpx.AsyncClient) -> None:
    plan = await file(owner_client, "plan.md")
    newer = done(await owner_client.patch(f"{ITEMS}/{plan['id']}", json={"name": "Plan.md"}))
    stale, fresh = {"If-Match": f'"{plan["etag"]}"'}, {"If-Match": f'"{newer["etag"]}"'}

    for method, path, body in (
        ("PATCH", "", {"name": "x.md"}),
        ("PATCH", "", {"parent_id": "root"}),
        ("POST", "/copy", {"parent_id": "root", "name": "x.md"}),
        ("POST", "/trash", None),
    ):
        answer = await owner_client.request(method, f"{ITEMS}/{plan['id']}{path}", json=body, headers=stale)
        assert refused(answer) == (409, "etag_mismatch"), (method, path)
        assert answer.json()["details"]["changed_by"]

    trashed = done(await owner_client.post(f"{ITEMS}/{plan['id']}/trash", headers=fresh))
    for method, path in (("POST", "/restore"), ("DELETE", "")):
        answer = await owner_client.request(method, f"{ITEMS}/{plan['id']}{path}", headers=stale)
        assert refused(answer) == (409, "etag_mismatch"), (method, path)
    several = await owner_client.delete(f"{ITEMS}/{plan['id']}", headers={"If-Match": '"a", "b"'})
    assert refused(several) == (422, "invalid_argument")
    gone = await owner_client.delete(f"{ITEMS}/{plan['id']}", headers={"If-Match": f'"{trashed["etag"]}"'})
    assert done(gone)["count"] == 1


async def test_a_copy_has_all_that_is_in_the_folder_and_an_undo_takes_it_to_the_trash(
    owner_client: httpx.AsyncClient,
) -> None:
    source = await folder(owner_client, "A")
    await file(owner_client, "面条.txt", b"noodles", source["id"])

    answer = await owner_client.post(f"{ITEMS}/{source['id']}/copy", json={"parent_id": "root", "name": "B"})

    assert answer.status_code == 201
    assert await names(owner_client, done(answer)["id"]) == ["面条.txt"]
    await undo(owner_client, answer)
    assert await names(owner_client) == ["A"]
    into_itself = await owner_client.post(f"{ITEMS}/{source['id']}/copy", json={"parent_id": source["id"]})
    assert refused(into_itself) == (409, "state_conflict")


async def test_an_item_goes_to_the_trash_and_back_and_only_from_there_for_good(
    owner_client: httpx.AsyncClient,
) -> None:
    place = await folder(owner_client, "A")
    inside = await file(owner_client, "a.txt", parent=place["id"])

    assert refused(await owner_client.delete(f"{ITEMS}/{place['id']}")) == (409, "state_conflict")
    trashed = await owner_client.post(f"{ITEMS}/{place['id']}/trash")
    assert done(trashed)["trashed_at"]
    assert refused(await owner_client.post(f"{ITEMS}/{place['id']}/trash")) == (409, "state_conflict")
    assert refused(await owner_client.post(f"{ITEMS}/{inside['id']}/restore")) == (409, "state_conflict")

    restored = await owner_client.post(f"{ITEMS}/{place['id']}/restore")
    assert done(restored)["path"] == "/A"
    await undo(owner_client, restored)
    assert await names(owner_client) == []
    elsewhere = await folder(owner_client, "B")
    moved = await owner_client.post(f"{ITEMS}/{place['id']}/restore", json={"parent_id": elsewhere["id"]})
    assert done(moved)["path"] == "/B/A"
    done(await owner_client.post(f"{ITEMS}/{place['id']}/trash"))

    answer = await owner_client.delete(f"{ITEMS}/{place['id']}")
    assert done(answer)["count"] == 2
    left = await undo(owner_client, answer)
    assert left["undone"] == []
    assert "for good" in left["skipped"][0]["reason"]
    assert refused(await owner_client.get(f"{ITEMS}/{inside['id']}")) == (404, "not_found")


async def test_a_repeated_request_happens_once_and_says_so_and_another_one_with_its_key_is_refused(
    owner_client: httpx.AsyncClient,
) -> None:
    plan = await file(owner_client, "plan.md")

    async def copied(name: str, key: str = "k") -> httpx.Response:
        body = {"parent_id": "root", "name": name}
        return await owner_client.post(f"{ITEMS}/{plan['id']}/copy", json=body, headers={"Idempotency-Key": key})

    first, again = await copied("副本.md"), await copied("副本.md")

    assert first.json() == again.json()
    assert first.headers["drive-change-id"] == again.headers["drive-change-id"]
    assert (first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]) == (None, "true")
    assert refused(await copied("other.md")) == (409, "idempotency_conflict")
    assert await names(owner_client) == ["plan.md", "副本.md"]


async def test_of_two_at_once_one_gets_the_name_and_the_other_a_problem_or_a_number(
    owner_client: httpx.AsyncClient,
) -> None:
    files = [await file(owner_client, f"{number}.md") for number in range(4)]
    answers: list[httpx.Response] = []

    async def rename(item: dict[str, Any], on_conflict: str) -> None:
        body = {"name": "same.md", "on_conflict": on_conflict}
        answers.append(await owner_client.patch(f"{ITEMS}/{item['id']}", json=body))

    async with anyio.create_task_group() as group:
        for item in files[:2]:
            group.start_soon(rename, item, "fail")
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    async with anyio.create_task_group() as group:
        for item in files[2:]:
            group.start_soon(rename, item, "rename")
    assert {"same.md", "same (2).md", "same (3).md"} < set(await names(owner_client))


async def test_a_viewer_may_copy_an_editor_may_change_and_a_stranger_sees_nothing(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "Team")
    inside = await file(owner_client, "a.txt", parent=place["id"])
    path = f"{ITEMS}/{inside['id']}"
    calls: tuple[tuple[str, str, Any], ...] = (
        ("PATCH", "", {"name": "b.txt"}),
        ("POST", "/trash", None),
        ("POST", "/restore", None),
        ("POST", "/copy", {"parent_id": "root"}),
        ("DELETE", "", None),
    )

    async def codes() -> list[int]:
        return [
            (await bobs_client.request(method, f"{path}{rest}", json=body)).status_code for method, rest, body in calls
        ]

    assert await codes() == [404] * 5
    await share(owner_client, place, "bob@example.com", "viewer")
    assert await codes() == [403, 403, 403, 201, 403]
    await share(owner_client, place, "bob@example.com", "editor")
    assert await codes() == [200, 200, 200, 201, 403]  # only its owner may delete it for good


async def test_a_key_without_the_scope_is_refused(service: Any, owner_client: httpx.AsyncClient) -> None:
    plan = await file(owner_client, "plan.md")
    made = done(await owner_client.post("/api/auth/keys", json={"name": "w", "scopes": ["read", "write"]}))
    async with service.client(made["key"]) as writer:
        assert refused(await writer.post(f"{ITEMS}/{plan['id']}/trash")) == (403, "missing_scope")
        assert refused(await writer.delete(f"{DRIVE}/trash")) == (403, "missing_scope")
        assert done(await writer.patch(f"{ITEMS}/{plan['id']}", json={"name": "b.md"}))["name"] == "b.md"


async def test_an_escaped_slash_belongs_to_the_item_and_never_to_the_address(owner_client: httpx.AsyncClient) -> None:
    await folder(owner_client, "A")
    for name in ("trash", "copy", "children", "shares"):
        await folder(owner_client, name, "/A")
    await file(owner_client, "content", b"bytes", "/A")

    posted = await owner_client.post(f"{ITEMS}/%2FA%2Ftrash")
    renamed = await owner_client.patch(f"{ITEMS}/%2FA%2Fcopy", json={"name": "copies"})
    listed = await owner_client.get(f"{ITEMS}/%2FA%2fchildren/children")
    content = await owner_client.get(f"{FILES}/%2FA%2Fcontent/content")
    nothing = await owner_client.get(f"{FILES}/%2FA%2Fcontent")

    assert (posted.status_code, nothing.status_code) == (405, 404)
    assert done(renamed)["path"] == "/A/copies"
    assert done(listed)["items"] == []
    assert content.content == b"bytes"
    assert "A" in await names(owner_client)


async def test_a_change_can_be_looked_at_before_it_is_undone_and_done_again(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    plan = await file(owner_client, "plan.md")
    answer = await owner_client.patch(f"{ITEMS}/{plan['id']}", json={"name": "b.md"})
    path = f"{DRIVE}/changes/{answer.headers['drive-change-id']}"

    preview = await owner_client.post(f"{path}/undo", json={"preview": True})
    assert (done(preview)["preview"], len(done(preview)["undone"])) == (True, 1)
    assert "drive-change-id" not in preview.headers
    assert await names(owner_client) == ["b.md"]
    assert refused(await bobs_client.post(f"{path}/undo")) == (404, "not_found")

    undone = await owner_client.post(f"{path}/undo", headers={"Idempotency-Key": "u"})
    again = await owner_client.post(f"{path}/undo", headers={"Idempotency-Key": "u"})
    assert again.json()["change_id"] == undone.json()["change_id"]
    assert refused(await owner_client.post(f"{path}/undo")) == (409, "state_conflict")
    assert await names(owner_client) == ["plan.md"]
    redone = await owner_client.post(f"{path}/redo")
    assert len(done(redone)["redone"]) == 1
    assert await names(owner_client) == ["b.md"]
    assert refused(await owner_client.post(f"{DRIVE}/changes/999999/undo")) == (404, "not_found")


async def test_the_journal_names_the_tool_and_the_way_of_each_change(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    plan = await file(bobs_client, "plan.md")
    done(await bobs_client.patch(f"{ITEMS}/{plan['id']}", json={"name": "b.md"}))
    done(await bobs_client.post(f"{ITEMS}/{plan['id']}/trash"))

    changes = done(await bobs_client.get(f"{DRIVE}/changes"))["changes"]

    assert [change["action"] for change in changes] == ["trash", "rename", "create_file"]
    assert {change["method"] for change in changes} == {"api_key"}
    assert changes[0]["tool"] == "trash_item"
    kinds = done(await bobs_client.get(f"{DRIVE}/changes", params={"kind": "trash"}))["changes"]
    assert [change["action"] for change in kinds] == ["trash"]
    del owner_client
