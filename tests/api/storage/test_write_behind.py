"""Checkpoints wait for their events, in order; what follows one that was lost is refused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from api.storage.write_behind import Write, WriteBehind
from graph.events import listening

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

THREAD = ("t", "")


class Log:
    """Stores events when it is told to, or urgently."""

    def __init__(self) -> None:
        self.stored = asyncio.Event()

    async def store(self, urgent: bool) -> None:
        if urgent:
            self.stored.set()
        await self.stored.wait()


def writing(done: list[str], name: str, error: Exception | None = None) -> Callable[[], Awaitable[None]]:
    async def write() -> None:
        if error:
            raise error
        done.append(name)

    return write


async def test_a_checkpoint_before_thinking_waits_for_its_events_and_one_that_may_be_seen_does_not_let_them_wait() -> (
    None
):
    behind, done, log = WriteBehind(), list[str](), Log()
    with listening(lambda _: None, log.store):
        behind.later(THREAD, Write(None, "1", writing(done, "1")))
        await asyncio.sleep(0)
        assert done == []
        await behind.now(THREAD, Write("1", "2", writing(done, "2")))
    assert done == ["1", "2"]


async def test_a_reader_waits_for_what_waits() -> None:
    behind, done, log = WriteBehind(), list[str](), Log()
    with listening(lambda _: None, log.store):
        behind.later(THREAD, Write(None, "1", writing(done, "1")))
    reading = asyncio.create_task(behind.drain(THREAD))
    await asyncio.sleep(0)
    log.stored.set()
    await reading
    assert done == ["1"]


async def test_what_follows_a_lost_checkpoint_is_refused_until_the_run_has_heard_of_it() -> None:
    behind, done, full = WriteBehind(), list[str](), OSError("disk full")
    behind.later(THREAD, Write("0", "1", writing(done, "1", full)))
    await behind.drain(THREAD)
    with pytest.raises(OSError, match="disk full"):
        await behind.now(THREAD, Write("1", "2", writing(done, "2")))
    await behind.now(THREAD, Write("0", "3", writing(done, "3")))
    assert done == ["3"]


async def test_a_checkpoint_whose_events_could_not_be_stored_is_not_written() -> None:
    async def refuse(urgent: bool) -> None:
        del urgent
        raise OSError("disk full")

    behind, done = WriteBehind(), list[str]()
    with listening(lambda _: None, refuse):
        behind.later(THREAD, Write("0", "1", writing(done, "1")))
        await behind.close()
    assert done == []


async def test_a_cancelled_writer_leaves_its_write_to_its_end() -> None:
    behind, done, log = WriteBehind(), list[str](), Log()
    with listening(lambda _: None, lambda _: log.stored.wait()):
        writer = asyncio.create_task(behind.now(THREAD, Write(None, "1", writing(done, "1"))))
    await asyncio.sleep(0)
    writer.cancel()
    log.stored.set()
    await asyncio.wait([writer])
    await behind.drain(THREAD)
    assert done == ["1"]
