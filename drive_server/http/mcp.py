"""The drive's MCP server over Streamable HTTP at `/mcp`, for hosts outside."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Final

import orjson
from anyio import ClosedResourceError
from fastapi import FastAPI
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from drive_server.drive import Drive
from drive_server.errors import UnauthenticatedError
from drive_server.http.access import bearer_token
from drive_server.http.limits import BodyLimit
from drive_server.http.problem import CODES, problem
from drive_server.server import build_server
from drive_server.tools.callers import DriveToken

MCP_PATH: Final = "/mcp"
JSON_TYPE: Final = "application/json"
LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


class McpEndpoint:
    """The ASGI application at `/mcp`: asks each request for its key, then hands it to the session that it belongs to.

    Sessions keep state and answer in event streams, so that progress and questions to the person get through.
    """

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        limit = drive.settings.max_request_bytes
        self._manager = StreamableHTTPSessionManager(build_server(drive).protocol, max_request_body_size=limit)
        self._limited = BodyLimit(self._parsed, limit)
        self._security = TransportSecurityMiddleware(_security(drive.settings.public_hosts))

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve sessions for as long as this is open; once only."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises `UnauthenticatedError` without a valid bearer token."""
        connection = HTTPConnection(scope)
        if _is_on_loopback(scope) and (refusal := await self._security.validate_request(connection)):
            await _misdirected(refusal.status_code)(scope, receive, send)
            return
        scope["user"] = AuthenticatedUser(await self._token(connection))
        await self._limited(scope, receive, send)

    async def _parsed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on what is JSON of reasonable depth: the SDK fails on the rest with an internal error."""
        if scope["method"] != "POST":
            await self._manager.handle_request(scope, receive, send)
            return
        if not _is_json(scope):
            refusal = problem(415, CODES[415], "The body is not declared as JSON.", f"Send it as {JSON_TYPE}.")
            await refusal(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body()
            orjson.loads(body)
        except (ClientDisconnect, orjson.JSONDecodeError):
            refusal = problem(400, CODES[400], "The body is not JSON.", "Send one JSON-RPC message.")
            await refusal(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._manager.handle_request(scope, replay, send)

    async def _token(self, connection: HTTPConnection) -> DriveToken:
        token = bearer_token(connection)
        if token is None:
            raise UnauthenticatedError(
                "This request has no API key.", hint="Send one as `Authorization: Bearer dak_...`."
            )
        principal = await self._drive.identity.authenticate(token)
        # The client is the person: a session goes on when they change their key, with the scopes of the new one.
        return DriveToken(
            token=token, client_id=principal.user_id, scopes=sorted(principal.scopes), principal=principal
        )


def mount_mcp(app: FastAPI) -> None:
    """Put the MCP endpoint at `/mcp`. It answers while `serving` is open."""

    endpoint = _Door(app)
    for path in (MCP_PATH, f"{MCP_PATH}/"):
        app.router.routes.append(Route(path, endpoint, include_in_schema=False))


@asynccontextmanager
async def serving(app: FastAPI, drive: Drive) -> AsyncGenerator[None]:
    """Let the application serve the drive, over HTTP and MCP, for as long as this is open: its lifespan."""
    endpoint = McpEndpoint(drive)
    async with endpoint.running():
        app.state.drive, app.state.mcp = drive, endpoint
        yield


class _Door:
    """Leads to the endpoint that `serving` has opened. An object: Starlette's `Route` takes functions for views."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app.state.mcp(scope, receive, send)


def _security(public_hosts: str) -> TransportSecuritySettings:
    """DNS rebinding: a page of another site that resolves to this machine names itself in Host and Origin."""
    public = [name.strip() for name in public_hosts.split(",") if name.strip()]
    names = [*LOOPBACK_NAMES, *public]
    hosts = [pattern for name in names for pattern in (name, f"{name}:*")]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    )


def _is_on_loopback(scope: Scope) -> bool:
    """Whether the request came in at a loopback address, where just programs of this machine should be."""
    server = scope.get("server")
    try:
        return server is not None and ip_address(server[0]).is_loopback
    except ValueError:
        return False


def _is_json(scope: Scope) -> bool:
    declared = Headers(scope=scope).get("content-type", "")
    return declared.partition(";")[0].strip().lower() == JSON_TYPE


def _misdirected(status: int) -> Response:
    return problem(
        status,
        CODES[status],
        "The Host or Origin of this request names another site than this service.",
        "Use the address that the service printed; behind a proxy, set DRIVE_PUBLIC_HOSTS to its name.",
    )


def _is_no_end_of_session(record: logging.LogRecord) -> bool:
    """The SDK logs the end of every session whose client listened as an error, with a trace."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClosedResourceError))


logging.getLogger("mcp.server.streamable_http").addFilter(_is_no_end_of_session)
