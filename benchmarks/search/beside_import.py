"""The time of searches while a folder is imported, and the rows they had to read because no index has them.

    python -m benchmarks.search.beside_import [--size 10000] [--files 600]

A drive of `size` passages (`benchmarks/fixtures/synthetic.py`) is searched by meaning and words, one search after the
other with a short pause, first alone, then while files of ten passages each are written into it as fast as it takes
them; the drive reads, embeds, stores and tends them with the local model.
"""

import argparse
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from benchmarks.fixtures.synthetic import CHUNKS_OF_A_FILE, WORDS_OF_A_QUERY, Synthetic, build, people_of
from benchmarks.fixtures.table import print_table
from drive_server.connect import Actor, Drive, DriveSettings, open_drive
from drive_server.knowledge.embedding.embedder import LocalEmbedder
from drive_server.knowledge.index.lance import Lance
from drive_server.knowledge.index.tables import table_name

WARM_UP = 20
QUIET = 100
PAUSE_SECONDS = 0.1
HEADER = ("search", "p50 ms", "p95 ms", "searches", "most unindexed rows")


@dataclass(slots=True)
class Times:
    """Seconds of searches, and the numbers of unindexed rows between them."""

    seconds: list[float] = field(default_factory=list[float])
    unindexed: list[int] = field(default_factory=list[int])

    def row(self, name: str) -> list[str]:
        """Return the row of the table."""
        cuts = statistics.quantiles(self.seconds, n=20, method="inclusive")
        numbers = (f"{1000 * statistics.median(self.seconds):.1f}", f"{1000 * cuts[-1]:.1f}")
        return [name, *numbers, str(len(self.seconds)), f"{max(self.unindexed, default=0):,}"]


@dataclass(frozen=True, slots=True)
class Desk:
    """A drive that is searched, and LanceDB's own handle of its table."""

    drive: Drive
    actor: Actor
    source: Synthetic
    table: Any

    async def search(self, times: Times) -> None:
        """Search once."""
        begun = time.perf_counter()
        await self.drive.search.semantic(self.actor, self.source.texts(1, WORDS_OF_A_QUERY)[0])
        times.seconds.append(time.perf_counter() - begun)
        await self.table.checkout_latest()
        stats = await self.table.index_stats("words_idx")
        times.unindexed.append(stats.num_unindexed_rows if stats else 0)
        await anyio.sleep(PAUSE_SECONDS)

    async def write(self, files: int, is_done: anyio.Event) -> None:
        """Write files, and wait until the drive has read them."""
        for number in range(files):
            text = ".\n\n".join(self.source.texts(CHUNKS_OF_A_FILE))
            await self.drive.documents.create(self.actor, "/", f"{time.time_ns()} {number}.txt", text)
        with anyio.move_on_after(3600):
            while (await self.drive.ingester.status(self.actor.user_id, wait_seconds=1)).unfinished:
                pass
        is_done.set()


async def run(size: int, files: int) -> list[list[str]]:
    """Return the rows: alone, and beside an import."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = DriveSettings(data_dir=Path(scratch) / "drive")
        await build(settings, size)
        async with open_drive(settings) as drive:
            people = await people_of(drive)
            lance = Lance(settings.resolved_index_url)
            table = await lance.open(table_name(LocalEmbedder.name))
            desk = Desk(drive, people.ana, Synthetic(time.time_ns()), table)
            quiet, busy, is_done = Times(), Times(), anyio.Event()
            for _ in range(WARM_UP):
                await desk.search(Times())
            for _ in range(QUIET):
                await desk.search(quiet)
            begun = time.perf_counter()
            async with anyio.create_task_group() as group:
                group.start_soon(desk.write, files, is_done)
                while not is_done.is_set():
                    await desk.search(busy)
            seconds = time.perf_counter() - begun
            lance.close()
    print(f"{files * CHUNKS_OF_A_FILE / seconds:.0f} passages a second imported beside the searches")
    return [quiet.row("alone"), busy.row("beside an import")]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="passages (default: %(default)s)")
    parser.add_argument("--files", type=int, default=600, help="imported (default: %(default)s)")
    options = parser.parse_args()
    print_table(f"Searches of {options.size:,} passages", HEADER, anyio.run(run, options.size, options.files))


if __name__ == "__main__":
    main()
