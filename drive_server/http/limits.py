"""Limits on request bodies and addresses, for all routes."""

import re
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as ASGIMessage

from drive_server.kernel.errors import InvalidInputError, NotFoundError, TooLargeError
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import problem_of
from drive_server.kernel.messages import Message

UPLOAD_PATH = "/api/drive/files"
CONTENT_ENDING = "/content"
RESUMABLE_PATH = "/api/drive/uploads"
LINKS_PREFIX = "/api/links/"
DAV_PREFIX = "/dav/"
MAX_DIGITS = 18
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
ENCODED_CONTROLS = re.compile(rb"%(?:[01][0-9a-f]|7f|c2%[89])", re.IGNORECASE)
ENCODED_SPACES = re.compile(rb"%0[9ad]", re.IGNORECASE)
SEARCHED_TEXT = b"q="
API_PREFIX = "/api/"


class BodyLimit:
    """ASGI middleware: answers bodies over `limit` bytes with 413, except where a path limits its own stream."""

    def __init__(self, app: ASGIApp, limit: int, streamed: Collection[str] = (UPLOAD_PATH,)) -> None:
        self._app = app
        self._limit = limit
        self._streamed = frozenset(streamed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 413."""
        if scope["type"] != "http" or self._is_streamed(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if not declared.isdecimal():
            await self._read_ahead(scope, receive, send)
        elif len(declared) > MAX_DIGITS or int(declared) > self._limit:
            await self._refuse(scope, receive, send)
        else:
            # The HTTP server hands on no more than was declared.
            await self._app(scope, receive, send)

    def _is_streamed(self, method: str, path: str) -> bool:
        if path.startswith(LINKS_PREFIX):
            return (method == "POST" and path.endswith("/files")) or (method == "PUT" and path.endswith("/content"))
        if path.startswith(DAV_PREFIX):
            return method == "PUT"
        if method == "PUT" and path.startswith(f"{UPLOAD_PATH}/") and path.endswith(CONTENT_ENDING):
            return True
        is_resumable = path == RESUMABLE_PATH or path.startswith(f"{RESUMABLE_PATH}/")
        return (method == "POST" and path in self._streamed) or (method in {"POST", "PATCH"} and is_resumable)

    async def _read_ahead(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a body of unknown length before the application, which gets it only if it fits."""
        messages: list[ASGIMessage] = []
        size = 0
        more = True
        while more:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self._limit:
                await self._refuse(scope, receive, send)
                return
            more = message["type"] == "http.request" and message.get("more_body", False)

        async def replay() -> ASGIMessage:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = Message.of("body_too_large", limit=self._limit, path=UPLOAD_PATH)
        error = TooLargeError(message, details={"limit": self._limit})
        response = problem_of(error, language_of(Request(scope)))
        await response(scope, receive, send)


class PlainAddress:
    """ASGI middleware: answers addresses below `/api` with control characters with 404, queries with such with 422.

    No id, name or token has one, and not every database takes them. Text to search for may have tabs and line ends.
    Pages for people have an answer of their own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        is_api = scope["type"] == "http" and scope["path"].startswith(API_PREFIX)
        if is_api and CONTROLS.search(scope["path"]):
            nothing = NotFoundError(Message.of("nothing_here"))
            await problem_of(nothing, language_of(Request(scope)))(scope, receive, send)
        elif is_api and _has_controls(scope["query_string"]):
            error = InvalidInputError(Message.of("query_controls"))
            await problem_of(error, language_of(Request(scope)))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _has_controls(query: bytes) -> bool:
    pairs = query.split(b"&") if b"%" in query else ()
    checked = (ENCODED_SPACES.sub(b"", pair) if pair.startswith(SEARCHED_TEXT) else pair for pair in pairs)
    return any(ENCODED_CONTROLS.search(pair) for pair in checked)
