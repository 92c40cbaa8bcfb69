"""A rate limit as a sliding window, counted in this process."""

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from time import monotonic
from typing import Any, Final

from drive_server.kernel.errors import RateLimitError
from drive_server.kernel.messages import Message

MINUTE_SECONDS: Final = 60.0
MAX_KEYS: Final = 10_000
IPV6_NETWORK_BITS: Final = 64
SIGNED_IN: Final = "drive.signed_in"
"""The extension of ASGI by which an application exempts a connection from the limit of its address."""


class SlidingWindow:
    """Counts the events of keys, of which `limit` fit into any `period_seconds`, whenever they begin."""

    def __init__(
        self,
        limit: int,
        period_seconds: float = MINUTE_SECONDS,
        *,
        clock: Callable[[], float] = monotonic,
        most_keys: int = MAX_KEYS,
    ) -> None:
        self.limit = limit
        self._period = period_seconds
        self._clock = clock
        self._most_keys = most_keys
        self._events: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_seconds(self, key: str) -> int:
        """Return the seconds until the key has room; 0 if it has."""
        events, now = self._events.get(key), self._clock()
        while events and events[0] <= now - self._period:
            events.popleft()
        if not events or len(events) < self.limit:
            return 0
        return max(1, ceil(events[0] + self._period - now))

    def count(self, key: str) -> None:
        """Count an event of the key."""
        events = self._events.setdefault(key, deque(maxlen=self.limit))
        events.append(self._clock())
        self._events.move_to_end(key)
        if len(self._events) > self._most_keys:
            self._events.popitem(last=False)

    def give_back(self, key: str) -> None:
        """Take back the event of the key that was counted last."""
        if events := self._events.get(key):
            events.pop()


class RateLimiter:
    """Refuses the events of a key for which its window has no room; `reason` and `details` are for the refused."""

    def __init__(
        self,
        limit: int,
        reason: str | Message,
        details: Mapping[str, Any] | None = None,
        *,
        period_seconds: float = MINUTE_SECONDS,
        clock: Callable[[], float] = monotonic,
        most_keys: int = MAX_KEYS,
    ) -> None:
        self._window = SlidingWindow(limit, period_seconds, clock=clock, most_keys=most_keys)
        self._reason = reason
        self._details = details or {}
        self.count = self._window.count
        self.give_back = self._window.give_back
        self.wait_seconds = self._window.wait_seconds

    def check(self, key: str) -> None:
        """Raise `RateLimitError` while the key has no room."""
        if seconds := self._window.wait_seconds(key):
            raise refusal(self._window.limit, self._reason, seconds, self._details)

    def take(self, key: str) -> None:
        """Count an event of the key. Raises `RateLimitError`, and counts nothing, if it has no room."""
        self.check(key)
        self.count(key)


def refusal(
    limit: int, reason: str | Message, seconds: int, details: Mapping[str, Any] | None = None
) -> RateLimitError:
    """Return the error for an event that has no room for so many seconds.

    The hint of a reason with a code says the seconds too, as its `count`.
    """
    said = reason if isinstance(reason, str) else Message(reason.code, {**reason.params, "count": seconds})
    told = {"limit": limit, **(details or {}), "retry_after_seconds": seconds}
    return RateLimitError(said, hint=f"Try again in {seconds} seconds.", details=told)


def network_of(address: str) -> str:
    """Return the address, of an IPv6 one its /64 network, all of which one person has."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # a Unix socket has no address: all who use it count as one
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(ip_network((parsed, IPV6_NETWORK_BITS), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
