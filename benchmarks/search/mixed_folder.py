"""A mixed folder into a drive, until every file is indexed, against the sum of its bare parsers' time.

    python -m benchmarks.search.mixed_folder [--scale 1]

Without an embedding model; all of the way is in it: bytes synced to the disk, changes journaled, files read in their
processes, cut, and written into the table that full text is searched in. The drive is in a process of its own, so that
its memory is told. In a second import, searches go on; how long they take, and how late the event loop is, is told
beside the same without an import.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from benchmarks.fixtures.table import print_table
from benchmarks.fixtures.texts.bare_parsers import PARSERS
from benchmarks.fixtures.texts.documents import WORDS, WORDS_ZH, document
from drive_server.connect import Drive, DriveSettings, open_drive
from drive_server.kernel.access import ALL_SCOPES, Actor

COUNTS = {
    "docx": 12,
    "pdf": 12,
    "pptx": 6,
    "xlsx": 6,
    "md": 8,
    "txt": 6,
    "html": 6,
    "py": 6,
    "csv": 3,
    "json": 3,
    "eml": 6,
    "tsv": 1,
    "xls": 1,
    "ods": 1,
    "odt": 2,
    "odp": 1,
    "epub": 1,
    "msg": 1,
}
SCALES = (0.1, 0.2, 0.4, 0.7, 1, 2)
LARGE = {"pdf": 10, "docx": 10, "xlsx": 8, "txt": 20}
UPKEEP_SECONDS = 5.0
"""After an import: what is left to be done then is no part of a quiet service."""

WARMING = 0.05
SEARCHES = 60
SEARCH_PAUSE = 0.05
TICK = 0.01
LOOK = 0.25
MEGABYTE = 1_000_000


def write_folder(folder: Path, scale: float) -> None:
    """Write files of many sizes, and some large ones, into a folder that is made."""
    folder.mkdir()
    for suffix, count in COUNTS.items():
        for number in range(count):
            data = document(suffix, scale * SCALES[number % len(SCALES)], seed=number)
            (folder / f"{suffix} {number}.{suffix}").write_bytes(data)
    for suffix, times in LARGE.items():
        (folder / f"large.{suffix}").write_bytes(document(suffix, scale * times, seed=99))


def bare_seconds(folder: Path) -> float:
    """Return how long the bare parsers take for all files, one after the other, their libraries loaded."""
    for suffix in COUNTS:
        PARSERS[suffix][1](folder / f"{suffix} 0.{suffix}")
    begin = time.perf_counter()
    for path in sorted(folder.iterdir()):
        PARSERS[path.suffix[1:]][1](path)
    return time.perf_counter() - begin


async def import_folders(folders: Path) -> dict[str, float]:
    """Import the folder `files` into a new drive, twice; return what is measured.

    `warming` is imported before: the libraries of the bare parsers are loaded too when their time begins.
    """
    folder = folders / "files"
    result: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as root:
        async with open_drive(DriveSettings(data_dir=Path(root), embedding_model="none")) as drive:
            user, _ = await drive.identity.ensure_local_user()
            actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES), tool="benchmark")
            await import_files(drive, actor, folders / "warming", "warming")
            await anyio.sleep(UPKEEP_SECONDS)
            result["seconds"] = await timed(lambda: import_files(drive, actor, folder, "first"))
            result |= {"service": _resident(resource.RUSAGE_SELF)}
            await anyio.sleep(UPKEEP_SECONDS)
            quiet = busy = await latencies(drive, actor)
            async with anyio.create_task_group() as group:
                group.start_soon(import_files, drive, actor, folder, "second")
                await anyio.sleep(1)
                busy = await latencies(drive, actor)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    result |= {"readers": _resident(resource.RUSAGE_CHILDREN), "readers_cpu": spent.ru_utime + spent.ru_stime}
    return (
        result | {f"quiet_{key}": one for key, one in quiet.items()} | {f"busy_{key}": one for key, one in busy.items()}
    )


async def import_files(drive: Drive, actor: Actor, folder: Path, name: str) -> None:
    """Write the files into a folder of the drive, their bytes never the same twice; wait until all are indexed."""
    await drive.files.create_folder(actor, "/", name)
    async for path in anyio.Path(folder).iterdir():
        data = await path.read_bytes()
        await drive.documents.create(actor, f"/{name}", path.name, data if name == "first" else _changed(data))
    while (status := await drive.ingester.status(actor.user_id, wait_seconds=LOOK)).unfinished:
        pass
    assert set(status.counts) == {"ready"}, status.counts


def _changed(data: bytes) -> bytes:
    """Return other bytes that are read as the same text: only what ends in it may have more behind."""
    return data + b"\n"


async def latencies(drive: Drive, actor: Actor) -> dict[str, float]:
    """Return the 95th percentiles, in milliseconds, of searches and of how late the loop is."""
    searches: list[float] = []
    async with lateness() as late:
        for number in range(SEARCHES):
            query = f"{WORDS[number]} {WORDS[-number - 1]}" if number % 2 else WORDS_ZH[number % 50]
            searches.append(await timed(lambda query=query: drive.search.find(actor, query)))
            await anyio.sleep(SEARCH_PAUSE)
    return {"search": _p95(searches), "loop": _p95(late)}


@asynccontextmanager
async def lateness() -> AsyncGenerator[list[float]]:
    """Note how much later than asked for the event loop wakes a sleeper: what a ping waits for."""
    late: list[float] = []

    async def tick() -> None:
        while True:
            late.append(await timed(lambda: anyio.sleep(TICK)) - TICK)

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        yield late
        group.cancel_scope.cancel()


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Return how many seconds the work took."""
    begin = time.perf_counter()
    await work()
    return time.perf_counter() - begin


def _p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[len(seconds) * 95 // 100] * 1000


def _resident(who: int) -> float:
    """Return the largest memory so far, in MB: of this process, or of the largest of its children that have ended."""
    return resource.getrusage(who).ru_maxrss * 1024 / MEGABYTE


def run(folders: Path) -> dict[str, float]:
    """Import in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.search.mixed_folder", "--folder", str(folders)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the folder and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1, help="of the files (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.folder:
        print(json.dumps(anyio.run(import_folders, chosen.folder)))
        return
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "files")
        write_folder(folder, chosen.scale)
        write_folder(folder.with_name("warming"), WARMING * chosen.scale)
        sizes = [path.stat().st_size for path in folder.iterdir()]
        bare, found = bare_seconds(folder), run(Path(root))
    megabytes = sum(sizes) / MEGABYTE
    rates = [f"{megabytes / seconds:.2f}" for seconds in (found["seconds"], bare)]
    memory = [f"{found[name]:.0f}" for name in ("service", "readers")]
    row = [f"{len(sizes)} files, {megabytes:.1f} MB", *rates, f"{bare / found['seconds']:.2f}", *memory]
    header = ["mixed folder", "MB/s imported", "MB/s bare parsers", "ratio", "MB service", "MB largest reader"]
    print_table("Import until all is indexed, without embeddings", header, [row])
    beside = [[name, *(f"{found[f'{name}_{key}']:.1f}" for key in ("search", "loop"))] for name in ("quiet", "busy")]
    print_table("The service beside an import, p95 ms", ["import", "search", "loop late"], beside)


if __name__ == "__main__":
    main()
