"""Watching how far the index is with a person's files."""

from typing import Final

import anyio

from drive_server.knowledge.ingest.job import Ingester
from drive_server.models import IndexStatus

LOOK_SECONDS: Final = 2.0
"""How soon the work of another process is seen: of this process's own the watch is told."""
PAUSE_SECONDS: Final = 0.25


class IndexWatch:
    """Looks again and again, and returns only what is news. For one task."""

    def __init__(self, ingester: Ingester, user_id: str) -> None:
        self._ingester = ingester
        self._user_id = user_id
        self._step = ingester.next_step
        self.last: IndexStatus | None = None

    async def look(self) -> IndexStatus | None:
        """Return the status now, None if it is the one that was returned last."""
        self._step = self._ingester.next_step
        status = await self._ingester.status(self._user_id)
        if status == self.last:
            return None
        self.last = status
        return status

    async def next(self, seconds: float) -> IndexStatus | None:
        """Return the next status that is another than the last one; the first one at once.

        None if there is none within so many seconds.
        """
        with anyio.move_on_after(seconds):
            while (status := await self.look()) is None:
                with anyio.move_on_after(LOOK_SECONDS):
                    await self._step.wait()
                await anyio.sleep(PAUSE_SECONDS)
            return status
        return None
