"""A body may come for hours: a key that ends meanwhile stores nothing, by whatever door the bytes come."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    import httpx

    from tests.drive_server.http.service import Service

    Door = Callable[[httpx.AsyncClient, AsyncIterator[bytes]], Awaitable[httpx.Response]]

TUS = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}


async def tus(client: httpx.AsyncClient, body: AsyncIterator[bytes]) -> httpx.Response:
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "6", "Upload-Metadata": "filename bmV3LnR4dA=="}
    begun = await client.post("/api/drive/uploads", headers=headers)
    return await client.patch(urljoin(str(begun.url), begun.headers["location"]), content=body, headers=TUS)


async def upload(client: httpx.AsyncClient, body: AsyncIterator[bytes]) -> httpx.Response:
    return await client.post("/api/drive/files", params={"parent_id": "root", "name": "new.txt"}, content=body)


async def replace(client: httpx.AsyncClient, body: AsyncIterator[bytes]) -> httpx.Response:
    (item,) = (await client.get("/api/drive/items/root/children")).json()["items"]
    return await client.put(f"/api/drive/files/{item['id']}/content", content=body)


async def webdav(client: httpx.AsyncClient, body: AsyncIterator[bytes]) -> httpx.Response:
    return await client.put("/dav/new.txt", content=body)


@pytest.mark.parametrize("door", [tus, upload, replace, webdav])
async def test_a_key_that_ends_while_a_body_comes_stores_nothing(service: Service, door: Door) -> None:
    async with service.client() as owner:
        await owner.post("/api/drive/files", params={"parent_id": "root", "name": "old.txt"}, content=b"before")
        made = (await owner.post("/api/auth/keys", json={"name": "laptop", "scopes": ["read", "write"]})).json()

        async def body() -> AsyncIterator[bytes]:
            yield b"abc"
            assert (await owner.delete(f"/api/auth/keys/{made['id']}")).status_code == 204
            yield b"def"

        async with service.client(made["key"]) as laptop:
            answer = await door(laptop, body())
        items = (await owner.get("/api/drive/items/root/children")).json()["items"]
        content = (await owner.get(f"/api/drive/files/{items[0]['id']}/content")).content

    assert answer.status_code == 401
    assert [item["name"] for item in items] == ["old.txt"]
    assert content == b"before"
