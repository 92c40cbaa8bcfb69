"""The hosts that clients may have called at the end of their runs: none, unless the operator lists them."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Final

import httpx

from graph.links.allowlist import HostAllowlist

if TYPE_CHECKING:
    from collections.abc import Sequence

PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?(?::[0-9]{1,5})?")
Network = IPv4Network | IPv6Network


class WebhookHosts:
    """Hosts by name (`example.com`, `example.com:8443`, `*.example.com`), and private addresses and networks.

    A name without a port means the usual ports. A name leads to a private address only if that is listed too. Raises
    `ValueError` for an entry that is neither.
    """

    def __init__(self, listed: str = "") -> None:
        entries = [entry.strip().lower() for entry in listed.split(",") if entry.strip()]
        found = [(entry, _network(entry)) for entry in entries]
        self.networks: Sequence[Network] = [network for _, network in found if network]
        names = [entry for entry, network in found if not network]
        if wrong := [name for name in names if not _NAME.fullmatch(name)]:
            raise ValueError(f"AGENT_WEBHOOK_HOSTS: {wrong[0]!r} is neither a host nor a network")
        self._names = HostAllowlist(names)

    def allows(self, url: str) -> bool:
        """Say whether requests may go to an address, by its host as the HTTP client reads it."""
        try:
            parsed = httpx.URL(url)
        except (httpx.InvalidURL, UnicodeError):
            return False
        host = parsed.raw_host.decode().rstrip(".").lower()
        if parsed.scheme not in PORTS or parsed.userinfo or not host:
            return False
        try:
            address = ip_address(host)
        except ValueError:
            named = f"{parsed.scheme}://{host}:{parsed.port or PORTS[parsed.scheme]}"
            return bool(self._names.own_length(named))
        return any(address in network for network in self.networks)


def host_in(url: str) -> str:
    """Return the host of an address as far as it has one, to be named in a sentence."""
    try:
        return httpx.URL(url).host
    except (httpx.InvalidURL, UnicodeError):
        return ""


def _network(entry: str) -> Network | None:
    try:
        return ip_network(entry, strict=False)
    except ValueError:
        return None
