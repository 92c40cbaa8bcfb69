"""The clock of the service: no other module of it asks the machine for the time."""

import asyncio
from datetime import datetime
from typing import Protocol

from drive_server.kernel.clock import utc_now


class Clock(Protocol):
    """The time in UTC, and waiting for a moment."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        ...

    async def sleep_until(self, moment: datetime) -> None:
        """Return once the moment has come; at once if it is past."""
        ...


class SystemClock:
    """The clock that the drive has too: it never goes back, so that no approval comes to life again."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        return utc_now()

    async def sleep_until(self, moment: datetime) -> None:
        """Return once the moment has come; at once if it is past."""
        # In a loop: the clock goes slower while the machine's is behind it.
        while (seconds := (moment - self.now()).total_seconds()) > 0:  # noqa: ASYNC110 - time has no event to wait for
            await asyncio.sleep(seconds)
