"""What one search by words and meaning costs: CPU, calls between threads, statements and queries of the index.

    python -m benchmarks.search.query_cost --collection DIR [--documents 30 1500] [--queries 100]

Puts the first documents of a collection (`benchmarks/search/retrieval.py` says what DIR holds) into a new drive, and
asks the first queries of it, one after the other. The CPU is that of all threads and child processes. A call between
threads is one of the event loop's `call_soon_threadsafe`; the counts and the CPU don't depend on who else uses the
machine, the milliseconds do. `first` is a search whose process of the index has ended before, as it does when nobody
searches for ten minutes.
"""

import argparse
import asyncio
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
from sqlalchemy import Engine, event

from benchmarks.fixtures.table import milliseconds, print_table
from benchmarks.fixtures.texts.collection import Collection, Query, load_collection
from benchmarks.search.memory import cpu_of, name_of, processes_of
from benchmarks.search.retrieval import Library, fill
from drive_server.connect import DriveSettings, open_drive

WARM_UP = 10
FIRST = 3
INDEX = "index"
HEADER = (
    *("documents", "CPU ms", "p50 ms", "p95 ms", "calls between threads", "statements"),
    *("first, CPU ms", "first, ms"),
)


@dataclass(slots=True)
class Counts:
    """The calls between threads, and the statements of the database."""

    calls: int = 0
    statements: int = 0


@contextmanager
def counting() -> Generator[Counts]:
    """Count meanwhile."""
    counts = Counts()
    loop: Any = asyncio.get_running_loop()
    call_soon = loop.call_soon_threadsafe

    def counted(*arguments: Any, **options: Any) -> Any:
        counts.calls += 1
        return call_soon(*arguments, **options)

    def on_statement(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        counts.statements += not statement.startswith(("PRAGMA", "BEGIN"))

    loop.call_soon_threadsafe = counted
    event.listen(Engine, "before_cursor_execute", on_statement)
    try:
        yield counts
    finally:
        event.remove(Engine, "before_cursor_execute", on_statement)
        del loop.call_soon_threadsafe


async def ask(library: Library, queries: Sequence[Query]) -> list[float]:
    """Search for each query; return how many seconds each took."""
    seconds: list[float] = []
    for query in queries:
        begun = time.perf_counter()
        await library.drive.search.semantic(library.actor, query.text)
        seconds.append(time.perf_counter() - begun)
    return seconds


async def end_index() -> None:
    """Kill the process of the index, and wait until it is gone."""
    for process_id in [one for one in processes_of(os.getpid()) if name_of(one) == INDEX]:
        os.kill(process_id, signal.SIGKILL)
        while process_id in processes_of(os.getpid()):  # noqa: ASYNC110 - nothing else tells of its end
            await anyio.sleep(0.1)


async def ask_first(library: Library, queries: Sequence[Query]) -> tuple[float, list[float]]:
    """Search in a new process of the index for each query; return the CPU of all, and how many seconds each took."""
    seconds: list[float] = []
    cpu = 0.0
    for query in queries:
        await end_index()
        begun = cpu_of()
        seconds += await ask(library, [query])
        cpu += cpu_of() - begun
    return cpu, seconds


async def row(collection: Collection, documents: int, queries: Sequence[Query]) -> list[str]:
    """Return the row of so many documents."""
    some = replace(collection, documents=collection.documents[:documents])
    with tempfile.TemporaryDirectory() as root:
        async with open_drive(DriveSettings(data_dir=Path(root))) as drive:
            library = await fill(drive, some.documents)
            await ask(library, queries[:WARM_UP])
            with counting() as counts:
                begun = cpu_of()
                seconds = await ask(library, queries)
                cpu = cpu_of() - begun
            first_cpu, first = await ask_first(library, queries[:FIRST])
    p95 = statistics.quantiles(seconds, n=20, method="inclusive")[-1]
    shown = [f"{1000 * cpu / len(queries):.1f}", milliseconds(seconds), f"{1000 * p95:.2f}"]
    each = (f"{number / len(queries):.1f}" for number in (counts.calls, counts.statements))
    firsts = (f"{1000 * first_cpu / len(first):,.0f}", f"{1000 * statistics.median(first):,.0f}")
    return [f"{collection.name}, {len(some.documents):,}", *shown, *each, *firsts]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", type=Path, required=True, help="a folder")
    parser.add_argument("--documents", type=int, nargs="+", default=[30, 1500], help="(default: %(default)s)")
    parser.add_argument("--queries", type=int, default=100, help="(default: %(default)s)")
    options = parser.parse_args()
    collection = load_collection(options.collection, "queries.jsonl", judged=False)
    queries = [query for query in collection.queries if query.text.strip()][: options.queries]
    rows = [anyio.run(row, collection, documents, queries) for documents in options.documents]
    print_table("One search by words and meaning", HEADER, rows)


if __name__ == "__main__":
    main()
