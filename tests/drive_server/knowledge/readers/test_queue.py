from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.knowledge.readers.queue import ReaderQueue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.abc import TaskGroup


class Reading:
    """Files that take places in a queue, and leave them when they are told to."""

    def __init__(self, group: TaskGroup) -> None:
        self.queue = ReaderQueue()
        self.begun: list[int] = []
        self._ends: dict[int, anyio.Event] = {}
        self._group = group

    async def come(self, *sizes: int, is_awaited: bool = False) -> list[int]:
        """Let files of these sizes come, one after the other; return those that have a place by now, or had one."""
        for size in sizes:
            self._ends[size] = anyio.Event()
            self._group.start_soon(self._read, size, is_awaited)
            await anyio.wait_all_tasks_blocked()
        return self.begun

    async def end(self, size: int) -> list[int]:
        self._ends[size].set()
        await anyio.wait_all_tasks_blocked()
        return self.begun

    async def _read(self, size: int, is_awaited: bool) -> None:
        async with self.queue.place(size, is_awaited=is_awaited):
            self.begun.append(size)
            await self._ends[size].wait()


@pytest.fixture
async def reading() -> AsyncIterator[Reading]:
    async with anyio.create_task_group() as group:
        yield Reading(group)
        group.cancel_scope.cancel()


async def test_two_are_read_at_once_and_the_others_wait(reading: Reading) -> None:
    assert await reading.come(1, 2, 3, 4) == [1, 2]


async def test_one_place_takes_the_smallest_and_the_other_the_largest(reading: Reading) -> None:
    await reading.come(100, 200, 5, 3, 9, 1, 7)
    assert await reading.end(100) == [100, 200, 1]
    assert await reading.end(200) == [100, 200, 1, 9]
    assert await reading.end(1) == [100, 200, 1, 9, 3]
    assert await reading.end(9) == [100, 200, 1, 9, 3, 7]


async def test_who_waits_at_the_screen_comes_first_whichever_place_is_free(reading: Reading) -> None:
    await reading.come(100, 200, 5, 3)
    await reading.come(50, 60, is_awaited=True)
    assert await reading.end(200) == [100, 200, 50]
    assert await reading.end(100) == [100, 200, 50, 60]


async def test_who_stops_waiting_takes_no_place(reading: Reading) -> None:
    await reading.come(100, 200)
    with anyio.move_on_after(0):
        async with reading.queue.place(1, is_awaited=False):
            reading.begun.append(1)
    assert await reading.come(2) == [100, 200]
    assert await reading.end(100) == [100, 200, 2]


async def test_a_place_is_free_again_after_an_error_and_after_a_cancellation(reading: Reading) -> None:
    for _ in range(4):
        with pytest.raises(RuntimeError):
            async with reading.queue.place(1, is_awaited=False):
                raise RuntimeError
        with anyio.move_on_after(0):
            async with reading.queue.place(1, is_awaited=False):
                await anyio.sleep_forever()
    assert await reading.come(1, 2) == [1, 2]


async def test_who_is_called_and_cancelled_at_once_passes_the_place_on(reading: Reading) -> None:
    await reading.come(100, 200)
    async with anyio.create_task_group() as group:

        async def wait() -> None:
            async with reading.queue.place(1, is_awaited=True):
                raise AssertionError

        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        reading._ends[100].set()  # pyright: ignore[reportPrivateUsage] - in the same step as the cancellation
        group.cancel_scope.cancel()
    assert await reading.come(2) == [100, 200, 2]
