"""Pages of other sites: those of the origins in the settings may call the API, with a key of their own."""

from collections.abc import Collection
from typing import Final

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from drive_server.http.headers.request_id import REQUEST_ID

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
EXPOSED: Final = (
    "Content-Disposition",
    "Content-Language",
    "Content-Location",
    "Content-Range",
    "Drive-Change-Id",
    "ETag",
    "Idempotent-Replayed",
    "Link",
    "Location",
    "Mcp-Session-Id",
    "Retry-After",
    "WWW-Authenticate",
    "X-Pagination-Total",
    REQUEST_ID,
)
OTHERS: Final = ("/api/drive/uploads", "/login/", "/connect/", "/authorize", "/s/", "/d/", "/f/")
"""Resumable uploads have an exception of their own, and pages for people are for people."""
MAX_AGE_SECONDS: Final = 600


class CorsPolicy:
    """ASGI middleware: answers the questions of browsers about other sites' pages, as the settings say.

    It never allows credentials: no other site's page acts with a browser's session.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        self._app = app
        self._open = CORSMiddleware(
            app,
            allow_origins=tuple(origins),
            allow_methods=METHODS,
            allow_headers=("*",),
            expose_headers=EXPOSED,
            max_age=MAX_AGE_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer a preflight."""
        is_ours = scope["type"] == "http" and not scope["path"].startswith(OTHERS)
        await (self._open if is_ours else self._app)(scope, receive, send)
