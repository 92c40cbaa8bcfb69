"""The drive's tools beside a trivial tool on the same transport, and beside the file server of MCP's own project.

    python -m benchmarks.store [--calls 40] [--rounds 3]

Reads 4 kB, lists 100 items, searches among 520 files, writes 4 kB and edits, one call at a time and eight at once. The
trivial tool takes what the drive's tool takes and answers as many characters of text. `server-filesystem` runs on Node
over stdio; its writes are not synced to disk, its search knows names only, and it keeps no versions.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import anyio

from benchmarks.fixtures.services import trivial_server
from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.ways import Way, free_port, in_process, over_http, over_stdio
from benchmarks.operations import (
    MAX_AT_ONCE,
    OPERATIONS,
    Operation,
    Places,
    make_folder,
    of_drive,
    of_filesystem,
    of_trivial,
)
from drive_server.connect import ALL_SCOPES, Actor, Drive, in_process_session, open_drive
from drive_server.kernel.settings import DriveSettings
from tests.node.runtime import FILESYSTEM_SERVER, program

IN_PROCESS, STDIO, HTTP = TRANSPORTS = ("in process", "stdio", "HTTP")
AT_ONCE = (1, MAX_AT_ONCE)
WARM_UP = 10
UNLIMITED = 1_000_000_000
MILLISECONDS = 1000
HEADER = ["", "drive ms", "trivial ms", "ratio", "drive CPU ms", "trivial CPU ms", "ratio", "filesystem ms", "ratio"]


@dataclass(slots=True)
class Samples:
    """Seconds of each call, and of CPU for all."""

    seconds: list[float] = field(default_factory=list[float])
    cpu: float = 0.0

    @property
    def cpu_per_call(self) -> float:
        return self.cpu / len(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)


@dataclass(frozen=True, slots=True)
class Server:
    """A server by one way, with the work it can be given."""

    way: Way
    operations: dict[str, Operation]
    samples: dict[tuple[str, int], Samples] = field(default_factory=dict[tuple[str, int], Samples])

    async def measure(self, name: str, at_once: int, calls: int) -> None:
        """Make so many calls and keep what they took."""
        samples = self.samples.setdefault((name, at_once), Samples())
        operation = self.operations[name]

        async def work(worker: int) -> None:
            for _ in range(calls // at_once):
                begun = time.perf_counter()
                await operation(worker)
                samples.seconds.append(time.perf_counter() - begun)

        before = self.way.cpu()
        async with anyio.create_task_group() as group:
            for worker in range(at_once):
                group.start_soon(work, worker)
        samples.cpu += self.way.cpu() - before

    async def warm_up(self) -> None:
        """Do everything a few times; what that takes is forgotten."""
        for name in OPERATIONS:
            await self.measure(name, 1, WARM_UP)
        self.samples.clear()


class Servers:
    """Opens the servers in a scratch folder; they run until the stack is closed."""

    def __init__(self, work: Path, stack: AsyncExitStack) -> None:
        self._work = work
        self._stack = stack

    def _room(self, name: str) -> Path:
        room = self._work / name
        room.mkdir()
        return room

    async def drives(self, filled: Path, places: Places) -> dict[str, Server]:
        """Return the drive by each transport, each on a copy of its own."""
        rooms = {name: self._room(f"drive {name}") for name in TRANSPORTS}
        for room in rooms.values():
            shutil.copytree(filled, room / "data")
        key = (filled / "token").read_text().strip()
        environments = {name: environment_of(room / "data", key) for name, room in rooms.items()}
        command = (sys.executable, "-m", "drive_server")
        drive = await self._stack.enter_async_context(open_drive(settings_of(rooms[IN_PROCESS] / "data")))
        session = await self._stack.enter_async_context(in_process_session(drive, (await owner_of(drive)).principal))
        stdio = over_stdio((*command, "stdio"), environments[STDIO], rooms[STDIO])
        port = free_port()
        http = over_http((*command, "http", "--port", str(port)), port, environments[HTTP], rooms[HTTP], key)
        ways = {
            IN_PROCESS: Way(session, time.process_time),
            STDIO: await self._stack.enter_async_context(stdio),
            HTTP: await self._stack.enter_async_context(http),
        }
        return {name: Server(way, of_drive(way, places)) for name, way in ways.items()}

    async def trivial(self, drives: dict[str, Server]) -> dict[str, Server]:
        """Return the trivial tool by each transport."""
        command = (sys.executable, "-m", trivial_server.__name__)
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        stdio = over_stdio((*command, "stdio"), environment, self._room("trivial stdio"))
        port = free_port()
        http = over_http((*command, "http", str(port)), port, environment, self._room("trivial HTTP"), "none")
        ways = {
            IN_PROCESS: await self._stack.enter_async_context(in_process(trivial_server.server)),
            STDIO: await self._stack.enter_async_context(stdio),
            HTTP: await self._stack.enter_async_context(http),
        }
        return {name: Server(way, await of_trivial(way, drives[name].operations)) for name, way in ways.items()}

    async def filesystem(self, folder: Path) -> Server:
        """Return the file server of MCP's own project."""
        command = program(FILESYSTEM_SERVER, str(folder))
        way = await self._stack.enter_async_context(over_stdio(command, os.environ, self._room("filesystem")))
        return Server(way, of_filesystem(way, folder))


