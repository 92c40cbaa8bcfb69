"""The allowlist of Host and Origin: protection from DNS rebinding, on loopback and at every other address."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from drive_server.kernel.settings import DriveSettings

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")
SCHEMES: Final = frozenset({"http", "https"})
ANY_SITE: Final = "*"


class HostAllowlist:
    """The names of this machine's loopback, of `public_url` and `public_hosts`, and the address that was called.

    Pages of the origins in `cors_origins` may call as well, but by these names alone: a name of their own that leads to
    this machine stays refused.
    """

    def __init__(self, settings: DriveSettings) -> None:
        public = [urlsplit(settings.resolved_public_url).hostname or "", *settings.public_hosts.split(",")]
        named = (_hostname(f"//{name.strip()}") for name in public if name.strip())
        self._names = frozenset(LOOPBACK_NAMES).union(name for name in named if name)
        self._sites = frozenset(settings.resolved_cors_origins)

    def refusal(self, scope: Scope) -> int | None:
        """Return the HTTP status of a refusal: 421 for the Host, 403 for the Origin; None if the request may pass."""
        if not _is_on_network(scope):
            return None
        if self._host(scope) is None:
            return 421
        names, origins = self._names_for(scope), Headers(scope=scope).getlist("origin")
        return None if all(self._may_call(origin, names) for origin in origins) else 403

    def address(self, scope: Scope) -> str:
        """Return the address by which a request names this service; empty if its Host is none of the names."""
        host = self._host(scope) if _is_on_network(scope) else None
        return f"{scope['scheme']}://{host}" if host else ""

    def _may_call(self, origin: str, names: frozenset[str]) -> bool:
        """Say whether a page of the origin may call: one of this service, or of a site in the settings."""
        if not self._sites.isdisjoint({origin, ANY_SITE}):
            return True
        return _scheme(origin) in SCHEMES and _hostname(origin) in names

    def _host(self, scope: Scope) -> str | None:
        hosts = Headers(scope=scope).getlist("host")
        is_ours = len(hosts) == 1 and _hostname(f"//{hosts[0]}") in self._names_for(scope)
        return hosts[0].lower() if is_ours else None

    def _names_for(self, scope: Scope) -> frozenset[str]:
        return self._names | {_plain(scope["server"][0])}


def _is_on_network(scope: Scope) -> bool:
    server = scope.get("server")
    return server is not None and server[1] is not None


def _scheme(origin: str) -> str:
    return origin.partition("://")[0].lower() if "://" in origin else ""


def _hostname(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        found, _ = parts.hostname, parts.port
    except ValueError:
        return None
    if found is None or parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return _plain(found)


def _plain(name: str) -> str:
    return name.strip().strip("[]").lower().rstrip(".")
