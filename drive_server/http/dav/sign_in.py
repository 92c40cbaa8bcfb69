"""The caller of a WebDAV request: by an API key, as the password of any name or as a bearer token; by no cookie."""

import binascii
from base64 import b64decode
from collections.abc import Awaitable, Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Final, TypeVar

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.drive import Drive
from drive_server.http.access import check_key
from drive_server.kernel.access import Actor, Principal
from drive_server.kernel.errors import ForbiddenError, UnauthenticatedError
from drive_server.kernel.http.challenges import challenge
from drive_server.kernel.http.credentials import bearer_token, prefer_connection
from drive_server.kernel.messages import Message
from drive_server.services.identity.service import require_program

T = TypeVar("T")

METHOD: Final = "webdav"
BASIC: Final = 'Basic realm="Drive", charset="UTF-8"'
MAX_CHARACTERS: Final = 32_768


async def sign_in(drive: Drive, request: Request, work: Callable[[AsyncSession, Actor], Awaitable[T]]) -> T:
    """Return the result of `work` for who makes the request; both read one state, see `IdentityService.look_as`.

    Raises `UnauthenticatedError`, `RateLimitError` after too many wrong keys, `ForbiddenError` for a password that
    came where others can read it.
    """

    async def look(session: AsyncSession, principal: Principal) -> T:
        require_program(principal)
        return await work(session, Actor(replace(principal, method=METHOD), tool=METHOD))

    key = key_of(request)
    result = await check_key(request, key, drive.identity.look_as(key, look))
    prefer_connection(request)
    return result


def key_of(request: Request) -> str:
    """Return the key of the request. Raises as `sign_in` does for one without."""
    key = bearer_token(request)
    if key is None:
        key = password_of(request)
        if not key:
            raise UnauthenticatedError(Message.of("no_dav_key"))
    return key.strip()


def password_of(request: Request) -> str | None:
    """Return the password of basic authentication (RFC 7617), None without; raises `ForbiddenError` in the open."""
    kind, _, credentials = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic" or len(credentials) > MAX_CHARACTERS:
        return None
    if not is_private(request):
        raise ForbiddenError(Message.of("basic_in_the_open"))
    try:
        decoded = b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    return decoded.partition(":")[2]


def is_private(request: Request) -> bool:
    """Return whether nobody on the way can read the request: it came by TLS, or from this machine.

    Behind a proxy that the HTTP server trusts, scheme and address are those that the proxy saw.
    """
    if request.url.scheme == "https" or request.client is None or not request.client.host:
        return True
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def challenges(drive: Drive, request: Request) -> list[str]:
    """Return the values of WWW-Authenticate: basic authentication only where a password may come."""
    return [*([BASIC] if is_private(request) else []), challenge(drive.settings)]
