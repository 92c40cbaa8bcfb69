from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.drive_server.http.service import Service

UPLOAD = "/api/drive/files"


async def upload(client: httpx.AsyncClient, name: str, content: bytes, **params: str) -> dict[str, str]:
    response = await client.post(UPLOAD, params={"name": name, **params}, content=content)
    assert response.status_code == 201, response.text
    return response.json()


async def test_a_file_comes_back_as_it_was_sent(owner_client: httpx.AsyncClient) -> None:
    content = bytes(range(256)) * 1000
    item = await upload(owner_client, "数据 📊.bin", content)

    response = await owner_client.get(f"{UPLOAD}/{item['id']}/content")

    assert response.content == content
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-disposition"] == (
        "attachment; filename=\"__ _.bin\"; filename*=UTF-8''%E6%95%B0%E6%8D%AE%20%F0%9F%93%8A.bin"
    )


async def test_a_quote_in_a_name_stays_inside_the_header(owner_client: httpx.AsyncClient) -> None:
    item = await upload(owner_client, 'a"; filename=evil.exe; x="', b"x")

    disposition = (await owner_client.get(f"{UPLOAD}/{item['id']}/content")).headers["content-disposition"]

    assert disposition.startswith("attachment; filename=\"a_; filename=evil.exe; x=_\"; filename*=UTF-8''a%22%3B")


async def test_the_name_tells_the_type_and_the_header_where_it_does_not(owner_client: httpx.AsyncClient) -> None:
    for name, sent, kept in (
        ("a.md", "text/plain;charset=UTF-8", "text/markdown"),
        ("b.csv", "application/x-www-form-urlencoded", "text/csv"),
        ("c", "application/pdf", "application/pdf"),
        ("d", "application/octet-stream", "text/plain"),
    ):
        response = await owner_client.post(
            UPLOAD, params={"name": name}, content=b"plain words", headers={"Content-Type": sent}
        )
        assert response.json()["media_type"] == kept


async def test_an_empty_file_is_a_file(owner_client: httpx.AsyncClient) -> None:
    item = await upload(owner_client, "empty.txt", b"")

    response = await owner_client.get(f"{UPLOAD}/{item['id']}/content")
    beyond = await owner_client.get(f"{UPLOAD}/{item['id']}/content", headers={"Range": "bytes=0-"})

    assert (response.status_code, response.content) == (200, b"")
    assert beyond.status_code == 416


async def test_what_happens_to_a_name_that_is_taken_is_up_to_the_client(owner_client: httpx.AsyncClient) -> None:
    first = await upload(owner_client, "a.txt", b"one")

    refused = await owner_client.post(UPLOAD, params={"name": "a.txt"}, content=b"two")
    renamed = await upload(owner_client, "a.txt", b"two", on_conflict="rename")
    replaced = await upload(owner_client, "a.txt", b"three", on_conflict="replace")

    assert (refused.status_code, refused.json()["code"]) == (409, "name_conflict")
    assert renamed["name"] == "a (2).txt"
    assert (replaced["id"], replaced["version"]) == (first["id"], 2)
    earlier = await owner_client.get(f"{UPLOAD}/{first['id']}/content", params={"version": 1})
    assert earlier.content == b"one"


