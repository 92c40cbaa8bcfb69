"""Browsers logged in and out: the cookie of a session, the count of failures, and who the caller is."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from fastapi import Request, Response
from pydantic import BaseModel

from drive_server.drive import Drive
from drive_server.http.access import check_key, count_wrong_key, network_of_request
from drive_server.kernel.access import Actor, Principal
from drive_server.kernel.errors import AccountDisabledError, DriveError, StateConflictError, UnauthenticatedError
from drive_server.kernel.http.credentials import COOKIE, secret_of_request
from drive_server.kernel.messages import Message
from drive_server.kernel.telemetry.security import record, record_refusal
from drive_server.services.identity.passwords import Source
from drive_server.services.identity.proofs.freshness import PERSONAL, SESSION, proof_of
from drive_server.services.throttles.windows import Window, window_of

MAILS: Final = 10
"""Mails for forgotten passwords that one network asks for in a minute."""
OIDC_START: Final = "/login/oidc"
KNOWN_COOKIE: Final = "drive_browser"
"""The cookie of a browser in which its person logged in before; logging out leaves it."""


class IssuerResult(BaseModel):
    """The issuer at which people log in: its host, and the address that begins it."""

    name: str
    url: str


class MeResult(BaseModel):
    """The caller: their profile (empty: nothing), and the scopes of the key in use."""

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
    principal = await prove_by_token(drive, request, token)
    await set_session(drive, request, response, principal)
    return principal


async def open_by_password(drive: Drive, request: Request, response: Response, email: str, password: str) -> Principal:
    """Log a browser in as `open_session` does, by email and password."""
    source = Source(network_of_request(request), request.cookies.get(KNOWN_COOKIE, ""))
    with recorded_refusals("password"):
        principal = await drive.passwords.verify(email, password, source)
    await set_session(drive, request, response, principal)
    return principal


@contextmanager
def recorded_refusals(method: str) -> Generator[None]:
    """Write a line in the security log for a sign-in that is refused."""
    try:
        yield
    except DriveError as error:
        record_refusal("sign_in", error.code, method=method)
        raise


async def prove_by_token(drive: Drive, request: Request, token: str) -> Principal:
    """Return the owner of a token that was typed in. Raises as `open_session` does."""
    key = token.strip()
    return await check_key(request, key, drive.identity.authenticate(key), "sign_in", "token")


async def prove_again(drive: Drive, request: Request, session: Principal, proof: Principal) -> None:
    """Take note of a fresh proof for the request's session. Raises `ForbiddenError` for a weaker or somebody else's."""
    await drive.sessions.prove(secret_of_request(request), session, proof)


def require_session(principal: Principal) -> None:
    """Raise `StateConflictError` for a key, which proves its owner with each request."""
    if principal.method != SESSION:
        raise StateConflictError(Message.of("no_session_here"))


async def prove_by_passkey(drive: Drive, request: Request, credential: dict[str, Any]) -> Principal:
    """Return whose passkey signed. Raises `UnauthenticatedError`, `RateLimitError` after too many wrong ones."""
    try:
        with recorded_refusals("passkey"):
            return await drive.passkeys.log_in(credential)
    except AccountDisabledError:
        raise
    except UnauthenticatedError:
        await count_wrong_key(request, str(credential.get("id")))
        raise


async def set_session(drive: Drive, request: Request, response: Response, principal: Principal) -> None:
    """Put the cookie of a new session of this person on the response; the browser is known from now on."""
    secret, ends = await drive.sessions.create(principal, request.headers.get("user-agent", ""))
    record("sign_in", "done", actor=principal.user_id, method=proof_of(principal))
    _set_cookie(request, response, COOKIE, secret, ends)
    if proof_of(principal) in PERSONAL:
        known = await drive.passwords.know_browser(principal.user_id, request.cookies.get(KNOWN_COOKIE, ""))
        _set_cookie(request, response, KNOWN_COOKIE, *known)


def _set_cookie(request: Request, response: Response, name: str, value: str, ends: datetime) -> None:
    # Behind a proxy that the HTTP server trusts, the scheme is the proxy's.
    is_secure = request.url.scheme == "https"
    response.set_cookie(name, value, expires=ends, path="/", httponly=True, samesite="strict", secure=is_secure)


async def count_forgotten_password(drive: Drive, request: Request) -> None:
    """Count a mail that was asked for. Raises `RateLimitError` after too many of a network."""
    state = request.app.state
    if not hasattr(state, "forgotten_passwords"):
        reason = Message.of("too_many_forgotten")
        state.forgotten_passwords = window_of(drive.database, "forgotten passwords", MAILS, reason)
    window: Window = state.forgotten_passwords
    network = network_of_request(request)
    await window.settle(network, await window.take(network), counts=True)


async def end_session(drive: Drive, request: Request, response: Response) -> None:
    """Log a browser out, also one whose session is over."""
    await drive.sessions.end(request.cookies.get(COOKIE, ""))
    record("sign_out", "done")
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


async def describe_me(drive: Drive, principal: Principal) -> MeResult:
    """Return the principal's account."""
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
