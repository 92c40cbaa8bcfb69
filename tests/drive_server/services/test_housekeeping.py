from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import anyio

from drive_server.kernel.errors import DatabaseAwayError
from drive_server.services.housekeeping import Housekeeping
from drive_server.storage.process_locks import FileLock

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from drive_server.drive import Drive


async def test_a_job_that_fails_is_logged_and_the_others_are_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    async def first() -> None:
        done.append("first")

    async def failing() -> None:
        msg = "the disk is gone"
        raise OSError(msg)

    async def last() -> int:
        done.append("last")
        return 7

    housekeeping = Housekeeping(FileLock(tmp_path / "lock"))
    for job in (first, failing, last):
        housekeeping.add(job.__name__, job)

    assert await housekeeping.run_once()

    assert done == ["first", "last"]
    assert "'failing' failed" in caplog.text
    assert "the disk is gone" in caplog.text


async def test_only_one_process_does_it(tmp_path: Path) -> None:
    done: list[str] = []

    async def job() -> None:
        done.append("job")

    other = FileLock(tmp_path / "lock")
    assert await other.acquire()
    housekeeping = Housekeeping(FileLock(tmp_path / "lock"))
    housekeeping.add("job", job)

    assert not await housekeeping.run_once()
    await other.release()
    assert await housekeeping.run_once()

    assert done == ["job"]
    assert await other.acquire()
    await other.release()


async def test_it_runs_soon_after_the_start_and_again_and_again(tmp_path: Path) -> None:
    runs = 0
    enough = anyio.Event()

    async def job() -> None:
        nonlocal runs
        runs += 1
        if runs == 3:
            enough.set()

    housekeeping = Housekeeping(FileLock(tmp_path / "lock"), interval=timedelta(), first_after=timedelta())
    housekeeping.add("job", job)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(housekeeping.run)
        await enough.wait()
        tasks.cancel_scope.cancel()

    assert runs >= 3


async def test_it_goes_on_after_a_round_in_which_the_database_was_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = FileLock(tmp_path / "lock")
    away, acquire = [DatabaseAwayError("away")], lock.acquire
    done = anyio.Event()

    async def unreliable() -> bool:
        if away:
            raise away.pop()
        return await acquire()

    async def job() -> None:
        done.set()

    monkeypatch.setattr(lock, "acquire", unreliable)
    housekeeping = Housekeeping(lock, interval=timedelta(), first_after=timedelta())
    housekeeping.add("job", job)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(housekeeping.run)
        with anyio.fail_after(20):
            await done.wait()
        tasks.cancel_scope.cancel()
    assert away == []


async def test_a_drive_clears_up_after_itself(drive: Drive) -> None:
    orphan = await drive.blobs.put_bytes(b"nobody's yet")

    assert await drive.housekeeping.run_once()

    assert await drive.blobs.read(orphan.hash) == b"nobody's yet"
