"""The headers of every response that name it, and keep it to the person who asked, and to our own pages."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from fastapi import FastAPI
from opentelemetry.trace import Span
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from drive_server.http.headers.request_id import REQUEST_ID, begin_request
from drive_server.kernel.telemetry.conventions import HTTP_METHOD, HTTP_OPERATION, HTTP_STATUS
from drive_server.kernel.telemetry.requests import RequestTimer
from drive_server.kernel.telemetry.traces import SpanKind, span

PERSONAL_PREFIX: Final = "/api"
POLICY: Final = "Content-Security-Policy"
CACHE: Final = "Cache-Control"
OPENER: Final = "Cross-Origin-Opener-Policy"
NO_STORE: Final = "no-store"
FRAMED_HERE: Final = "frame-ancestors 'self'"
"""The whole policy of a PDF that is shown: under a sandbox, or without plugins, browsers show none."""
REVALIDATED: Final = "private, no-cache"
"""For content that a browser may keep, and has to ask about: thumbnails, and the bytes behind a download address."""
HEADERS: Final = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
TRANSPORT: Final = "Strict-Transport-Security"
ONE_YEAR: Final = "max-age=31536000"
DEFAULTS: Final = {
    POLICY: "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    CACHE: NO_STORE,
    OPENER: "same-origin",
}
"""Where a response says nothing itself: pages name their own style, public files and downloads may be stored.

Hosts open the page on which a program is let in as a window of theirs, and wait for its end.
"""


class ResponseHeaders:
    """ASGI middleware: completes the headers of each response, and logs it; no shared cache stores personal data.

    Browsers come to `secure_host`, the host of a public address with https, by HTTPS alone from then on. No other host
    is named so: the promise is for all ports of it, where other programs may answer over HTTP.
    """

    def __init__(self, app: ASGIApp, slow_seconds: float = 0, secure_host: str = "") -> None:
        self._app = app
        self._slow_seconds = slow_seconds
        self._secure_host = secure_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with _request_span(scope) as measured:
            await self._answer(scope, receive, send, measured)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, measured: Span) -> None:
        request_id = begin_request(scope)
        timer = RequestTimer(scope, self._slow_seconds)
        is_secure = scope["scheme"] == "https" and self._is_of_public_address(scope)
        is_personal = scope["path"].startswith(PERSONAL_PREFIX)

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                timer.answered(message["status"])
                measured.set_attribute(HTTP_STATUS, message["status"])
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers[REQUEST_ID] = request_id
                if is_secure:
                    headers[TRANSPORT] = ONE_YEAR
                if headers.get(POLICY) == FRAMED_HERE:
                    headers["X-Frame-Options"] = "SAMEORIGIN"
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
                if is_personal and headers[CACHE] != REVALIDATED:
                    headers[CACHE] = NO_STORE
            await send(message)

        await self._app(scope, receive, complete)

    def _is_of_public_address(self, scope: Scope) -> bool:
        host = Headers(scope=scope).get("host", "").lower()
        return bool(self._secure_host) and host.partition(":")[0] == self._secure_host


@contextmanager
def _request_span(scope: Scope) -> Generator[Span]:
    """Measure a request, below the client's `traceparent`.

    It is named by its operation, never by its path: names and secrets of addresses stand in that.
    """
    method, sent = scope["method"], Headers(scope=scope).get("traceparent")
    with span(method, {HTTP_METHOD: method}, SpanKind.SERVER, {"traceparent": sent} if sent else None) as measured:
        try:
            yield measured
        finally:
            operation = getattr(scope.get("route"), "name", None)
            if isinstance(operation, str):
                measured.update_name(f"{method} {operation}")
                measured.set_attribute(HTTP_OPERATION, operation)


class Application(FastAPI):
    """FastAPI whose every response has our headers: also those to errors that nobody expected."""

    def build_middleware_stack(self) -> ASGIApp:
        """Put the headers around everything else."""
        stack, state = super().build_middleware_stack(), self.state
        return ResponseHeaders(stack, getattr(state, "slow_seconds", 0), getattr(state, "secure_host", ""))
