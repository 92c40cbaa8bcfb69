"""Every way to serve ends within ten seconds after SIGTERM, with exit code 0, whatever is going on."""

from __future__ import annotations

import signal
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.drive_server.programs import DRIVE_AGENT, PROGRAM, HttpProgram, StdioProgram, until

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.kernel.settings import DriveSettings

HTTP = (*PROGRAM, "http", "--port", "0")
ENDED_AT_ONCE = {128 + signal.SIGTERM}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


class Calling(threading.Thread):
    """Calls a tool over HTTP and keeps the answer."""

    def __init__(self, program: HttpProgram, headers: dict[str, str], tool: str, **arguments: Any) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self._program, self._headers, self._request = program, headers, call(tool, **arguments)
        self.start()

    def run(self) -> None:
        with self._program.client() as client, suppress(httpx.TransportError):
            self.text = client.post("/mcp", json=self._request, headers=self._headers).text


@pytest.mark.parametrize("command", [(*PROGRAM, "stdio"), (DRIVE_AGENT, "mcp")])
def test_a_server_over_stdio_ends_in_time(drive_settings: DriveSettings, command: tuple[str, ...]) -> None:
    with StdioProgram(drive_settings, *command) as program:
        program.introduce()
        assert program.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("command", [HTTP, (DRIVE_AGENT, "serve", "--port", "0")])
def test_a_server_over_http_ends_in_time_with_streams_open(
    drive_settings: DriveSettings, command: tuple[str, ...]
) -> None:
    with HttpProgram(drive_settings, *command) as program, program.client() as client:
        headers = program.open_session(client)
        with client.stream("GET", "/mcp", headers=headers) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("id: ")
            subscribe = {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe"}
            client.post("/mcp", json=subscribe | {"params": {"uri": "drive://folders/root"}}, headers=headers)

            assert program.end(signal.SIGTERM) == 0
            assert "".join(lines).endswith("data: ")


def test_a_call_that_ends_soon_is_answered(drive_settings: DriveSettings, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with HttpProgram(drive_settings, *HTTP) as program, program.client() as client:
        calling = Calling(program, program.open_session(client), "wait_for", path=str(gate))
        until(gate.with_suffix(".entered").exists)
        program.process.send_signal(signal.SIGTERM)
        until(lambda: _is_closed(program))
        gate.touch()

        assert program.process.wait(30) == 0
        calling.join()
    assert "through" in calling.text


def test_a_call_that_waits_is_refused(drive_settings: DriveSettings, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with HttpProgram(drive_settings, *HTTP) as program, program.client() as client:
        calling = Calling(program, program.open_session(client), "wait_for", path=str(gate))
        until(gate.with_suffix(".entered").exists)

        assert program.end(signal.SIGTERM) == 0
        calling.join()
    assert '"code":"unavailable"' in calling.text


def test_over_stdio_a_call_that_ends_soon_is_answered_and_another_is_not(
    drive_settings: DriveSettings, tmp_path: Path
) -> None:
    with StdioProgram(drive_settings, *PROGRAM) as program:
        program.introduce()
        for number, name in enumerate(("soon", "never")):
            program.call(number, "wait_for", path=str(tmp_path / name))
            until((tmp_path / f"{name}.entered").exists)
        program.process.send_signal(signal.SIGTERM)
        (tmp_path / "soon").touch()

        assert "through" in str(program.answer(0))
        assert program.process.wait(30) == 0
        assert program.process.stdout is not None
        assert program.process.stdout.read() == b""


@pytest.mark.parametrize("kind", [HttpProgram, StdioProgram])
def test_a_thread_that_does_not_end_is_left_alone(
    drive_settings: DriveSettings, tmp_path: Path, kind: type[HttpProgram | StdioProgram]
) -> None:
    command = HTTP if kind is HttpProgram else PROGRAM
    with kind(drive_settings, *command) as program:
        _hold_a_thread(program, tmp_path / "thread")

        assert program.end(signal.SIGTERM) == 0


def test_a_second_signal_ends_it_at_once(drive_settings: DriveSettings, tmp_path: Path) -> None:
    with HttpProgram(drive_settings, *HTTP) as program:
        _hold_a_thread(program, tmp_path / "thread")
        program.process.send_signal(signal.SIGTERM)
        until(lambda: _is_closed(program))

        assert program.end(signal.SIGTERM) in ENDED_AT_ONCE


def test_ctrl_c_ends_a_server_over_stdio_as_well(drive_settings: DriveSettings) -> None:
    with StdioProgram(drive_settings, *PROGRAM) as program:
        program.introduce()
        assert program.end(signal.SIGINT) == 0


def test_a_client_that_reads_nothing_and_an_upload_that_stalls_hold_up_nothing(drive_settings: DriveSettings) -> None:
    with HttpProgram(drive_settings, *HTTP) as program, program.client() as client:
        headers = program.open_session(client)
        deaf = _connection(program)
        deaf.sendall(_head(program, client, "POST", "/mcp", headers, call("huge", characters=20_000_000)))
        upload = _connection(program)
        stalled = client.build_request(
            "POST", "/api/drive/files?parent_id=root&name=a.bin", headers={"Content-Length": "1000000"}
        )
        upload.sendall(_raw_head(program, stalled) + b"only the beginning")
        assert deaf.recv(1) == b"H"

        assert program.end(signal.SIGTERM) == 0
        for connection in (deaf, upload):
            connection.close()
    assert not list(drive_settings.root.glob("**/a.bin"))


def _hold_a_thread(program: HttpProgram | StdioProgram, mark: Path) -> None:
    if isinstance(program, StdioProgram):
        program.introduce()
        program.call(1, "stubborn", path=str(mark))
    else:
        with program.client() as client:
            Calling(program, program.open_session(client), "stubborn", path=str(mark))
    until(mark.with_suffix(".entered").exists)


def _connection(program: HttpProgram) -> socket.socket:
    host, _, port = program.url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return connection


def _head(
    program: HttpProgram, client: httpx.Client, method: str, path: str, headers: dict[str, str], body: Any
) -> bytes:
    request = client.build_request(method, path, headers=headers, json=body)
    return _raw_head(program, request) + request.content


def _raw_head(program: HttpProgram, request: httpx.Request) -> bytes:
    assert request.url.host in program.url
    lines = [f"{request.method} {request.url.raw_path.decode()} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def _is_closed(program: HttpProgram) -> bool:
    try:
        _connection(program).close()
    except ConnectionRefusedError:
        return True
    return False
