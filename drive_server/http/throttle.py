"""How often one address may try to log in."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from time import monotonic
from typing import Final

from drive_server.errors import RateLimitError

FAILURES: Final = 10
WINDOW_SECONDS: Final = 60.0
MOST_ADDRESSES: Final = 10_000
IPV6_NETWORK_BITS: Final = 64


@dataclass(slots=True)
class _Failures:
    since: float
    count: int = 0


class LoginThrottle:
    """Ten wrong tokens in a minute, then nothing from that address until the minute is over.

    It remembers ten thousand addresses, those that failed last. An IPv6 address counts as its /64 network, all of
    which one person has.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, _Failures] = OrderedDict()

    def check(self, address: str) -> None:
        """Raise `RateLimitError` while the address has to wait."""
        failures = self._failures.get(_place(address))
        if failures is None or failures.count < FAILURES:
            return
        left = failures.since + WINDOW_SECONDS - self._clock()
        if left > 0:
            raise RateLimitError(
                "Too many wrong tokens came from your address.",
                hint=f"Try again in {ceil(left)} seconds.",
                details={"limit": FAILURES, "retry_after_seconds": ceil(left)},
            )

    def failed(self, address: str) -> None:
        """Count a wrong token."""
        place, now = _place(address), self._clock()
        failures = self._failures.pop(place, None)
        if failures is None or now - failures.since >= WINDOW_SECONDS:
            failures = _Failures(now)
        failures.count += 1
        self._failures[place] = failures
        if len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)


def _place(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address  # a Unix socket has no address: all who use it count as one
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(ip_network((parsed, IPV6_NETWORK_BITS), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
