"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


class SettableClock:
    """Call it for the time; `advance` moves it on."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float = 0, **parts: float) -> None:
        """Let so many seconds pass, and `minutes`, `hours` and `days`."""
        self.now += timedelta(seconds=seconds, **parts)


class Seconds:
    """Call it for a monotonic time in seconds, which a test sets."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
