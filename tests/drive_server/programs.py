"""The server as a process of its own, spoken to by hand."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx

from tests.api.real_service import SECRETS_KEY
from tests.drive_server.actors import local_token
from tests.forked import Forked
from tests.handshake import HEADERS, INITIALIZE, INTRODUCTION, VERSION

if TYPE_CHECKING:
    from types import TracebackType

    from drive_server.kernel.settings import DriveSettings

PROGRAM = ("tests.drive_server.odd_program",)
DRIVE_AGENT = str(Path(sys.executable).with_name("drive-agent"))
ADDRESS = re.compile(rb"http://127\.0\.0\.1:\d+")
REPOSITORY = Path(__file__).parents[2]
LONG_SECONDS = 60.0


def until(condition: Any) -> None:
    """Return when it holds; it has to within a minute."""
    deadline = time.monotonic() + LONG_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


class Program:
    """A process with a drive of its own; killed at the end if it still is there."""

    def __init__(self, settings: DriveSettings, *command: str, **variables: str) -> None:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("DRIVE_", "AGENT_", "OPENAI_"))}
        self.settings = settings
        environment = {
            **inherited,
            "PYTHONPATH": str(REPOSITORY),
            "DRIVE_DATA_DIR": str(settings.root),
            "DRIVE_DATABASE_URL": settings.database_url,
            "DRIVE_EMBEDDING_MODEL": "none",
            "AGENT_SECRETS_KEY": "" if settings.is_embedded else SECRETS_KEY,
            **variables,
        }
        if command[:1] == PROGRAM:
            self.process = Forked(*PROGRAM, command[1:], environment)
        else:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing running."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        self.process.wait()

    def end(self, signal_number: int, seconds: float = 10) -> int:
        """Send a signal and return the exit code; raises `subprocess.TimeoutExpired` if it takes longer."""
        self.process.send_signal(signal_number)
        return self.process.wait(seconds)


class StdioProgram(Program):
    """One that speaks MCP over its standard streams."""

    def say(self, *messages: Any) -> None:
        """Send messages, bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """Return the next message."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, number: Any, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a request."""
        self.say({"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {}))

    def answer(self, number: Any) -> dict[str, Any]:
        """Return the answer to a request; what else comes before it is passed over."""
        while True:
            heard = self.hear()
            if heard.get("id") == number and "method" not in heard:
                return heard

    def introduce(self) -> Self:
        """Initialize the session."""
        self.ask("hello", "initialize", INTRODUCTION)
        assert "result" in self.answer("hello")
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def call(self, number: Any, tool: str, **arguments: Any) -> None:
        """Call a tool."""
        self.ask(number, "tools/call", {"name": tool, "arguments": arguments})


class HttpProgram(Program):
    """One that serves HTTP; it is up when this is made."""

    def __init__(self, settings: DriveSettings, *command: str, **variables: str) -> None:
        super().__init__(settings, *command, **variables)
        said = b""
        stream = self.process.stdout if "serve" in command else self.process.stderr
        assert stream is not None
        while not (found := ADDRESS.search(said)):
            line = stream.readline()
            assert line, said
            said += line
        self.url = found.group(0).decode()
        self.token = asyncio.run(local_token(settings))

    def client(self) -> httpx.Client:
        """Return a client with the local access token."""
        headers = {"Authorization": f"Bearer {self.token}", **HEADERS}
        return httpx.Client(base_url=self.url, headers=headers, timeout=LONG_SECONDS)

    def open_session(self, client: httpx.Client) -> dict[str, str]:
        """Open an MCP session; return the headers of its requests."""
        response = client.post("/mcp", json=INITIALIZE)
        assert response.status_code == httpx.codes.OK, response.text
        return {"Mcp-Session-Id": response.headers["mcp-session-id"], "MCP-Protocol-Version": VERSION}
