"""Background work in steps: it is ended between two of them, not in the middle of one."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import anyio


async def whole_step(step: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a short step; if this is cancelled meanwhile, the step ends first.

    A query that is cut off leaves a connection behind, whose thread may live longer than the event loop.
    """
    task = asyncio.create_task(step())
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await asyncio.gather(task, return_exceptions=True)
        raise
