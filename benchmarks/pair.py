"""Turns and drive writes of one service and of two behind a proxy, on one PostgreSQL server.

    python -m benchmarks.pair [--people 8] [--each 20]

People at once say something in new threads, and make folders. It prints turns and writes a second, the CPU of the
services a turn, and the server's transactions and write-ahead log a turn, with the whole pages of 8 kB in it, which
follow a checkpoint and tell nothing of the turn. The proxy, the people and the server have the
same cores, so on a machine with two of them the seconds tell little: what tells is that both services share the CPU,
and that two need no more of it than one. The server waits for no disk.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Final

from benchmarks.fixtures.table import print_table
from tests.api.storage.postgres_server import running_server
from tests.e2e.pair.proxy import Proxy
from tests.e2e.pair.services import Pair
from tests.e2e.person import Person

TICKS: Final = os.sysconf("SC_CLK_TCK")
SERVER_COUNTS: Final = (
    "SELECT pg_stat_force_next_flush(), sum(xact_commit + xact_rollback)::int, pg_current_wal_lsn() - '0/0'::pg_lsn, "
    "(SELECT wal_fpi FROM pg_stat_wal) FROM pg_stat_database"
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Seconds of the clock and of each service's CPU; the server's transactions, bytes of its log and pages in it."""

    seconds: float
    cpu: tuple[float, ...]
    transactions: int
    log_bytes: int
    pages: int

    @classmethod
    def now(cls, pair: Pair) -> "Counts":
        """Read them."""
        ((_, transactions, log_bytes, pages),) = pair.query(SERVER_COUNTS)
        return cls(time.perf_counter(), tuple(map(_cpu, pair.pids)), transactions, int(log_bytes), pages)


def _cpu(process: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(pair: Pair, people: Sequence[Person], each: int, work: Callable[[Person, int], None]) -> list[str]:
    """Return a row: what so many people do at once, each so often, a second and a piece."""
    with ThreadPoolExecutor(len(people)) as pool:

        def again_and_again(person: Person, times: int) -> None:
            for number in range(times):
                work(person, number)

        list(pool.map(again_and_again, people, repeat(1)))
        before = Counts.now(pair)
        list(pool.map(again_and_again, people, repeat(each)))
        after = Counts.now(pair)
    pieces = each * len(people)
    cpu = [(now - then) / pieces * 1e3 for now, then in zip(after.cpu, before.cpu, strict=True)]
    return [
        f"{pieces / (after.seconds - before.seconds):.1f}",
        *(f"{one:.1f}" for one in cpu),
        f"{sum(cpu):.1f}",
        f"{(after.transactions - before.transactions) / pieces:.1f}",
        f"{(after.log_bytes - before.log_bytes) / pieces / 1e3:.1f}",
        f"{(after.pages - before.pages) / pieces:.2f}",
    ]


def turn(person: Person, number: int) -> None:
    """Say something that needs no tool."""
    with person.chat(f"hello {number}") as said:
        said.finish()


def write(person: Person, number: int) -> None:
    """Make a folder."""
    person.folder(f"Folder {number}, {time.perf_counter_ns()}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one service, then two, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--each", type=int, default=20)
    chosen = parser.parse_args(arguments)
    rows: list[list[str]] = []
    with running_server() as server, tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        pair = stack.enter_context(Pair(Path(folder), server.new_database()))
        for count in (1, 2):
            front = stack.enter_context(Proxy(pair.urls[:count]).running())
            pair.front = front
            with pair.person() as owner:
                people = [owner.add(f"{count}-{number}@example.com") for number in range(chosen.people)]
                for name, work in {"turns": turn, "folders": write}.items():
                    rows.append([name, str(count), *measure(pair, people, chosen.each, work)])
                for person in people:
                    person.close()
    title = f"{chosen.people} people at once, {chosen.each} times each, by services behind a proxy"
    head = [
        "",
        "services",
        "a second",
        "ms of CPU of the first",
        "of the second",
        "of both",
        "transactions",
        "kB of log",
        "pages in it",
    ]
    print_table(title, head, rows)


if __name__ == "__main__":
    main()
