"""How fast files become searchable, and how fast searches are beside that, at several sizes of the index.

    python -m benchmarks.search.indexing [--large] [--sizes 10000 100000] [--seconds 60] [--keep FOLDER]

The drive of `benchmarks/fixtures/synthetic.py` is searched through its search service, with the rights of each person
and the local model, and on the same table, search by search in turn, by LanceDB's own hybrid query with random
vectors and no rights but the owner's id: alone, then while ten files a minute of ten passages each are written into
the drive, which reads, embeds, stores and tends them. The update is a file of which a search finds a new word. With
`--large` also at a million passages, which takes 10 GB of disk; `--keep` leaves the drives in a folder, and takes
those that are there.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from benchmarks.fixtures.synthetic import (
    CHUNKS_OF_A_FILE,
    SHARED,
    WORDS_OF_A_QUERY,
    People,
    Synthetic,
    build,
    people_of,
)
from benchmarks.fixtures.table import print_table
from drive_server.connect import Actor, Drive, DriveSettings, open_drive
from drive_server.knowledge.embedding.embedder import LocalEmbedder
from drive_server.knowledge.index.retrieval import PROBES
from drive_server.knowledge.index.rows import PASSAGE, id_filter
from drive_server.knowledge.index.tables import table_name

SIZES = (10_000, 100_000)
LARGE = 1_000_000
QUERIES = 150
WARM_UP = 20
PAUSE_BETWEEN_WRITES = 6.0
PAUSE_BETWEEN_SEARCHES = 0.05
FILES_READ = 30
UPDATES = 5
MEBIBYTE = 1 << 20
HEADER = ("search", "CPU ms", "p50 ms", "p95 ms", "p50 ms, written to", "p95 ms, written to", "searches")
Search = Callable[[], Awaitable[object]]
Times = dict[str, list[tuple[float, float]]]
"""How long each search took, and how much CPU of all threads: that holds on a machine that others use too."""


def ours(drive: Drive, people: People, source: Synthetic) -> dict[str, Search]:
    """Return the searches of the service: by meaning and words of much and of little, and by exact words."""

    def hybrid(actor: Actor, folder: str | None = None) -> Search:
        return lambda: drive.search.semantic(actor, _query(source), folder=folder)

    return {
        "ours, own 99 %": hybrid(people.ana),
        "ours, own 1 %": hybrid(people.ben),
        "ours, 1 % by others": hybrid(people.cleo),
        "ours, folder of 1 %": hybrid(people.ana, f"/{SHARED}"),
        "ours, words, own 99 %": lambda: drive.search.find(people.ana, _query(source)),
    }


async def bare(settings: DriveSettings, people: People, source: Synthetic) -> dict[str, Search]:
    """Return LanceDB's hybrid searches of much and of little."""
    os.environ["LANCE_LOG"] = "error"  # else it writes a line about each of these searches
    import lancedb
    from lancedb.rerankers import RRFReranker

    connection = await lancedb.connect_async(settings.resolved_index_url)
    table: Any = await connection.open_table(table_name(LocalEmbedder.name))
    reranker = RRFReranker()

    def hybrid(owner_id: str) -> Search:
        async def search() -> object:
            await table.checkout_latest()
            near = table.query().nearest_to(source.vectors(1)[0]).column("vector").distance_type("dot").nprobes(PROBES)
            both = near.nearest_to_text(_query(source), columns=["words"]).where(id_filter("owner_id", [owner_id]))
            return await both.select(["file_id", PASSAGE]).limit(10).rerank(reranker).to_list()

        return search

    return {"LanceDB, 99 %": hybrid(people.ana.user_id), "LanceDB, 1 %": hybrid(people.ben.user_id)}


def _query(source: Synthetic) -> str:
    return source.texts(1, WORDS_OF_A_QUERY)[0]


async def measure(searches: Mapping[str, Search], rounds: int) -> Times:
    """Make each search so many times, in turn."""
    times: Times = {name: [] for name in searches}
    for _ in range(rounds):
        for name, search in searches.items():
            times[name].append(await _seconds(search))
    return times


async def measure_for(searches: Mapping[str, Search], seconds: float) -> Times:
    """Make the searches for so long, each followed by any other one and by a pause."""
    times: Times = {name: [] for name in searches}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, search in random.sample(list(searches.items()), len(searches)):
            times[name].append(await _seconds(search))
            await anyio.sleep(PAUSE_BETWEEN_SEARCHES)
    return times


async def _seconds(search: Search) -> tuple[float, float]:
    begun, processor = time.perf_counter(), time.process_time()
    await search()
    return time.perf_counter() - begun, time.process_time() - processor


@asynccontextmanager
async def being_written(drive: Drive, actor: Actor, source: Synthetic) -> AsyncGenerator[None]:
    """Write ten files a minute into the drive."""

    async def write() -> None:
        while True:
            await drive.documents.create(actor, "/", f"{time.time_ns()}.txt", _text(source))
            await anyio.sleep(PAUSE_BETWEEN_WRITES)

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        yield
        group.cancel_scope.cancel()


