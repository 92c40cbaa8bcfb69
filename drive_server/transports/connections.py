"""The connections of a server, of which there are only so many: who gives way when another one comes."""

import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final, Protocol, Self

from drive_server.kernel.settings import DriveSettings

MAX_DESCRIPTORS: Final = 65_536
OTHER_DESCRIPTORS: Final = 256
"""Descriptors for files, the database, the index and other services."""
RESERVED: Final = 32
"""Connections that only health checks and requests with a key get, when all others are taken."""
PROXIES: Final = "FORWARDED_ALLOW_IPS"
"""The variable in which uvicorn finds the addresses of trusted proxies, comma-separated; `*` trusts everyone."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How long a head may take, a body or a reader be silent (seconds), and how many connections there may be.

    `per_address` counts the connections of an address that are not signed in; `proxies` are exempt from it.
    """

    header_seconds: float = 10
    silent_seconds: float = 60
    per_address: int = 512
    most: int = MAX_DESCRIPTORS
    proxies: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: DriveSettings) -> Self:
        """Return the limits in the settings, with as many connections as the process may have descriptors for."""
        return cls(
            settings.header_seconds,
            settings.silent_seconds,
            settings.connections_per_address,
            max(raise_descriptor_limit() - OTHER_DESCRIPTORS, 2 * RESERVED),
            tuple(proxy.strip() for proxy in os.environ.get(PROXIES, "").split(",") if proxy.strip()),
        )

    def is_exempt(self, address: str) -> bool:
        """Return whether an address may have any number of connections: a Unix socket, which has none, or a proxy."""
        return not address or any(proxy == "*" or _is_in(address, proxy) for proxy in self.proxies)


class CountedConnection(Protocol):
    """A connection as the table sees it. `network` is its address, empty if that is exempt from limits."""

    network: str
    is_signed_in: bool

    def abort(self) -> None:
        """Close it at once."""
        ...


class ConnectionTable:
    """The open connections of a server, the ones that wait for a request in the order since when they do."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._open: set[CountedConnection] = set()
        self._waiting: dict[CountedConnection, None] = {}
        self._anonymous: Counter[str] = Counter()

    def add(self, connection: CountedConnection) -> bool:
        """Add a new connection; another one that only waits is closed if there are too many.

        False if all of the others are at work: then the new one is for health checks and people with a key only.
        """
        self._open.add(connection)
        self._anonymous[connection.network] += 1
        has_room = True
        if connection.network and self._anonymous[connection.network] > self.limits.per_address:
            has_room = self._evict(lambda one: one.network == connection.network and not one.is_signed_in)
        if has_room and len(self._open) > self.limits.most - RESERVED:
            has_room = self._evict(lambda one: not one.is_signed_in) or self._evict(lambda _: True)
        self._waiting[connection] = None
        if len(self._open) > self.limits.most:
            connection.abort()
        return has_room

    def sign_in(self, connection: CountedConnection) -> None:
        """Stop counting a connection for its address."""
        if connection in self._open:
            self._forget_address(connection.network)

    def begin(self, connection: CountedConnection) -> None:
        """Take note that the connection works on a request."""
        self._waiting.pop(connection, None)

    def wait(self, connection: CountedConnection) -> None:
        """Take note that the connection waits for its next request."""
        if connection in self._open:
            self._waiting[connection] = None

    def remove(self, connection: CountedConnection) -> None:
        """Remove a connection that is closed."""
        if connection not in self._open:
            return
        self._open.remove(connection)
        self._waiting.pop(connection, None)
        if not connection.is_signed_in:
            self._forget_address(connection.network)

    def _forget_address(self, network: str) -> None:
        self._anonymous[network] -= 1
        if not self._anonymous[network]:
            del self._anonymous[network]

    def _evict(self, may_go: Callable[[CountedConnection], bool]) -> bool:
        """Close the connection that waits longest of those that may go; return whether there was one."""
        longest = next((one for one in self._waiting if may_go(one)), None)
        if longest is None:
            return False
        longest.abort()
        self.remove(longest)
        return True


def _is_in(address: str, proxy: str) -> bool:
    try:
        return ip_address(address) in ip_network(proxy, strict=False)
    except ValueError:
        return address == proxy


def raise_descriptor_limit() -> int:
    """Let the process have up to 65,536 descriptors, or as many as it has already where it may have no more."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MAX_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # macOS has a limit below the hard one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
