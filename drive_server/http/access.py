"""Authenticate requests by bearer token, or by the session cookie of a browser."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Header, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import HTTPConnection

from drive_server.drive import Drive
from drive_server.kernel.access import Actor, Principal, Scope, require_scope
from drive_server.kernel.errors import RateLimitError, UnauthenticatedError, UnknownKeyError
from drive_server.kernel.http.credentials import bearer_token, prefer_connection, secret_of_request, session_of
from drive_server.kernel.messages import Message
from drive_server.kernel.rate_limiter import network_of
from drive_server.kernel.telemetry.fields import add_log_fields
from drive_server.kernel.telemetry.security import SecurityEvent, record_refusal
from drive_server.services.throttles.attempts import WrongKeys

T = TypeVar("T")

WRONG_KEYS: Final = 10
"""Wrong keys of one network in a minute, and repetitions of each of them."""

bearer = HTTPBearer(
    auto_error=False, description="The local access token or an API key; a browser's session cookie works too."
)


async def get_drive(request: Request) -> Drive:
    """Return the drive that `serving` opened for the application."""
    return request.app.state.drive


DriveDep = Annotated[Drive, Depends(get_drive)]


async def principal_of_request(drive: Drive, request: HTTPConnection) -> Principal:
    """Return the principal of the request. A bearer token goes before a cookie.

    Raises `UnauthenticatedError`, `RateLimitError` after too many wrong keys, and `ForbiddenError` if another site's
    page had the browser send the cookie.
    """
    return await read_for_request(drive, request, lambda _, principal: principal)


async def read_for_request(drive: Drive, request: HTTPConnection, work: Callable[[Connection, Principal], T]) -> T:
    """Return the result of `work` for who makes the request; both read one state, in one transaction.

    Raises the errors of `principal_of_request` before it calls `work`, which keeps to `Database.read_sync`'s rules.
    """

    def read(connection: Connection, principal: Principal) -> T:
        request.state.principal = principal
        return work(connection, principal)

    return await _known(request, lambda secret: drive.identity.read_as(secret, read))


async def look_for_request(
    drive: Drive, request: HTTPConnection, work: Callable[[AsyncSession, Principal], Awaitable[T]]
) -> T:
    """Return the result of asynchronous `work` as `read_for_request` does; `Database.look` has its rules."""

    async def look(session: AsyncSession, principal: Principal) -> T:
        request.state.principal = principal
        return await work(session, principal)

    return await _known(request, lambda secret: drive.identity.look_as(secret, look))


async def _known(request: HTTPConnection, read: Callable[[str], Awaitable[T]]) -> T:
    """Return the result of `read` by the request's secret, and note who makes the request, also if it fails."""
    token = bearer_token(request)
    try:
        if token is None:
            return await read(session_of(request))
        return await check_key(request, token, read(token))
    finally:
        if (principal := getattr(request.state, "principal", None)) is not None:
            request.state.own_language = principal.language
            add_log_fields(user=principal.user_id)
            prefer_connection(request)


async def guarded(drive: Drive, request: HTTPConnection, actor: Actor) -> Actor:
    """Return the caller, whose change is made only if they still may write when it is made: see `require_still_proved`.

    For a body that has come whole.
    """
    return replace(actor, guard=await drive.identity.guard(secret_of_request(request), Scope.WRITE))


async def require_still_proved(drive: Drive, request: HTTPConnection) -> None:
    """Raise as `principal_of_request` does, or `MissingScopeError`, if the caller may not write any more.

    A body may have come for hours: a write that a key began ends with it.
    """
    require_scope(await principal_of_request(drive, request), Scope.WRITE)


async def check_key(
    request: HTTPConnection, key: str, proof: Awaitable[T], event: SecurityEvent = "access", method: str = ""
) -> T:
    """Return the result of `proof`, which looks up the key. Every door to the drive asks this about its keys.

    Known keys get in, even from a network that sent too many unknown ones; one that was revoked or has expired was
    known. Raises the errors of `proof`, and `RateLimitError` after too many unknown keys. A refusal is recorded as this
    event.
    """
    try:
        return await proof
    except UnauthenticatedError as error:
        record_refusal(event, error.code, method=method)
        if isinstance(error, UnknownKeyError):
            await count_wrong_key(request, key)
        raise


