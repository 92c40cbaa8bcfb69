"""A rate limit as a sliding window, counted in this process."""

from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from time import monotonic
from typing import Any, Final

import anyio

from drive_server.errors import DriveError, RateLimitError, UnauthenticatedError
from drive_server.messages import Message

MINUTE_SECONDS: Final = 60.0
MOST_KEYS: Final = 10_000
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
        most_keys: int = MOST_KEYS,
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
        clock: Callable[[], float] = monotonic,
        most_keys: int = MOST_KEYS,
    ) -> None:
        self._window = SlidingWindow(limit, clock=clock, most_keys=most_keys)
        self._reason = reason
        self._details = details or {}
        self.count = self._window.count
        self.give_back = self._window.give_back
        self.wait_seconds = self._window.wait_seconds

    def check(self, key: str) -> None:
        """Raise `RateLimitError` while the key has no room."""
        if seconds := self._window.wait_seconds(key):
            details = {"limit": self._window.limit, **self._details, "retry_after_seconds": seconds}
            raise RateLimitError(self._said(seconds), hint=f"Try again in {seconds} seconds.", details=details)

    def take(self, key: str) -> None:
        """Count an event of the key. Raises `RateLimitError`, and counts nothing, if it has no room."""
        self.check(key)
        self.count(key)

    def _said(self, seconds: int) -> str | Message:
        """Return the reason; the hint of one with a code says the seconds too, as its `count`."""
        if isinstance(self._reason, str):
            return self._reason
        return Message(self._reason.code, {**self._reason.params, "count": seconds})


class Attempts:
    """Limits wrong attempts by their sources. An attempt takes its place before it is checked.

    A right one gives its place back. Where only attempts that are not checked yet fill a window, the next one waits for
    them: many people who come at once with right passwords all get in, and many wrong ones are as many as the limit.
    """

    def __init__(
        self,
        limit: int,
        reason: str | Message,
        wrong: type[DriveError] = UnauthenticatedError,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._limiter = RateLimiter(limit, reason, clock=clock)
        self._wrong = wrong
        self._unchecked: Counter[str] = Counter()
        self._checked = anyio.Event()

    @asynccontextmanager
    async def attempt(self, source: str) -> AsyncGenerator[None]:
        """Count the block as a wrong attempt of the source if it raises the error for one, or is cancelled.

        Raises `RateLimitError`, and does not run the block, if the source has no wrong attempt left.
        """
        await self._take(source)
        try:
            yield
        except DriveError as error:
            if not isinstance(error, self._wrong):
                self._limiter.give_back(source)  # nothing was learned about the password
            raise
        else:
            self._limiter.give_back(source)
        finally:
            self._settle(source)

    async def _take(self, source: str) -> None:
        while self._limiter.wait_seconds(source) and self._unchecked[source]:
            await self._checked.wait()
        self._limiter.take(source)
        self._unchecked[source] += 1

    def _settle(self, source: str) -> None:
        self._unchecked[source] -= 1
        if not self._unchecked[source]:
            del self._unchecked[source]
        self._checked.set()
        self._checked = anyio.Event()


class WrongKeys:
    """Limits unknown keys: how often one of them comes from a network, and how many different ones.

    A key that is known is never refused for the wrong ones of others, so it is looked up before this is asked.
    """

    def __init__(self, limit: int, reason: str | Message, *, clock: Callable[[], float] = monotonic) -> None:
        self._networks = RateLimiter(limit, reason, clock=clock)
        self._seen = SlidingWindow(1, clock=clock)
        self._keys = RateLimiter(limit, reason, clock=clock)

    def take(self, network: str, key: str) -> None:
        """Count a key that was wrong. Raises `RateLimitError` after too many."""
        source = f"{network} {sha256(key.encode(errors='surrogatepass')).hexdigest()}"
        if not self._seen.wait_seconds(source):
            self._networks.take(network)
            self._seen.count(source)
        self._keys.take(source)


def network_of(address: str) -> str:
    """Return the address, of an IPv6 one its /64 network, all of which one person has."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # a Unix socket has no address: all who use it count as one
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(ip_network((parsed, IPV6_NETWORK_BITS), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
