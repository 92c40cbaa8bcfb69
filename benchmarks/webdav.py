"""The time and the memory that a listing of a large folder takes by WebDAV (PROPFIND, Depth 1).

    python -m benchmarks.webdav [--size 10000] [--rounds 3]

The service runs in a process of its own: its peak of memory before and after, the seconds until the first byte and
the last one, its CPU time, and how long a ping took at most meanwhile. Finder and Windows ask for few properties,
`allprop` for all.
"""

import argparse
import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from benchmarks.fixtures.table import print_table
from benchmarks.search.names import fill
from drive_server.connect import DriveSettings, open_drive
from tests.drive_server.http.process import Running, serving

FEW = (
    '<D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:getcontentlength/><D:getlastmodified/>'
    "<D:quota-available-bytes/></D:prop></D:propfind>"
)
BODIES = {"four properties": FEW, "allprop": ""}
HEADER = ("properties", "MB sent", "first byte s", "last byte s", "CPU s", "memory +MB", "worst ping ms")
TICKS = os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str] = ()) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments or None)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_fill(Path(folder), options.size))
        with serving(Path(folder)) as service:
            rows = [asyncio.run(_measure(service, name, body, options.rounds)) for name, body in BODIES.items()]
    print_table(f"PROPFIND of a folder of {options.size:,} files, best of {options.rounds}", HEADER, rows)


async def _fill(folder: Path, size: int) -> None:
    async with open_drive(DriveSettings(data_dir=folder, embedding_model="none")) as drive:
        await fill(drive, size)


async def _measure(service: Running, name: str, body: str, rounds: int) -> list[str]:
    auth = ("x", service.token)
    async with httpx.AsyncClient(base_url=service.url, auth=auth, timeout=100, trust_env=False) as client:
        await _listed(client, body)
        before, best, worst = service.peak(), (0, 1e9, 1e9, 1e9), 0.0
        for _ in range(rounds):
            cpu = _cpu(service.process.pid)
            pings = asyncio.create_task(_pings(service.url))
            sent, first, last = await _listed(client, body)
            pings.cancel()
            worst = max(worst, await pings)
            best = min(best, (sent, first, last, _cpu(service.process.pid) - cpu), key=lambda row: row[2])
    sent, first, last, cpu = best
    more = (service.peak() - before) / 1024
    return [
        name,
        f"{sent / 1e6:.1f}",
        f"{first:.3f}",
        f"{last:.2f}",
        f"{cpu:.2f}",
        f"{more:.1f}",
        f"{worst * 1000:.0f}",
    ]


async def _listed(client: httpx.AsyncClient, body: str) -> tuple[int, float, float]:
    begun, first, sent = time.perf_counter(), 0.0, 0
    async with client.stream("PROPFIND", "/dav/", content=body, headers={"Depth": "1"}) as response:
        async for chunk in response.aiter_raw():
            first = first or time.perf_counter() - begun
            sent += len(chunk)
    return sent, first, time.perf_counter() - begun


async def _pings(url: str) -> float:
    worst = 0.0
    with contextlib.suppress(asyncio.CancelledError):
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            while True:
                begun = time.perf_counter()
                await client.get("/healthz")
                worst = max(worst, time.perf_counter() - begun)
                await asyncio.sleep(0.01)
    return worst


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
