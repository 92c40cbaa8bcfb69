"""MCP's Streamable HTTP as a host sees it: sessions, streams, and what is refused how."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.http.streamable_http import stream
from tests.drive_server.http.service import Service, running
from tests.drive_server.http.wire import Gate, Wire, answer_of, wired
from tests.handshake import INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.wire import Event

LIMITS = {"sessions_per_user": 3, "concurrent_calls": 2, "calls_per_minute": 60, "max_request_bytes": 100_000}
SOON_ON_ANY_MACHINE = 30.0
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
async def limited(drive_settings: DriveSettings) -> AsyncIterator[Service]:
    async with running(drive_settings.model_copy(update=LIMITS)) as service:
        yield service


async def until(events: AsyncIterator[Event], text: str) -> Event:
    async for event in events:
        if text in event.data:
            return event
    raise AssertionError(text)


async def all_of(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events if event.data]


async def test_a_session_begins_with_initialize_and_ends_with_delete(service: Service) -> None:
    async with wired(service) as wire:
        assert (await wire.send(PING)).status_code == 200
        assert (await wire.client.delete("/mcp", headers=wire.headers())).status_code == 204

        assert (await wire.send(PING)).status_code == 404
    assert len(service.drive.server.sessions) == 0


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_request_without_a_session_is_refused_and_an_unknown_one_is_not_found(
    service: Service, method: str
) -> None:
    async with service.client() as client:
        for session_id, status, chinese in (
            ("", 400, "这个请求没有指明会话。"),
            ("unknown", 404, "没有这个会话，或者它已经结束。"),
        ):
            wire = Wire(client, session_id)
            response = await client.request(
                method, "/mcp", headers=wire.headers(), json=PING if method == "POST" else None
            )
            assert response.status_code == status
            error = response.json()["error"]["data"]
            assert error["code"] in {"invalid_argument", "not_found"}
            assert error["messages"]["message"]["zh"] == chinese


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_somebody_elses_session_is_answered_as_if_it_did_not_exist(service: Service, method: str) -> None:
    bobs_key = await service.add_person("bob@example.com")
    async with wired(service) as owner, service.client(bobs_key) as bob:

        async def asked(session_id: str) -> tuple[int, bytes]:
            headers = Wire(bob, session_id).headers()
            response = await bob.request(method, "/mcp", headers=headers, json=PING if method == "POST" else None)
            return response.status_code, response.content

        assert await asked(owner.session_id) == await asked("unknown")
        assert (await owner.send(PING)).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
        ({"MCP-Protocol-Version": "2025-06-18"}, 200),
        ({"Accept": "application/json"}, 406),
        ({"Accept": "text/event-stream"}, 406),
        ({"Accept": "*/*"}, 200),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
    ],
)
async def test_what_a_request_declares_is_checked(service: Service, headers: dict[str, str], status: int) -> None:
    async with wired(service) as wire:
        assert (await wire.send(PING, **headers)).status_code == status


async def test_other_methods_are_refused_with_those_that_there_are(service: Service) -> None:
    async with wired(service) as wire:
        response = await wire.client.put("/mcp", headers=wire.headers())
    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST, DELETE")


async def test_batches_and_what_is_no_message_are_refused_with_json_rpcs_numbers(service: Service) -> None:
    async with wired(service) as wire:
        for message, code in (([PING], -32600), ({"jsonrpc": "2.0"}, -32600), (7, -32600)):
            response = await wire.send(message)
            assert (response.status_code, response.json()["error"]["code"]) == (400, code)


async def test_a_second_initialize_in_a_session_is_refused(service: Service) -> None:
    async with wired(service) as wire:
        response = await wire.post("initialize", INTRODUCTION)
    assert response.json()["error"]["code"] == -32600


async def test_a_session_that_could_not_be_initialized_is_not_kept(service: Service) -> None:
    async with service.client() as client:
        for params in ({}, {"protocolVersion": 7}, {"protocolVersion": "2025-11-25"}):
            response = await Wire(client).post("initialize", params)
            assert answer_of(response)["error"]["code"] == -32602
    assert len(service.drive.server.sessions) == 0


async def test_a_body_over_the_limit_is_refused_also_one_of_unknown_length(service: Service) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 10_000

    async with wired(service) as wire:
        headers = wire.headers(**{"Content-Type": "application/json"})
        for content in (b"x" * 200_000, endless()):
            response = await wire.client.post("/mcp", content=content, headers=headers)
            assert (response.status_code, response.json()["details"]["limit"]) == (413, 100_000)


async def test_of_too_many_sessions_the_one_that_was_idle_longest_gives_way(limited: Service) -> None:
    async with limited.client() as client:
        wires = [Wire(client) for _ in range(3)]
        for wire in wires:
            assert (await wire.open()).status_code == 200
        await wires[0].send(PING)

        for _ in range(10):  # as clients do that open a session for each conversation and end none
            assert (await Wire(client).open()).status_code == 200

        async with client.stream("GET", "/mcp", headers=wires[0].headers()) as gone:
            assert gone.status_code == 404
    assert len(limited.drive.server.sessions) == 3


async def test_sessions_with_an_open_stream_or_a_call_never_give_way(limited: Service) -> None:
    bobs_key = await limited.add_person("bob@example.com")
    gate = Gate(limited.drive)
    async with limited.client() as client, AsyncExitStack() as streams:
        wires = [Wire(client) for _ in range(3)]
        for wire in wires:
            assert (await wire.open()).status_code == 200
        for wire in wires[:2]:
            await streams.enter_async_context(client.stream("GET", "/mcp", headers=wire.headers()))
        call = asyncio.create_task(wires[2].call("wait_at_the_gate"))
        await gate.entered.acquire()

        refused = await Wire(client).open()

        assert (refused.status_code, int(refused.headers["retry-after"])) == (429, 1)
        assert refused.json()["error"]["data"]["details"]["limit"] == 3
        async with wired(limited, bobs_key) as bob:
            assert (await bob.send(PING)).status_code == 200
        gate.is_open.set()
        assert (await call)["result"]["content"][0]["text"] == "through"
        assert (await Wire(client).open()).status_code == 200
        assert [(await wire.send(PING)).status_code for wire in wires] == [200, 200, 404]


async def test_an_id_in_use_is_refused_and_the_first_call_goes_on(service: Service) -> None:
    gate = Gate(service.drive)
    async with wired(service) as wire:
        first = asyncio.create_task(wire.call("wait_at_the_gate", 8))
        await gate.entered.acquire()

        for number in (8, "8"):
            refused = await wire.post("ping", number=number)
            assert (refused.json()["id"], refused.json()["error"]["code"]) == (number, -32600)
        gate.is_open.set()

        assert (await first)["result"]["content"][0]["text"] == "through"
        assert (await wire.send({**PING, "id": 8})).status_code == 200


async def test_pings_pass_by_a_call_that_waits_in_its_own_and_in_other_sessions(service: Service) -> None:
    gate = Gate(service.drive)
    async with wired(service) as wire, wired(service) as other:
        waiting = asyncio.create_task(wire.call("wait_at_the_gate"))
        await gate.entered.acquire()

        for pinging in (wire, other):
            assert '"result":{}' in (await pinging.post("ping")).text
        gate.is_open.set()
        await waiting


async def test_calls_at_once_are_limited_per_session_and_a_cancelled_one_makes_room(limited: Service) -> None:
    gate = Gate(limited.drive)
    async with wired(limited) as wire, wired(limited) as other:
        waiting = [asyncio.create_task(wire.call("wait_at_the_gate", number)) for number in (1, 2)]
        for _ in waiting:
            await gate.entered.acquire()

        refused = await wire.call("wait_at_the_gate", 3)

        assert refused["result"]["isError"]
        assert refused["result"]["structuredContent"]["details"]["limit"] == 2
        listed = await wire.post("tools/list")
        assert listed.json()["error"]["data"]["code"] == "rate_limited"
        assert not (await other.call("whoami"))["result"].get("isError")
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert (await wire.send(cancel)).status_code == 202
        assert (await waiting[0])["error"]["code"] == -32800
        await gate.cancelled.wait()
        assert not (await wire.call("whoami"))["result"].get("isError")
        gate.is_open.set()
        await waiting[1]
    assert gate.passed == 1


async def test_calls_in_a_minute_are_limited_per_key_over_its_sessions_and_the_session_goes_on(
    limited: Service,
) -> None:
    bobs_key = await limited.add_person("bob@example.com")
    async with wired(limited) as one, wired(limited) as two, wired(limited, bobs_key) as bob:
        answers = [await (one, two)[number % 2].call("whoami") for number in range(60)]

        refused = answers[-1]["result"]
        assert refused["isError"]
        assert refused["structuredContent"]["code"] == "rate_limited"
        assert 0 < refused["structuredContent"]["details"]["retry_after_seconds"] <= 60
        assert '"result":{}' in (await one.post("ping")).text
        assert not (await bob.call("whoami"))["result"].get("isError")
        async with limited.client() as client:
            opened = await Wire(client).open()
        assert opened.status_code == 429
        assert 0 < int(opened.headers["retry-after"]) <= 60


async def test_a_call_that_lets_its_connection_go_is_resumed_where_it_was(service: Service) -> None:
    gate = Gate(service.drive)
    async with wired(service) as wire:
        async with wire.calling("let_go_and_wait") as events:
            seen = await all_of(events)
        assert [event.message["params"]["data"] for event in seen] == ["before"]
        async with wire.stream(seen[-1].id) as events:
            meanwhile = await until(events, "meanwhile")
            gate.is_open.set()
            answer = await until(events, "result")

        assert "through" in answer.data
        async with wire.stream(meanwhile.id) as events:
            assert [event.data for event in await all_of(events)] == [answer.data]


async def test_streams_begin_with_an_event_to_resume_from_and_say_when(service: Service) -> None:
    Gate(service.drive)
    async with wired(service) as wire:
        async with wire.calling("talk", lines=1) as events:
            first = await anext(events)
            assert (first.data, first.retry) == ("", "500")
            said = await all_of(events)
        async with wire.stream(first.id) as events:
            assert [event.id for event in await all_of(events)] == [event.id for event in said]
    assert "done" in said[-1].data


async def test_an_answer_that_comes_soon_and_alone_is_no_stream_and_keeps_its_connection(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "FIRST_WAIT_SECONDS", SOON_ON_ANY_MACHINE)
    async with wired(service) as wire:
        calls = [await wire.post("tools/call", {"name": "whoami", "arguments": {}}, number) for number in (7, 8)]

        assert {call.headers["content-type"] for call in calls} == {"application/json"}
        assert [answer_of(call)["id"] for call in calls] == [7, 8]
        assert calls[0].headers["mcp-session-id"] == wire.session_id
        ports = {call.extensions["network_stream"].get_extra_info("client_addr") for call in calls}
        assert len(ports) == 1


async def test_a_large_answer_is_a_stream_that_can_be_resumed(service: Service) -> None:
    async def much() -> str:
        return "x" * 1_100_000

    service.drive.server.add_tool(much, structured_output=False)
    async with wired(service) as wire:
        async with wire.calling("much") as events:
            first = await anext(events)
        async with wire.stream(first.id) as events:
            (answer,) = await all_of(events)
    assert len(answer.message["result"]["content"][0]["text"]) == 1_100_000


async def test_a_connection_that_breaks_does_not_end_its_call(service: Service) -> None:
    gate = Gate(service.drive)
    async with wired(service) as wire:
        async with wire.calling("wait_at_the_gate") as events:
            start = await anext(events)
            await gate.entered.acquire()
        gate.is_open.set()
        async with wire.stream(start.id) as events:
            answer = await until(events, "result")

    assert "through" in answer.data
    assert not gate.cancelled.is_set()


async def test_events_of_another_session_are_unknown(service: Service) -> None:
    Gate(service.drive)
    async with wired(service) as one, wired(service) as other:
        async with one.calling("talk", lines=1) as events:
            start = await anext(events)
            assert await until(events, "done")

        for event_id in (start.id, "1", "../x", "00000000-1-1", "x" * 5000):
            headers = other.headers(**{"Last-Event-ID": event_id})
            response = await other.client.get("/mcp", headers=headers)
            assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)


async def test_deleting_a_session_ends_its_calls_and_says_so(service: Service) -> None:
    gate = Gate(service.drive)
    async with wired(service) as wire:
        waiting = asyncio.create_task(wire.call("wait_at_the_gate"))
        await gate.entered.acquire()
        await wire.client.delete("/mcp", headers=wire.headers())

        answer = await waiting
    assert answer["error"]["data"]["code"] == "unavailable"
    assert gate.cancelled.is_set()


async def test_a_session_has_one_stream_of_its_own_and_a_resumed_one_takes_over(service: Service) -> None:
    async with wired(service) as wire, wire.stream() as events:
        start = await anext(events)
        second = await wire.client.get("/mcp", headers=wire.headers())
        assert second.status_code == 409

        async with wire.stream(start.id) as resumed:
            assert await all_of(events) == []
            assert (await anext(resumed)).data == ""


async def test_a_stream_ends_when_its_key_is_revoked(service: Service) -> None:
    async with service.client() as owner:
        made = (await owner.post("/api/auth/keys", json={"name": "laptop", "scopes": ["read"]})).json()
        async with wired(service, made["key"]) as wire, wire.stream() as events:
            await anext(events)
            await owner.delete(f"/api/auth/keys/{made['id']}")
            (session,) = service.drive.server.sessions
            await session.send_log_message("error", "secret")

            assert await all_of(events) == []


async def test_a_client_that_reads_nothing_holds_up_nobody(service: Service) -> None:
    Gate(service.drive)
    async with wired(service) as wire, wired(service) as other:
        deaf = _call_and_read_nothing(service, wire, {"name": "talk", "arguments": {"lines": 20_000}})
        try:
            for pinging in (wire, other):
                assert '"result":{}' in (await pinging.post("ping")).text
                assert not (await pinging.call("talk", lines=1))["result"].get("isError")
        finally:
            deaf.close()


def _call_and_read_nothing(service: Service, wire: Wire, params: dict[str, Any]) -> socket.socket:
    request = wire.client.build_request("POST", "/mcp", json=wire.request("tools/call", params), headers=wire.headers())
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    host, _, port = service.url.removeprefix("http://").partition(":")
    deaf = socket.create_connection((host, int(port)))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + request.content)
    return deaf
