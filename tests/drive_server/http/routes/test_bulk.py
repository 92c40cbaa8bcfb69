"""One action on many items: a result for each, one change for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from tests.drive_server.http.items import DRIVE, ITEMS, done, file, folder, names, refused, share, undo

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

BULK = f"{ITEMS}/bulk"


async def bulk(client: httpx.AsyncClient, action: str, *items: Any, key: str = "", **more: Any) -> httpx.Response:
    named = [item if "if_match" in item else {"id": item["id"]} for item in items]
    headers = {"Idempotency-Key": key} if key else {}
    return await client.post(BULK, json={"action": action, "items": named, **more}, headers=headers)


def outcomes(answer: httpx.Response) -> list[str]:
    return [entry["problem"]["code"] if entry["problem"] else "" for entry in done(answer)["results"]]


async def test_what_can_be_moved_moves_and_the_rest_has_its_reason_and_one_undo_takes_all_of_it_back(
    owner_client: httpx.AsyncClient,
) -> None:
    place = await folder(owner_client, "A")
    files = [await file(owner_client, name) for name in ("一.md", "二.md", "三.md")]
    await file(owner_client, "二.md", b"other", place["id"])
    stale = {"id": files[2]["id"], "if_match": f"{files[2]['etag']}0"}

    answer = await bulk(owner_client, "move", files[0], files[1], {"id": "nothing"}, stale, parent_id=place["id"])

    assert outcomes(answer) == ["", "name_conflict", "not_found", "etag_mismatch"]
    assert done(answer)["changed"] == 1
    assert done(answer)["results"][0]["item"]["path"] == "/A/一.md"
    assert done(answer)["results"][1]["problem"]["details"]["suggestion"] == "二 (2).md"
    assert await names(owner_client) == ["A", "三.md", "二.md"]
    assert str(done(answer)["change_id"]) == answer.headers["drive-change-id"]
    await undo(owner_client, answer)
    assert await names(owner_client) == ["A", "一.md", "三.md", "二.md"]


async def test_each_action_does_what_it_does_for_one_item(owner_client: httpx.AsyncClient) -> None:
    place = await folder(owner_client, "A")
    inside = await file(owner_client, "in.md", parent=place["id"])
    files = [await file(owner_client, name) for name in ("a.md", "b.md")]

    copied = await bulk(owner_client, "copy", place, *files, parent_id="root", on_conflict="rename")
    assert outcomes(copied) == ["", "", ""]
    assert await names(owner_client) == ["A", "A (2)", "a (2).md", "a.md", "b (2).md", "b.md"]
    await undo(owner_client, copied)
    assert await names(owner_client) == ["A", "a.md", "b.md"]

    trashed = await bulk(owner_client, "trash", place, inside, *files)
    assert outcomes(trashed) == ["", "state_conflict", "", ""]  # it went along with its folder
    await undo(owner_client, trashed)
    assert await names(owner_client) == ["A", "a.md", "b.md"]

    done(await bulk(owner_client, "trash", *files))
    restored = await bulk(owner_client, "restore", *files, parent_id=place["id"])
    assert outcomes(restored) == ["", ""]
    assert await names(owner_client, place["id"]) == ["a.md", "b.md", "in.md"]

    assert outcomes(await bulk(owner_client, "delete", *files)) == ["state_conflict"] * 2
    done(await bulk(owner_client, "trash", *files))
    deleted = await bulk(owner_client, "delete", *files)
    assert outcomes(deleted) == ["", ""]
    assert (await undo(owner_client, deleted))["undone"] == []
    assert done(await owner_client.get(f"{DRIVE}/items/trash/children"))["items"]


async def test_the_same_file_is_changed_by_several_steps_and_goes_back_to_where_it_was(
    owner_client: httpx.AsyncClient,
) -> None:
    place = await folder(owner_client, "A")
    first, second = await file(owner_client, "x.md"), await file(owner_client, "x.md", b"2", place["id"])
    third = await file(owner_client, "y.md")

    # The first replaces what is there, which the second then names itself.
    answer = await bulk(owner_client, "move", first, third, first, second, parent_id=place["id"], on_conflict="replace")

    assert outcomes(answer) == ["", "", "", "state_conflict"]
    await undo(owner_client, answer)
    assert await names(owner_client) == ["A", "x.md", "y.md"]
    assert await names(owner_client, place["id"]) == ["x.md"]
    assert await names(owner_client, "trash") == []


async def test_a_repeated_request_happens_once_as_a_whole(owner_client: httpx.AsyncClient) -> None:
    place = await folder(owner_client, "A")
    first, second = await file(owner_client, "a.md"), await file(owner_client, "b.md")
    blocking = await file(owner_client, "b.md", parent=place["id"])

    answer = await bulk(owner_client, "move", first, second, key="k", parent_id=place["id"])
    assert outcomes(answer) == ["", "name_conflict"]
    done(await owner_client.post(f"{ITEMS}/{blocking['id']}/trash"))
    again = await bulk(owner_client, "move", first, second, key="k", parent_id=place["id"])

    assert again.json() == answer.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert "b.md" in await names(owner_client)
    other = await bulk(owner_client, "move", second, key="k", parent_id=place["id"])
    assert refused(other) == (409, "idempotency_conflict")


async def test_of_two_at_once_with_one_key_both_get_the_same_answer(owner_client: httpx.AsyncClient) -> None:
    place, made = await folder(owner_client, "A"), await file(owner_client, "a.md")
    answers: list[httpx.Response] = []

    async def copy() -> None:
        answers.append(await bulk(owner_client, "copy", made, key="k", parent_id=place["id"], on_conflict="rename"))

    async with anyio.create_task_group() as group:
        group.start_soon(copy)
        group.start_soon(copy)

    assert answers[0].json() == answers[1].json()
    assert await names(owner_client, place["id"]) == ["a.md"]


async def test_problems_are_in_the_language_of_the_request_also_when_it_is_repeated(
    owner_client: httpx.AsyncClient,
) -> None:
    body = {"action": "trash", "items": [{"id": "nothing"}]}
    for language, expected in (("zh-CN", "没有这一项"), ("en", "There is no")):
        headers = {"Accept-Language": language, "Idempotency-Key": "k"}
        problem = done(await owner_client.post(BULK, json=body, headers=headers))["results"][0]["problem"]
        assert problem["detail"].startswith(expected)
        assert (problem["status"], problem["title"]) == (404, "Not Found")


async def test_what_there_is_no_room_for_is_left_and_the_rest_is_done(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    bobs_key = await service.add_person("carl@example.com")
    async with service.client(bobs_key) as carl:
        small, large = await file(owner_client, "small", b"s" * 10), await file(owner_client, "large", b"l" * 1000)
        for item in (small, large):
            await share(owner_client, item, "carl@example.com", "viewer")
        done(await owner_client.patch("/api/users/carl@example.com", json={"quota_bytes": 100}))

        answer = await bulk(carl, "copy", large, small, parent_id="root")

        assert outcomes(answer) == ["quota_exceeded", ""]
        assert await names(carl) == ["small"]
        assert done(await carl.get("/api/auth/me"))["used_bytes"] == 10


async def test_rights_hold_for_each_item_and_for_the_folder(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "Team")
    theirs = await file(owner_client, "theirs.md", parent=place["id"])
    mine = await file(bobs_client, "mine.md")

    assert refused(await bulk(bobs_client, "move", mine, parent_id=place["id"])) == (404, "not_found")
    await share(owner_client, place, "bob@example.com", "viewer")
    assert refused(await bulk(bobs_client, "copy", mine, parent_id=place["id"])) == (403, "forbidden")
    assert outcomes(await bulk(bobs_client, "trash", mine, theirs)) == ["", "forbidden"]


async def test_items_are_starred_and_unstarred_together(owner_client: httpx.AsyncClient) -> None:
    files = [await file(owner_client, name) for name in ("a.md", "b.md")]

    answer = await bulk(owner_client, "star", *files, {"id": "nothing"})

    assert outcomes(answer) == ["", "", "not_found"]
    assert done(answer)["change_id"] is None
    starred = done(await owner_client.get(f"{DRIVE}/starred"))["items"]
    assert {item["name"] for item in starred} == {"a.md", "b.md"}
    done(await bulk(owner_client, "unstar", *files))
    assert done(await owner_client.get(f"{DRIVE}/starred"))["items"] == []


async def test_requests_that_make_no_sense_are_refused_as_a_whole(owner_client: httpx.AsyncClient) -> None:
    plan = await file(owner_client, "a.md")
    for body in (
        {"action": "move", "items": [{"id": plan["id"]}]},
        {"action": "move", "items": [], "parent_id": "root"},
        {"action": "burn", "items": [{"id": plan["id"]}]},
        {"action": "trash", "items": [{"id": plan["id"]}] * 501},
        {"action": "trash", "items": [plan["id"]]},
    ):
        assert (await owner_client.post(BULK, json=body)).status_code == 422, body
    assert refused(await bulk(owner_client, "move", plan, parent_id="nothing")) == (404, "not_found")
