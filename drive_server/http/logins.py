"""Browsers logged in and out: the cookie of a session, the count of failures, and who the caller is."""

from collections.abc import Coroutine
from contextlib import closing
from datetime import datetime
from typing import Any, Final

from fastapi import Request, Response
from pydantic import BaseModel

from drive_server.access import Actor, Principal
from drive_server.drive import Drive
from drive_server.errors import UnauthenticatedError
from drive_server.http.access import COOKIE
from drive_server.rate_limiter import RateLimiter, network_of

FAILURES: Final = 10
"""Wrong tokens of one address in a minute."""


class MeResult(BaseModel):
    """The caller: what they say of themselves (empty: nothing), and the scopes of the key in use."""

    id: str
    email: str
    name: str
    time_zone: str
    language: str
    root_id: str
    is_admin: bool
    scopes: list[str]
    method: str
    key_name: str | None
    expires_at: datetime | None
    used_bytes: int
    quota_bytes: int


async def open_session(drive: Drive, request: Request, response: Response, token: str) -> Principal:
    """Log a browser in: put the cookie of a new session on the response, and return who it is for.

    Raises `UnauthenticatedError` for a token that is not valid, `RateLimitError` after too many of them.
    """
    return await open_by_proof(drive, request, response, drive.identity.authenticate(token.strip()))


async def open_by_password(drive: Drive, request: Request, response: Response, email: str, password: str) -> Principal:
    """Log a browser in as `open_session` does, by email and password."""
    return await open_by_proof(drive, request, response, drive.passwords.verify(email, password))


async def open_by_proof(
    drive: Drive, request: Request, response: Response, proof: Coroutine[Any, Any, Principal]
) -> Principal:
    """Log a browser in as `open_session` does, by what finds out who it is for."""
    failures, network = login_failures(request), network_of_request(request)
    with closing(proof):
        failures.check(network)
        try:
            principal = await proof
        except UnauthenticatedError:
            failures.count(network)
            raise
    await set_session(drive, request, response, principal)
    return principal


def network_of_request(request: Request) -> str:
    """Return the network that the request comes from, whose failures are counted together."""
    return network_of(request.client.host if request.client else "")


async def set_session(drive: Drive, request: Request, response: Response, principal: Principal) -> None:
    """Put the cookie of a new session of this person on the response."""
    secret, ends = await drive.sessions.create(principal, request.headers.get("user-agent", ""))
    # Behind a proxy that the HTTP server trusts, the scheme is the proxy's.
    is_secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, secret, expires=ends, path="/", httponly=True, samesite="strict", secure=is_secure)


def login_failures(request: Request) -> RateLimiter:
    """Return the application's own count of wrong tokens."""
    state = request.app.state
    if not hasattr(state, "login_failures"):
        state.login_failures = RateLimiter(FAILURES, "Too many wrong tokens came from your address.")
    return state.login_failures


async def end_session(drive: Drive, request: Request, response: Response) -> None:
    """Log a browser out, also one whose session is over."""
    await drive.sessions.end(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


async def describe_me(drive: Drive, principal: Principal) -> MeResult:
    """Return who the principal is."""
    user = await drive.identity.me(Actor(principal))
    usage = await drive.quota.usage(user.id)
    return MeResult(
        id=user.id,
        email=user.email,
        name=user.name,
        time_zone=user.time_zone,
        language=user.language,
        root_id=user.root_id,
        is_admin=user.is_admin,
        scopes=sorted(principal.scopes),
        method=principal.method,
        key_name=principal.key_name,
        expires_at=principal.expires_at,
        used_bytes=usage.used_bytes,
        quota_bytes=usage.quota_bytes,
    )
