"""Periodic background work: expiry, collection, cleaning up."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, Final

import anyio

from drive_server.kernel.errors import StorageFailureError
from drive_server.storage.process_locks import ProcessLock


async def whole_step(step: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a short step; if this is cancelled meanwhile, the step ends first."""
    task = asyncio.create_task(step())
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await asyncio.gather(task, return_exceptions=True)
        raise


logger = logging.getLogger(__name__)

INTERVAL: Final = timedelta(hours=1)
FIRST_AFTER: Final = timedelta(seconds=30)

Job = Callable[[], Awaitable[object]]


class Housekeeping:
    """Runs its jobs every `interval`, and once soon after the start; of all processes on one drive only one does."""

    def __init__(self, lock: ProcessLock, interval: timedelta = INTERVAL, first_after: timedelta = FIRST_AFTER) -> None:
        self._lock = lock
        self._interval = interval
        self._first_after = first_after
        self._jobs: dict[str, Job] = {}

    def add(self, name: str, job: Job) -> None:
        """Have the job done from now on; its result is ignored."""
        self._jobs[name] = job

    async def run(self) -> None:
        """Do the jobs when it is time, until cancelled."""
        await anyio.sleep(self._first_after.total_seconds())
        while True:
            try:
                await self.run_once()
            except StorageFailureError as error:
                logger.warning("No job could be done; they are tried again at the next round: %s", error)
            await anyio.sleep(self._interval.total_seconds())

    async def run_once(self) -> bool:
        """Do all jobs now; return False if another process is at it."""
        if not await self._lock.acquire():
            return False
        try:
            for name, job in tuple(self._jobs.items()):
                await _done(name, job)
        finally:
            await self._lock.release()
        return True


async def _done(name: str, job: Job) -> None:
    try:
        await job()
    except Exception:
        logger.exception("The job '%s' failed; it is tried again at the next round.", name)
