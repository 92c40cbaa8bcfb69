"""`python -m tests.drive_server.odd_program ...`: `python -m drive_server ...` with tools that behave badly.

Run as a process of its own. The tools are put on the server where it is made, so that all else is as in the program.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

import drive_server.connect
from drive_server import __main__ as program

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.mcp.server import DriveServer

make_server = drive_server.connect.build_server


async def noisy() -> str:
    """Print in every way there is."""
    print("printed")  # noqa: T201 - what it is for
    os.write(1, b"written\n")
    await anyio.run_process(["echo", "from a child"], stdout=None)
    return sys.stdin.read()


async def huge(characters: int) -> str:
    """Answer a long text."""
    return "文" * characters


async def wait_for(path: str) -> str:
    """Wait until a file appears."""
    await anyio.Path(path + ".entered").touch()
    while not await anyio.Path(path).exists():
        await anyio.lowlevel.checkpoint()
    return "through"


async def stubborn(path: str) -> str:
    """Hold a thread that nothing can stop."""
    await anyio.Path(path + ".entered").touch()
    await anyio.to_thread.run_sync(time.sleep, 600)
    return "never"


def with_odd_tools(drive: Drive, **options: Any) -> DriveServer:
    """Return the drive's server with the tools of this module."""
    server = make_server(drive, **options)
    for tool in (noisy, huge, wait_for, stubborn):
        server.add_tool(tool)
    return server


def main(arguments: list[str] | None = None) -> int:
    """Run the program with these tools beside its own."""
    drive_server.connect.build_server = with_odd_tools
    return program.main(arguments)
