from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.shared_poll import SharedPoll

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping

LONG, SHORT = 30, 0.01
"""Seconds: more than any machine needs, and less than anything takes."""


class Shelf:
    """Values by key. Counts how often it is read, and fails as often as told to."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.asked: list[set[str]] = []
        self.failures: list[Exception] = []

    async def read(self, keys: Collection[str]) -> Mapping[str, int]:
        self.asked.append(set(keys))
        if self.failures:
            raise self.failures.pop()
        return {key: self.values[key] for key in keys if key in self.values}


@asynccontextmanager
async def polling(shelf: Shelf, seconds: float = LONG) -> AsyncGenerator[SharedPoll[int]]:
    poll = SharedPoll[int](shelf.read, seconds, 0)
    async with anyio.create_task_group() as group:
        group.start_soon(poll.run)
        yield poll
        group.cancel_scope.cancel()


async def test_all_who_watch_are_served_by_one_reading() -> None:
    shelf = Shelf()
    shelf.values = {"a": 1}
    async with polling(shelf) as poll:
        watches = [poll.watch(key) for key in ("a", "a", "b")]
        assert [await watch.next(LONG) for watch in watches] == [1, 1, 0]
    assert shelf.asked == [{"a", "b"}]


async def test_a_value_is_returned_once_for_each_change_and_nothing_in_time_without_one() -> None:
    shelf = Shelf()
    async with polling(shelf) as poll:
        watch = poll.watch("a")
        assert await watch.next(LONG) == 0
        assert await watch.next(SHORT) is None
        shelf.values["a"] = 2
        poll.wake()
        assert await watch.next(LONG) == 2
        assert await watch.next(SHORT) is None


async def test_a_value_that_is_offered_is_not_read() -> None:
    shelf = Shelf()
    async with polling(shelf) as poll:
        watch = poll.watch("a", is_known=True)
        watch.skip(1)
        next_value = asyncio.create_task(watch.next(LONG))
        poll.offer("b", 3)
        await anyio.wait_all_tasks_blocked()
        assert not next_value.done()
        poll.offer("a", 2)
        assert await next_value == 2
    assert shelf.asked == []


async def test_what_changes_elsewhere_comes_with_the_next_poll() -> None:
    shelf = Shelf()
    async with polling(shelf, SHORT) as poll:
        watch = poll.watch("a")
        assert await watch.next(LONG) == 0
        shelf.values["a"] = 3
        assert await watch.next(LONG) == 3


async def test_nothing_is_read_while_nobody_watches() -> None:
    shelf = Shelf()
    async with polling(shelf, SHORT) as poll:
        assert await poll.watch("a").next(LONG) == 0
        await anyio.wait_all_tasks_blocked()
        read = len(shelf.asked)
        assert await poll.watch("b").next(LONG) == 0
    assert shelf.asked[read:] == [{"b"}]


async def test_a_reading_that_fails_is_tried_again() -> None:
    shelf = Shelf()
    shelf.failures = [RuntimeError("the shelf is broken"), StorageFailureError("The database can't be read.")]
    async with polling(shelf, SHORT) as poll:
        assert await poll.watch("a").next(LONG) == 0
    assert len(shelf.asked) >= 3


async def test_at_the_end_nobody_waits_any_more() -> None:
    async with polling(Shelf()) as poll:
        watch = poll.watch("a")
        assert await watch.next(LONG) == 0
        poll.end()
        late = poll.watch("b")
        assert [await one.next(LONG) for one in (watch, late)] == [None, None]
        assert [watch.is_open, late.is_open] == [False, False]
