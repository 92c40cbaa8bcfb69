"""What changes below a folder, as server-sent events."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import orjson
from httpx_sse import EventSource

from drive_server.services.journal import following
from tests.drive_server.http.items import DRIVE, FILES, ITEMS, done, file, folder, refused, share

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    import httpx
    import pytest

    from tests.drive_server.http.service import Service

EVENTS = f"{DRIVE}/events"
PATIENCE = 30


@asynccontextmanager
async def events(
    client: httpx.AsyncClient, folder_id: str = "root", after: int | None = None
) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
    """Open the stream; yields the data of what comes."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    with anyio.fail_after(PATIENCE):
        async with client.stream("GET", EVENTS, params={"folder_id": folder_id}, headers=headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream"), await response.aread()
            source = EventSource(response).aiter_sse()
            start = await anext(source)
            assert (start.data, start.id.isdigit()) == ("", True)
            yield _data(source)


async def _data(source: AsyncIterator[Any]) -> AsyncIterator[dict[str, Any]]:
    async for event in source:
        if event.data:
            data = orjson.loads(event.data)
            assert (event.event, event.id) == (data["type"], str(data["id"]))
            yield data


async def test_each_change_below_the_folder_is_told_once_with_the_folders_to_list_again(
    owner_client: httpx.AsyncClient,
) -> None:
    place, other = await folder(owner_client, "A"), await folder(owner_client, "B")
    inner = await folder(owner_client, "inner", place["id"])

    async with events(owner_client, place["id"]) as told:
        made = await file(owner_client, "面条.txt", parent=inner["id"])
        event = await anext(told)
        assert (event["type"], event["mine"], event["complete"]) == ("change", True, True)
        assert (event["item_ids"], event["folder_ids"]) == ([made["id"]], [inner["id"]])

        await file(owner_client, "elsewhere.txt", parent=other["id"])
        edited = await owner_client.patch(f"{FILES}/{made['id']}/content", json={"append": "x"})
        event = await anext(told)
        assert str(event["id"]) == edited.headers["drive-change-id"]
        assert (event["item_ids"], event["folder_ids"]) == ([made["id"]], [inner["id"]])

        done(await owner_client.patch(f"{ITEMS}/{made['id']}", json={"parent_id": other["id"]}))
        event = await anext(told)
        assert (event["item_ids"], event["folder_ids"]) == ([], [inner["id"]])

        done(await owner_client.post(f"{ITEMS}/{inner['id']}/trash"))
        event = await anext(told)
        assert (event["item_ids"], event["folder_ids"]) == ([inner["id"]], [place["id"]])

        done(await owner_client.patch(f"{ITEMS}/{place['id']}", json={"name": "文件夹"}))
        assert (await anext(told))["item_ids"] == [place["id"]]


async def test_a_stream_goes_on_after_the_last_event_that_was_seen(owner_client: httpx.AsyncClient) -> None:
    await file(owner_client, "before")
    async with events(owner_client) as told:
        await file(owner_client, "seen")
        seen = (await anext(told))["id"]
    missed = [await file(owner_client, name) for name in ("one", "two")]

    async with events(owner_client, after=seen) as told:
        assert [(await anext(told))["item_ids"] for _ in missed] == [[item["id"]] for item in missed]
    async with events(owner_client, after=10**15) as told:
        late = await file(owner_client, "late")
        assert (await anext(told))["item_ids"] == [late["id"]]


async def test_who_missed_too_much_is_told_to_read_the_folder_anew(
    owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MAX_BEHIND", 2)
    for name in ("a", "b", "c"):
        await file(owner_client, name)
    async with events(owner_client, after=0) as told:
        assert (await anext(told))["type"] == "reset"
        made = await file(owner_client, "d")
        assert (await anext(told))["item_ids"] == [made["id"]]


async def test_only_what_the_caller_may_see_is_told_and_a_folder_that_is_gone_ends_the_stream(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    secret, place = await folder(owner_client, "Secret"), await folder(owner_client, "Team")
    assert refused(await bobs_client.get(EVENTS, params={"folder_id": place["id"]})) == (404, "not_found")
    await share(owner_client, place, "bob@example.com", "viewer")

    async with events(bobs_client, place["id"]) as told:
        await file(owner_client, "hidden", parent=secret["id"])
        made = await file(owner_client, "shown", parent=place["id"])
        event = await anext(told)
        assert (event["item_ids"], event["folder_ids"], event["mine"]) == ([made["id"]], [place["id"]], False)
        done(await owner_client.patch(f"{ITEMS}/{made['id']}", json={"parent_id": secret["id"]}))
        event = await anext(told)
        assert (event["item_ids"], event["folder_ids"]) == ([], [place["id"]])
        done(await owner_client.delete(f"{ITEMS}/{place['id']}/shares/bob@example.com"))
        assert [event async for event in told] == []


async def test_the_stream_ends_with_its_key_and_with_the_server(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    made = done(await owner_client.post("/api/auth/keys", json={"name": "watch", "scopes": ["read"]}))
    async with service.client(made["key"]) as watcher, events(watcher) as told:
        await owner_client.delete(f"/api/auth/keys/{made['id']}")
        await file(owner_client, "a")
        assert len([event async for event in told]) <= 1
    async with events(owner_client) as told:
        service.streams.end()
        assert [event async for event in told] == []


async def test_a_key_that_may_not_read_and_a_number_that_is_none_are_refused(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    made = done(await owner_client.post("/api/auth/keys", json={"name": "w", "scopes": ["write"]}))
    async with service.client(made["key"]) as writer:
        assert refused(await writer.get(EVENTS)) == (403, "missing_scope")
    answer = await owner_client.get(EVENTS, headers={"Last-Event-ID": "-1"})
    assert refused(answer) == (422, "invalid_argument")
    plan = await file(owner_client, "plan.md")
    assert refused(await owner_client.get(EVENTS, params={"folder_id": plan["id"]})) == (422, "invalid_argument")


async def test_a_change_of_very_many_items_names_some_and_says_so(
    owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MAX_NAMED", 2)
    place = await folder(owner_client, "A")
    files = [await file(owner_client, name) for name in ("a", "b", "c")]
    async with events(owner_client) as told:
        body = {"action": "move", "items": [{"id": item["id"]} for item in files], "parent_id": place["id"]}
        done(await owner_client.post(f"{ITEMS}/bulk", json=body))
        event = await anext(told)
    assert (len(event["item_ids"]), event["complete"]) == (2, False)
    assert place["id"] in event["folder_ids"]
