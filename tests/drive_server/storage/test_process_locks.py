"""Locks between the processes of one machine, by a file."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from drive_server.storage.process_locks import FileLock
from tests.fakes.file_locks import USE

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("file_locks")

HOLD = f"""{USE}
import asyncio
import sys
from pathlib import Path
from drive_server.storage.process_locks import FileLock
print(asyncio.run(FileLock(Path(sys.argv[1])).acquire()), flush=True)
sys.stdin.read()
"""


async def test_only_one_holds_the_lock(tmp_path: Path) -> None:
    one, other = FileLock(tmp_path / "data" / "index.lock"), FileLock(tmp_path / "data" / "index.lock")
    assert await one.acquire()
    assert not await other.acquire()
    assert (one.is_held, other.is_held) == (True, False)
    await one.release()
    assert await other.acquire()
    await other.release()


async def test_the_holder_may_take_it_again_and_lets_go_as_often(tmp_path: Path) -> None:
    one, other = FileLock(tmp_path / "index.lock"), FileLock(tmp_path / "index.lock")
    assert await one.acquire()
    assert await one.acquire()
    await one.release()
    assert not await other.acquire()
    await one.release()
    assert await other.acquire()
    await other.release()


@pytest.mark.story
async def test_a_process_that_is_killed_lets_go_of_it(tmp_path: Path) -> None:
    path = tmp_path / "index.lock"
    lock = FileLock(path)
    with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs in the loop
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert not await lock.acquire()
        holder.kill()
    assert await lock.acquire()
    await lock.release()
