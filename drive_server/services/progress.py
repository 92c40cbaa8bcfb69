"""Progress of long operations."""

import asyncio
from typing import Protocol


class Progress(Protocol):
    """Called between the steps of a long operation, which also is where it can be cancelled."""

    async def __call__(self, done: int, total: int) -> None:
        """Take note that `done` of `total` items are done."""
        ...


async def silent(done: int, total: int) -> None:
    """Tell nobody."""
    del done, total
    await asyncio.sleep(0)
