"""What idle event streams cost, and chats beside them: `python -m benchmarks.event_streams`.

Each row opens the streams of one address on a fresh service, waits until it is at rest, and measures its CPU for a
while; the first row has none. Then chats run at once beside the streams, on a model of 300 ms and then 20 ms a token.
"""

import argparse
import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median
from typing import Final

import httpx
import uvloop

from benchmarks.agent.crowd import BETWEEN, FIRST
from benchmarks.fixtures.contenders import Served, come_to_rest, served
from benchmarks.fixtures.scripted_model import scripted_model
from benchmarks.fixtures.table import print_table

OPEN: Final = served("ours", "/api/chat", DRIVE_MAX_CONNECTIONS="4096")
ADDRESSES: Final = {
    "folder": "/api/drive/events",
    "notices": "/api/drive/notices/events",
    "index": "/api/drive/index/events",
    "approvals": "/api/approvals/events",
    "servers": "/api/mcp-servers/events",
}
HEADER: Final = ["", "CPU s a second", "over none", "MB", "chats done", "median s"]
AT_ONCE: Final = 50
SETTLING_SECONDS: Final = 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure each kind of stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200, help="how many streams are open (default: %(default)s)")
    parser.add_argument("--people", type=int, default=20, help="whose they are (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=30, help="how long they idle (default: %(default)s)")
    parser.add_argument("--chats", type=int, default=50, help="chats at once (default: %(default)s)")
    parser.add_argument("--only", choices=ADDRESSES, action="append")
    given = parser.parse_args(arguments)
    rows: list[list[str]] = []
    with scripted_model(FIRST, BETWEEN) as url:
        idle = 0.0
        for name in ["none", *(given.only or ADDRESSES)]:
            streams = given.streams if name in ADDRESSES else 0
            measured = uvloop.run(_measure(url, ADDRESSES.get(name, ""), streams, given))
            idle = measured[0] if name == "none" else idle
            rows.append([name, f"{measured[0]:.4f}", f"{measured[0] - idle:.4f}", *measured[1:]])
    title = f"{given.streams} idle streams of {given.people} people, {given.seconds:.0f} s; {given.chats} chats beside"
    print_table(title, HEADER, rows)


async def _measure(url: str, path: str, streams: int, given: argparse.Namespace) -> tuple[float, str, str, str]:
    async with OPEN(url, "calls-0") as contender, AsyncExitStack() as stack:
        assert isinstance(contender, Served)
        await contender.turn()
        await come_to_rest(contender)
        tokens = await _people(contender, given.people) if streams else []
        for start in range(0, streams, AT_ONCE):
            group = [tokens[n % len(tokens)] for n in range(start, min(start + AT_ONCE, streams))]
            await asyncio.gather(*(stack.enter_async_context(_stream(contender.port, path, token)) for token in group))
        await asyncio.sleep(SETTLING_SECONDS)
        before = contender.cpu()
        await asyncio.sleep(given.seconds)
        used = (contender.cpu() - before) / given.seconds
        memory = f"{contender.memory() / 1e6:.0f}"
        chats = await asyncio.gather(*(contender.turn() for _ in range(given.chats)), return_exceptions=True)
        done = [times.whole for times in chats if not isinstance(times, BaseException)]
        return used, memory, f"{len(done)} of {given.chats}", f"{median(done):.2f}" if done else "-"


async def _people(contender: Served, count: int) -> list[str]:
    """Return the key of each of so many new people."""
    headers = {"Authorization": f"Bearer {contender.token}"}
    url = f"http://127.0.0.1:{contender.port}"
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
        made = [await client.post("/api/users", json={"email": f"person{n}@example.com"}) for n in range(count)]
        return [answer.raise_for_status().json()["key"] for answer in made]


@asynccontextmanager
async def _stream(port: int, path: str, token: str) -> AsyncGenerator[None]:
    """Open a stream, which is read until the end of the block."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.readuntil(b"\r\n")
    assert b" 200 " in answer, answer + await reader.read(2000)
    reading = asyncio.create_task(_read_on(reader))
    try:
        yield
    finally:
        reading.cancel()
        writer.close()


async def _read_on(reader: asyncio.StreamReader) -> None:
    while await reader.read(65_536):
        pass


if __name__ == "__main__":
    main()