async def fill(settings: DriveSettings, source: Path, paths: list[Path]) -> Places:
    """Take the files into a drive, and wait until they are indexed."""
    ids: dict[str, str] = {}
    async with open_drive(settings) as drive:
        actor = await owner_of(drive)
        for path in paths:
            parent = ids.get(str(path.parent), "root")
            if not path.suffix:
                made = await drive.files.create_folder(actor, parent, path.name)
            else:
                made = await drive.documents.create(actor, parent, path.name, path.read_text(encoding="utf-8"))
            ids[str(path)] = made.value.id
        await drive.ingester.drain()
    workers = range(MAX_AT_ONCE)
    return Places(
        listed=ids[str(source / "listed")],
        written=[ids[str(source / f"written {worker}.md")] for worker in workers],
        edited=[ids[str(source / f"edited {worker}.md")] for worker in workers],
    )


async def owner_of(drive: Drive) -> Actor:
    user, _ = await drive.identity.ensure_local_user()
    return Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))


def settings_of(data: Path) -> DriveSettings:
    return DriveSettings(
        data_dir=data, embedding_model="none", calls_per_minute=UNLIMITED, concurrent_calls=2 * MAX_AT_ONCE
    )


def environment_of(data: Path, key: str) -> dict[str, str]:
    return {
        **os.environ,
        "DRIVE_DATA_DIR": str(data),
        "DRIVE_API_KEY": key,
        "DRIVE_EMBEDDING_MODEL": "none",
        "DRIVE_CALLS_PER_MINUTE": str(UNLIMITED),
        "DRIVE_CONCURRENT_CALLS": str(2 * MAX_AT_ONCE),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }


def row(name: str, at_once: int, drive: Server, trivial: Server, filesystem: Server | None) -> list[str]:
    """Return the row of an operation by one transport."""
    ours, floor = drive.samples[name, at_once], trivial.samples[name, at_once]
    cells = [*_compared(ours.median, floor.median), *_compared(ours.cpu_per_call, floor.cpu_per_call)]
    if filesystem is None:
        return [name, *cells, "", ""]
    return [name, *cells, *_compared(ours.median, filesystem.samples[name, at_once].median)[1:]]


def _compared(ours: float, theirs: float) -> list[str]:
    ratio = f"{ours / theirs:.2f}" if theirs else "-"
    return [f"{ours * MILLISECONDS:.2f}", f"{theirs * MILLISECONDS:.2f}", ratio]


async def run(work: Path, calls: int, rounds: int) -> None:
    """Measure everything in each round, so that what else the machine does hits all alike, and print the tables."""
    source = work / "files"
    places = await fill(settings_of(work / "filled"), source, make_folder(source))
    async with AsyncExitStack() as stack:
        servers = Servers(work, stack)
        drives = await servers.drives(work / "filled", places)
        trivial = await servers.trivial(drives)
        filesystem = await servers.filesystem(source)
        every = [*drives.values(), *trivial.values(), filesystem]
        for server in every:
            await server.warm_up()
        for name, at_once in [(name, at_once) for _ in range(rounds) for name in OPERATIONS for at_once in AT_ONCE]:
            for server in every:
                await server.measure(name, at_once, calls)
    for transport in TRANSPORTS:
        beside = filesystem if transport == STDIO else None
        for at_once in AT_ONCE:
            rows = [row(name, at_once, drives[transport], trivial[transport], beside) for name in OPERATIONS]
            print_table(f"{transport}, {at_once} at once, medians of {calls * rounds} calls", HEADER, rows)


def main() -> None:
    """Measure reading, listing, searching, writing and editing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=40, help="calls of each kind in a round")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        anyio.run(run, Path(root).resolve(), chosen.calls, chosen.rounds)


if __name__ == "__main__":
    main()
