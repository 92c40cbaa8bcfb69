"""A limit on request bodies, whatever the route behind it does with them."""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drive_server.errors import TooLargeError
from drive_server.http.problem import problem_of

UPLOAD_PATH = "/api/drive/files"
RESUMABLE_PATH = "/api/drive/uploads"
LINKS_PREFIX = "/api/links/"
MOST_DIGITS = 18


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
        elif len(declared) > MOST_DIGITS or int(declared) > self._limit:
            await self._refuse(scope, receive, send)
        else:
            # The HTTP server hands on no more than was declared.
            await self._app(scope, receive, send)

    def _is_streamed(self, method: str, path: str) -> bool:
        if path.startswith(LINKS_PREFIX):
            return (method == "POST" and path.endswith("/files")) or (method == "PUT" and path.endswith("/content"))
        is_resumable = path == RESUMABLE_PATH or path.startswith(f"{RESUMABLE_PATH}/")
        return (method == "POST" and path in self._streamed) or (method in {"POST", "PATCH"} and is_resumable)

    async def _read_ahead(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read a body of unknown length before the application, which gets it only if it fits."""
        messages: list[Message] = []
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

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = TooLargeError(
            "The body of this request is too large.",
            hint=f"The limit is {self._limit} bytes; upload files to {UPLOAD_PATH}.",
            details={"limit": self._limit},
        )
        response = problem_of(error)
        await response(scope, receive, send)
