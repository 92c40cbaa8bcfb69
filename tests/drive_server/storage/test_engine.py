from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys
import anyio
from sqlalchemy import select
from drive_server.storage.database import open_database
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
