"""The drive's MCP server over Streamable HTTP at `/mcp`, for hosts outside."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

import anyio
from fastapi import FastAPI
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from drive_server.drive import Drive
from drive_server.http.access import check_key
from drive_server.http.hosts import HostAllowlist
from drive_server.http.streamable_http.open_requests import OpenRequests
from drive_server.http.streamable_http.requests import McpRequests
from drive_server.http.streamable_http.sessions import SessionTable
from drive_server.http.streamable_http.stateless import StatelessRequests
from drive_server.kernel.errors import UnauthenticatedError
from drive_server.kernel.http.challenges import MCP_PATH
from drive_server.kernel.http.credentials import bearer_token, prefer_connection
from drive_server.kernel.http.event_streams import OpenStreams
from drive_server.kernel.http.problem import CODES, problem
from drive_server.mcp.calls.authentication import DriveToken
from drive_server.mcp.protocol.guard import Guard
from drive_server.mcp.stateless.requests import StatelessServer

CALLS_END_WITHIN_SECONDS: Final = 3.0


class McpEndpoint:
    """The ASGI application at `/mcp`: authenticates each request, then hands it to its session."""

    def __init__(self, drive: Drive, streams: OpenStreams, clock: Callable[[], float] = monotonic) -> None:
        self._drive = drive
        self._guard = Guard(drive.settings, clock)
        self._hosts = HostAllowlist(drive.settings)
        self.sessions = SessionTable(drive.server.protocol, self._guard, drive.settings, clock)
        self._open = OpenRequests(self._guard, drive.settings.sessions_per_user)
        server = StatelessServer(drive.server, drive.database, drive.settings.answer_seconds)
        stateless = StatelessRequests(server, self._guard, drive, streams, self._open)
        self._requests = McpRequests(self.sessions, self._guard, drive, streams, stateless)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve sessions for as long as this is open; once only."""
        async with self.sessions.running():
            yield

    async def wind_down(self, seconds: float = CALLS_END_WITHIN_SECONDS) -> None:
        """Take no new calls, wait `seconds` for running ones, then end all sessions."""
        self._guard.is_ending = True
        async with anyio.create_task_group() as group:
            group.start_soon(self._open.wind_down, seconds)
            group.start_soon(self.sessions.wind_down, seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises `UnauthenticatedError` without a valid bearer token, `RateLimitError` after many."""
        if status := self._hosts.refusal(scope):
            await _misdirected(status)(scope, receive, send)
            return
        token = await self._token(HTTPConnection(scope))
        scope["user"] = AuthenticatedUser(token)
        await self._requests.answer(Request(scope, receive), token, send)

    async def _token(self, connection: HTTPConnection) -> DriveToken:
        token = bearer_token(connection)
        if token is None:
            raise UnauthenticatedError(
                "This request has no API key.", hint="Send one as `Authorization: Bearer dak_...`."
            )
        principal = await check_key(connection, token, self._drive.identity.authenticate_program(token))
        prefer_connection(connection)
        # The client is the person: a session goes on when they change their key, with the scopes of the new one.
        return DriveToken(
            token=token, client_id=principal.user_id, scopes=sorted(principal.scopes), principal=principal
        )


def mount_mcp(app: FastAPI) -> None:
    """Put the MCP endpoint at `/mcp`. It answers while `serving` is open."""

    endpoint = _McpApp(app)
    for path in (MCP_PATH, f"{MCP_PATH}/"):
        app.router.routes.insert(0, Route(path, endpoint, include_in_schema=False))


@asynccontextmanager
async def serving(app: FastAPI, drive: Drive) -> AsyncGenerator[None]:
    """Let the application serve the drive, over HTTP and MCP, for as long as this is open: its lifespan."""
    streams = OpenStreams(drive.identity.holders)
    endpoint = McpEndpoint(drive, streams)
    drive.people.when_ended(streams.wake)

    async def wake(user_id: str, key_id: str) -> None:
        del key_id  # each stream looks whether its own key still holds
        await streams.wake(user_id)

    drive.identity.revocations.when_revoked(wake)
    async with endpoint.running(), anyio.create_task_group() as group:
        group.start_soon(streams.run)
        app.state.drive, app.state.mcp, app.state.open_streams = drive, endpoint, streams
        yield
        group.cancel_scope.cancel()


class _McpApp:
    """Calls the endpoint that `serving` has opened. An object: Starlette's `Route` takes functions for views."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app.state.mcp(scope, receive, send)


def _misdirected(status: int) -> Response:
    return problem(
        status,
        CODES[status],
        "The Host or Origin of this request names another site than this service.",
        "Use the address that the service printed; behind a proxy, set DRIVE_PUBLIC_HOSTS to its name.",
    )
