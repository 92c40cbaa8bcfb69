from __future__ import annotations

import asyncio

import anyio
import pytest

from drive_server.services.housekeeping import whole_step


class Step:
    """Sets `begun` when it begins, and waits for `may_end`."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.ended = False

    async def __call__(self) -> None:
        self.begun.set()
        await self.may_end.wait()
        self.ended = True


async def test_a_step_that_is_going_on_ends_before_the_work_is_cancelled() -> None:
    step = Step()
    work = asyncio.create_task(whole_step(step))
    await step.begun.wait()
    work.cancel()
    await asyncio.sleep(0)
    assert not work.done()
    step.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await work

    assert step.ended


async def test_the_same_holds_in_a_scope_that_is_cancelled() -> None:
    step = Step()
    async with anyio.create_task_group() as group:
        group.start_soon(whole_step, step)
        await step.begun.wait()
        group.cancel_scope.cancel()
        asyncio.get_running_loop().call_soon(step.may_end.set)

    assert step.ended


async def test_what_a_step_raises_is_raised() -> None:
    async def fail() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await whole_step(fail)
