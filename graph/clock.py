"""The time. Nodes take a `Clock`, so that tests of expiry need not wait."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the time now, aware and in UTC."""


def utc_now() -> datetime:
    """Return the time now, aware and in UTC."""
    return datetime.now(UTC)
