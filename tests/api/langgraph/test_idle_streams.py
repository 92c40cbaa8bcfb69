"""Idle streams of LangGraph's second protocol leave nothing behind when their clients go away."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections import Counter
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

import pytest

from api.langgraph.streams.response import ClientStream
from drive_server.kernel.http.event_streams import OpenStream
from drive_server.kernel.sql.shared_poll import Watch
from tests.api.langgraph.conftest import client_of
from tests.api.langgraph.talking import new_thread

if TYPE_CHECKING:
    from tests.e2e.person import Person

STREAMS = 500
AT_ONCE = 50
SECONDS = 200
HELD: Final[tuple[type, ...]] = (ClientStream, OpenStream, Watch, asyncio.Protocol, asyncio.Task)

pytestmark = pytest.mark.timeout(3 * SECONDS)


def held() -> Counter[type]:
    """Count the objects of a stream: its answer, its key, its watch, its connection and its tasks."""
    gc.collect()
    living: list[object] = [one for one in gc.get_objects() if isinstance(one, HELD)]
    return Counter(
        next(kind for kind in HELD if isinstance(one, kind))
        for one in living
        if not (isinstance(one, asyncio.Task) and one.done())
    )


async def opened(stack: AsyncExitStack, owner: Person, thread_id: str) -> None:
    """Open a stream, and read its first heartbeat: it is idle from then on."""
    url = owner.http.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    stack.callback(writer.close)
    body = json.dumps({"channels": ["values", "lifecycle", "messages", "input"]})
    head = f"POST /threads/{thread_id}/stream/events HTTP/1.1\r\nhost: {url.host}\r\nx-api-key: {owner.token}\r\n"
    writer.write(f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
    await reader.readuntil(b"heartbeat")


async def test_five_hundred_streams_leave_nothing_behind(owner: Person) -> None:
    with client_of(owner) as client:
        thread_id = new_thread(client)
    before = held()
    async with asyncio.timeout(SECONDS), AsyncExitStack() as stack:
        for _ in range(0, STREAMS, AT_ONCE):
            await asyncio.gather(*(opened(stack, owner, thread_id) for _ in range(AT_ONCE)))
        beside = held()
    assert all((beside - before)[kind] >= STREAMS for kind in HELD)
    # The service works in a thread of its own: it hears of each closed connection by and by.
    moment, until = threading.Event(), time.monotonic() + SECONDS
    while any((held() - before)[kind] > AT_ONCE / 10 for kind in HELD) and time.monotonic() < until:
        await asyncio.to_thread(moment.wait, 0.1)
    assert all((held() - before)[kind] <= AT_ONCE / 10 for kind in HELD)
