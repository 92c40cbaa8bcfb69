from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import httpx

from drive_server.http.dav.bridge import FairLimiter
from tests.drive_server.http.dav.client import dav_of

if TYPE_CHECKING:
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

SLOW_UPLOADS = 12
"""More than one person has threads for."""


async def test_slow_uploads_of_one_person_hold_up_nobody_else(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    host = httpx.URL(service.url)
    key = f"Authorization: Bearer {service.token}\r\n"
    async with AsyncExitStack() as stack:
        for number in range(SLOW_UPLOADS):
            _, writer = await asyncio.open_connection(host.host, host.port)
            stack.callback(writer.close)
            writer.write(f"PUT /dav/{number} HTTP/1.1\r\nHost: x\r\n{key}Content-Length: 9\r\n\r\nslow".encode())
            await writer.drain()
        assert (await dav.send("MKCOL", "/a")).status_code == 201
        assert await dav.names() == ["a"]
        assert (await bobs_dav.send("PUT", "/b.txt", b"1")).status_code == 201
        async with dav_of(service) as again:
            assert (await again.send("GET", "/nothing")).status_code == 404


async def test_a_caller_has_its_share_of_the_threads_and_no_more() -> None:
    limiter, loop = FairLimiter(total=3, each=2), asyncio.get_running_loop()
    running: dict[str, int] = {"a": 0, "b": 0}
    begun, release = asyncio.Semaphore(0), threading.Event()

    def work(name: str) -> None:
        running[name] += 1
        loop.call_soon_threadsafe(begun.release)
        release.wait()

    tasks = [asyncio.create_task(limiter.run(name, lambda name=name: work(name))) for name in "aaab"]
    for _ in range(3):
        await begun.acquire()
    assert running == {"a": 2, "b": 1}
    release.set()
    await asyncio.gather(*tasks)
    assert running == {"a": 3, "b": 1}
