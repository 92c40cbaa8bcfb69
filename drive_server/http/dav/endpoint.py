"""The ASGI application at `/dav`, and below the addresses of links: signs in, sends contents, hands on the rest."""

import logging
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote_to_bytes

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring
from fastapi import Request, Response
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.types import Scope as ConnectionScope
from starlette.types import Send

from drive_server.drive import Drive
from drive_server.http.dav.bridge import FairLimiter, environment, serve
from drive_server.http.dav.call import DavCall
from drive_server.http.dav.errors import error_response
from drive_server.http.dav.places import find_place, prefetch
from drive_server.http.dav.sign_in import BASIC, challenges, password_of, sign_in
from drive_server.http.headers.checksums import CHECKSUM
from drive_server.http.headers.responses import CACHE
from drive_server.http.items.contents import body_of, content_response
from drive_server.http.routes.links import address_of, counted
from drive_server.kernel.access import Actor, Scope, require_scope
from drive_server.kernel.errors import (
    DriveError,
    MalformedRequestError,
    NotFoundError,
    PasswordRequiredError,
    TooLargeError,
    UnauthenticatedError,
)
from drive_server.kernel.messages import Message

MOUNT: Final = "/dav"
MAX_BODY_BYTES: Final = 1_000_000
XML_METHODS: Final = frozenset({"PROPFIND", "PROPPATCH", "LOCK"})
READING: Final = frozenset({"GET", "HEAD"})
SCOPES: Final = {
    "GET": Scope.READ,
    "HEAD": Scope.READ,
    "PROPFIND": Scope.READ,
    "PUT": Scope.WRITE,
    "MKCOL": Scope.WRITE,
    "COPY": Scope.WRITE,
    "MOVE": Scope.WRITE,
    "PROPPATCH": Scope.WRITE,
    "LOCK": Scope.WRITE,
    "UNLOCK": Scope.WRITE,
    "DELETE": Scope.DELETE,
}
"""The scope without which a key can't use a method (RFC 4918, section 9). The services check its other needs."""
REVALIDATED: Final = "private, no-cache"

# It logs requests, and tracebacks of refusals as well; errors are logged in `errors`.
logging.getLogger("wsgidav").setLevel(logging.CRITICAL + 1)


class DavEndpoint:
    """Answers the requests of WebDAV clients. Uploads and other calls have threads of their own."""

    def __init__(self, drive: Drive) -> None:
        self.drive = drive
        self._uploads = FairLimiter(total=32, each=8)
        self._others = FairLimiter(total=16, each=8)

    async def __call__(self, request: Request, scope: ConnectionScope, send: Send) -> None:
        """Answer a request."""
        try:
            call = await self._call_of(request)
            if call.visit is None and (scope_needed := SCOPES.get(request.method)) is not None:
                require_scope(call.actor.principal, scope_needed)
            if request.method not in READING:
                await self._serve(call, send)
                return
            response = await self._read(call)
        except DriveError as error:
            response = self._refusal(request, error)
        await response(scope, request.receive, send)

    def _refusal(self, request: Request, error: DriveError) -> Response:
        if isinstance(error, PasswordRequiredError):
            error = UnauthenticatedError(error.reason)
        response = error_response(request, error)
        if isinstance(error, UnauthenticatedError):
            is_link = "token" in request.path_params
            for value in [BASIC] if is_link else challenges(self.drive, request):
                response.headers.append("WWW-Authenticate", value)
        return response

    async def _call_of(self, request: Request) -> DavCall:
        token, began = request.path_params.get("token"), self.drive.saves.clock()
        mount = MOUNT if token is None else f"/s/{token}{MOUNT}"
        path = _path_of(request)[len(mount) :] or "/"
        if token is None:

            async def begin(session: AsyncSession, actor: Actor) -> DavCall:
                call = DavCall(self.drive, actor, request, mount, path, began)
                await prefetch(session, call)
                return call

            return await sign_in(self.drive, request, begin)
        visit = await self.drive.visits.open(token, address_of(request), password=password_of(request))
        return DavCall(self.drive, visit.actor, request, mount, path, began, visit=visit)

    async def _read(self, call: DavCall) -> Response:
        """Send the content of a file."""
        place = await find_place(call, call.path)
        if place is None:
            raise NotFoundError(Message.of("nothing_here"))
        if place.item is None or place.is_folder:
            return Response(None, HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "OPTIONS, PROPFIND"})
        content = await self.drive.documents.open_content(call.actor, place.item.id)
        send = counted(self.drive, call.visit, content, address_of(call.request)) if call.visit else None
        response = await content_response(call.request, content, send, etag=content.item.etag)
        if content.checksums is not None:  # clients take one
            response.headers[CHECKSUM] = content.checksums.partition(" ")[0]
        response.headers[CACHE] = REVALIDATED
        return response

    async def _serve(self, call: DavCall, send: Send) -> None:
        """Have wsgidav answer in a thread."""
        is_upload = call.request.method == "PUT" and call.visit is None
        environ = environment(call, b"" if is_upload else await _body_of(call.request))
        limiter = self._uploads if is_upload else self._others
        caller = call.actor.principal.link_id or call.actor.user_id
        await limiter.run(caller, lambda: serve(call, environ, send))


def _path_of(request: Request) -> str:
    """Return the path as it was sent, decoded. Raises `MalformedRequestError` for a path that no name can have."""
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    path = unquote_to_bytes(raw.partition(b"?")[0])
    is_odd = b"%2f" in raw.lower() or any(char < 0x20 or char == 0x7F for char in path)
    try:
        decoded = path.decode()
    except UnicodeDecodeError:
        is_odd, decoded = True, ""
    if is_odd or any(segment in {".", ".."} for segment in decoded.split("/")):
        raise MalformedRequestError(Message.of("dav_address"))
    return decoded


async def _body_of(request: Request) -> bytes:
    """Return a body of XML. Raises `TooLargeError`, and `MalformedRequestError` for one that defines entities."""
    body = bytearray()
    async for chunk in body_of(request):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise TooLargeError(Message.of("dav_body_too_large", limit=MAX_BODY_BYTES))
    if body and request.method in XML_METHODS:
        try:
            fromstring(bytes(body), forbid_dtd=True)
        except (DefusedXmlException, ParseError, ValueError, LookupError) as error:
            raise MalformedRequestError(Message.of("dav_xml")) from error
    return bytes(body)
