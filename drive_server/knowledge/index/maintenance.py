"""Maintenance of a table of passages: index added rows, compact small files, delete old versions.

    python -m drive_server.knowledge.index.maintenance URL TABLE

At 100,000 passages it takes seconds of every core, and searches would wait. So a process of low priority does it for
large tables, while writers go on. If a writer changes a row that is being compacted, or the process is killed, nothing
has changed and maintenance is due again.
"""

import math
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import anyio

from drive_server.knowledge.index.lance import Lance
from drive_server.knowledge.index.rows import VECTOR

MODULE = "drive_server.knowledge.index.maintenance"
LOWEST_PRIORITY = 19
KEPT_VERSIONS = timedelta(minutes=10)
ROWS_FOR_VECTOR_INDEX = 30_000
MAX_SEGMENTS = 20
"""Each run adds a segment to the vector index, and a search reads all of them: with more, the index is built again,
with as many partitions as the rows need by then."""

COMMITS: Final = 60
IDLE_ROWS: Final = 64
IDLE_SECONDS: Final = 30.0
"""When idle: from so many unindexed rows on, or so long after the last run, maintenance is worth its cost."""

REST_FACTOR: Final = 4
"""The pause after a process, in multiples of its duration, unless this many times the urgent rows wait."""


@dataclass(slots=True)
class Upkeep:
    """The work that waits for maintenance of a table, and when it was done last, in seconds of the monotonic clock.

    The clock is one for all processes of a machine, so that another process can go on with it.
    """

    unindexed: int = 0
    commits: int = 0
    clean_at: float = math.inf
    """When old versions are old enough to be deleted."""

    maintained_at: float = -math.inf
    duration: float = 0.0

    def add(self, rows: int) -> None:
        """Note a commit of so many rows that are not indexed yet."""
        self.unindexed += rows
        self.commits += 1

    def begin(self, now: float) -> tuple[int, int]:
        """Note that maintenance begins; return the values that `undo` needs."""
        # Versions replaced just now are too young to be deleted: run once more when they no longer are.
        self.clean_at = now + 1.1 * KEPT_VERSIONS.total_seconds() if self.commits else math.inf
        due, self.unindexed, self.commits = (self.unindexed, self.commits), 0, 0
        self.maintained_at = now
        return due

    def undo(self, due: tuple[int, int]) -> None:
        """Note that maintenance failed."""
        self.unindexed += due[0]
        self.commits += due[1]

    def is_urgent(self, enough: int, now: float) -> bool:
        """Return whether maintenance can't wait until there is time; `enough` is how many unindexed rows are many."""
        has_rested = now >= self.maintained_at + REST_FACTOR * self.duration
        due = max(self.unindexed / enough, self.commits / COMMITS)
        return due >= (1 if has_rested else REST_FACTOR)

    @property
    def idle_at(self) -> float:
        """The moment from which on maintenance is worth its cost, if there is time; infinite if nothing waits."""
        if self.unindexed >= IDLE_ROWS:
            return -math.inf
        rest = max(IDLE_SECONDS, REST_FACTOR * self.duration)
        is_changed = self.commits > 0 or self.unindexed > 0
        return min(self.maintained_at + rest, self.clean_at) if is_changed else self.clean_at


class MaintenanceProcess:
    """A process that maintains one table, at most one at a time. It ends with its parent."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_started(self) -> bool:
        """True if it was started, and not ended since."""
        return self._process is not None

    @property
    def is_running(self) -> bool:
        """True while it is still working."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process. It runs until it is done, or `end` is called."""
        self.end()
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", MODULE, self._url, self._name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LANCE_CPU_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end(self) -> None:
        """Kill the process, if there is one. Uncommitted work is lost."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


async def maintain(table: Any) -> None:
    """Maintain a table. Versions of the last minutes stay for their readers."""
    await _update_vector_index(table)
    await table.optimize(cleanup_older_than=KEPT_VERSIONS)


async def _update_vector_index(table: Any) -> None:
    """Build the vector index of a table that is large enough: in a smaller one, comparing every vector is faster."""
    if VECTOR not in (await table.schema()).names:
        return
    rows = await table.count_rows(f"{VECTOR} IS NOT NULL")
    index = next((index for index in await table.list_indices() if index.columns == [VECTOR]), None)
    if rows < ROWS_FOR_VECTOR_INDEX or (index is not None and (index.num_segments or 1) <= MAX_SEGMENTS):
        return
    from lancedb.index import IvfFlat

    partitions = max(1, math.isqrt(rows) // 4)
    await table.create_index(VECTOR, config=IvfFlat(distance_type="dot", num_partitions=partitions))


async def _maintain_in_process(url: str, name: str) -> None:
    lance = Lance(url)
    await maintain(await lance.open(name))
    lance.close()


def _end_with_parent() -> None:
    """End this process as soon as its parent closes the other end of standard input."""
    os.read(sys.stdin.fileno(), 1)  # not by Python's reader, whose lock would be in the way at the end
    os._exit(1)


def main() -> None:
    """Maintain the table that the arguments name, at the lowest priority."""
    os.nice(LOWEST_PRIORITY)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    url, name = sys.argv[1:]
    anyio.run(_maintain_in_process, url, name)


if __name__ == "__main__":
    main()
