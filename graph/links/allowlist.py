"""The addresses that links in an answer may lead to. It reads only plain forms: an address in any other is refused."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

TRAILING: Final = re.compile(r"(?:[.,;:!?'\"`*_~)\]}>|，。、；：！？）」』》】”’]|&(?:quot|gt|lt|apos);)+\Z")
"""Punctuation after an address, which is not part of it."""
_HOST: Final = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]"
_WEB: Final = re.compile(rf"((?ai:https?))://({_HOST})(?::([0-9]{{1,5}}))?(?=[/?#]|(?:[^\w%/\\?#@:]|_)*\Z)")
"""Nothing after the host can become part of it, wherever a reader ends the address."""
_OWN: Final = "drive://"
_RELATIVE: Final = re.compile(r"(?:[#?]|/(?=[\w.~%#?-]|\Z)|[\w~%-][\w.~%-]*(?=[/?#]|\Z)|\Z)[^\s<>\x00-\x1f\x7f]*\Z")
"""No scheme, and no host: neither `//host` nor a spelling that a browser or a Markdown reader makes one of."""
_ASKED: Final = re.compile(r"https?://[^\s<>\"`\[\]|（）「」《》【】“”，。；！？]+", re.IGNORECASE)
_PORTS: Final = {"http": "80", "https": "443"}


class HostAllowlist:
    """The hosts (`example.com`, `example.com:8000`, `*.example.com`) and single addresses that links may lead to.

    A host without a port means the usual ports. `addresses` are those that the person wrote; they match in full only.
    """

    def __init__(self, hosts: Iterable[str] = (), addresses: Iterable[str] = ()) -> None:
        listed = {host.strip().lower().rstrip(".") for host in hosts} - {""}
        self._hosts = frozenset(host for host in listed if not host.startswith("*."))
        self._domains = tuple(host[1:] for host in listed if host.startswith("*."))
        self._addresses = frozenset(addresses)

    def with_addresses_in(self, *messages: str) -> "HostAllowlist":
        """Return the same hosts with the addresses in a person's messages."""
        hosts = HostAllowlist(addresses=self._addresses | addresses_in(messages))
        hosts._hosts, hosts._domains = self._hosts, self._domains
        return hosts

    def allows(self, address: str) -> bool:
        """Return whether a link may lead there. An address without scheme and host stays in the reader's own place."""
        if self.is_from_person(address) or self.own_length(address):
            return True
        return _RELATIVE.match(address) is not None

    def own_length(self, address: str) -> int:
        """Return the characters of an allowed scheme and host at the beginning of an address; 0 if there are none."""
        if address.startswith(_OWN):
            return len(_OWN)
        found = _WEB.match(address)
        return found.end() if found and self._has_host(found[1].lower(), found[2].lower(), found[3]) else 0

    def is_from_person(self, address: str) -> bool:
        """Return whether the person wrote this very address."""
        return address in self._addresses

    def _has_host(self, scheme: str, host: str, port: str | None) -> bool:
        usual = _PORTS[scheme]
        if f"{host}:{port or usual}" in self._hosts:
            return True
        return port in {None, usual} and (host in self._hosts or host.endswith(self._domains))


def addresses_in(messages: Iterable[str]) -> frozenset[str]:
    """Return the addresses in a person's messages."""
    return frozenset(TRAILING.sub("", found) for message in messages for found in _ASKED.findall(message))


def host_allowlist(listed: str, public_url: str) -> HostAllowlist:
    """Return the drive's own host and those of a comma-separated list."""
    return HostAllowlist([host_of(public_url), *listed.split(",")])


def host_of(address: str) -> str:
    """Return the host and port of an address, as an allowlist names them."""
    return urlsplit(address).netloc.rpartition("@")[2]
