"""MCP over standard input and output: what a host may send, and what it gets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.programs import PROGRAM, StdioProgram, until
from tests.handshake import INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from drive_server.kernel.settings import DriveSettings

LIMITS = {"DRIVE_MAX_REQUEST_BYTES": "100000", "DRIVE_CONCURRENT_CALLS": "2", "DRIVE_CALLS_PER_MINUTE": "30"}


@pytest.fixture
def host(drive_settings: DriveSettings) -> Iterator[StdioProgram]:
    with StdioProgram(drive_settings, *PROGRAM, **LIMITS) as program:
        yield program


def text_of(answer: dict[str, Any]) -> str:
    return answer["result"]["content"][0]["text"]


def test_what_is_no_message_is_answered_and_the_session_goes_on(host: StdioProgram) -> None:
    host.introduce()
    nonsense = [
        (b"hello\n", -32700),
        (b"\xff\xfe\n", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}\n', -32700),
        (b"[" * 50_000 + b"\n", -32700),
        (b"[]\n", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]\n', -32600),
        (b"{}\n", -32600),
        (b"null\n", -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', -32600),
    ]
    for line, code in nonsense:
        host.say(line)
        heard = host.hear()
        assert (heard["id"], heard["error"]["code"]) == (None, code)
    host.say(b"\n\r\n")
    host.ask("计划 🌍", "ping")
    assert host.hear() == {"jsonrpc": "2.0", "id": "计划 🌍", "result": {}}


def test_a_line_over_the_limit_is_answered_and_skipped(host: StdioProgram) -> None:
    host.introduce()
    host.say(b"x" * 3_000_000 + b"\n")
    heard = host.hear()
    assert (heard["id"], heard["error"]["data"]["details"]["limit"]) == (None, 100_000)
    host.ask(1, "ping")
    assert host.hear()["result"] == {}


def test_nothing_but_a_ping_comes_before_initialize_and_ids_are_used_once(host: StdioProgram, tmp_path: Path) -> None:
    host.ask(1, "ping")
    assert host.answer(1)["result"] == {}
    host.ask(2, "tools/list")
    assert host.answer(2)["error"]["code"] == -32600
    host.introduce()
    host.ask(3, "initialize", INTRODUCTION)
    assert host.answer(3)["error"]["code"] == -32600
    host.call(8, "wait_for", path=str(tmp_path / "gate"))
    host.ask("8", "ping")
    assert host.answer("8")["error"]["code"] == -32600
    (tmp_path / "gate").touch()
    assert text_of(host.answer(8)) == "through"


def test_calls_at_once_and_in_a_minute_are_limited_and_a_cancelled_one_makes_room(
    host: StdioProgram, tmp_path: Path
) -> None:
    host.introduce()
    for number in (1, 2):
        host.call(number, "wait_for", path=str(tmp_path / "gate"))
    host.call(3, "wait_for", path="")
    assert host.answer(3)["result"]["structuredContent"]["details"]["limit"] == 2
    host.ask(4, "tools/list")
    assert host.answer(4)["error"]["data"]["code"] == "rate_limited"
    host.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    host.call(5, "huge", characters=1)
    heard = host.hear()
    assert heard["id"] == 5, "who cancels gets no answer"
    (tmp_path / "gate").touch()
    host.answer(2)
    for number in range(10, 50):
        host.call(number, "huge", characters=1)
        heard = host.answer(number)
    refused = heard["result"]["structuredContent"]
    assert (refused["code"], refused["details"]["limit"]) == ("rate_limited", 30)
    host.ask(99, "ping")
    assert host.answer(99)["result"] == {}


def test_nothing_that_is_printed_gets_between_the_messages(host: StdioProgram) -> None:
    host.introduce()
    host.call(1, "noisy")
    assert text_of(host.hear()) == "", "standard input is the protocol's as well"
    host.process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess] - it is a pipe
    assert host.process.wait(30) == 0
    assert host.process.stdout is not None
    assert host.process.stdout.read() == b""
    assert host.process.stderr is not None
    complained = host.process.stderr.read()
    assert all(word in complained for word in (b"printed", b"written", b"from a child"))


def test_huge_answers_arrive_whole_though_they_are_read_late(host: StdioProgram) -> None:
    host.introduce()
    for number in (1, 2):
        host.call(number, "huge", characters=1_000_000)
    for number in range(10, 100):
        host.ask(number, "ping")
    answers = {(heard := host.hear())["id"]: heard for _ in range(92)}

    assert [len(text_of(answers[number])) for number in (1, 2)] == [1_000_000, 1_000_000]
    assert all(answers[number]["result"] == {} for number in range(10, 100))


def test_at_the_end_of_input_calls_are_answered_and_the_process_ends_well(host: StdioProgram, tmp_path: Path) -> None:
    host.introduce()
    host.call(1, "wait_for", path=str(tmp_path / "gate"))
    until((tmp_path / "gate.entered").exists)
    assert host.process.stdin is not None
    host.process.stdin.close()
    (tmp_path / "gate").touch()

    assert text_of(host.answer(1)) == "through"
    assert host.process.wait(30) == 0


def test_a_whole_session_may_be_sent_at_once(drive_settings: DriveSettings) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INTRODUCTION},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with StdioProgram(drive_settings, *PROGRAM) as program:
        assert program.process.stdin is not None
        assert program.process.stdout is not None
        program.process.stdin.write(b"\n".join(json.dumps(line).encode() for line in lines))
        program.process.stdin.close()
        out = program.process.stdout.read()
        program.process.wait(60)

        assert program.process.returncode == 0
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1, 2]


def test_a_host_that_goes_away_while_it_is_answered_leaves_no_process_behind(host: StdioProgram) -> None:
    host.introduce()
    host.call(1, "huge", characters=3_000_000)
    assert host.process.stdout is not None
    host.process.stdout.read(1)
    host.process.stdout.close()
    assert host.process.wait(30) == 0


def test_half_an_emoji_gets_an_answer_with_its_id_and_text_that_is_no_json_none(host: StdioProgram) -> None:
    host.introduce()
    host.say(rb'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"echo\ud83d","arguments":{}}}' + b"\n")
    assert host.hear()["id"] == 77
    host.say(rb'{"jsonrpc":"2.0","id":"\ude00","method":"ping"}' + b"\n")
    assert host.hear() == {"jsonrpc": "2.0", "id": "�", "result": {}}
    host.say(rb'{"jsonrpc":"2.0","id":"\ude00' + b"\n")
    assert (host.hear()["id"], host.process.poll()) == (None, None)


def test_a_batch_over_stdio_is_answered_in_one_line_by_the_version_that_has_them(
    host: StdioProgram, tmp_path: Path
) -> None:
    host.ask(0, "initialize", {**INTRODUCTION, "protocolVersion": "2025-03-26"})
    host.answer(0)
    host.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    waits = {"name": "wait_for", "arguments": {"path": str(tmp_path / "gate")}}
    batch: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": waits},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
        7,
    ]
    host.say(json.dumps(batch).encode() + b"\n")
    host.ask(3, "ping")
    assert host.hear()["id"] == 3
    (tmp_path / "gate").touch()
    heard: Any = host.hear()
    assert {answer["id"] for answer in heard} == {1, 2, None}
    host.say(b"[]\n")
    assert host.hear()["error"]["code"] == -32600
    host.say(b'[{"jsonrpc": "2.0", "method": "notifications/initialized"}]\n')
    host.ask(4, "ping")
    assert host.hear()["id"] == 4


def test_a_request_of_the_revision_without_sessions_is_told_the_truth_and_the_older_one_goes_on(
    host: StdioProgram,
) -> None:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    for method in ("server/discover", "tools/list"):
        host.ask(method, method, {"_meta": envelope})
        error = host.hear()["error"]
        assert (error["code"], error["data"]["requested"]) == (-32022, "2026-07-28")
        assert error["data"]["supported"][0] == "2025-11-25"
        assert "over HTTP it does" in error["message"]
        assert "HTTP" in error["data"]["messages"]["message"]["zh"]

    host.introduce()
    host.ask(1, "ping")
    assert host.hear()["result"] == {}
