"""The two long answers that everybody gets alike are compressed, and no other one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.http.wire import wired

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

DESCRIPTION = "/openapi.json"


def length(answer: httpx.Response) -> int:
    return int(answer.headers["content-length"])


async def test_the_description_is_compressed_and_asked_for_again_by_its_etag(service: Service) -> None:
    async with service.client() as client:
        packed = await client.get(DESCRIPTION, headers={"Accept-Encoding": "gzip"})
        plain = await client.get(DESCRIPTION, headers={"Accept-Encoding": "identity"})
        known = await client.get(DESCRIPTION, headers={"If-None-Match": packed.headers["etag"]})
        other = await client.get(DESCRIPTION, headers={"If-None-Match": 'W/"other"'})

    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert length(packed) * 5 < length(plain)
    assert packed.headers["etag"] == plain.headers["etag"]
    assert plain.headers["vary"] == "Accept-Encoding"
    assert (known.status_code, known.content, other.status_code) == (304, b"", 200)


async def test_the_list_of_tools_is_compressed_and_no_other_answer_of_mcp(service: Service) -> None:
    async with wired(service) as wire:
        listed = await wire.send(wire.request("tools/list"), **{"Accept-Encoding": "gzip"})
        plain = await wire.send(wire.request("tools/list"), **{"Accept-Encoding": "identity"})
        called = await wire.send(wire.request("resources/templates/list"), **{"Accept-Encoding": "gzip"})

    assert listed.headers["content-encoding"] == "gzip"
    assert length(listed) * 4 < length(plain)
    assert listed.json()["result"] == plain.json()["result"]
    assert "content-encoding" not in plain.headers
    assert "content-encoding" not in called.headers


@pytest.mark.parametrize("path", ["/api/auth/keys", "/api/drive/items/root/children", "/api/drive/changes"])
async def test_what_belongs_to_a_person_is_not_compressed(service: Service, path: str) -> None:
    async with service.client() as client:
        answer = await client.get(path, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("header", ["", "br", "gzip;q=0", "gzip; q=0.0, identity"])
async def test_a_client_that_does_not_accept_gzip_gets_none(service: Service, header: str) -> None:
    async with service.client() as client:
        answer = await client.get(DESCRIPTION, headers={"Accept-Encoding": header})
    assert (answer.status_code, "content-encoding" in answer.headers) == (200, False)
