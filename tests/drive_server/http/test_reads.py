"""Reads don't wait for writers: every GET of the drive is answered while somebody holds the write lock."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import anyio
import pytest

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service


async def test_every_get_is_answered_while_somebody_writes(service: Service) -> None:
    key = await service.add_person("bob@example.com")
    async with service.client() as owner, service.client(key) as fresh:
        paths = (await owner.get("/openapi.json")).json()["paths"]
        file = (await owner.post("/api/drive/files", params={"parent_id": "/", "name": "a.txt"}, content=b"a")).json()
        asked = {re.sub(r"\{[^}]*\}", file["id"], path) for path, methods in paths.items() if "get" in methods}
        assert len(asked) > 10
        async with service.drive.database.write():
            for path in sorted(asked):
                for client in (owner, fresh):
                    with anyio.fail_after(5):
                        async with client.stream("GET", path, params={"q": "a"}) as response:
                            assert response.status_code < 500, (path, response.status_code)
        service.streams.end()


@pytest.mark.parametrize("letter", ["x", "é"])
async def test_a_word_of_any_length_is_searched_for_or_refused(service: Service, letter: str) -> None:
    async with service.client() as owner:
        await owner.post("/api/drive/files", params={"parent_id": "/", "name": "a.txt"}, content=b"some words")
        await service.drive.ingester.drain()
        for length in (300, 1000, 1001):
            for mode in ("text", "hybrid"):
                found = await owner.get("/api/drive/search", params={"q": letter * length, "mode": mode})
                assert found.status_code == (200 if length <= 1000 else 422), (length, mode, found.text)
