"""How many calls a key may make in a minute."""

from collections import deque
from collections.abc import Callable
from math import ceil
from time import monotonic
from typing import Final

from drive_server.errors import RateLimitError
from drive_server.messages import Message

WINDOW_SECONDS: Final = 60.0
KEYS_BEFORE_A_SWEEP: Final = 1000


class CallRates:
    """Counts the calls of each key in the sixty seconds before now.

    `per_minute` calls fit into any such window, whenever it begins. `clock` gives seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._calls: dict[str, deque[float]] = {}

    def __len__(self) -> int:
        """Return how many keys are remembered."""
        return len(self._calls)

    def take(self, key: str) -> None:
        """Count a call. Raises `RateLimitError`, and counts nothing, if there were too many already."""
        self.check(key)
        now = self._clock()
        (self._calls.get(key) or self._begin(key, now)).append(now)

    def check(self, key: str) -> None:
        """Raise `RateLimitError` if the key may make no call now."""
        calls, now = self._calls.get(key), self._clock()
        if not calls:
            return
        while calls and calls[0] <= now - WINDOW_SECONDS:
            calls.popleft()
        if len(calls) >= self._per_minute:
            raise self._too_many(calls[0] + WINDOW_SECONDS - now)

    def _begin(self, key: str, now: float) -> deque[float]:
        if len(self._calls) >= KEYS_BEFORE_A_SWEEP:
            self._calls = {
                other: calls for other, calls in self._calls.items() if calls and calls[-1] > now - WINDOW_SECONDS
            }
        return self._calls.setdefault(key, deque())

    def _too_many(self, seconds: float) -> RateLimitError:
        wait = max(1, ceil(seconds))
        return RateLimitError(
            Message.of("calls_per_minute", limit=self._per_minute, seconds=wait),
            details={"limit": self._per_minute, "unit": "calls per minute", "retry_after_seconds": wait},
        )
