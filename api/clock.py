"""The clock of the service: no other module of it asks the machine for the time."""

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The time in UTC, and waiting for a moment."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        ...

    async def sleep_until(self, moment: datetime) -> None:
        """Return once the moment has come; at once if it is past."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        return datetime.now(UTC)

    async def sleep_until(self, moment: datetime) -> None:
        """Return once the moment has come; at once if it is past."""
        # In a loop: the machine's clock may be set while this waits.
        while (seconds := (moment - self.now()).total_seconds()) > 0:  # noqa: ASYNC110 - time has no event to wait for
            await asyncio.sleep(seconds)
