"""The allowlist of Host and Origin: protection from DNS rebinding, on loopback and at every other address."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from drive_server.settings import DriveSettings

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")
SCHEMES: Final = frozenset({"http", "https"})


class HostAllowlist:
    """The names of this machine's loopback, of `public_url` and `public_hosts`, and the address that was called."""

    def __init__(self, settings: DriveSettings) -> None:
        public = [urlsplit(settings.public_url).hostname or "", *settings.public_hosts.split(",")]
        named = (_hostname(f"//{name.strip()}") for name in public if name.strip())
        self._names = frozenset(LOOPBACK_NAMES).union(name for name in named if name)

    def refusal(self, scope: Scope) -> int | None:
        """Return the HTTP status of a refusal: 421 for the Host, 403 for the Origin; None if the request may pass."""
        server = scope.get("server")
        if server is None or server[1] is None:
            return None
        names = self._names | {_plain(server[0])}
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or _hostname(f"//{hosts[0]}") not in names:
            return 421
        if any(_scheme(origin) not in SCHEMES or _hostname(origin) not in names for origin in origins):
            return 403
        return None


def _scheme(origin: str) -> str:
    return origin.partition("://")[0].lower() if "://" in origin else ""


def _hostname(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        found = parts.hostname
    except ValueError:
        return None
    if found is None or parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return _plain(found)


def _plain(name: str) -> str:
    return name.strip().strip("[]").lower().rstrip(".")
