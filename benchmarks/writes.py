"""Writes to the drive by several owners at once, on a PostgreSQL server of its own, without HTTP and without a disk.

    TEST_DATABASE=postgresql python -m benchmarks.writes [--owners 8] [--each 50]

Each owner makes folders, one after the other; different owners' changes run side by side. It prints writes a second,
and the CPU of a write in this process and in the server's. On a busy machine the seconds tell little: a second divided
by the larger of both is the rate that two free cores can reach.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.fixtures.table import print_table
from drive_server.access import Actor
from drive_server.connect import open_drive
from drive_server.drive import Drive
from drive_server.settings import DriveSettings
from tests.databases import IS_POSTGRES, new_url, server, stop_server
from tests.drive_server.actors import new_person

TICKS: Final = os.sysconf("SC_CLK_TCK")
COUNTS: Final = "SELECT sum(xact_commit + xact_rollback)::int FROM pg_stat_database"
BACKENDS: Final = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"


async def make_folders(drive: Drive, owner: Actor, each: int) -> None:
    """Make so many folders in an owner's drive."""
    for _ in range(each):
        await drive.files.create_folder(owner, "root", f"Folder {time.perf_counter_ns()}")


def server_cpu() -> float:
    """Return the seconds of CPU that the server's processes for connections have used."""
    used = 0
    for (process,) in server().execute(BACKENDS):
        stat = Path(f"/proc/{process}/stat")
        if stat.exists():
            fields = stat.read_text().rpartition(")")[2].split()
            used += int(fields[11]) + int(fields[12])
    return used / TICKS


async def measure(owners: int, each: int) -> list[str]:
    """Return writes a second, ms of CPU of a write here and at the server, and transactions of a write."""
    with tempfile.TemporaryDirectory() as folder:
        settings = DriveSettings(data_dir=Path(folder), database_url=new_url(), embedding_model="none")
        async with open_drive(settings) as drive:
            people = [await new_person(drive.identity, f"{number}@example.com") for number in range(owners)]
            await asyncio.gather(*(make_folders(drive, person, 3) for person in people))
            transactions, at_server = server().execute(COUNTS)[0][0], server_cpu()
            begun, cpu = time.perf_counter(), time.process_time()
            await asyncio.gather(*(make_folders(drive, person, each) for person in people))
            seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
            at_server, transactions = server_cpu() - at_server, server().execute(COUNTS)[0][0] - transactions
    writes = owners * each
    return [
        f"{writes / seconds:.1f}",
        f"{cpu / writes * 1e3:.1f}",
        f"{at_server / writes * 1e3:.1f}",
        f"{transactions / writes:.1f}",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one owner, then several at once, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owners", type=int, default=8)
    parser.add_argument("--each", type=int, default=50)
    chosen = parser.parse_args(arguments)
    if not IS_POSTGRES:
        parser.error("it needs TEST_DATABASE=postgresql")
    try:
        rows = [[str(owners), *asyncio.run(measure(owners, chosen.each))] for owners in (1, chosen.owners)]
    finally:
        stop_server()
    head = ["owners", "writes a second", "ms of CPU here", "ms of CPU of the server", "transactions"]
    print_table(f"New folders on PostgreSQL, {chosen.each} by each owner, all owners at once", head, rows)


if __name__ == "__main__":
    main()
