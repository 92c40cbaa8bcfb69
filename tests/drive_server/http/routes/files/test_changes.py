"""Contents replaced and texts edited over HTTP, and the versions that this makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from tests.drive_server.http.items import DRIVE, FILES, ITEMS, done, file, folder, refused, share, undo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.drive_server.http.service import Service


async def content(client: httpx.AsyncClient, item: dict[str, Any]) -> bytes:
    return (await client.get(f"{FILES}/{item['id']}/content")).content


async def test_bytes_become_the_newest_version_of_a_file_and_an_undo_brings_the_old_ones_back(
    owner_client: httpx.AsyncClient,
) -> None:
    made = await file(owner_client, "图.bin", b"\0one")
    path = f"{FILES}/{made['id']}/content"

    answer = await owner_client.put(path, content=b"\0two")

    assert (done(answer)["version"], done(answer)["size"]) == (2, 4)
    assert await content(owner_client, made) == b"\0two"
    await undo(owner_client, answer)
    assert await content(owner_client, made) == b"\0one"
    changes = done(await owner_client.get(f"{DRIVE}/changes"))["changes"]
    assert [change["tool"] for change in changes] == ["undo_changes", "write_file", "upload_file"]


async def test_a_content_larger_than_a_json_body_is_streamed_and_the_largest_file_is_the_limit(
    owner_client: httpx.AsyncClient,
) -> None:
    made = await file(owner_client, "a.bin")
    path = f"{FILES}/{made['id']}/content"

    async def chunks(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b"x" * 100_000

    assert done(await owner_client.put(path, content=b"x" * 1_000_000))["size"] == 1_000_000
    assert done(await owner_client.put(path, content=chunks(2)))["size"] == 200_000
    assert refused(await owner_client.put(path, content=b"x" * 3_000_001)) == (413, "too_large")
    assert refused(await owner_client.put(path, content=chunks(31))) == (413, "too_large")
    assert done(await owner_client.get(f"{ITEMS}/{made['id']}"))["version"] == 3


async def test_a_content_is_replaced_only_if_it_is_the_one_that_was_seen_by_either_etag(
    owner_client: httpx.AsyncClient,
) -> None:
    made = await file(owner_client, "a.txt", b"one")
    path = f"{FILES}/{made['id']}/content"
    seen = (await owner_client.get(path)).headers["etag"]

    assert done(await owner_client.put(path, content=b"two", headers={"If-Match": seen}))["version"] == 2
    for stale in (seen, made["etag"], "nonsense"):
        answer = await owner_client.put(path, content=b"three", headers={"If-Match": stale})
        assert refused(answer) == (409, "etag_mismatch")
        answer = await owner_client.patch(path, json={"append": "x"}, headers={"If-Match": stale})
        assert refused(answer) == (409, "etag_mismatch")
    assert done(await owner_client.put(path, content=b"four", headers={"If-Match": "*"}))["version"] == 3


async def test_of_two_that_replace_what_both_saw_one_gets_through(owner_client: httpx.AsyncClient) -> None:
    made = await file(owner_client, "a.txt", b"one")
    codes: list[int] = []

    async def put(data: bytes) -> None:
        path = f"{FILES}/{made['id']}/content"
        answer = await owner_client.put(path, content=data, headers={"If-Match": made["etag"]})
        codes.append(answer.status_code)

    async with anyio.create_task_group() as group:
        for data in (b"two", b"three"):
            group.start_soon(put, data)

    assert sorted(codes) == [200, 409]


async def test_a_repeated_upload_makes_one_version_also_if_somebody_wrote_in_between(
    owner_client: httpx.AsyncClient,
) -> None:
    made = await file(owner_client, "a.txt", b"one")
    path, headers = f"{FILES}/{made['id']}/content", {"Idempotency-Key": "k", "If-Match": made["etag"]}

    first = await owner_client.put(path, content=b"two", headers=headers)
    done(await owner_client.put(path, content=b"three"))
    again = await owner_client.put(path, content=b"two", headers=headers)

    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert await content(owner_client, made) == b"three"


async def test_passages_of_a_text_are_replaced_and_lines_appended_as_the_tools_do(
    owner_client: httpx.AsyncClient,
) -> None:
    made = await file(owner_client, "计划.md", "状态：草稿\r\nnext\r\n".encode())
    path = f"{FILES}/{made['id']}/content"

    edits = [{"find": "草稿", "replace": "定稿 🎉"}, {"find": "next", "replace": "last"}]
    edited = await owner_client.patch(path, json={"edits": edits})
    assert await content(owner_client, made) == "状态：定稿 🎉\r\nlast\r\n".encode()
    appended = await owner_client.patch(path, json={"append": "end"})
    assert (await content(owner_client, made)).endswith(b"last\r\nend")

    assert [done(answer)["version"] for answer in (edited, appended)] == [2, 3]
    await undo(owner_client, appended)
    assert (await content(owner_client, made)).endswith(b"last\r\n")
    absent = await owner_client.patch(path, json={"edits": [{"find": "draft", "replace": "x"}]})
    assert refused(absent) == (409, "edit_mismatch")
    assert absent.json()["details"]["candidates"] is not None
    tools = [change["tool"] for change in done(await owner_client.get(f"{DRIVE}/changes"))["changes"]]
    assert tools[:3] == ["undo_changes", "append_to_file", "patch_file"]


async def test_edits_that_say_nothing_or_two_things_or_are_of_no_text_are_refused(
    owner_client: httpx.AsyncClient,
) -> None:
    made, place = await file(owner_client, "a.pdf", b"%PDF-1.4"), await folder(owner_client, "A")
    edit = {"find": "a", "replace": "b"}
    for body in ({}, {"edits": []}, {"edits": [edit], "append": "x"}, {"edits": [{"find": ""}]}, {"text": "x"}):
        assert (await owner_client.patch(f"{FILES}/{made['id']}/content", json=body)).status_code == 422, body
    answer = await owner_client.patch(f"{FILES}/{made['id']}/content", json={"edits": [edit]})
    assert refused(answer) == (415, "unsupported_content")
    assert (await owner_client.put(f"{FILES}/{place['id']}/content", content=b"x")).status_code == 422


async def test_a_new_content_needs_room_and_the_room_is_asked_for_before_it_is_sent(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    async with service.client(await service.add_person("carl@example.com")) as carl:
        made = await file(carl, "a.txt", b"x" * 50)
        done(await owner_client.patch("/api/users/carl@example.com", json={"quota_bytes": 100}))
        answer = await carl.put(f"{FILES}/{made['id']}/content", content=b"y" * 60)
        assert refused(answer) == (507, "quota_exceeded")
        assert done(await carl.put(f"{FILES}/{made['id']}/content", content=b"y" * 40))["version"] == 2


async def test_versions_are_listed_downloaded_compared_and_brought_back(owner_client: httpx.AsyncClient) -> None:
    made = await file(owner_client, "笔记.md", b"one\n")
    path = f"{FILES}/{made['id']}"
    for text in (b"two\n", b"three\n"):
        done(await owner_client.put(f"{path}/content", content=text))

    first = done(await owner_client.get(f"{path}/versions", params={"limit": 2}))
    rest = done(await owner_client.get(f"{path}/versions", params={"limit": 2, "cursor": first["cursor"]}))
    assert [one["number"] for one in first["versions"] + rest["versions"]] == [3, 2, 1]
    assert rest["cursor"] is None

    part = await owner_client.get(f"{path}/versions/1/content", headers={"Range": "bytes=1-"})
    assert (part.status_code, part.content) == (206, b"ne\n")
    difference = done(await owner_client.get(f"{path}/versions/1/diff", params={"to": 2}))
    assert "-one\n+two\n" in difference["diff"]
    assert "+three" in done(await owner_client.get(f"{path}/versions/1/diff"))["diff"]

    restored = await owner_client.post(f"{path}/versions/1/restore")
    assert done(restored)["version"] == 4
    assert await content(owner_client, made) == b"one\n"
    await undo(owner_client, restored)
    assert await content(owner_client, made) == b"three\n"
    stale = await owner_client.post(f"{path}/versions/1/restore", headers={"If-Match": made["etag"]})
    assert refused(stale) == (409, "etag_mismatch")
    for rest_of_path in ("versions/9/content", "versions/9/diff"):
        assert refused(await owner_client.get(f"{path}/{rest_of_path}")) == (404, "not_found")
    assert (await owner_client.get(f"{path}/versions/0/content")).status_code == 422


async def test_versions_are_for_editors_and_a_stranger_sees_nothing(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    made = await file(owner_client, "a.txt")
    path = f"{FILES}/{made['id']}"
    calls: tuple[tuple[str, str], ...] = (
        ("GET", "/versions"),
        ("GET", "/versions/1/content"),
        ("GET", "/versions/1/diff"),
        ("POST", "/versions/1/restore"),
        ("PUT", "/content"),
        ("PATCH", "/content"),
    )

    async def codes() -> set[int]:
        body = b'{"append": "x"}'
        headers = {"Content-Type": "application/json"}
        return {
            (await bobs_client.request(method, f"{path}{rest}", content=body, headers=headers)).status_code
            for method, rest in calls
        }

    assert await codes() == {404}
    await share(owner_client, made, "bob@example.com", "viewer")
    assert await codes() == {403}
    await share(owner_client, made, "bob@example.com", "editor")
    assert await codes() == {200}
