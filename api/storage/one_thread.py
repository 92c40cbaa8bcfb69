"""A thread for calls that block: a database that is asked by one caller at a time."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

import anyio

from drive_server.kernel.errors import DamagedDatabaseError
from drive_server.kernel.sql.sqlite_faults import translated

P = ParamSpec("P")
T = TypeVar("T")


class OneThread:
    """Runs calls one after the other in one thread; after `close`, none.

    Failures of SQLite become ours, with the name of the `file`; `damage` is the one that told of a damaged file.
    """

    def __init__(self) -> None:
        self.file = ""
        self.damage: DamagedDatabaseError | None = None
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="threads")

    async def run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Return the result of the call. If the caller is cancelled, a call that has begun still ends."""
        try:
            with translated(self.file):
                return await asyncio.get_running_loop().run_in_executor(self._executor, partial(work, *args, **options))
        except DamagedDatabaseError as damage:
            self.damage = damage
            raise

    async def close(self) -> None:
        """Wait for the call that has begun, and drop the others."""
        await anyio.to_thread.run_sync(partial(self._executor.shutdown, cancel_futures=True))
