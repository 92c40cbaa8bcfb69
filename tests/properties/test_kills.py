"""A process is killed in the middle of its work, again and again. What it had answered is there, and nothing twice.

`SOAK_KILLS` is how often; `make soak` does it 200 times.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select, text

from drive_server.storage.collector import Collector
from drive_server.storage.tables.items import VersionRow
from drive_server.storage.tables.journal import ChangeRow
from tests.drive_server.store import Store, open_store
from tests.properties.killed import lane_folders
from tests.properties.lanes import Lane, Walker, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from drive_server.kernel.access import Actor

pytestmark = pytest.mark.story

KILLS = int(os.environ.get("SOAK_KILLS", "20"))
MAX_ANSWERS = 15


class Victim:
    """The process that gets killed, round after round."""

    def __init__(self, directory: Path, actor: Actor) -> None:
        command = [
            sys.executable,
            "-m",
            "tests.properties.killed",
            str(directory),
            actor.user_id,
            actor.principal.email,
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def killed_after(self, answers: int, number: int) -> dict[str, int]:
        """Work until so many calls were answered, and die; return the number of answered calls by lane."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        pid = int(self._line().removeprefix("pid "))
        answered = dict.fromkeys(lane_folders(number), 0)
        total = 0
        while (line := self._line()) != "dead":
            _, step, folder = line.split(" ", 2)
            answered[folder] = int(step) + 1
            total += 1
            if total == answers:
                os.kill(pid, signal.SIGKILL)
        assert total >= answers
        return answered

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process ended by itself"
        return line.rstrip("\n")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
async def ana(directory: Path) -> Actor:
    async with open_store(directory) as store:
        return await store.person("ana@example.com")


@pytest.fixture
def victim(directory: Path, ana: Actor) -> Iterator[Victim]:
    victim = Victim(directory, ana)
    yield victim
    victim.stop()


@pytest.mark.timeout(900)
async def test_kills_lose_nothing_and_do_nothing_twice(victim: Victim, directory: Path, ana: Actor) -> None:
    random = Random("kills")
    for number in range(KILLS):
        answered = victim.killed_after(random.randint(1, MAX_ANSWERS), number)
        async with open_store(directory) as store:
            for folder, count in answered.items():
                await check_lane(store, ana, folder, count)
    async with open_store(directory) as store:
        await check_whole(store, directory)


async def check_lane(store: Store, ana: Actor, folder: str, answered: int) -> None:
    """The calls that were answered are done; the one that was going on is done, or is now: each of them once."""
    walker, lane = Walker(store, ana, folder), Lane(folder)
    await walker.prepare()
    for step in steps_of(folder, folder):
        if step.number >= answered - 1:
            outcome = await walker.walk(step)
            assert outcome.replayed or step.number >= answered, (folder, step)
        lane.apply(step)
        if step.number == answered:
            break
    listed = (await store.files.list_folder(ana, f"/{folder}", limit=1000)).items
    kept = {item.name: await content_of(store, ana, item.id) for item in listed}
    assert kept == {name: text.encode() for name, text in lane.live.items()}
    assert await changes_of(store, folder) == answered + 1


async def content_of(store: Store, ana: Actor, item_id: str) -> bytes:
    content = await store.documents.open_content(ana, item_id)
    return b"".join([chunk async for chunk in content.stream()])


async def changes_of(store: Store, run_id: str) -> int:
    async with store.database.read() as session:
        query = select(func.count()).select_from(ChangeRow).where(ChangeRow.run_id == run_id)
        return (await session.execute(query)).scalar_one()


async def check_whole(store: Store, directory: Path) -> None:
    """The database is sound, every content is there, and the collector leaves nothing that is not needed."""
    async with store.database.read() as session:
        assert (await session.execute(text("PRAGMA integrity_check"))).scalar_one() == "ok"
        referred = set((await session.scalars(select(VersionRow.blob))).all())
    # All of them are stale by then: what was never referred to, and what never arrived whole.
    later = datetime.now(UTC) + timedelta(days=3)
    collected = await Collector(store.database, store.blobs, clock=lambda: later).run_once()
    assert collected.unfinished >= KILLS
    assert {path.name for path in (directory / "blobs").rglob("*") if path.is_file()} == referred
