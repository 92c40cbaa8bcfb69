"""Servers over HTTP that misbehave: each fails for itself, soon, and with a reason."""

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graph.approvals.outside import text_from
from graph.servers import intake
from graph.servers import pool as pools
from graph.servers.definition import ServerDefinition
from graph.servers.pool import ServerPool
from graph.servers.reasons import ReasonCode, ServerUnavailableError
from graph.servers.status import ServerStatus
from tests.fakes.raw_server import CHUNKED, certificate, raw_server, whole
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.hostile import EVENTS, JSON, Behaviour, HostileHttp, Message, hostile_http, result, text
from tests.graph.servers.real import free_port, remote
from tests.graph.servers.test_real_servers import text_of


@pytest.fixture
async def server() -> AsyncGenerator[HostileHttp]:
    async with hostile_http() as served:
        yield served


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_MESSAGES", 500)
    monkeypatch.setattr(intake, "MAX_LINES", 5_000)
    monkeypatch.setattr(intake, "MAX_REQUESTS", 100)


@pytest.fixture
def pool(make_pool: PoolMaker) -> ServerPool:
    return make_pool(mcp_result_bytes=100_000)


def definition_of(server: HostileHttp, **fields: Any) -> ServerDefinition:
    return remote("streamableHttp", server.port, **fields)


async def failure(pool: ServerPool, definition: ServerDefinition) -> ServerUnavailableError:
    with pytest.raises(ServerUnavailableError) as raised:
        await pool.call(definition, "search", {})
    return raised.value


def always(answer: bytes | None) -> Behaviour:
    def behave(_message: Message) -> bytes | None:
        return answer

    return behave


def status(line: str, body: bytes = b"") -> Behaviour:
    return always(whole(body, JSON, status=line))


def error(request: Message, **fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"message": "no", **fields}}).encode()


def unwanted_gzip(_message: Message) -> bytes:
    return whole(gzip.compress(b"x" * 10_000_000), JSON, "content-encoding: gzip")


def refusal(**fields: Any) -> Behaviour:
    return lambda message: whole(error(message, **fields), JSON)


def newer(message: Message) -> bytes:
    data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    return whole(error(message, code=-32022, data=data), JSON, status="400 Bad Request")


def nonsense(message: Message) -> bytes:
    return result(message, nonsense=1)


FAILURES: dict[str, tuple[Behaviour, ReasonCode]] = {
    "401": (status("401 Unauthorized"), "unauthorized"),
    "403": (status("403 Forbidden"), "unauthorized"),
    "404": (status("404 Not Found"), "http_status"),
    "500": (status("500 Oops"), "http_status"),
    "html as json": (status("200 OK", b"<html>"), "not_mcp"),
    "html": (always(whole(b"<html>", "content-type: text/html")), "not_mcp"),
    "no event": (always(EVENTS), "timeout"),
    "gzip": (unwanted_gzip, "not_mcp"),
    "nonsense": (nonsense, "not_mcp"),
    "refused": (refusal(code=-32602), "refused"),
    "no initialize": (refusal(code=-32601), "protocol"),
    "newer": (newer, "protocol"),
    "misses a key": (refusal(code=-32602, message="no io.modelcontextprotocol/clientCapabilities"), "protocol"),
    "misses a header": (refusal(code=-32020), "protocol"),
    "hangs": (always(None), "timeout"),
}


def wait_briefly(pool: ServerPool, monkeypatch: pytest.MonkeyPatch, code: ReasonCode) -> None:
    """Wait half a second, not 30, if nothing else is expected."""
    if code == "timeout":
        monkeypatch.setattr(pool._sessions, "_open_seconds", 0.5)  # pyright: ignore[reportPrivateUsage] - nobody sets it


