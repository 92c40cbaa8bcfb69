from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import make_url

from drive_server.kernel.sql.engine import close_engine, open_engine

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys
import anyio
from sqlalchemy import select
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.people import UserRow

async def read(database):
    async with database.read() as session:
        for _ in range(50):
            await session.execute(select(UserRow))

async def main():
    database = await open_database(sys.argv[1])
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(read, database)
        for _ in range(int(sys.argv[2])):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    await database.dispose()

anyio.run(main)
print("ended")
"""


@pytest.mark.parametrize("steps", [1, 4, 16, 64])
def test_a_process_that_ends_while_calls_are_being_cancelled_ends(tmp_path: Path, steps: int) -> None:
    """Told twice to end, a connection's thread answered once, and the event loop waited for the rest for ever."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}"
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, url, str(steps)], capture_output=True, text=True, check=False, timeout=30
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "ended\n", "")


async def test_an_engine_is_not_closed_before_a_connection_whose_opening_was_cancelled_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread told an event loop that was closed by then, and the process ended with a trace."""
    asked, go_on = threading.Event(), threading.Event()
    connect = sqlite3.connect

    def slow(*arguments: Any, **options: Any) -> sqlite3.Connection:
        asked.set()
        go_on.wait()
        return connect(*arguments, **options)

    monkeypatch.setattr(sqlite3, "connect", slow)
    engine = open_engine(make_url(f"sqlite+aiosqlite:///{tmp_path / 'drive.db'}"))
    opening = asyncio.ensure_future(engine.raw_connection())
    await asyncio.to_thread(asked.wait)
    opening.cancel()
    await asyncio.wait({opening})
    closing = asyncio.ensure_future(close_engine(engine))
    for _ in range(20):
        await asyncio.sleep(0)
    closed_too_early = closing.done()
    go_on.set()
    await closing
    assert (opening.cancelled(), closed_too_early) == (True, False)
