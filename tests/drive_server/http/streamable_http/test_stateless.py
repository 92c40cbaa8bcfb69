"""MCP 2026-07-28 as a client sees it: requests without a session, refusals, and both revisions side by side."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.mcp.protocol.revisions import SUPPORTED
from tests.drive_server.http.alone import PREFIX, REVISION, Alone, alone
from tests.drive_server.http.service import Service, running
from tests.drive_server.http.wire import Gate, answer_of, events_of, wired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.settings import DriveSettings


@pytest.fixture
async def client(service: Service) -> AsyncIterator[Alone]:
    async with alone(service) as client:
        yield client


async def test_discovery_tells_the_revisions_what_there_is_and_how_long_that_holds(client: Alone) -> None:
    found = await client.ask("server/discover")

    assert found["supportedVersions"] == list(SUPPORTED)
    assert found["supportedVersions"][:2] == [REVISION, "2025-11-25"]
    assert set(found["capabilities"]) == {"tools", "resources", "prompts", "completions", "logging", "extensions"}
    assert (found["ttlMs"] > 0, found["cacheScope"]) == (True, "public")
    assert found["_meta"][f"{PREFIX}serverInfo"]["name"] == "drive"
    assert "undo_changes" in found["instructions"]


async def test_nothing_of_a_session_is_needed_made_or_kept(service: Service, client: Alone) -> None:
    response = await client.send(client.request("tools/list"), Mcp_Session_Id="whatever")

    assert response.status_code == 200
    assert "mcp-session-id" not in response.headers
    assert len(service.drive.server.sessions) == 0


LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


@pytest.mark.parametrize("method", LISTS)
async def test_lists_are_those_of_2025_11_25_and_tell_how_long_they_hold(
    service: Service, client: Alone, method: str
) -> None:
    async with wired(service) as wire:
        older = answer_of(await wire.post(method, {}))["result"]
    for tool in older.get("tools", []):
        tool.pop("execution", None)

    found = await client.ask(method)

    assert found[LISTS[method]] == older[LISTS[method]]
    assert found["resultType"] == "complete"
    assert (found["ttlMs"] >= 0, found["cacheScope"]) == (True, "private")


async def test_a_file_is_made_read_as_a_resource_asked_about_and_completed(client: Alone) -> None:
    made = await client.call("create_file", name="plan.md", content="Begin on Monday.")
    file_id = made["structuredContent"]["id"]

    read = await client.ask("resources/read", uri=f"drive://files/{file_id}")
    prompt = await client.ask("prompts/get", name="summarise_file", arguments={"file": "/plan.md"})
    reference = {"type": "ref/prompt", "name": "summarise_file"}
    completed = await client.ask("completion/complete", ref=reference, argument={"name": "file", "value": "pl"})

    assert (made["isError"], made["resultType"]) == (False, "complete")
    assert read["contents"][0]["text"] == "Begin on Monday."
    assert "/plan.md" in prompt["messages"][0]["content"]["text"]
    assert completed["completion"]["values"] == ["/plan.md"]


async def test_the_journal_knows_a_call_by_its_key_whichever_revision_repeats_it(
    service: Service, client: Alone
) -> None:
    key = {"drive-agent/idempotency-key": "k1"}
    made = await client.ask("tools/call", name="create_folder", arguments={"name": "Reports"}, _meta=key)
    async with wired(service) as wire:
        call = {"name": "create_folder", "arguments": {"name": "Reports"}, "_meta": key}
        again = answer_of(await wire.post("tools/call", call))["result"]

    assert made["_meta"]["drive-agent/replayed"] is False
    assert again["_meta"]["drive-agent/replayed"] is True
    assert again["structuredContent"] == made["structuredContent"]


async def test_a_key_sees_the_tools_and_does_the_calls_of_its_scopes(service: Service) -> None:
    async with service.client() as owner:
        made = await owner.post("/api/auth/keys", json={"name": "reader", "scopes": ["read"]})
    async with alone(service, made.json()["key"]) as reader:
        tools = {tool["name"] for tool in (await reader.ask("tools/list"))["tools"]}
        refused = await reader.call("create_folder", name="Reports")

    assert "read_file" in tools
    assert "create_folder" not in tools
    assert refused["structuredContent"]["code"] == "missing_scope"


async def test_progress_and_wanted_messages_of_the_log_come_before_the_answer(client: Alone) -> None:
    for name in ("a", "b"):
        await client.call("create_folder", name=name)
    wanted = {f"{PREFIX}logLevel": "info", "progressToken": 7}
    moved = {"name": "copy_item", "arguments": {"item_id": "/a", "folder_id": "/b"}}

    response = await client.send(client.request("tools/call", **moved, _meta=wanted))
    said = [event.message for event in events_of(response.text)]
    quiet = await client.send(client.request("tools/call", **moved | {"arguments": {"item_id": "/a", "name": "c"}}))

    assert response.headers["content-type"].startswith("text/event-stream")
    assert {one.get("method") for one in said[:-1]} >= {"notifications/message", "notifications/progress"}
    assert said[-1]["result"]["isError"] is False
    assert "id: " not in response.text
    assert quiet.headers["content-type"].startswith("application/json")


WRONG = {
    "no revision in the body": ({"meta": {f"{PREFIX}protocolVersion": None}}, {}, -32602),
    "no capabilities": ({"meta": {f"{PREFIX}clientCapabilities": None}}, {}, -32602),
    "capabilities that are none": ({"meta": {f"{PREFIX}clientCapabilities": "all"}}, {}, -32602),
    "a level that there is not": ({"meta": {f"{PREFIX}logLevel": "loud"}}, {}, -32602),
    "no revision in the header": ({}, {"MCP_Protocol_Version": None}, -32020),
    "another revision in the header": ({}, {"MCP_Protocol_Version": "2025-11-25"}, -32020),
    "no method in the header": ({}, {"Mcp_Method": None}, -32020),
    "another method in the header": ({}, {"Mcp_Method": "tools/list"}, -32020),
    "no name in the header": ({}, {"Mcp_Name": None}, -32020),
    "another name in the header": ({}, {"Mcp_Name": "list_folder"}, -32020),
    "a name encoded wrongly": ({}, {"Mcp_Name": "=?base64?!?="}, -32020),
    "another name, encoded": ({}, {"Mcp_Name": "=?base64?bGlzdF9mb2xkZXI=?="}, -32020),
    "a revision that nobody knows": (
        {"meta": {f"{PREFIX}protocolVersion": "2030-01-01"}},
        {"MCP_Protocol_Version": "2030-01-01"},
        -32022,
    ),
}


@pytest.mark.parametrize("case", WRONG)
async def test_headers_and_envelope_have_to_be_there_and_to_agree(service: Service, case: str) -> None:
    changed, headers, code = WRONG[case]
    async with alone(service) as client:
        request = client.request("tools/call", name="whoami", arguments={})
        for key, value in changed.get("meta", {}).items():
            request["params"]["_meta"].pop(key, None)
            if value is not None:
                request["params"]["_meta"][key] = value

        response = await client.send(request, **headers)

    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, code)
    assert response.json()["id"] == request["id"]
    assert error["data"]["messages"]["message"]["zh"]
    if code == -32022:
        assert error["data"]["supported"] == list(SUPPORTED)
        assert error["data"]["requested"] == "2030-01-01"


async def test_a_header_that_comes_twice_is_refused(client: Alone) -> None:
    request = client.request("tools/list")
    headers = [*client.headers(request).items(), ("Mcp-Method", "tools/list")]

    response = await client.client.post("/mcp", json=request, headers=headers)

    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


async def test_a_name_may_be_encoded(client: Alone) -> None:
    response = await client.send(
        client.request("tools/call", name="whoami", arguments={}), Mcp_Name="=?base64?d2hvYW1p?="
    )
    assert answer_of(response)["result"]["isError"] is False


@pytest.mark.parametrize(
    "method", ["ping", "initialize", "logging/setLevel", "resources/subscribe", "tasks/list", "no"]
)
async def test_a_method_that_this_revision_has_not_is_not_found(client: Alone, method: str) -> None:
    response = await client.send(client.request(method))
    assert (response.status_code, response.json()["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_is_nothing_to_get_and_to_delete(client: Alone, method: str) -> None:
    headers = {"Accept": "text/event-stream", "MCP-Protocol-Version": REVISION}
    response = await client.client.request(method, "/mcp", headers=headers)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_notifications_are_taken_and_answers_and_batches_are_not(client: Alone) -> None:
    headers = {**client.headers(client.request("x")), "Mcp-Method": "notifications/cancelled"}
    sent: dict[str, tuple[Any, int]] = {
        "notification": ({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}, 202),
        "answer": ({"jsonrpc": "2.0", "id": 1, "result": {}}, 400),
        "batch": ([client.request("tools/list")], 400),
    }
    for message, status in sent.values():
        assert (await client.client.post("/mcp", json=message, headers=headers)).status_code == status


async def test_what_is_missing_is_named_as_this_revision_does(client: Alone) -> None:
    uri = "drive://files/none"
    unknown = await client.error("resources/read", uri=uri)
    tool = await client.error("tools/call", name="no_such_tool", arguments={})
    wrong = await client.error("tools/list", cursor=7)

    assert (unknown["code"], unknown["data"]["code"], unknown["data"]["uri"]) == (-32602, "not_found", uri)
    assert tool["code"] == -32602
    assert REVISION in wrong["data"]["hint"]


async def test_a_session_goes_on_beside_requests_without_one(service: Service, client: Alone) -> None:
    async with wired(service) as wire:
        assert (await wire.call("create_folder", name="Old"))["result"]["isError"] is False
        assert (await client.call("create_folder", name="New"))["isError"] is False
        mixed = await wire.send(client.request("tools/list"))
        listed = await wire.call("list_folder")

    assert mixed.json()["error"]["code"] == -32020
    assert {item["name"] for item in listed["result"]["structuredContent"]["items"]} == {"Old", "New"}


async def test_whoever_has_no_key_is_not_let_in(service: Service) -> None:
    async with alone(service, "") as nobody:
        assert (await nobody.send(nobody.request("server/discover"))).status_code == 401


async def test_a_client_that_goes_away_has_cancelled_its_call(service: Service) -> None:
    gate = Gate(service.drive)
    async with alone(service) as client:
        request = client.request("tools/call", name="wait_at_the_gate", arguments={})
        call = asyncio.create_task(client.send(request))
        await gate.entered.acquire()
        call.cancel()
        await gate.cancelled.wait()
    assert gate.passed == 0


async def test_calls_at_once_are_limited_and_each_is_told_so(drive_settings: DriveSettings) -> None:
    async with running(drive_settings.model_copy(update={"concurrent_calls": 1})) as service:
        gate = Gate(service.drive)
        async with alone(service) as client:
            waiting = asyncio.create_task(
                client.send(client.request("tools/call", name="wait_at_the_gate", arguments={}))
            )
            await gate.entered.acquire()
            refused = await client.call("whoami")
            other = await client.error("tools/list")
            gate.is_open.set()
            await waiting
            assert (await client.call("whoami"))["isError"] is False

    assert refused["structuredContent"]["code"] == "rate_limited"
    assert other["data"]["code"] == "rate_limited"


async def test_a_service_that_ends_takes_no_more_and_gives_up_what_goes_on(service: Service, client: Alone) -> None:
    gate = Gate(service.drive)
    request = client.request("tools/call", name="wait_at_the_gate", arguments={})
    waiting = asyncio.create_task(client.send(request))
    await gate.entered.acquire()

    await service.mcp.wind_down(0)
    given_up = answer_of(await waiting)
    refused = await client.send(client.request("tools/list"))

    assert given_up["error"]["data"]["code"] == "unavailable"
    assert given_up["id"] == request["id"]
    assert (refused.status_code, refused.json()["error"]["data"]["code"]) == (503, "unavailable")
    assert refused.headers["retry-after"]


async def test_an_address_in_chinese_is_named_by_an_encoded_header(client: Alone) -> None:
    await client.call("create_file", name="计划.md", content="x")
    encoded = "=?base64?" + b64encode("drive://files/计划.md".encode()).decode() + "?="
    response = await client.send(client.request("resources/read", uri="drive://files/计划.md"), Mcp_Name=encoded)
    assert response.status_code == 200
