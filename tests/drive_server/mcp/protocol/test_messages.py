"""JSON-RPC messages, and the answers to bodies that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from drive_server.mcp.protocol.messages import (
    MAX_ID_CHARACTERS,
    MAX_VALUES,
    MessageError,
    read_message,
    write_failure,
    write_message,
)

PARSE, INVALID = -32700, -32600


def told(error: MessageError) -> dict[str, Any]:
    assert error.error.data is not None
    return error.error.data


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', JSONRPCRequest),
        ('{"jsonrpc": "2.0", "id": "计划 🌍", "method": "ping", "params": {}}'.encode(), JSONRPCRequest),
        (b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', JSONRPCNotification),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', JSONRPCResponse),
        (b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}', JSONRPCError),
        (b'  {"jsonrpc": "2.0", "id": 1, "method": "ping"}\r', JSONRPCRequest),
    ],
)
def test_each_kind_of_message_is_read(data: bytes, kind: type) -> None:
    assert isinstance(read_message(data).root, kind)


@pytest.mark.parametrize(
    ("data", "code", "request_id"),
    [
        (b"", PARSE, None),
        (b"{", PARSE, None),
        (b"\xff\xfe", PARSE, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', PARSE, None),
        (b"[" * 50_000, PARSE, None),
        (b"[]", INVALID, None),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', INVALID, None),
        (b"null", INVALID, None),
        (b"7", INVALID, None),
        (b"{}", INVALID, None),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', INVALID, None),
        (b'{"jsonrpc": "2.0"}', INVALID, None),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', INVALID, None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', INVALID, None),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', INVALID, None),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', INVALID, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', INVALID, 1),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": [1]}', INVALID, "a"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": 5}', INVALID, None),
        (b'{"jsonrpc": "2.0", "id": 1, "error": {"code": "x"}}', INVALID, None),
    ],
)
def test_what_is_no_message_is_answered_with_the_right_number(
    data: bytes, code: int, request_id: int | str | None
) -> None:
    with pytest.raises(MessageError) as raised:
        read_message(data)

    assert (raised.value.error.code, raised.value.request_id) == (code, request_id)
    assert told(raised.value)["code"] == "invalid_argument"


def test_a_small_text_that_holds_a_great_many_values_is_refused() -> None:
    def request(values: int) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": 3, "method": "x", "params": {"a": [[]] * values}}).encode()

    assert read_message(request(MAX_VALUES // 2))
    with pytest.raises(MessageError) as raised:
        read_message(request(MAX_VALUES + 1))

    assert (told(raised.value)["code"], raised.value.request_id) == ("too_large", 3)


def test_an_id_may_be_long_but_not_endless() -> None:
    def request(name: str) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": name, "method": "ping"}).encode()

    assert read_message(request("x" * MAX_ID_CHARACTERS))
    with pytest.raises(MessageError):
        read_message(request("x" * (MAX_ID_CHARACTERS + 1)))


@pytest.mark.parametrize(
    "root",
    [
        JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "你好 🌍\n", "nothing": None, "number": 2**70}),
        JSONRPCRequest(jsonrpc="2.0", id="a", method="elicitation/create", params={"message": "؟"}),
        JSONRPCNotification(jsonrpc="2.0", method="notifications/progress", params={"progress": 0.5}),
    ],
)
def test_messages_are_written_in_one_line_and_nothing_is_lost(root: Any) -> None:
    written = write_message(JSONRPCMessage(root))

    assert b"\n" not in written
    read = json.loads(written)
    assert read.get("result", read.get("params")) == (root.result if "result" in read else root.params)


def test_an_answer_that_can_not_be_written_still_is_answered() -> None:
    broken = JSONRPCResponse(jsonrpc="2.0", id=5, result={"text": "\ud800"})

    answer = json.loads(write_message(JSONRPCMessage(broken)))

    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]) == (5, -32603, "internal")


def test_an_error_that_answers_nothing_has_no_id() -> None:
    assert json.loads(write_failure(None, ErrorData(code=PARSE, message="no")))["id"] is None