async def count_wrong_key(request: HTTPConnection, key: str) -> None:
    """Count a wrong key, or another wrong proof, for its network; raise `RateLimitError` after too many."""
    try:
        await wrong_keys(request).take(network_of_request(request), key)
    except RateLimitError as error:
        record_refusal("limit", error.code)
        raise


def wrong_keys(request: HTTPConnection) -> WrongKeys:
    """Return the count of wrong keys, which all applications on a shared database have in common."""
    state = request.app.state
    if not hasattr(state, "wrong_keys"):
        state.wrong_keys = WrongKeys(WRONG_KEYS, Message.of("too_many_wrong_keys"), state.drive.database)
    return state.wrong_keys


def network_of_request(request: HTTPConnection) -> str:
    """Return the network that the request comes from, whose failures are counted together."""
    return network_of(request.client.host if request.client else "")


async def get_principal(
    request: Request, drive: DriveDep, described: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> Principal:
    """Return the principal of the request; see `principal_of_request`."""
    del described  # a parameter, so that OpenAPI describes the key
    return await principal_of_request(drive, request)


PrincipalDep = Annotated[Principal, Depends(get_principal)]


async def get_actor(request: Request, principal: PrincipalDep) -> Actor:
    """Return the caller with the route's name, for the journal."""
    route = request.scope.get("route")
    return Actor(principal, tool=getattr(route, "name", ""))


ActorDep = Annotated[Actor, Depends(get_actor)]


class Caller:
    """The caller of a request, not known yet: a route's one read finds that out too, in the same transaction."""

    def __init__(self, drive: Drive, request: Request) -> None:
        self._drive = drive
        self._request = request
        self.idempotency_key: str | None = None

    async def read(self, work: Callable[[Connection, Actor], T]) -> T:
        """Return the result of `work` for the caller, see `read_for_request`."""
        return await read_for_request(
            self._drive, self._request, lambda connection, principal: work(connection, self._actor(principal))
        )

    async def look(self, work: Callable[[AsyncSession, Actor], Awaitable[T]]) -> T:
        """Return the result of asynchronous `work` for the caller, see `look_for_request`."""
        return await look_for_request(
            self._drive, self._request, lambda session, principal: work(session, self._actor(principal))
        )

    async def actor(self) -> Actor:
        """Return the caller with the route's name, for a route that reads otherwise."""
        return await self.read(lambda _, actor: actor)

    def _actor(self, principal: Principal) -> Actor:
        name = getattr(self._request.scope.get("route"), "name", "")
        return Actor(principal, tool=name, idempotency_key=self.idempotency_key)


async def get_caller(
    request: Request, drive: DriveDep, described: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> Caller:
    """Return the caller.

    Raises the errors that need no look-up: `UnauthenticatedError` without any key, `ForbiddenError`.
    """
    del described  # a parameter, so that OpenAPI describes the key
    if bearer_token(request) is None:
        session_of(request)
    request.state.caller = Caller(drive, request)
    return request.state.caller


CallerDep = Annotated[Caller, Depends(get_caller)]


async def get_writing_caller(caller: CallerDep, idempotency_key: Annotated[str | None, Header()] = None) -> Caller:
    """Return the caller with the idempotency key: a repeated call is not done again."""
    caller.idempotency_key = idempotency_key or None
    return caller


WritingCallerDep = Annotated[Caller, Depends(get_writing_caller)]


async def get_writer(actor: ActorDep, idempotency_key: Annotated[str | None, Header()] = None) -> Actor:
    """Return the caller with the idempotency key: a repeated call is not done again."""
    return replace(actor, idempotency_key=idempotency_key or None)


WriterDep = Annotated[Actor, Depends(get_writer)]
