"""Streams of notifications of MCP 2026-07-28: what is granted, what comes, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.alone import PREFIX, TASKS, Alone, alone
from tests.drive_server.http.service import Service, running
from tests.drive_server.http.wire import answer_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.settings import DriveSettings

ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[Alone]:
    async with alone(service) as client:
        yield client


async def made(client: Alone, name: str) -> str:
    found = await client.call("create_file", name=name, content="Begin.")
    return f"drive://files/{found['structuredContent']['id']}"


async def until(messages: AsyncIterator[dict[str, Any]], method: str) -> dict[str, Any]:
    async for message in messages:
        if message.get("method") == method:
            return message
    raise AssertionError(method)


async def test_the_first_message_says_what_is_granted_and_all_name_the_subscription(
    service: Service, client: Alone
) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with alone(service, bobs_key) as bob:
        bobs = await made(bob, "bobs.md")
    mine = await made(client, "mine.md")
    addresses = [mine, bobs, "drive://files/none", "drive://index", "http://x"]

    async with client.listening(**ALL, resourceSubscriptions=addresses) as messages:
        granted = await anext(messages)
        await client.call("write_file", file_id="/mine.md", content="Go on.")
        updated = await until(messages, "notifications/resources/updated")
        while updated["params"]["uri"] != mine:  # that of the index comes as well
            updated = await until(messages, "notifications/resources/updated")

    assert granted["method"] == "notifications/subscriptions/acknowledged"
    assert granted["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourcesListChanged": True,
        "resourceSubscriptions": [mine, "drive://index"],
    }
    ids = {one["params"]["_meta"][f"{PREFIX}subscriptionId"] for one in (granted, updated)}
    assert len(ids) == 1


async def test_nothing_comes_that_was_not_asked_for(client: Alone) -> None:
    mine = await made(client, "mine.md")
    async with client.listening(resourceSubscriptions=[mine]) as messages:
        await anext(messages)
        await made(client, "other.md")
        await client.call("write_file", file_id="/mine.md", content="Go on.")
        first = await anext(messages)
    assert first["method"] == "notifications/resources/updated"


async def test_a_change_by_a_session_reaches_whoever_listens_without_one(service: Service, client: Alone) -> None:
    async with client.listening(resourcesListChanged=True) as messages, wired(service) as wire:
        await anext(messages)
        await wire.call("create_file", name="new.md", content="x")
        assert await until(messages, "notifications/resources/list_changed")


async def test_other_scopes_of_the_key_change_the_list_of_tools(service: Service) -> None:
    async with service.client() as owner:
        key = (await owner.post("/api/auth/keys", json={"name": "k", "scopes": ["read"]})).json()
        async with alone(service, key["key"]) as client, client.listening(toolsListChanged=True) as messages:
            await anext(messages)
            await owner.patch(f"/api/auth/keys/{key['id']}", json={"scopes": ["read", "write"]})
            assert await until(messages, "notifications/tools/list_changed")


async def test_a_stream_ends_with_its_key_and_leaves_nothing_behind(service: Service) -> None:
    async with service.client() as owner:
        key = (await owner.post("/api/auth/keys", json={"name": "k", "scopes": ["read"]})).json()
        async with alone(service, key["key"]) as client, client.listening(resourcesListChanged=True) as messages:
            await anext(messages)
            await owner.delete(f"/api/auth/keys/{key['id']}")
            rest = [message async for message in messages]

    assert rest[-1]["result"]["resultType"] == "complete"
    assert rest[-1]["result"]["_meta"][f"{PREFIX}subscriptionId"] == rest[-1]["id"]
    assert len(service.drive.server.sessions) == 0


async def test_streams_end_when_the_service_does(service: Service, client: Alone) -> None:
    async with client.listening(resourcesListChanged=True) as messages:
        await anext(messages)
        service.streams.end()
        rest = [message async for message in messages]
    assert rest[-1]["result"]["resultType"] == "complete"


async def test_one_person_has_a_limited_number_of_streams(drive_settings: DriveSettings) -> None:
    async with (
        running(drive_settings.model_copy(update={"sessions_per_user": 1})) as service,
        alone(service) as client,
        client.listening(resourcesListChanged=True) as messages,
    ):
        await anext(messages)
        refused = await client.send(client.request("subscriptions/listen", notifications={}))

    assert (refused.status_code, refused.json()["error"]["data"]["code"]) == (429, "rate_limited")
    assert refused.headers["retry-after"]


@pytest.mark.parametrize("wishes", [None, 7, {"toolsListChanged": "yes"}, {"resourceSubscriptions": ["x"] * 501}])
async def test_wishes_that_can_not_be_read_are_refused(client: Alone, wishes: Any) -> None:
    response = await client.send(client.request("subscriptions/listen", notifications=wishes))
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)


async def test_the_end_of_a_task_is_told_to_whoever_listens_for_it(service: Service, client: Alone) -> None:
    await client.call("create_folder", name="a")
    copy = {"item_id": "/a", "folder_id": "root", "name": "b"}
    async with wired(service) as wire:
        begun = await wire.post("tools/call", {"name": "copy_item", "arguments": copy, "task": {}})
    task_id = answer_of(begun)["result"]["task"]["taskId"]
    async with alone(service, **TASKS) as listener, listener.listening(taskIds=[task_id, "none"]) as messages:
        granted = await anext(messages)
        ended = await until(messages, "notifications/tasks")

    assert granted["params"]["notifications"] == {"taskIds": [task_id]}
    assert (ended["params"]["taskId"], ended["params"]["status"]) == (task_id, "completed")
    refused = await client.send(client.request("subscriptions/listen", notifications={"taskIds": [task_id]}))
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32021)
