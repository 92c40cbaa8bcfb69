from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import orjson
from httpx_sse import EventSource
from starlette.requests import Request

from drive_server.kernel.http.event_streams import OpenStreams

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from tests.drive_server.http.service import Service

EVENTS = "/api/drive/index/events"
FILES = "/api/drive/files"
PATIENCE = 30


@asynccontextmanager
async def following(client: httpx.AsyncClient) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
    """Open the stream; yields what comes."""
    async with client.stream("GET", EVENTS) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        yield _data(EventSource(response))


async def _data(source: EventSource) -> AsyncIterator[dict[str, Any]]:
    number = 0
    async for event in source.aiter_sse():
        number += 1
        assert (event.event, event.id) == ("index", str(number))
        yield orjson.loads(event.data)


async def add(client: httpx.AsyncClient, name: str, data: bytes = b"Nothing but noodles.") -> None:
    response = await client.post(FILES, params={"parent_id": "root", "name": name}, content=data)
    assert response.status_code == httpx.codes.CREATED, response.text


async def test_the_stream_tells_the_state_at_once_and_goes_on_until_all_can_be_searched(
    owner_client: httpx.AsyncClient,
) -> None:
    with anyio.fail_after(PATIENCE):
        async with following(owner_client) as told:
            first = await anext(told)
            assert (first["type"], first["counts"]) == ("index", {})
            await add(owner_client, "面条.txt")
            async for state in told:
                if state["counts"] == {"ready": 1}:
                    break


async def test_the_stream_ends_with_its_key(service: Service, owner_client: httpx.AsyncClient) -> None:
    made = (await owner_client.post("/api/auth/keys", json={"name": "watch", "scopes": ["read"]})).json()
    with anyio.fail_after(PATIENCE):
        async with service.client(made["key"]) as watcher, following(watcher) as told:
            await anext(told)
            gone = await owner_client.delete(f"/api/auth/keys/{made['id']}")
            assert gone.is_success
            await add(owner_client, "a.txt")
            rest = [state async for state in told]

    assert len(rest) <= 1


async def test_a_key_that_may_not_read_is_told_so(owner_client: httpx.AsyncClient, service: Service) -> None:
    made = (await owner_client.post("/api/auth/keys", json={"name": "w", "scopes": ["write"]})).json()
    async with service.client(made["key"]) as writer:
        answer = await writer.get(EVENTS)

    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")


async def test_a_server_that_shuts_down_ends_the_streams(service: Service, owner_client: httpx.AsyncClient) -> None:
    ends: list[bool] = []

    async def follow() -> None:
        async with following(owner_client) as told:
            await anext(told)
            ready.set()
            ends.append(not [state async for state in told])

    ready = anyio.Event()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(follow)
            await ready.wait()
            service.streams.end()

    assert ends == [True]


async def test_a_stream_that_is_opened_while_the_server_shuts_down_ends_at_once(service: Service) -> None:
    streams = OpenStreams(service.drive.identity.holders)
    streams.end()
    request = Request({"type": "http", "headers": []})
    with anyio.fail_after(PATIENCE), streams.opened(request, "anybody") as stream:
        with stream.waiting():
            await anyio.sleep_forever()
        assert not stream.is_open
