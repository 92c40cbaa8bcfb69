"""Long threads and idle streams of LangGraph's clients: `python -m benchmarks.agent.client_threads`.

Printed are the CPU of `/history` with ten states of a thread of 200 turns, and the memory that 500 idle streams of the
second protocol take and that is free again a minute after their clients are gone.
"""

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Final
from uuid import uuid4

import uvloop

from benchmarks.agent.doors import CHANNELS
from benchmarks.fixtures.services.contenders import END_OF_BODY, MESSAGE, Served, come_to_rest, served
from benchmarks.fixtures.services.scripted_model import scripted_model
from benchmarks.fixtures.table import milliseconds, print_table

OPEN: Final = served("ours", "/api/chat", DRIVE_MAX_CONNECTIONS="4096")
AT_ONCE: Final = 50
SETTLING_SECONDS: Final = 3
STATES: Final = 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--looks", type=int, default=20, help="at the history (default: %(default)s)")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60, help="after the streams (default: %(default)s)")
    given = parser.parse_args(arguments)
    with scripted_model() as url:
        taken = uvloop.run(_histories(url, given.turns, given.looks))
        header = ["", "CPU ms", "lowest"]
        row = [f"{STATES} states of {given.turns} turns", milliseconds(taken), milliseconds([min(taken)])]
        print_table(f"/history, medians of {given.looks}", header, [row])
        before, beside, after = uvloop.run(_idle_streams(url, given.streams, given.seconds))
        rows = [[name, f"{size / 1e6:.1f}"] for name, size in (("open", beside - before), ("gone", after - before))]
        print_table(f"{given.streams} idle streams of the second protocol", ["", "MB more than before"], rows)


async def _histories(url: str, turns: int, looks: int) -> list[float]:
    """Return the CPU seconds of each look at the newest states of a long thread."""
    async with OPEN(url, "calls-0") as service:
        assert isinstance(service, Served)
        path = f"/threads/{uuid4()}"
        for _ in range(turns):
            await _answer(service, f"{path}/runs/wait", {**_said(), "if_not_exists": "create"})
        taken: list[float] = []
        await come_to_rest(service)
        for _ in range(looks):
            before = service.cpu()
            await _answer(service, f"{path}/history", {"limit": STATES})
            taken.append(service.cpu() - before)
        return taken


async def _idle_streams(url: str, count: int, seconds: float) -> tuple[int, int, int]:
    """Return the bytes of memory before the streams, beside them, and so many seconds after their clients are gone."""
    async with OPEN(url, "calls-0") as service:
        assert isinstance(service, Served)
        threads = [f"/threads/{uuid4()}" for _ in range(count)]
        for path in threads:
            await _answer(service, f"{path}/runs/wait", {**_said(), "if_not_exists": "create"})
        await come_to_rest(service)
        before = service.memory()
        async with AsyncExitStack() as stack:
            for start in range(0, count, AT_ONCE):
                await asyncio.gather(*(_opened(stack, service, path) for path in threads[start : start + AT_ONCE]))
            await asyncio.sleep(SETTLING_SECONDS)
            beside = service.memory()
        await asyncio.sleep(seconds)
        return before, beside, service.memory()


async def _opened(stack: AsyncExitStack, service: Served, path: str) -> None:
    reader = await stack.enter_async_context(service.asked(f"{path}/stream/events", {"channels": CHANNELS}))
    await reader.readuntil(b"completed")


def _said() -> dict[str, Any]:
    return {"assistant_id": "drive_agent", "input": {"messages": [{"type": "human", "content": MESSAGE}]}}


async def _answer(service: Served, path: str, body: dict[str, Any]) -> bytes:
    async with service.asked(path, body) as reader:
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), None)
        if length:
            return await reader.readexactly(int(length.split(b":")[1]))
        answer = b""
        while not answer.endswith(END_OF_BODY):
            answer += await reader.read(65_536)
        return answer


if __name__ == "__main__":
    main()
