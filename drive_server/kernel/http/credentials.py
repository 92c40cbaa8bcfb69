"""The key or the session in a request, and the site that had a browser send it; nothing is looked up here."""

from typing import Final
from urllib.parse import urlsplit

from fastapi import Request
from starlette.requests import HTTPConnection

from drive_server.kernel.errors import ForbiddenError, UnauthenticatedError
from drive_server.kernel.messages import Message
from drive_server.kernel.rate_limiter import SIGNED_IN

COOKIE: Final = "drive_session"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_FETCH_SITES: Final = frozenset({"same-origin", "none"})


def session_of(request: HTTPConnection) -> str:
    """Return the secret of the browser's session.

    Raises `UnauthenticatedError` without one, and `ForbiddenError` if another site's page had the browser send it.
    """
    cookie = request.cookies.get(COOKIE)
    if not cookie:
        raise UnauthenticatedError(Message.of("no_key"))
    require_same_origin(request)
    return cookie


def secret_of_request(request: HTTPConnection) -> str:
    """Return the key or the session of a request that was let in."""
    return bearer_token(request) or request.cookies.get(COOKIE, "")


def prefer_connection(request: HTTPConnection) -> None:
    """Tell the server that somebody with a key uses the connection: it closes others first when there are too many."""
    if sign_in := request.scope.get("extensions", {}).get(SIGNED_IN):
        sign_in()


def bearer_token(request: HTTPConnection) -> str | None:
    """Return the bearer token of the request, None without an Authorization header of that kind."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def require_same_origin(request: HTTPConnection) -> None:
    """Raise `ForbiddenError` if another site's page had the browser send the request."""
    if request.scope.get("method", "GET") in SAFE_METHODS:
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        is_own = site in OWN_FETCH_SITES
    else:
        is_own = origin is None or _host_of(origin) == request.headers.get("host")
    if not is_own:
        raise ForbiddenError(
            "Another site's page can't act with this session.", hint="Use the service's own page, or an API key."
        )


async def require_own_site(request: Request) -> None:
    """Refuse a request that another site's page had a browser send, also where no session is needed.

    Raises `ForbiddenError`: no other site logs a browser in or out.
    """
    if bearer_token(request) is None:
        require_same_origin(request)


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # no browser sends it
        return ""
