"""Batches of messages, which one version of the protocol has, and halves of emojis in messages, over HTTP."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.wire import Wire, wired
from tests.handshake import HEADERS, INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

    from tests.drive_server.http.service import Service

OLD = "2025-03-26"
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def ping(number: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "ping"}


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class OldWire(Wire):
    """A session of the version with batches: its clients send no header about the version."""

    def headers(self, **more: str) -> dict[str, str]:
        session = {"Mcp-Session-Id": self.session_id} if self.session_id else {}
        return {**HEADERS, **session, **more}


@asynccontextmanager
async def old(service: Service, version: str = OLD) -> AsyncGenerator[OldWire]:
    async with service.client() as client:
        wire = OldWire(client)
        response = await wire.post("initialize", {**INTRODUCTION, "protocolVersion": version})
        wire.session_id = response.headers["mcp-session-id"]
        await wire.send(NOTE)
        yield wire


async def answers(wire: Wire, *messages: Any) -> dict[Any, dict[str, Any]]:
    response = await wire.send(list(messages))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return {answer.get("id"): answer for answer in response.json()}


async def test_a_batch_is_answered_with_an_array_of_one_answer_for_each_request(service: Service) -> None:
    async with old(service) as wire:
        assert (await wire.send([ping(5)])).json() == [{"jsonrpc": "2.0", "id": 5, "result": {}}]

        found = await answers(wire, ping("a"), NOTE, call(7, "create_folder", name="In a batch"), ping(8))
        assert found.keys() == {"a", 7, 8}
        assert found[7]["result"]["structuredContent"]["name"] == "In a batch"
        assert (await wire.post("ping")).status_code == 200


async def test_a_batch_without_requests_is_accepted_and_an_empty_one_is_none(service: Service) -> None:
    async with old(service) as wire:
        accepted = await wire.send([NOTE, NOTE])
        assert (accepted.status_code, accepted.content) == (202, b"")
        empty = await wire.send([])
        assert (empty.status_code, empty.json()["error"]["code"]) == (400, -32600)


async def test_entries_that_are_no_messages_and_calls_that_fail_have_their_own_answers(service: Service) -> None:
    async with old(service) as wire:
        odd = {"jsonrpc": "2.0", "id": 4, "method": 7}
        found = await answers(wire, 7, odd, call(2, "no_such_tool"), {**ping(3), "method": "nothing"}, ping(1), ping(1))

        assert found[None]["error"]["code"] == -32600
        assert found[4]["error"]["code"] == -32600
        assert found[2]["error"]["code"] == -32602
        assert found[3]["error"]["code"] == -32601
        same = (await wire.send([ping(1), ping(1)])).json()
        assert [list(one)[2] for one in same] == ["error", "result"]


async def test_initialize_is_no_part_of_a_batch(service: Service) -> None:
    async with old(service) as wire:
        again = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INTRODUCTION}
        assert (await answers(wire, again))[1]["error"]["code"] == -32600
        assert (await wire.client.post("/mcp", json=[again], headers=HEADERS)).status_code == 400


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_later_versions_have_no_batches(service: Service, version: str) -> None:
    async with old(service, version) as wire:
        refused = await wire.send([ping(5)])
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32600)


HALF = rb"\ud83d"


async def send(wire: Wire, body: bytes) -> httpx.Response:
    headers = wire.headers(**{"Content-Type": "application/json"})
    return await wire.client.post("/mcp", content=body, headers=headers)


@pytest.mark.parametrize(
    "arguments",
    [
        rb'{"name":"s.txt","content":"half \ud83d"}',
        rb'{"name":"s\ude00.txt","content":"x"}',
        rb'{"name":"s.txt","content":"x","\ud83d":"x"}',
        rb'{"name":["\ud83d"],"content":"x"}',
    ],
)
async def test_half_an_emoji_in_arguments_gets_an_answer_with_its_id(service: Service, arguments: bytes) -> None:
    async with wired(service) as wire:
        body = rb'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"create_file","arguments":%b}}'
        answer = await send(wire, body % arguments)
    # On a slow machine the answer comes as an event stream.
    said = json.loads(answer.text.rpartition("data: ")[2])
    assert (answer.status_code, said["id"]) == (200, 77)


async def test_the_half_is_stored_as_a_replacement_character_and_a_whole_one_as_it_is(service: Service) -> None:
    async with wired(service) as wire:
        for name, text in ((b"half.txt", HALF), (b"whole.txt", rb"\ud83d\ude00"), (b"word.txt", rb"\\ud83d")):
            arguments = b'{"name":"%b","content":"%b"}' % (name, text)
            await send(
                wire,
                b'{"jsonrpc":"2.0","id":"%b","method":"tools/call","params":{"name":"create_file","arguments":%b}}'
                % (name, arguments),
            )
        read = [
            (await wire.call("read_file", file_id=f"/{name}.txt"))["result"]["structuredContent"]["text"]
            for name in ("half", "whole", "word")
        ]
    assert read == ["�", "😀", r"\ud83d"]


@pytest.mark.parametrize(
    ("body", "number", "kind"),
    [
        (rb'{"jsonrpc":"2.0","id":"\ud83d","method":"ping"}', "�", "result"),
        (rb'{"jsonrpc":"2.0","id":3,"method":"\ud83d"}', 3, "error"),
        (rb'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"\udead":[{"x":"\udead"}]}}', 4, "result"),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"\xed\xa0\xbd"}}', 5, "result"),
    ],
)
async def test_half_an_emoji_anywhere_in_a_message_gets_an_answer_with_its_id(
    service: Service, body: bytes, number: Any, kind: str
) -> None:
    async with wired(service) as wire:
        answer = (await send(wire, body)).json()
    assert answer["id"] == number
    assert kind in answer


@pytest.mark.parametrize(
    "body", [rb'{"id":1,"x":"\ud83d', rb'{"id":1,"x":\ud83d}', b'{"id":1,"x":"\xff"}', b"{'id':1}"]
)
async def test_text_that_is_no_json_stays_an_error_without_an_id(service: Service, body: bytes) -> None:
    async with wired(service) as wire:
        refused = await send(wire, body)
    assert (refused.status_code, refused.json()["id"], refused.json()["error"]["code"]) == (400, None, -32700)
