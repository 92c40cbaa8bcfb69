"""The extension of tasks of MCP 2026-07-28: which calls become tasks, and what is told of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from drive_server.mcp.tasks import extension
from tests.drive_server.gates import Gate
from tests.drive_server.http.alone import ASKS, TASKS, Alone, alone
from tests.drive_server.http.wire import answer_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.drive_server.http.service import Service


COPY: dict[str, Any] = {"item_id": "/a", "folder_id": "root", "name": "b", "on_conflict": "rename"}


@pytest.fixture
async def client(service: Service) -> AsyncIterator[Alone]:
    async with alone(service, **TASKS) as client:
        yield client


@pytest.fixture
def copying_stands(service: Service, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A gate in the place of every copy."""
    gate = Gate()

    async def stand(*args: Any, **kwargs: Any) -> None:
        del args, kwargs
        await gate()

    monkeypatch.setattr(service.drive.files, "copy", stand)
    return gate


@pytest.fixture
def at_once_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call is waited for."""
    monkeypatch.setattr(extension, "AT_ONCE_SECONDS", 0.0)


async def copied(client: Alone) -> dict[str, Any]:
    """Call a tool that can be a task."""
    await client.call("create_folder", name="a")  # refused the second time
    return await client.call("copy_item", **COPY)


async def ended(client: Alone, task_id: str) -> dict[str, Any]:
    with anyio.fail_after(20):
        while True:
            task = await client.ask("tasks/get", taskId=task_id)
            if task["status"] != "working":
                return task
            await anyio.sleep(0.05)  # what a client does between two looks


async def test_a_call_that_ends_soon_is_answered_with_its_result(client: Alone) -> None:
    await client.call("create_folder", name="a")
    copied = await client.call("copy_item", item_id="/a", folder_id="root", name="b")

    assert (copied["resultType"], copied["isError"]) == ("complete", False)
    assert "taskId" not in copied


@pytest.mark.usefixtures("at_once_never")
async def test_a_call_that_takes_long_is_answered_with_a_task_that_has_its_result_in_the_end(client: Alone) -> None:
    await client.call("create_folder", name="a")
    begun = await client.call("copy_item", item_id="/a", folder_id="root", name="b")

    task = await ended(client, begun["taskId"])

    assert begun["resultType"] == "task"
    assert {"status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"} <= set(begun)
    assert (task["resultType"], task["status"]) == ("complete", "completed")
    assert task["result"]["structuredContent"]["name"] == "b"


@pytest.mark.usefixtures("at_once_never")
async def test_a_tools_own_error_is_the_result_of_a_completed_task(client: Alone) -> None:
    begun = await client.call("copy_item", item_id="/none", folder_id="root")
    task = await ended(client, begun["taskId"])

    assert task["status"] == "completed"
    assert task["result"]["isError"] is True
    assert task["result"]["structuredContent"]["code"] == "not_found"


@pytest.mark.usefixtures("at_once_never")
async def test_whoever_does_not_announce_the_extension_gets_no_task_and_sees_none(
    service: Service, client: Alone
) -> None:
    begun = await copied(client)
    async with alone(service) as other:
        plain = await copied(other)
        refused = await other.send(other.request("tasks/get", taskId=begun["taskId"]))

    assert plain["resultType"] == "complete"
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32021)
    assert refused.json()["error"]["data"]["requiredCapabilities"] == TASKS


async def test_the_task_parameter_of_the_older_revision_means_nothing_here(service: Service) -> None:
    async with alone(service) as client:
        await client.call("create_folder", name="a")
        done = await client.ask("tools/call", name="copy_item", arguments=COPY, task={"ttl": 1000})
    assert done["resultType"] == "complete"


@pytest.mark.usefixtures("at_once_never")
async def test_a_task_is_of_its_person_and_of_both_revisions(service: Service, client: Alone) -> None:
    begun = await copied(client)
    async with alone(service, await service.add_person("bob@example.com"), **TASKS) as bob:
        for method in ("tasks/get", "tasks/cancel"):
            assert (await bob.error(method, taskId=begun["taskId"]))["code"] == -32602
        update = await bob.error("tasks/update", taskId=begun["taskId"], inputResponses={})
        assert update["code"] == -32602
    async with wired(service) as wire:
        older = await wire.post("tasks/get", {"taskId": begun["taskId"]})
    assert answer_of(older)["result"]["taskId"] == begun["taskId"]


@pytest.mark.usefixtures("at_once_never")
async def test_wishes_about_a_task_that_is_over_are_acknowledged(client: Alone) -> None:
    begun = await copied(client)
    await ended(client, begun["taskId"])

    stopped = await client.ask("tasks/cancel", taskId=begun["taskId"])
    updated = await client.ask("tasks/update", taskId=begun["taskId"], inputResponses={"x": {}})

    assert (stopped["resultType"], updated["resultType"]) == ("complete", "complete")
    assert (await client.ask("tasks/get", taskId=begun["taskId"]))["status"] == "completed"


async def test_another_task_in_the_header_is_refused(client: Alone) -> None:
    response = await client.send(client.request("tasks/get", taskId="a"), Mcp_Name="b")
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


@pytest.mark.usefixtures("at_once_never")
async def test_a_refused_call_is_the_tools_own_error_not_the_protocols(service: Service) -> None:
    async with service.client() as owner:
        made = await owner.post("/api/auth/keys", json={"name": "reader", "scopes": ["read"]})
    async with alone(service, made.json()["key"], **ASKS, **TASKS) as reader:
        refused = await reader.call("empty_trash")
    assert refused["structuredContent"]["code"] == "missing_scope"


@pytest.mark.usefixtures("at_once_never", "copying_stands")
async def test_a_call_with_a_key_is_one_task(client: Alone) -> None:
    client.meta = {"drive-agent/idempotency-key": "k"}
    first = await client.call("copy_item", item_id="/a", folder_id="root")
    again = await client.call("copy_item", item_id="/a", folder_id="root")
    assert again["taskId"] == first["taskId"]


async def test_a_client_that_goes_away_before_it_hears_of_a_task_has_cancelled_it(
    client: Alone, copying_stands: Gate
) -> None:
    request = client.request("tools/call", name="copy_item", arguments={"item_id": "/a", "folder_id": "root"})
    call = asyncio.create_task(client.send(request))
    await copying_stands.reached.wait()
    call.cancel()
    with anyio.fail_after(20):
        await copying_stands.left.wait()


@pytest.mark.usefixtures("at_once_never")
async def test_a_task_that_was_answered_goes_on_and_ends_when_it_is_told_to(
    client: Alone, copying_stands: Gate
) -> None:
    begun = await client.call("copy_item", item_id="/a", folder_id="root")
    await copying_stands.reached.wait()

    assert (await client.ask("tasks/get", taskId=begun["taskId"]))["status"] == "working"
    await client.ask("tasks/cancel", taskId=begun["taskId"])

    assert (await client.ask("tasks/get", taskId=begun["taskId"]))["status"] == "cancelled"
    assert copying_stands.left.is_set()
