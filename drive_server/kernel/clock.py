"""The time. Services take a `Clock`, so that tests need not wait.

A key that has expired stays expired: the time of a process never goes back, even if the machine's clock does, and a
start begins no earlier than the last moment that is stored.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Lock
from time import monotonic
from typing import Final

Clock = Callable[[], datetime]
"""Returns the time now, aware and in UTC."""

SLEW: Final = 0.5
"""The speed at which the time goes on while the machine's clock is behind it, until that has caught up."""
MAX_AHEAD: Final = timedelta(days=1)
"""A stored moment further ahead than this is from a clock that was wrong, and is not believed."""


def system_now() -> datetime:
    """Return the time of the machine's clock, which may be set back. Times of files follow the same clock."""
    return datetime.now(UTC)


class MonotonicClock:
    """A clock that never goes back. While the machine's clock is behind it, it runs at half speed (`SLEW`)."""

    def __init__(self, system: Clock = system_now, seconds: Callable[[], float] = monotonic) -> None:
        self._system = system
        self._seconds = seconds
        self._lock = Lock()
        self._last, self._at = system(), seconds()

    def __call__(self) -> datetime:
        """Return the time now."""
        with self._lock:
            wall, at = self._system(), self._seconds()
            slewed = self._last + SLEW * timedelta(seconds=at - self._at)
            self._last, self._at = max(wall, slewed), at
            return self._last

    def begin_at(self, stored: datetime) -> None:
        """Start no earlier than a moment that an earlier process stored, unless it is more than `MAX_AHEAD` ahead."""
        now = self()
        if now < stored <= now + MAX_AHEAD:
            with self._lock:
                self._last = max(self._last, stored)


PROCESS_CLOCK: Final = MonotonicClock()
"""The only clock of this process: all of its parts agree on the time at which something expires."""


def utc_now() -> datetime:
    """Return the time now, aware and in UTC; never less than it returned before."""
    return PROCESS_CLOCK()
