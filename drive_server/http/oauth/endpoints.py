"""The endpoints that programs call: token (OAuth 2.1), registration (RFC 7591) and revocation (RFC 7009).

The MCP SDK's handlers answer; this module does the parts they leave open: sizes, resources (RFC 8707), clients that
name themselves in the header alone, and errors as the standards name them.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final
from urllib.parse import unquote, urlencode

import orjson
from fastapi import APIRouter, Request
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.revoke import RevocationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.settings import ClientRegistrationOptions
from starlette.responses import Response
from starlette.types import Message, Scope

from drive_server.drive import Drive
from drive_server.http.access import DriveDep, network_of_request
from drive_server.http.metadata import REGISTER, REVOKE, TOKEN, resource_of
from drive_server.http.oauth.provider import DriveProvider
from drive_server.http.pages.forms import read_form
from drive_server.kernel.errors import DriveError, ForbiddenError, RateLimitError, TooLargeError, UnavailableError
from drive_server.kernel.http.challenges import issuer_of

MAX_REGISTRATION_BYTES: Final = 32 * 1024
SECRET: Final = "client_secret"  # noqa: S105 - the name of a field

router = APIRouter(include_in_schema=False)

Endpoint = Callable[[Request, DriveDep], Awaitable[Response]]


def _in_oauth_words(endpoint: Endpoint) -> Endpoint:
    """Let the endpoint answer errors of the drive as OAuth has them."""

    @wraps(endpoint)
    async def answer(request: Request, drive: DriveDep) -> Response:
        issuer_of(drive.settings)
        try:
            return await endpoint(request, drive)
        except (RateLimitError, UnavailableError) as error:
            response = _error(error.status, "temporarily_unavailable", error)
            if (seconds := error.details.get("retry_after_seconds")) is not None:
                response.headers["Retry-After"] = str(seconds)
            return response
        except (ForbiddenError, TooLargeError) as error:  # a body that is no form
            return _error(400, "invalid_request", error)

    return answer


@router.post(TOKEN)
@_in_oauth_words
async def token(request: Request, drive: DriveDep) -> Response:
    """Give tokens for a code, or for a refresh token."""
    form = await _client_form(request)
    if form.get("resource") and not is_resource(drive, form["resource"]):
        return _answer(400, {"error": "invalid_target", "error_description": "resource is not that of this drive"})
    provider = DriveProvider(drive)
    handler = TokenHandler(provider, ClientAuthenticator(provider))
    return _as_standards_say(await handler.handle(_with_body(request, urlencode(form).encode())))


@router.post(REVOKE)
@_in_oauth_words
async def revoke(request: Request, drive: DriveDep) -> Response:
    """End a token's key or grant; an unknown one has ended already."""
    # The SDK wants the field of every program, also of those that have no secret.
    form = {SECRET: "", **await _client_form(request)}
    if form.get("token_type_hint") not in {"access_token", "refresh_token"}:
        form.pop("token_type_hint", None)  # others are to be ignored (RFC 7009, 2.1)
    provider = DriveProvider(drive)
    handler = RevocationHandler(provider, ClientAuthenticator(provider))
    return _as_standards_say(await handler.handle(_with_body(request, urlencode(form).encode())))


@router.post(REGISTER)
@_in_oauth_words
async def register(request: Request, drive: DriveDep) -> Response:
    """Register a program."""
    body = await _json_object(request)
    if body is None:
        return _answer(400, {"error": "invalid_client_metadata", "error_description": "the body is no JSON object"})
    kinds = body.get("grant_types")
    if isinstance(kinds, list) and "authorization_code" in kinds and "refresh_token" not in kinds:
        body["grant_types"] = [*kinds, "refresh_token"]  # the SDK refuses programs that leave it out
    provider = DriveProvider(drive, network_of_request(request))
    handler = RegistrationHandler(provider, ClientRegistrationOptions(enabled=True))
    response = await handler.handle(_with_body(request, orjson.dumps(body)))
    response.headers["Cache-Control"] = "no-store"
    return response


def is_resource(drive: Drive, named: str) -> bool:
    """Return whether a resource indicator (RFC 8707) names the drive's MCP server."""
    return named.rstrip("/").lower() == resource_of(drive.settings).lower()


async def _client_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; a program that names itself in the header alone has its id among them.

    Raises `ForbiddenError` for a body that is no form, and for a repeated field (OAuth 2.1, section 3.2).
    """
    fields = await read_form(request)
    if any(len(values) > 1 for name, values in fields.items() if name != "resource"):
        raise ForbiddenError("A field is repeated.", hint="Send each field once.")
    form = {name: values[-1] for name, values in fields.items()}
    if "client_id" not in form and (named := _basic_name(request)):
        form["client_id"] = named
    return form


def _basic_name(request: Request) -> str:
    kind, _, credentials = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return unquote(b64decode(credentials.strip(), validate=True).decode().partition(":")[0])
    except (Base64Error, ValueError):
        return ""


async def _json_object(request: Request) -> dict[str, Any] | None:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_REGISTRATION_BYTES:
            return None
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _with_body(request: Request, body: bytes) -> Request:
    """Return the request with another body, for a handler that reads it."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    scope: Scope = {**request.scope, "headers": [*request.scope["headers"]]}
    return Request(scope, receive)


def _as_standards_say(response: Response) -> Response:
    """Return the answer; one to a program that did not prove itself is `invalid_client` (RFC 6749, section 5.2)."""
    if response.status_code != 401:
        return response
    told = orjson.loads(bytes(response.body))
    response = _answer(401, {**told, "error": "invalid_client"})
    response.headers["WWW-Authenticate"] = 'Basic realm="drive"'
    return response


def _error(status: int, error: str, reason: DriveError) -> Response:
    return _answer(status, {"error": error, "error_description": " ".join(reason.texts("en"))})


def _answer(status: int, content: dict[str, Any]) -> Response:
    return Response(orjson.dumps(content), status, {"Cache-Control": "no-store"}, media_type="application/json")
