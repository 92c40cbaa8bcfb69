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
from drive_server.connect import open_drive
from drive_server.drive import Drive
from drive_server.kernel.access import Actor
from drive_server.kernel.settings import DriveSettings
from tests.databases import IS_POSTGRES, new_url, server, stop_server
from tests.drive_server.actors import new_person

TICKS: Final = os.sysconf("SC_CLK_TCK")


def _stat(process: str) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


async def make_folders(drive: Drive, owner: Actor, each: int) -> None:
    """Make so many folders in an owner's drive."""
    for _ in range(each):
        await drive.files.create_folder(owner, "root", f"Folder {time.perf_counter_ns()}")


def server_cpu() -> float:
    """Return the seconds of CPU that the server's processes have used, also those that have ended."""
    ((file,),) = server().execute("SHOW data_directory")
    first = (Path(file) / "postmaster.pid").read_text().partition("\n")[0]
    used = [int(field) for field in _stat(first)[11:15]]
    for child in Path(f"/proc/{first}/task/{first}/children").read_text().split():
        if Path(f"/proc/{child}").exists():
            used += [int(field) for field in _stat(child)[11:13]]
    return sum(used) / TICKS


async def measure(owners: int, each: int) -> list[str]:
    """Return writes a second, and ms of CPU of a write here and at the server."""
    with tempfile.TemporaryDirectory() as folder:
        settings = DriveSettings(data_dir=Path(folder), database_url=new_url(), embedding_model="none")
        async with open_drive(settings) as drive:
            people = [await new_person(drive.identity, f"{number}@example.com") for number in range(owners)]
            await asyncio.gather(*(make_folders(drive, person, 3) for person in people))
            at_server, begun, cpu = server_cpu(), time.perf_counter(), time.process_time()
            await asyncio.gather(*(make_folders(drive, person, each) for person in people))
            seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
            at_server = server_cpu() - at_server
    writes = owners * each
    return [f"{writes / seconds:.1f}", f"{cpu / writes * 1e3:.1f}", f"{at_server / writes * 1e3:.1f}"]


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
    head = ["owners", "writes a second", "ms of CPU here", "ms of CPU of the server"]
    print_table(f"New folders on PostgreSQL, {chosen.each} by each owner, all owners at once", head, rows)


if __name__ == "__main__":
    main()