def _text(source: Synthetic) -> str:
    return ".\n\n".join(source.texts(CHUNKS_OF_A_FILE))


async def update(drive: Drive, actor: Actor) -> tuple[list[float], list[float]]:
    """Return how long it takes until new files are found, and until changes of them are."""
    created: list[float] = []
    changed: list[float] = []
    for number in range(UPDATES):
        text = f"A word that nobody wrote: zanzibarine{number}{time.time_ns()}."
        begun = time.perf_counter()
        item = (await drive.documents.create(actor, "/", f"new {time.time_ns()}.txt", text)).value
        await until_found(drive, actor, text.split()[-1])
        created.append(time.perf_counter() - begun)
        text = f"Another word that nobody wrote: quizzacious{number}{time.time_ns()}."
        begun = time.perf_counter()
        await drive.documents.write_text(actor, item.id, text)
        await until_found(drive, actor, text.split()[-1])
        changed.append(time.perf_counter() - begun)
    return created, changed


async def until_found(drive: Drive, actor: Actor, word: str) -> None:
    """Search for an exact word until it is found."""
    while not (await drive.search.find(actor, word)).items:  # noqa: ASYNC110 - how long searches miss it is the question
        await anyio.sleep(0.01)


async def run_size(folder: Path, size: int, seconds: float) -> None:
    """Measure at one size, and print it."""
    settings = DriveSettings(data_dir=folder / str(size))
    if not settings.root.exists():
        print(f"\n{size:,} passages stored at {await build(settings, size):,.0f} a second, indices included")
    source = Synthetic(time.time_ns())
    async with open_drive(settings) as drive:
        people = await people_of(drive)
        searches = ours(drive, people, source)
        await measure(searches, WARM_UP)
        memory = _resident_mebibytes()
        searches |= await bare(settings, people, source)
        await measure(searches, WARM_UP)
        quiet = await measure(searches, QUERIES)
        async with being_written(drive, people.ana, source):
            busy = await measure_for(searches, seconds)
            created, changed = await update(drive, people.ana)
    rows = [
        [name, _processor(quiet[name]), *_quantiles(quiet[name]), *_quantiles(busy[name]), str(len(busy[name]))]
        for name in searches
    ]
    print_table(f"{size:,} passages", HEADER, rows)
    print(f"\nA new file is found after {_longest(created)}, a change after {_longest(changed)}, beside the writes.")
    print(
        f"Memory of the process: {memory:.0f} MB after the first searches, {_resident_mebibytes():.0f} MB at the end."
    )


async def run_indexing(model: str) -> list[str]:
    """Write files into a drive; return how many passages a second it reads, cuts, embeds and stores."""
    source = Synthetic()
    with tempfile.TemporaryDirectory() as scratch:
        async with open_drive(DriveSettings(data_dir=Path(scratch), embedding_model=model)) as drive:
            actor = (await people_of(drive)).ana
            await drive.documents.create(actor, "/", "warm.txt", "Nothing but noodles.")
            await drive.ingester.drain()
            wall, processor = time.perf_counter(), time.process_time()
            for number in range(FILES_READ):
                await drive.documents.create(actor, "/", f"{number}.txt", _text(source))
            await drive.ingester.drain()
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
    count = FILES_READ * CHUNKS_OF_A_FILE
    return [f"model {model}", f"{count / wall:.0f}", f"{1000 * processor / count:.1f}"]


def _processor(times: list[tuple[float, float]]) -> str:
    return f"{1000 * statistics.median(processor for _, processor in times):.1f}"


def _quantiles(times: list[tuple[float, float]]) -> list[str]:
    seconds = [taken for taken, _ in times]
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return [f"{1000 * statistics.median(seconds):.1f}", f"{1000 * cuts[-1]:.1f}"]


def _longest(times: list[float]) -> str:
    return f"{statistics.median(times):.2f} s ({max(times):.2f} at most)"


def _resident_mebibytes() -> float:
    resident = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]) * 1024 / MEBIBYTE


def main() -> None:
    """Measure indexing, then each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="passages (default: %(default)s)")
    parser.add_argument("--large", action="store_true", help=f"also {LARGE:,}")
    parser.add_argument("--seconds", type=float, default=60, help="of searching beside writes (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="where the drives are made, and stay")
    options = parser.parse_args()
    rows = [anyio.run(run_indexing, model) for model in ("none", "local")]
    print_table("Indexing files of ten passages", ["", "passages/s", "CPU ms each"], rows)
    with tempfile.TemporaryDirectory() as scratch:
        for size in [*options.sizes, *([LARGE] if options.large else [])]:
            anyio.run(run_size, options.keep or Path(scratch), size, options.seconds)


if __name__ == "__main__":
    main()
