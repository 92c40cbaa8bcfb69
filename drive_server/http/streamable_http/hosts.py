"""The allowlist of Host and Origin: a page that binds its own name to this machine's address gets nowhere.

DNS rebinding makes a browser send such requests, and they name the page's site in Host and Origin. The check holds on
every address, not on loopback alone: a browser in the same network reaches the others as well.
"""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from drive_server.settings import DriveSettings

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")
SCHEMES: Final = frozenset({"http", "https"})


class HostAllowlist:
    """The names of this machine's loopback, those of `public_url` and `public_hosts`, and the address that was called.

    An address can't be bound by a page, so the one at which the request came in is always its own name. Ports don't
    matter: a page that is allowed at one is at the same host at another.
    """

    def __init__(self, settings: DriveSettings) -> None:
        public = [urlsplit(settings.public_url).hostname or "", *settings.public_hosts.split(",")]
        named = (_hostname(f"//{name.strip()}") for name in public if name.strip())
        self._names = frozenset(LOOPBACK_NAMES).union(name for name in named if name)

    def refusal(self, scope: Scope) -> int | None:
        """Return the HTTP status to refuse the request with: 421 for its Host, 403 for its Origin. None: it may pass.

        Requests over a Unix socket come from no browser, and pass.
        """
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
