"""Resumable uploads over a real socket, as the protocol tus 1.0.0 has them."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import anyio
import httpx
import pytest

from drive_server.http.routes.files import uploads as routes
from drive_server.kernel.access import Actor
from drive_server.storage.blobs import CHUNK_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.drive_server.http.service import Service

UPLOADS = "/api/drive/uploads"
TUS = {"Tus-Resumable": "1.0.0"}
BYTES = {**TUS, "Content-Type": "application/offset+octet-stream"}


def metadata(**pairs: str) -> str:
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items())


async def begin(client: httpx.AsyncClient, length: int, name: str = "a.bin", **more: str) -> str:
    """Begin an upload; return its address."""
    headers = {**TUS, "Upload-Length": str(length), "Upload-Metadata": metadata(filename=name, **more)}
    response = await client.post(UPLOADS, headers=headers)
    assert response.status_code == 201, response.text
    return urljoin(str(response.url), response.headers["location"])


async def send(
    client: httpx.AsyncClient, url: str, offset: int, data: bytes | AsyncIterator[bytes], **more: str
) -> httpx.Response:
    headers = {**BYTES, "Upload-Offset": str(offset), **{key.replace("_", "-"): value for key, value in more.items()}}
    return await client.patch(url, content=data, headers=headers)


async def offset_of(client: httpx.AsyncClient, url: str) -> int:
    return int((await client.head(url, headers=TUS)).headers["upload-offset"])


async def content_of(client: httpx.AsyncClient, item_id: str) -> bytes:
    return (await client.get(f"/api/drive/files/{item_id}/content")).content


async def names(client: httpx.AsyncClient, folder: str = "root") -> list[str]:
    return [item["name"] for item in (await client.get(f"/api/drive/items/{folder}/children")).json()["items"]]


async def test_the_options_tell_what_is_understood_without_a_key(service: Service) -> None:
    async with service.client("") as nobody:
        response = await nobody.options(UPLOADS)

    assert response.status_code == 204
    assert response.headers["tus-version"] == response.headers["tus-resumable"] == "1.0.0"
    assert set(response.headers["tus-extension"].split(",")) == {
        "creation",
        "creation-with-upload",
        "creation-defer-length",
        "termination",
        "expiration",
        "checksum",
    }
    assert int(response.headers["tus-max-size"]) == service.drive.settings.max_upload_bytes
    assert set(response.headers["tus-checksum-algorithm"].split(",")) == {"sha1", "sha256"}
    assert "PATCH" in response.headers["access-control-allow-methods"]
    assert "upload-offset" in response.headers["access-control-allow-headers"].lower()


async def test_an_upload_in_pieces_becomes_a_file(owner_client: httpx.AsyncClient) -> None:
    folder = (await owner_client.post("/api/drive/items", json={"kind": "folder", "name": "数据"})).json()["id"]
    content = bytes(range(256)) * 3000
    url = await begin(owner_client, len(content), "照片 📷.bin", parent_id=folder, filetype="image/x-raw")

    first = await send(owner_client, url, 0, content[:300_000])
    looked = await owner_client.head(url, headers=TUS)
    assert await names(owner_client, folder) == []
    last = await send(owner_client, url, 300_000, content[300_000:])

    assert (first.status_code, first.headers["upload-offset"]) == (204, "300000")
    assert "upload-item-id" not in first.headers
    assert first.headers["upload-expires"].endswith("GMT")
    assert (looked.status_code, looked.headers["upload-offset"]) == (200, "300000")
    assert looked.headers["upload-length"] == str(len(content))
    assert looked.headers["cache-control"] == "no-store"
    assert looked.headers["upload-metadata"].startswith("filename ")
    assert (last.status_code, last.headers["upload-offset"]) == (204, str(len(content)))
    item = (await owner_client.get(urljoin(url, last.headers["content-location"]))).json()
    assert (item["id"], item["name"], item["parent_id"]) == (last.headers["upload-item-id"], "照片 📷.bin", folder)
    assert item["media_type"] == "image/x-raw"
    assert await content_of(owner_client, item["id"]) == content


async def test_a_finished_upload_names_the_change_that_takes_it_back(owner_client: httpx.AsyncClient) -> None:
    url = await begin(owner_client, 2)
    assert "drive-change-id" not in (await send(owner_client, url, 0, b"a")).headers
    answers = [await send(owner_client, url, 1, b"b"), await owner_client.head(url, headers=TUS)]
    answers.append(await send(owner_client, url, 2, b""))
    (change,) = {answer.headers["drive-change-id"] for answer in answers}
    taken_back = await owner_client.post(f"/api/drive/changes/{change}/undo", json={})
    assert taken_back.status_code == 200, taken_back.text
    assert await names(owner_client) == []


async def test_a_finished_upload_still_tells_what_it_became(service: Service, owner_client: httpx.AsyncClient) -> None:
    url = await begin(owner_client, 3)
    done = await send(owner_client, url, 0, b"abc")

    looked = await owner_client.head(url, headers=TUS)
    again = await send(owner_client, url, 3, b"")
    ended = await owner_client.delete(url, headers=TUS)

    for response in (looked, again):
        assert response.headers["upload-item-id"] == done.headers["upload-item-id"]
        assert response.headers["upload-offset"] == "3"
    assert ended.status_code == 204
    assert (await owner_client.head(url, headers=TUS)).status_code == 404
    assert await names(owner_client) == ["a.bin"]
    assert [path.name for path in (service.drive.settings.root / "uploads").iterdir()] == []


@pytest.mark.parametrize("path", [UPLOADS, f"{UPLOADS}/"])
async def test_what_arrives_with_the_beginning_counts(owner_client: httpx.AsyncClient, path: str) -> None:
    headers = {**BYTES, "Upload-Length": "6", "Upload-Metadata": metadata(filename="a.txt")}
    other = {**headers, "Upload-Metadata": metadata(filename="b.txt")}

    half = await owner_client.post(path, headers=headers, content=b"abc")
    whole = await owner_client.post(path, headers=other, content=b"ghijkl")
    rest = await send(owner_client, urljoin(str(half.url), half.headers["location"]), 3, b"def")

    assert (half.status_code, half.headers["upload-offset"]) == (201, "3")
    assert (whole.status_code, whole.headers["upload-offset"]) == (201, "6")
    assert await content_of(owner_client, rest.headers["upload-item-id"]) == b"abcdef"
    assert await content_of(owner_client, whole.headers["upload-item-id"]) == b"ghijkl"


async def test_a_beginning_whose_bytes_are_refused_leaves_nothing(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    checksum = "sha1 " + b64encode(bytes(20)).decode()
    headers = {**BYTES, "Upload-Length": "6", "Upload-Metadata": metadata(filename="a.txt")}

    mismatch = await owner_client.post(UPLOADS, headers={**headers, "Upload-Checksum": checksum}, content=b"abc")
    too_many = await owner_client.post(UPLOADS, headers=headers, content=b"abcdefg")

    assert (mismatch.status_code, too_many.status_code) == (460, 413)
    assert list((service.drive.settings.root / "uploads").iterdir()) == []


async def test_an_empty_file_needs_no_bytes(owner_client: httpx.AsyncClient) -> None:
    headers = {**TUS, "Upload-Length": "0", "Upload-Metadata": metadata(filename="empty")}

    response = await owner_client.post(UPLOADS, headers=headers)

    assert (response.status_code, response.headers["upload-offset"]) == (201, "0")
    assert await content_of(owner_client, response.headers["upload-item-id"]) == b""


async def test_the_length_can_be_told_later_but_once(owner_client: httpx.AsyncClient) -> None:
    headers = {**TUS, "Upload-Defer-Length": "1", "Upload-Metadata": metadata(filename="a")}
    url = urljoin(
        str(owner_client.base_url) + UPLOADS, (await owner_client.post(UPLOADS, headers=headers)).headers["location"]
    )

    await send(owner_client, url, 0, b"abc")
    unknown = await owner_client.head(url, headers=TUS)
    told = await send(owner_client, url, 3, b"d", Upload_Length="6")
    other = await send(owner_client, url, 4, b"e", Upload_Length="7")
    done = await send(owner_client, url, 4, b"ef")

    assert (unknown.headers["upload-defer-length"], unknown.headers.get("upload-length")) == ("1", None)
    assert (told.status_code, told.headers["upload-offset"]) == (204, "4")
    assert (other.status_code, other.json()["code"]) == (422, "invalid_argument")
    assert await content_of(owner_client, done.headers["upload-item-id"]) == b"abcdef"


async def test_the_wrong_offset_is_refused_and_changes_nothing(owner_client: httpx.AsyncClient) -> None:
    url = await begin(owner_client, 6)
    await send(owner_client, url, 0, b"abc")

    for offset in (0, 2, 4, 6):
        response = await send(owner_client, url, offset, b"xyz")
        assert (response.status_code, response.json()["details"]) == (409, {"offset": 3})
        assert response.headers["tus-resumable"] == "1.0.0"
    assert (await owner_client.head(url, headers=TUS)).headers["upload-offset"] == "3"


async def test_more_bytes_than_announced_are_refused(owner_client: httpx.AsyncClient) -> None:
    async def unannounced() -> AsyncIterator[bytes]:
        yield b"abcd"
        yield b"efgh"

    url = await begin(owner_client, 6)

    declared = await send(owner_client, url, 0, b"abcdefgh")
    streamed = await send(owner_client, url, 0, unannounced())

    assert (declared.status_code, declared.json()["code"]) == (413, "too_large")
    assert (streamed.status_code, streamed.json()["code"]) == (413, "too_large")
    offset = await offset_of(owner_client, url)
    assert offset <= 4
    done = await send(owner_client, url, offset, b"abcdef"[offset:])
    assert await content_of(owner_client, done.headers["upload-item-id"]) == b"abcdef"


async def test_a_checksum_is_held_against_the_bytes(owner_client: httpx.AsyncClient) -> None:
    url = await begin(owner_client, 6)
    right = "sha256 " + b64encode(hashlib.sha256(b"abc").digest()).decode()
    other = "sha1 " + b64encode(hashlib.sha1(b"def", usedforsecurity=False).digest()).decode()

    wrong = await send(owner_client, url, 0, b"abX", Upload_Checksum=right)
    unknown = await send(owner_client, url, 0, b"abc", Upload_Checksum="crc32 AAAA")
    garbled = await send(owner_client, url, 0, b"abc", Upload_Checksum="sha1 %%%")
    fits = await send(owner_client, url, 0, b"abc", Upload_Checksum=right)
    done = await send(owner_client, url, 3, b"def", Upload_Checksum=other)

    assert (wrong.status_code, unknown.status_code, garbled.status_code) == (460, 400, 400)
    assert wrong.json()["title"] == "Checksum Mismatch"
    assert fits.headers["upload-offset"] == "3"
    assert await content_of(owner_client, done.headers["upload-item-id"]) == b"abcdef"


async def test_a_broken_connection_keeps_what_arrived(service: Service, owner_client: httpx.AsyncClient) -> None:
    content = bytes(range(250)) * 10_000
    url = await begin(owner_client, len(content))
    head = (
        f"PATCH {httpx.URL(url).path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.token}\r\n"
        "Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    async with await anyio.connect_tcp("127.0.0.1", int(service.url.rpartition(":")[2])) as connection:
        await connection.send(head.encode() + content[:2_000_000])
        while await offset_of(owner_client, url) == 0:
            pass

    # The service notices in its own time; until then the upload is locked for whoever wants to go on.
    offset = await offset_of(owner_client, url)
    while (response := await send(owner_client, url, offset, content[offset:])).status_code in (409, 423):
        offset = await offset_of(owner_client, url)

    assert offset > 0
    assert await content_of(owner_client, response.headers["upload-item-id"]) == content


async def test_two_at_once_do_not_mix(owner_client: httpx.AsyncClient) -> None:
    first_may_end = anyio.Event()
    beginning = b"a" * (CHUNK_BYTES + 1)

    async def slow() -> AsyncIterator[bytes]:
        yield beginning
        await first_may_end.wait()
        yield b"def"

    url = await begin(owner_client, len(beginning) + 3)
    answers: list[httpx.Response] = []

    async def first() -> None:
        answers.append(await send(owner_client, url, 0, slow()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        # Looking takes no lock: the first one can't be refused by what waits for it here.
        while (await owner_client.head(url, headers=TUS)).headers["upload-offset"] == "0":
            await anyio.lowlevel.checkpoint()
        second = await send(owner_client, url, CHUNK_BYTES, b"XXXXX")
        ended = await owner_client.delete(url, headers=TUS)
        first_may_end.set()
        assert (second.status_code, second.json()["code"], ended.status_code) == (423, "state_conflict", 423)

    assert await content_of(owner_client, answers[0].headers["upload-item-id"]) == beginning + b"def"


async def test_somebody_elses_upload_is_as_if_it_did_not_exist(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    url = await begin(owner_client, 3)
    nowhere = f"{UPLOADS}/{'0' * 32}"

    for method in ("HEAD", "PATCH", "DELETE"):
        headers = {**BYTES, "Upload-Offset": "0"}
        his = await bobs_client.request(method, url, headers=headers)
        none = await bobs_client.request(method, nowhere, headers=headers)
        assert (his.status_code, his.content) == (none.status_code, none.content)
        assert his.status_code == 404
    assert (await send(owner_client, url, 0, b"abc")).status_code == 204


@pytest.mark.parametrize("upload_id", ["..%2F..%2Ftoken", "token", "%00", "a" * 300, "%E2%80%AE"])
async def test_an_id_of_another_form_names_nothing(owner_client: httpx.AsyncClient, upload_id: str) -> None:
    response = await owner_client.head(f"{UPLOADS}/{upload_id}", headers=TUS)

    assert response.status_code == 404


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Upload-Length", "-1"),
        ("Upload-Length", "1e3"),
        ("Upload-Length", "9" * 19),
        ("Upload-Length", ""),
        ("Upload-Defer-Length", "1"),
        ("Upload-Metadata", ""),
        ("Upload-Metadata", "filename"),
        ("Upload-Metadata", "filename %%%"),
        ("Upload-Metadata", "filename /w=="),
        ("Upload-Metadata", "filename YQ==,filename Yg=="),
        ("Upload-Metadata", metadata(filename="a", on_conflict="destroy")),
        ("Upload-Metadata", metadata(filename="a" * 20_000)),
    ],
)
async def test_a_malformed_beginning_is_refused(owner_client: httpx.AsyncClient, header: str, value: str) -> None:
    headers = {**TUS, "Upload-Length": "3", "Upload-Metadata": metadata(filename="a"), header: value}

    response = await owner_client.post(UPLOADS, headers=headers)

    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")


async def test_what_could_not_become_a_file_is_refused_at_the_beginning(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    private = (await owner_client.post("/api/drive/items", json={"kind": "folder", "name": "F"})).json()["id"]
    limit = service.drive.settings.max_upload_bytes

    async def refused(client: httpx.AsyncClient, length: int = 1, **pairs: str) -> tuple[int, str]:
        headers = {**TUS, "Upload-Length": str(length), "Upload-Metadata": metadata(**{"filename": "F", **pairs})}
        response = await client.post(UPLOADS, headers=headers)
        return response.status_code, response.json()["code"]

    assert await refused(owner_client, filename="a/b") == (422, "invalid_name")
    assert await refused(owner_client) == (409, "name_conflict")
    assert await refused(owner_client, limit + 1, filename="x") == (413, "too_large")
    assert await refused(bobs_client, parent_id=private) == (404, "not_found")
    async with service.client("") as nobody:
        assert await refused(nobody) == (401, "unauthenticated")
    assert await names(owner_client) == ["F"]


async def test_a_client_of_another_version_is_told_which_one_is_spoken(owner_client: httpx.AsyncClient) -> None:
    headers = {"Upload-Length": "3", "Upload-Metadata": metadata(filename="a")}

    for version in ({}, {"Tus-Resumable": "0.2.2"}):
        response = await owner_client.post(UPLOADS, headers={**headers, **version})
        assert (response.status_code, response.headers["tus-version"]) == (412, "1.0.0")


async def test_a_body_of_another_type_is_refused(owner_client: httpx.AsyncClient) -> None:
    url = await begin(owner_client, 3)

    response = await owner_client.patch(url, content=b"abc", headers={**TUS, "Upload-Offset": "0"})

    assert response.status_code == 415


async def test_a_client_that_may_only_post_names_the_method_in_a_header(owner_client: httpx.AsyncClient) -> None:
    url = await begin(owner_client, 3)
    ended = await begin(owner_client, 3, "b.bin")

    done = await owner_client.post(
        url, content=b"abc", headers={**BYTES, "Upload-Offset": "0", "X-HTTP-Method-Override": "PATCH"}
    )
    gone = await owner_client.post(ended, headers={**TUS, "X-HTTP-Method-Override": "DELETE"})
    neither = await owner_client.post(url, headers=TUS)

    assert (done.status_code, gone.status_code, neither.status_code) == (204, 204, 422)
    assert await names(owner_client) == ["a.bin"]


async def test_the_name_that_was_taken_meanwhile_is_treated_as_was_asked(owner_client: httpx.AsyncClient) -> None:
    fails = await begin(owner_client, 3, "a")
    renames = await begin(owner_client, 3, "a", on_conflict="rename")
    replaces = await begin(owner_client, 3, "a", on_conflict="replace")
    taken = (await owner_client.post("/api/drive/files", params={"name": "a"}, content=b"one")).json()

    refused = await send(owner_client, fails, 0, b"two")
    renamed = await send(owner_client, renames, 0, b"two")
    replaced = await send(owner_client, replaces, 0, b"two")

    assert (refused.status_code, refused.json()["code"]) == (409, "name_conflict")
    assert (await owner_client.head(fails, headers=TUS)).status_code == 409
    assert renamed.headers["upload-item-id"] != taken["id"]
    assert replaced.headers["upload-item-id"] == taken["id"]
    assert sorted(await names(owner_client)) == ["a", "a (2)"]
    assert await content_of(owner_client, taken["id"]) == b"two"


async def test_rights_are_asked_for_again_at_the_end(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    folder = (await owner_client.post("/api/drive/items", json={"kind": "folder", "name": "F"})).json()["id"]
    owner = Actor(await service.drive.identity.authenticate(service.token))
    await service.drive.sharing.share(owner, folder, "bob@example.com", "editor")
    url = await begin(bobs_client, 6, parent_id=folder)
    assert (await send(bobs_client, url, 0, b"abc")).status_code == 204

    await service.drive.sharing.revoke(owner, folder, "bob@example.com")
    response = await send(bobs_client, url, 3, b"def")

    assert response.status_code == 404
    assert await names(owner_client, folder) == []


async def test_the_quota_holds_at_the_beginning_and_while_bytes_come(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    assert (await owner_client.patch("/api/users/bob@example.com", json={"quota_bytes": 10})).status_code == 200
    headers = {**TUS, "Upload-Defer-Length": "1", "Upload-Metadata": metadata(filename="a")}
    url = urljoin(service.url + UPLOADS, (await bobs_client.post(UPLOADS, headers=headers)).headers["location"])

    too_long = await bobs_client.post(
        UPLOADS, headers={**TUS, "Upload-Length": "11", "Upload-Metadata": metadata(filename="b")}
    )
    fits = await send(bobs_client, url, 0, b"x" * 8)
    too_much = await send(bobs_client, url, 8, b"xyz")

    assert (too_long.status_code, too_long.json()["code"]) == (507, "quota_exceeded")
    assert fits.status_code == 204
    assert (too_much.status_code, too_much.json()["details"]["quota_bytes"]) == (507, 10)
    me = (await bobs_client.get("/api/auth/me")).json()
    assert (me["used_bytes"], me["quota_bytes"]) == (0, 10)


async def test_a_request_that_falls_silent_is_given_up(
    service: Service, owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "SILENCE_SECONDS", 0.01)
    url = await begin(owner_client, 10)
    head = (
        f"PATCH {httpx.URL(url).path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.token}\r\n"
        "Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"
        "Content-Length: 10\r\n\r\nabc"
    )
    async with await anyio.connect_tcp("127.0.0.1", int(service.url.rpartition(":")[2])) as connection:
        await connection.send(head.encode())
        answer = await connection.receive()

    assert answer.startswith(b"HTTP/1.1 422")
    assert (await owner_client.head(url, headers=TUS)).headers["upload-offset"] == "3"


async def test_a_key_without_the_scope_write_begins_nothing(service: Service, owner_client: httpx.AsyncClient) -> None:
    key = (await owner_client.post("/api/auth/keys", json={"name": "r", "scopes": ["read"]})).json()["key"]
    async with service.client(key) as reader:
        response = await reader.post(
            UPLOADS, headers={**TUS, "Upload-Length": "3", "Upload-Metadata": metadata(filename="a")}
        )

    assert (response.status_code, response.json()["code"]) == (403, "missing_scope")
    assert response.headers["access-control-allow-origin"] == "*"
    assert "upload-offset" in response.headers["access-control-expose-headers"].lower()
