"""The upkeep of a table of passages: what was added goes into its indices, small files into large ones, the old away.

    python -m drive_server.knowledge.index.maintenance URL TABLE

At 100,000 passages it takes seconds of every core, during which searches would wait: for large tables it is done in a
process of its own, which gives way to others. Writers go on meanwhile. If one of them changes what is being put
together, the process fails, having changed nothing, and the upkeep is due again; so it is when the process is killed.
"""

import math
import os
import subprocess
import sys
import threading
from datetime import timedelta
from typing import Any

import anyio

from drive_server.knowledge.index.lance import Lance
from drive_server.knowledge.index.rows import VECTOR

MODULE = "drive_server.knowledge.index.maintenance"
LOWEST_PRIORITY = 19
KEPT_VERSIONS = timedelta(minutes=10)
ROWS_FOR_VECTOR_INDEX = 30_000
MOST_SEGMENTS = 20
"""Each upkeep adds a segment to the vector index, and a search asks all of them: with more it is made
anew, of as many partitions as fit the rows by then."""


class Upkeep:
    """The upkeep of one table in a process of its own, at most one at a time. It ends with its parent."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_started(self) -> bool:
        """Whether it was begun, and not ended."""
        return self._process is not None

    @property
    def is_running(self) -> bool:
        """Whether it is under way."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Begin. The process runs until it is done, or `end` is called."""
        self.end()
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", MODULE, self._url, self._name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LANCE_CPU_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end(self) -> None:
        """Kill the process, if there is one: what it has not committed was not done."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


async def tend(table: Any) -> None:
    """Do the upkeep. Versions of the last minutes stay for those who read them."""
    await _see_to_vector_index(table)
    await table.optimize(cleanup_older_than=KEPT_VERSIONS)


async def _see_to_vector_index(table: Any) -> None:
    """Make the vector index of a table that has grown to need one: below, looking at every vector is faster."""
    if VECTOR not in (await table.schema()).names:
        return
    rows = await table.count_rows(f"{VECTOR} IS NOT NULL")
    index = next((index for index in await table.list_indices() if index.columns == [VECTOR]), None)
    if rows < ROWS_FOR_VECTOR_INDEX or (index is not None and (index.num_segments or 1) <= MOST_SEGMENTS):
        return
    from lancedb.index import IvfFlat

    partitions = max(1, math.isqrt(rows) // 4)
    await table.create_index(VECTOR, config=IvfFlat(distance_type="dot", num_partitions=partitions))


async def _tend_apart(url: str, name: str) -> None:
    lance = Lance(url)
    await tend(await lance.open(name))
    lance.close()


def _end_with_parent() -> None:
    """End the process as soon as nobody holds the other end of its standard input."""
    os.read(sys.stdin.fileno(), 1)  # not by Python's reader, whose lock would be in the way at the end
    os._exit(1)


def main() -> None:
    """Tend the table that is named, out of the way of everybody else."""
    os.nice(LOWEST_PRIORITY)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    url, name = sys.argv[1:]
    anyio.run(_tend_apart, url, name)


if __name__ == "__main__":
    main()
