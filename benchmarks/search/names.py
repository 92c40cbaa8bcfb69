"""The time to find items by name with the index of names, beside looking through all names.

    python -m benchmarks.search.names [--size 100000] [--rounds 5]

A drive of so many files with English and Chinese names is asked the same queries both ways, through the functions that
`search_files` asks: words and parts of words of few names and of many, other forms, slips, and what no name has. Both
ways have to give the same answers.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
from sqlalchemy import insert

from benchmarks.fixtures.table import print_table
from drive_server.connect import ALL_SCOPES, Actor, Drive, DriveSettings, open_drive
from drive_server.kernel.clock import utc_now
from drive_server.services.search import fuzzy_names, names
from drive_server.services.search.fuzzy_names import match_near_names
from drive_server.services.search.name_index import narrows
from drive_server.services.search.names import NameMatch, match_names
from drive_server.services.tree.nodes import visible_ids
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow

WORDS = ("invoice", "report", "letter", "contract", "lease", "photo", "budget", "meeting", "insurance", "résumé")
CHINESE = ("合同", "发票", "报告", "会议", "纪要", "预算", "照片", "总结", "简历", "保险", "租房", "會議")
QUERIES = {
    "one name": "invoice 4242",
    "some names, Chinese": "租房 77",
    "many names": "invoice",
    "many names, Chinese": "合同",
    "no name": "zanzibar",
    "no name, Chinese": "量子",
    "a slip": "zanzibarr 31",
    "another form": "resume 4711",
}
BATCH = 5_000
HEADER = ("query", "found", "ms, by the index", "CPU ms", "ms, all names", "CPU ms")
Find = Callable[[], Awaitable[list[NameMatch]]]


async def fill(drive: Drive, size: int) -> Actor:
    """Put so many names into the drive of its first person."""
    user, _ = await drive.identity.ensure_local_user()
    numbers = random.Random(0)  # noqa: S311 - names, no secrets
    rows = [_row(user.id, user.root_id, f"{_name(numbers)} {number}.txt") for number in range(size)]
    begun = time.perf_counter()
    for start in range(0, size, BATCH):
        async with drive.database.write() as session:
            await session.execute(insert(NodeRow), rows[start : start + BATCH])
    print(f"{size / (time.perf_counter() - begun):,.0f} names a second written")
    return Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))


def _name(numbers: random.Random) -> str:
    language = numbers.choice((WORDS, CHINESE))
    return f"{numbers.choice(language)} {numbers.choice(language)}"


def _row(owner_id: str, parent_id: str, name: str) -> dict[str, object]:
    now = utc_now()
    given = {"id": new_id(), "owner_id": owner_id, "parent_id": parent_id, "name": name, "kind": "file"}
    return {**given, "created_at": now, "updated_at": now}


async def ask(drive: Drive, actor: Actor, query: str) -> list[NameMatch]:
    """Return what `search_files` finds by name."""
    visible = visible_ids(actor.principal)
    async with drive.database.read() as session:
        found = await match_names(session, visible, query)
        return found or await match_near_names(session, visible, query, with_slips=True)


async def measure(drive: Drive, actor: Actor, query: str, rounds: int) -> tuple[list[NameMatch], tuple[float, float]]:
    """Return the answer, and the median seconds by the clock and of CPU."""
    taken: list[float] = []
    processor: list[float] = []
    found = await ask(drive, actor, query)
    for _ in range(rounds):
        begun, processor_begun = time.perf_counter(), time.process_time()
        found = await ask(drive, actor, query)
        taken.append(time.perf_counter() - begun)
        processor.append(time.process_time() - processor_begun)
    return found, (statistics.median(taken), statistics.median(processor))


async def run(size: int, rounds: int) -> list[Sequence[str]]:
    """Return the rows of the table. Raises `AssertionError` if the two ways differ."""
    rows: list[Sequence[str]] = []
    with tempfile.TemporaryDirectory() as root:
        async with open_drive(DriveSettings(data_dir=Path(root), embedding_model="none")) as drive:
            actor = await fill(drive, size)
            for name, query in QUERIES.items():
                _use_index(narrows)
                found, with_index = await measure(drive, actor, query, rounds)
                _use_index(_never)
                same, without = await measure(drive, actor, query, rounds)
                assert found == same, query
                times = (f"{1000 * seconds:.1f}" for seconds in (*with_index, *without))
                rows.append((f"{name}: {query}", f"{len(found):,}", *times))
    return rows


async def _never(session: object, expression: str) -> bool:
    del session, expression
    return False


def _use_index(decides: Callable[..., Awaitable[bool]]) -> None:
    for module in (names, fuzzy_names):
        setattr(module, "narrows", decides)  # noqa: B010 - the benchmark's own switch, which type checkers need not see


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000, help="names (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of each query (default: %(default)s)")
    options = parser.parse_args()
    print_table(f"Finding by name among {options.size:,}", HEADER, anyio.run(run, options.size, options.rounds))


if __name__ == "__main__":
    main()
