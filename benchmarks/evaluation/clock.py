"""The clock of the evaluation: it stands on one day, so that "last month" is the same one for every model."""

import asyncio
from datetime import UTC, datetime

NOW = datetime(2026, 11, 19, 22, 30, tzinfo=UTC)
"""A Thursday night in Berlin, and Friday morning in Shanghai."""
ZONES = {"en": "Europe/Berlin", "zh": "Asia/Shanghai"}
"""Where the person of the tasks in a language is."""


class FixedClock:
    """A clock that stands still."""

    def __init__(self, now: datetime = NOW) -> None:
        self._now = now

    def now(self) -> datetime:
        """Return the moment at which it stands."""
        return self._now

    async def sleep_until(self, moment: datetime) -> None:
        """Return at once if the moment is past; else never, as it won't come."""
        if moment > self._now:
            await asyncio.get_running_loop().create_future()
