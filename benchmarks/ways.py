"""Ways to an MCP server: in this process, over stdio and over HTTP, each with the CPU time that the server has used.

The client is the same on all of them, and does not check answers against schemas: what is measured is the server.
"""

import os
import socket
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.fastmcp import FastMCP
from mcp.shared.memory import create_client_server_memory_streams
from mcp.types import CallToolResult

from drive_server.mcp.sdk import InProcessSession

PATIENCE = timedelta(seconds=60)
TICKS = os.sysconf("SC_CLK_TCK")
START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Way:
    """A session; `cpu` returns the seconds of CPU that the server has used (in this process: it and the client)."""

    session: ClientSession
    cpu: Callable[[], float]

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool, which has to work."""
        result = await self.session.call_tool(tool, arguments)
        assert not result.isError, result.content
        return result


@asynccontextmanager
async def in_process(server: FastMCP[Any]) -> AsyncGenerator[Way]:
    """Connect to a server of this process."""
    protocol = server._mcp_server  # pyright: ignore[reportPrivateUsage] - FastMCP has no other way in
    async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as group:
        group.start_soon(protocol.run, *theirs, protocol.create_initialization_options())
        async with InProcessSession(*ours, PATIENCE) as session:
            await session.initialize()
            yield Way(session, time.process_time)
        group.cancel_scope.cancel()


@asynccontextmanager
async def over_stdio(command: Sequence[str], environment: Mapping[str, str], scratch: Path) -> AsyncGenerator[Way]:
    """Start a server and connect to its standard input and output."""
    pid_file = scratch / "pid"
    # The client does not say which process it started, so the process writes it down.
    told = ["-c", 'echo $$ > "$0" && exec "$@"', str(pid_file), *command]
    parameters = StdioServerParameters(command="/bin/sh", args=told, env=dict(environment), cwd=scratch)
    with (scratch / "log").open("w") as log:
        async with stdio_client(parameters, log) as streams, InProcessSession(*streams, PATIENCE) as session:
            await session.initialize()
            pid = int(pid_file.read_text())
            yield Way(session, lambda: _cpu_of(pid))


@asynccontextmanager
async def over_http(
    command: Sequence[str], port: int, environment: Mapping[str, str], scratch: Path, key: str
) -> AsyncGenerator[Way]:
    """Start a server that listens on the port, and connect to its `/mcp` with the key."""
    with (scratch / "log").open("w") as log:
        process = subprocess.Popen(command, env=dict(environment), cwd=scratch, stdout=log, stderr=log)  # noqa: ASYNC220 - starting one takes no time that matters
    try:
        await _listens(port)
        async with (
            httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as client,
            streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=client) as (reading, writing, _),
            InProcessSession(reading, writing, PATIENCE) as session,
        ):
            await session.initialize()
            yield Way(session, lambda: _cpu_of(process.pid))
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


async def _listens(port: int) -> None:
    with anyio.fail_after(START_SECONDS):
        while True:
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            except OSError:
                await anyio.sleep(0.05)
            else:
                return


def _cpu_of(pid: int) -> float:
    """Return the seconds of CPU of a process and all its threads (proc_pid_stat(5): utime, stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
