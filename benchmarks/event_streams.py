"""The cost of idle event streams, and chats beside them: `python -m benchmarks.event_streams`.

For each kind of stream, 200 and then 1,000 are opened on a service that is at rest, and its CPU is measured for as long
as heartbeats take to come round. Four services are measured at a time: they idle, and only their own CPU counts. At
last 50 chats run at once, beside none and beside 1,000 streams of all kinds, on a model of 300 ms and then 20 ms a
token.
"""

import argparse
import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain
from statistics import median
from typing import Final

import uvloop

from benchmarks.agent.crowd import BETWEEN, FIRST
from benchmarks.fixtures.services.contenders import Served, come_to_rest, served
from benchmarks.fixtures.services.scripted_model import scripted_model
from benchmarks.fixtures.services.streams import KINDS, Crowd
from benchmarks.fixtures.table import print_table
from drive_server.kernel.garbage_collector import REFREEZE_SECONDS
from drive_server.kernel.http.event_streams import HEARTBEAT_SECONDS

OPEN: Final = served(
    "ours", "/api/chat", DRIVE_MAX_CONNECTIONS="4096", DRIVE_SESSIONS_PER_USER="1000", DRIVE_CALLS_PER_MINUTE="100000"
)
HEADER: Final = ["", "streams", "CPU s a second", "over none", "MB"]
CHATS_HEADER: Final = ["chats beside", "done", "median s"]
LANES: Final = 4
SETTLING_SECONDS: Final = 3
Row = tuple[str, int, float, int]
"""The kind of the streams, their number, CPU seconds a second, bytes of memory."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure each kind of stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, nargs="+", default=[200, 1000], help="how many (default: %(default)s)")
    parser.add_argument("--people", type=int, default=50, help="whose they are (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=HEARTBEAT_SECONDS, help="how long they idle (default: %(default)s)"
    )
    parser.add_argument("--chats", type=int, default=50, help="chats at once; 0: none (default: %(default)s)")
    parser.add_argument("--only", choices=KINDS, action="append")
    given = parser.parse_args(arguments)
    with scripted_model(FIRST, BETWEEN) as url:
        rows = uvloop.run(_measure_kinds(url, given.only or list(KINDS), given))
        idle = median(used for _, streams, used, _ in rows if not streams)
        shown = [
            [kind, str(streams), f"{used:.4f}", f"{used - idle:.4f}", f"{memory / 1e6:.0f}"]
            for kind, streams, used, memory in rows
        ]
        print_table(f"Idle streams of {given.people} people, {given.seconds:.0f} s", HEADER, shown)
        if given.chats:
            beside = uvloop.run(_measure_chats(url, given))
            print_table(f"{given.chats} chats at once", CHATS_HEADER, beside)


async def _measure_kinds(url: str, kinds: Sequence[str], given: argparse.Namespace) -> list[Row]:
    lanes = [kinds[start::LANES] for start in range(LANES)]
    measured = await asyncio.gather(*(_measure_lane(url, lane, given) for lane in lanes if lane))
    rows = list(chain.from_iterable(measured))
    return sorted(rows, key=lambda row: ["none", *KINDS].index(row[0]))


async def _measure_lane(url: str, kinds: Sequence[str], given: argparse.Namespace) -> list[Row]:
    """Measure kinds of streams one after the other on one service, which begins with none."""
    async with _opened(url, given.people) as (contender, crowd):
        # The collection of the garbage that its start left is no part of idling.
        await asyncio.sleep(REFREEZE_SECONDS)
        rows: list[Row] = [("none", 0, *await _idle(contender, given.seconds))]
        for kind in kinds:
            async with AsyncExitStack() as stack:
                opened = 0
                for streams in sorted(given.streams):
                    await crowd.open(stack, kind, streams - opened)
                    opened = streams
                    rows.append((kind, streams, *await _idle(contender, given.seconds)))
    return rows


@asynccontextmanager
async def _opened(url: str, people: int) -> AsyncGenerator[tuple[Served, Crowd]]:
    async with OPEN(url, "calls-0") as contender:
        assert isinstance(contender, Served)
        await contender.turn()
        async with Crowd.gathered(contender, people) as crowd:
            await come_to_rest(contender)
            yield contender, crowd


async def _idle(contender: Served, seconds: float) -> tuple[float, int]:
    """Return the CPU seconds that the service takes in a second, and its bytes of memory."""
    # Not until it rests: what is measured may be that it never does.
    await asyncio.sleep(SETTLING_SECONDS)
    before = contender.cpu()
    await asyncio.sleep(seconds)
    return (contender.cpu() - before) / seconds, contender.memory()


async def _measure_chats(url: str, given: argparse.Namespace) -> list[list[str]]:
    async with _opened(url, given.people) as (contender, crowd), AsyncExitStack() as stack:
        rows = [["no streams", *await _chats(contender, given.chats)]]
        share, rest = divmod(max(given.streams), len(KINDS))
        for number, kind in enumerate(KINDS):
            await crowd.open(stack, kind, share + (number < rest))
        rows.append([f"{max(given.streams)} streams", *await _chats(contender, given.chats)])
    return rows


async def _chats(contender: Served, count: int) -> list[str]:
    chats = await asyncio.gather(*(contender.turn() for _ in range(count)), return_exceptions=True)
    done = [times.whole for times in chats if not isinstance(times, BaseException)]
    return [f"{len(done)} of {count}", f"{median(done):.2f}" if done else "-"]


if __name__ == "__main__":
    main()
