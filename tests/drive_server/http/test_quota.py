from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.storage.installation.parts import MARK_FILE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.drive_server.http.service import Service

UPLOAD = "/api/drive/files"
BOB = "/api/users/bob@example.com"


async def chunks(*data: bytes) -> AsyncIterator[bytes]:
    for chunk in data:
        yield chunk


def kept(service: Service) -> int:
    """Return the number of contents in the blob store, whole or not."""
    files = (service.drive.settings.root / "blobs").rglob("*")
    return sum(path.is_file() and not path.name.startswith(MARK_FILE) for path in files)


async def test_what_does_not_fit_is_refused_before_it_is_kept(
    service: Service, owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    answer = await owner_client.patch(BOB, json={"quota_bytes": 10})
    assert answer.json() == {**answer.json(), "email": "bob@example.com", "used_bytes": 0, "quota_bytes": 10}
    assert (await bobs_client.post(UPLOAD, params={"name": "a"}, content=b"123456")).status_code == 201

    declared = await bobs_client.post(UPLOAD, params={"name": "b"}, content=b"12345")
    streamed = await bobs_client.post(UPLOAD, params={"name": "b"}, content=chunks(b"123", b"45"))

    for response in (declared, streamed):
        assert (response.status_code, response.json()["code"]) == (507, "quota_exceeded")
        assert response.json()["details"]["used_bytes"] == 6
    assert kept(service) == 1
    me = (await bobs_client.get("/api/auth/me")).json()
    assert (me["used_bytes"], me["quota_bytes"]) == (6, 10)
    assert (await bobs_client.post(UPLOAD, params={"name": "b"}, content=b"1234")).status_code == 201


async def test_a_repeated_upload_is_answered_also_when_there_is_no_room_left(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    await owner_client.patch(BOB, json={"quota_bytes": 10})
    headers = {"Idempotency-Key": "once"}

    first = await bobs_client.post(UPLOAD, params={"name": "a"}, content=b"1234567890", headers=headers)
    again = await bobs_client.post(UPLOAD, params={"name": "a"}, content=b"1234567890", headers=headers)

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()


async def test_a_quota_is_set_by_administrators_only_and_within_bounds(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    bob = (await bobs_client.get("/api/auth/me")).json()["id"]

    assert (await bobs_client.patch(BOB, json={"quota_bytes": 0})).status_code == 403
    assert (await owner_client.patch(f"/api/users/{bob}", json={"quota_bytes": None})).json()["quota_bytes"] == 0
    assert (await owner_client.patch("/api/users/eve@example.com", json={"quota_bytes": 1})).status_code == 404
    for wrong in ({"quota_bytes": -1}, {"quota_bytes": "1"}, {"quota_bytes": 1 << 63}, {"quota_bytes": True}, {}, []):
        assert (await owner_client.patch(BOB, json=wrong)).status_code == 422


@pytest.mark.parametrize("user", ["%00", "@", "a" * 5000, "%F0%9F%93%8A", "..%2F.."])
async def test_a_person_named_in_nonsense_is_not_there(owner_client: httpx.AsyncClient, user: str) -> None:
    assert (await owner_client.patch(f"/api/users/{user}", json={"quota_bytes": 1})).status_code in (404, 422)


async def test_a_key_without_all_scopes_sets_no_quota(service: Service, owner_client: httpx.AsyncClient) -> None:
    key = (await owner_client.post("/api/auth/keys", json={"name": "r", "scopes": ["read", "write"]})).json()["key"]
    async with service.client(key) as weak:
        response = await weak.patch(BOB, json={"quota_bytes": 1})

    assert (response.status_code, response.json()["code"]) == (403, "missing_scope")