async def test_a_repeated_upload_with_its_key_makes_one_file(owner_client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "upload-1"}
    params = {"name": "a.txt", "on_conflict": "rename"}

    first = await owner_client.post(UPLOAD, params=params, content=b"x", headers=headers)
    again = await owner_client.post(UPLOAD, params=params, content=b"x", headers=headers)
    other = await owner_client.post(UPLOAD, params=params, content=b"y", headers=headers)

    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_an_upload_over_the_limit_is_refused_with_and_without_its_length(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    limit = service.drive.settings.max_upload_bytes

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(limit // 100_000 + 1):
            yield bytes(100_000)

    declared = await owner_client.post(UPLOAD, params={"name": "a"}, content=bytes(limit + 1))
    streamed = await owner_client.post(UPLOAD, params={"name": "a"}, content=chunks())

    for response in (declared, streamed):
        assert (response.status_code, response.json()["code"]) == (413, "too_large")
        assert response.json()["details"]["limit"] == limit
    assert (await owner_client.get("/api/drive/items/root/children")).json()["items"] == []


async def test_an_upload_to_nowhere_is_refused_before_it_is_read(service: Service) -> None:
    head = (
        f"POST {UPLOAD}?name=a&parent_id={'0' * 32} HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {service.token}\r\nContent-Length: 1000000\r\n\r\n"
    )
    async with await anyio.connect_tcp("127.0.0.1", int(service.url.rpartition(":")[2])) as connection:
        await connection.send(head.encode())

        answer = await connection.receive()

    assert answer.startswith(b"HTTP/1.1 404 ")


async def test_parts_are_sent_as_asked(owner_client: httpx.AsyncClient) -> None:
    item = await upload(owner_client, "a.txt", b"0123456789")
    path = f"{UPLOAD}/{item['id']}/content"

    for sent, status, content, told in (
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=8-", 206, b"89", "bytes 8-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("nonsense", 200, b"0123456789", None),
    ):
        response = await owner_client.get(path, headers={"Range": sent})

        assert (response.status_code, response.content, response.headers.get("content-range")) == (
            status,
            content,
            told,
        )
        assert response.headers["content-length"] == str(len(content))

    beyond = await owner_client.get(path, headers={"Range": "bytes=10-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, "bytes */10")
    assert beyond.json()["code"] == "range_not_satisfiable"


async def test_an_unchanged_file_is_not_sent_again_and_a_part_of_another_content_not_mixed_in(
    owner_client: httpx.AsyncClient,
) -> None:
    item = await upload(owner_client, "a.txt", b"one")
    path = f"{UPLOAD}/{item['id']}/content"
    etag = (await owner_client.head(path)).headers["etag"]

    unchanged = await owner_client.get(path, headers={"If-None-Match": etag})
    part = await owner_client.get(path, headers={"Range": "bytes=1-", "If-Range": etag})
    await upload(owner_client, "a.txt", b"three", on_conflict="replace")
    changed = await owner_client.get(path, headers={"If-None-Match": etag})
    whole = await owner_client.get(path, headers={"Range": "bytes=1-", "If-Range": etag})

    assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", etag)
    assert (part.status_code, part.content) == (206, b"ne")
    assert (changed.status_code, changed.content) == (200, b"three")
    assert (whole.status_code, whole.content) == (200, b"three")


async def test_head_tells_the_length_and_sends_nothing(owner_client: httpx.AsyncClient) -> None:
    item = await upload(owner_client, "a.txt", b"0123456789")

    response = await owner_client.head(f"{UPLOAD}/{item['id']}/content")

    assert (response.status_code, response.headers["content-length"], response.content) == (200, "10", b"")


async def test_head_knows_no_ranges(owner_client: httpx.AsyncClient) -> None:
    item = await upload(owner_client, "a.txt", b"0123456789")

    response = await owner_client.head(f"{UPLOAD}/{item['id']}/content", headers={"Range": "bytes=0-3"})

    assert (response.status_code, response.headers["content-length"]) == (200, "10")


async def test_content_that_the_store_lost_is_an_error_and_no_broken_download(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    item = await upload(owner_client, "a.txt", b"precious")
    blobs = service.drive.settings.root / "blobs"
    for blob in blobs.glob("*/*/*"):
        blob.unlink()

    response = await owner_client.get(f"{UPLOAD}/{item['id']}/content")

    assert (response.status_code, response.json()["code"]) == (507, "storage_failure")
    assert str(blobs) not in response.text


async def test_somebody_elses_file_is_answered_like_one_that_does_not_exist(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    item = await upload(owner_client, "a.txt", b"secret")

    foreign = await bobs_client.get(f"{UPLOAD}/{item['id']}/content")
    unknown = await bobs_client.get(f"{UPLOAD}/{'0' * 32}/content")

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["detail"] == unknown.json()["detail"]


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\0b", "x" * 300, "x" * 4096, "a\nb"])
async def test_a_name_that_nothing_may_have_is_refused(owner_client: httpx.AsyncClient, name: str) -> None:
    response = await owner_client.post(UPLOAD, params={"name": name}, content=b"x")

    assert response.status_code == 422
    assert response.json()["code"] in {"invalid_name", "invalid_argument"}
    assert (await owner_client.get("/api/drive/items/root/children")).json()["items"] == []


async def test_two_uploads_of_one_name_at_once_make_one_file(owner_client: httpx.AsyncClient) -> None:
    statuses: list[int] = []

    async def send(content: bytes) -> None:
        statuses.append((await owner_client.post(UPLOAD, params={"name": "a.txt"}, content=content)).status_code)

    async with anyio.create_task_group() as group:
        for content in (b"one", b"two"):
            group.start_soon(send, content)

    assert sorted(statuses) == [201, 409]
