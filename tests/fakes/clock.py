"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


class SettableClock:
    """Call it for the time; `advance` moves it on."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let that many seconds pass."""
        self.now += timedelta(seconds=seconds)
