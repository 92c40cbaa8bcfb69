from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.rate_limiter import SIGNED_IN
from tests.drive_server.http.service import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx
    from starlette.types import ASGIApp, Receive, Scope, Send

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

POSTS = (
    "/api/drive/items",
    "/api/auth/login",
    "/api/auth/keys",
    "/api/users",
    "/api/drive/index/rebuild",
    "/mcp",
    "/no",
)


async def chunked(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 1000):
        yield b"x" * 1000


@pytest.mark.parametrize("path", POSTS)
async def test_a_body_over_the_limit_is_refused_with_and_without_its_length(
    service: Service, owner_client: httpx.AsyncClient, path: str
) -> None:
    limit = service.drive.settings.max_request_bytes

    declared = await owner_client.post(path, content=b"x" * (limit + 1))
    streamed = await owner_client.post(path, content=chunked(limit + 1000))

    for response in (declared, streamed):
        assert (response.status_code, response.json()["code"]) == (413, "too_large")
        assert response.json()["details"] == {"limit": limit}
    assert (await owner_client.get("/api/auth/me")).status_code == 200


async def test_a_body_within_the_limit_passes_with_and_without_its_length(owner_client: httpx.AsyncClient) -> None:
    async def body() -> AsyncIterator[bytes]:
        for part in (b'{"kind": "folder",', b' "name": "A"}'):
            yield part

    headers = {"Content-Type": "application/json"}
    response = await owner_client.post("/api/drive/items", content=body(), headers=headers)

    assert (response.status_code, response.json()["name"]) == (201, "A")


async def test_a_body_that_breaks_off_makes_nothing_and_the_service_goes_on(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    port = int(service.url.rpartition(":")[2])
    for path in ("/api/drive/items", "/api/drive/files?name=a.txt"):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.token}\r\n"
        async with await anyio.connect_tcp("127.0.0.1", port) as connection:
            await connection.send(f"{head}Content-Length: 1000\r\nContent-Type: application/json\r\n\r\n{{".encode())

    assert (await owner_client.get("/api/drive/items/root/children")).json()["items"] == []


async def test_the_server_is_told_of_every_request_with_a_valid_key(drive_settings: DriveSettings) -> None:
    told: list[str] = []

    def before(app: ASGIApp) -> ASGIApp:
        async def record(scope: Scope, receive: Receive, send: Send) -> None:
            scope["extensions"] = {SIGNED_IN: lambda: told.append(scope["path"])}
            await app(scope, receive, send)

        return record

    async with running(drive_settings, before=before) as service:
        async with service.client("dak_wrong") as stranger:
            for path in ("/api/auth/me", "/mcp"):
                assert (await stranger.get(path)).status_code == 401
        assert told == []
        async with service.client() as owner:
            for path in ("/api/auth/me", "/mcp"):
                await owner.get(path)
            async with service.client("") as browser:
                await browser.post("/api/auth/login", json={"token": service.token})
                await browser.get("/api/auth/keys")
    assert told == ["/api/auth/me", "/mcp", "/api/auth/keys"]