@pytest.mark.parametrize("kind", FAILURES)
async def test_a_failure_to_connect_has_its_reason(
    pool: ServerPool, server: HostileHttp, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, code = FAILURES[kind]
    wait_briefly(pool, monkeypatch, code)
    server.behaviours["initialize"] = answer

    failed = await failure(pool, definition_of(server))

    assert failed.reason.code == code
    assert pool.status("u1", "s1").reason == failed.reason


async def test_a_host_that_nobody_serves_is_unreachable(pool: ServerPool) -> None:
    assert (await failure(pool, remote("streamableHttp", free_port()))).reason.code == "unreachable"
    assert (await failure(pool, remote("sse", free_port(), id="s2"))).reason.code == "unreachable"


@pytest.mark.parametrize("kind", ["401", "403", "404", "500", "html", "gzip", "hangs"])
async def test_a_failure_to_connect_over_sse_has_its_reason(
    pool: ServerPool, server: HostileHttp, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.behaviours["GET"], code = FAILURES[kind]
    wait_briefly(pool, monkeypatch, code)

    failed = await failure(pool, remote("sse", server.port))

    assert failed.reason.code == code


async def test_a_stream_that_ends_before_it_begins_is_no_mcp(pool: ServerPool, server: HostileHttp) -> None:
    server.behaviours["GET"] = always(EVENTS)

    assert (await failure(pool, remote("sse", server.port))).reason.code == "not_mcp"


async def test_an_event_without_an_end_over_sse_is_cut_off(pool: ServerPool, server: HostileHttp) -> None:
    server.behaviours["GET"] = always(EVENTS + b"data: ")
    server.endless = b"x" * 50_000

    assert (await failure(pool, remote("sse", server.port))).reason.code == "too_large"


async def test_messages_over_sse_are_sent_to_no_other_host(
    pool: ServerPool, server: HostileHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_briefly(pool, monkeypatch, "timeout")
    async with hostile_http() as other:
        server.behaviours["GET"] = always(EVENTS + f"event: endpoint\ndata: {other.url}\n\n".encode())

        await failure(pool, remote("sse", server.port))

        assert not other.heads


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
async def test_older_protocols_are_spoken(pool: ServerPool, server: HostileHttp, version: str) -> None:
    def initialize(message: Message) -> bytes:
        return server.initialize({**message, "params": {"protocolVersion": version}})

    server.behaviours["initialize"] = initialize

    assert (await pool.details(definition_of(server))).protocol == version


async def test_a_server_whose_certificate_nobody_vouches_for_is_refused(pool: ServerPool, tmp_path: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate(tmp_path))
    async with raw_server(context) as served:
        definition = replace(remote("streamableHttp", 0), base_url=served.url)

        assert (await failure(pool, definition)).reason.code == "tls"
        assert not served.heads


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"])
async def test_an_answer_without_an_end_is_cut_off(pool: ServerPool, server: HostileHttp, beginning: bytes) -> None:
    server.behaviours["tools/call"] = lambda _message: (beginning or EVENTS) + b"data: "
    server.endless = b"x" * 50_000

    failed = await failure(pool, definition_of(server))

    assert failed.reason.code == "too_large"
    assert server.sent < 5_000_000


NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}


@pytest.mark.parametrize("event", [f"data: {json.dumps(NOTE)}", ": ping", ""])
async def test_a_flood_of_events_is_cut_off(pool: ServerPool, server: HostileHttp, event: str) -> None:
    server.behaviours["tools/call"] = lambda _message: EVENTS
    server.endless = f"{event}\n\n".encode() * 50

    assert (await failure(pool, definition_of(server))).reason.code == "flood"


async def test_a_long_stream_of_short_events_is_no_long_message(pool: ServerPool, server: HostileHttp) -> None:
    ping = b": ping " + b"x" * 1000 + b"\n\n"

    def answer(message: Message) -> bytes:
        last = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}).encode()
        return EVENTS + ping * 300 + b"data: " + last + b"\n\n"

    server.behaviours["tools/call"] = answer

    assert not (await pool.call(definition_of(server), "search", {})).isError


