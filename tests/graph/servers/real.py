"""Servers that others wrote, by exact version, as definitions; and those over HTTP, running."""

import os
import shlex
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from graph.servers.definition import ServerDefinition, ServerType
from tests.node.runtime import EVERYTHING_SERVER, FILESYSTEM_SERVER, MEMORY_SERVER, program

EVERYTHING = program(EVERYTHING_SERVER, "stdio")
TIME = [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"]


def stdio(line: list[str], **fields: Any) -> ServerDefinition:
    """Return the definition of a program."""
    named: dict[str, Any] = {"id": "s1", "user_id": "u1", "name": "real", "type": "stdio", "timeout": 20.0, **fields}
    return ServerDefinition(command=line[0], args=tuple(line[1:]), **named)


def remote(kind: ServerType, port: int, **fields: Any) -> ServerDefinition:
    """Return the definition of a server on this machine."""
    path = "sse" if kind == "sse" else "mcp"
    named: dict[str, Any] = {"id": "s1", "user_id": "u1", "name": "real", "timeout": 20.0, **fields}
    return ServerDefinition(type=kind, base_url=f"http://127.0.0.1:{port}/{path}", **named)


def filesystem(folder: Path) -> list[str]:
    """Return the command of the server that reads and writes files in one folder."""
    return program(FILESYSTEM_SERVER, str(folder))


def memory() -> list[str]:
    """Return the command of the server that has a graph of facts in a file."""
    return program(MEMORY_SERVER)


def allowed(*lines: list[str]) -> str:
    """Return the setting that allows these commands."""
    return ",".join(shlex.join(line) for line in lines)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@asynccontextmanager
async def everything(kind: ServerType, port: int) -> AsyncGenerator[Process]:
    """Run server-everything over HTTP, and kill it in the end."""
    environment = {"PATH": os.environ["PATH"], "PORT": str(port)}
    async with await anyio.open_process(program(EVERYTHING_SERVER, kind), env=environment) as process:
        try:
            assert process.stderr
            async for text in TextReceiveStream(process.stderr):
                if f"port {port}" in text:
                    break
            yield process
        finally:
            process.kill()