async def test_a_call_that_hangs_ends_in_its_time_and_leaves_the_others_alone(
    pool: ServerPool, server: HostileHttp
) -> None:
    def answer(message: Message) -> bytes | None:
        return text(message, "done") if message["params"]["name"] == "quick" else None

    server.behaviours["tools/call"] = answer
    definition = definition_of(server, timeout=0.3)

    hung = asyncio.create_task(failure(pool, definition))
    quick = await pool.call(replace(definition, timeout=20.0), "quick", {})

    assert text_of(quick) == "done"
    assert (await hung).reason.code == "timeout"
    assert pool.status("u1", "s1").status == "connected"
    assert len(server.calls("initialize")) == len(server.calls("notifications/cancelled")) == 1


async def test_a_server_that_is_silent_altogether_is_given_up(
    pool: ServerPool, server: HostileHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "PING_SECONDS", 0.2)
    definition = definition_of(server, timeout=0.2)
    server.behaviours["tools/call"] = server.behaviours["ping"] = lambda _message: None

    assert (await failure(pool, definition)).reason.code == "timeout"
    assert pool.status("u1", "s1").status == "error"


async def test_a_call_whose_answer_is_lost_is_not_made_again(pool: ServerPool, server: HostileHttp) -> None:
    server.behaviours["tools/call"] = lambda _message: b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"

    failed = await failure(pool, definition_of(server))

    assert failed.reason.code in {"not_mcp", "closed"}
    assert len(server.calls()) == 1


async def test_a_call_that_a_restarted_server_refused_is_made_again_and_no_other(
    pool: ServerPool, server: HostileHttp
) -> None:
    """Two calls at once: one is on its way when the other finds that the session is gone."""
    refused = iter([status("400 Bad Request")])

    def answer(message: Message) -> bytes | None:
        if message["params"]["name"] == "slow":
            return None
        return next(refused, partial(text, said="done"))(message)

    server.behaviours["tools/call"] = answer
    definition = definition_of(server, timeout=5.0)
    slow = asyncio.create_task(pool.call(definition, "slow", {}))
    await server.wait_for("tools/call")

    done = await pool.call(definition, "quick", {})

    assert text_of(done) == "done"
    with pytest.raises(ServerUnavailableError):
        await slow
    assert sorted(message["params"]["name"] for message in server.calls()) == ["quick", "quick", "slow"]


async def test_what_a_server_refuses_is_a_result_that_the_model_can_read(pool: ServerPool, server: HostileHttp) -> None:
    server.behaviours["tools/call"] = lambda message: whole(
        error(message, code=-32602, message="Unknown tool\u200b: search"), JSON
    )

    refused = await pool.call(definition_of(server), "search", {})

    assert refused.isError
    assert text_of(refused) == "Unknown tool: search"


async def test_a_call_that_is_cancelled_is_withdrawn_from_the_server(pool: ServerPool, server: HostileHttp) -> None:
    server.behaviours["tools/call"] = lambda _message: None
    call = asyncio.create_task(pool.call(definition_of(server), "search", {}))
    sent = await server.wait_for("tools/call")

    call.cancel()
    await asyncio.wait({call})

    withdrawn = await server.wait_for("notifications/cancelled")
    assert withdrawn["params"]["requestId"] == sent["id"]


async def test_the_hints_that_the_sdk_checks_can_not_keep_the_service_busy(
    pool: ServerPool, server: HostileHttp
) -> None:
    """A schema whose pattern takes for ever on the structured content of the answer."""
    evil = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    server.tools = [{"name": "search", "inputSchema": {"type": "object"}, "outputSchema": evil}]
    server.behaviours["tools/call"] = lambda m: result(m, content=[], structuredContent={"a": "a" * 60 + "b"})
    definition = definition_of(server)
    await pool.tools(definition)

    async with asyncio.timeout(10):
        assert not (await pool.call(definition, "search", {})).isError


@pytest.mark.parametrize(
    ("beginning", "endless"),
    [
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000),
        (b"", b"HTTP/1.1 103 Early Hints\r\nlink: " + b"x" * 50_000 + b"\r\n\r\n"),
        (CHUNKED, b"1\r\nx\r\n" * 1_000),
        (CHUNKED.replace(b"text/event-stream", b"application/json"), b"1\r\nx\r\n" * 1_000),
        (CHUNKED, b"1;" + b"x" * 50_000 + b"\r\nx\r\n"),
    ],
)
async def test_a_flood_below_the_messages_is_cut_off(
    pool: ServerPool, server: HostileHttp, beginning: bytes, endless: bytes
) -> None:
    """Answers before the answer, and chunks of a byte: nothing of them is in any message."""
    server.behaviours["tools/call"] = always(beginning or endless)
    server.endless = endless

    assert (await failure(pool, definition_of(server))).reason.code == "flood"
    assert server.sent < 20_000_000


async def _until_error(pool: ServerPool) -> AsyncGenerator[tuple[str, ServerStatus]]:
    async for change in pool.watch("u1"):
        yield change
        if change[1].status == "error":
            return


async def test_a_stream_that_ends_again_and_again_is_not_asked_for_without_end(
    pool: ServerPool, server: HostileHttp
) -> None:
    server.behaviours["GET"] = always(EVENTS + b"retry: 0\n\n")

    await pool.tools(definition_of(server))
    states = [state async for _, state in _until_error(pool)]

    assert states[-1].reason
    assert states[-1].reason.code == "flood"
    assert len(server.heads) <= 110


async def test_numbers_that_json_does_not_have_become_null(pool: ServerPool, server: HostileHttp) -> None:
    server.tools = [{"name": "search", "inputSchema": {"type": "object", "default": [float("nan"), {"x": 1.5}]}}]
    server.behaviours["tools/call"] = lambda message: result(
        message, content=[], structuredContent={"a": [float("inf"), float("nan")], "b": 2.5}
    )

    (tool,) = await pool.tools(definition_of(server))
    answer = await pool.call(definition_of(server), "search", {})

    assert tool.inputSchema["default"] == [None, {"x": 1.5}]
    assert answer.structuredContent == {"a": [None, None], "b": 2.5}


async def test_tools_whose_names_can_not_be_read_or_that_are_huge_are_left_out(
    pool: ServerPool, server: HostileHttp
) -> None:
    names = ["search", "sear\u200bch", "search\n", "\u202ehcraes", "se\x00arch", "search\ufe0f", "\x1b[31msearch"]
    server.tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    server.tools.append({"name": "huge", "description": "x" * 50_000, "inputSchema": {"type": "object"}})

    assert [tool.name for tool in await pool.tools(definition_of(server))] == ["search"]


async def test_an_answer_that_is_put_off_again_and_again_is_not_asked_for_without_end(
    pool: ServerPool, server: HostileHttp
) -> None:
    server.behaviours["tools/call"] = server.behaviours["GET"] = always(EVENTS + b"id: 1\nretry: 0\ndata:\n\n")

    assert (await failure(pool, definition_of(server))).reason.code == "flood"
    assert len(server.heads) <= 110


def half(message: Message) -> bytes:
    return text(message, "half \ud83d emoji 😀 " + "\\" + "ud83d")


def half_as_events(message: Message) -> bytes:
    (_, _, body) = half(message).partition(b"\r\n\r\n")
    return EVENTS + b"event: message\ndata: " + body + b"\n\n"


@pytest.mark.parametrize("behave", [half, half_as_events])
async def test_half_an_emoji_in_a_result_is_a_replacement_character(
    pool: ServerPool, server: HostileHttp, behave: Behaviour
) -> None:
    server.behaviours["tools/call"] = behave

    assert text_of(await pool.call(definition_of(server), "search", {})) == "half � emoji 😀 \\ud83d"


async def test_a_block_of_an_unknown_kind_leaves_the_rest_of_the_result(pool: ServerPool, server: HostileHttp) -> None:
    odd = [{"type": "video", "url": "x"}, {"type": "text", "text": "after"}, {"type": "image"}, {}, 7]
    server.behaviours["tools/call"] = lambda message: result(message, content=odd)

    answer = await pool.call(definition_of(server), "search", {})

    kinds = ("video", "image", "?", "?")
    named = [f"(A part of this result, of the kind {kind}, can't be shown.)" for kind in kinds]
    assert text_from(answer, "en").split("\n") == [named[0], "after", *named[1:]]
    assert "类型为 video" in text_from(answer, "zh")
