"""Compression of the two long answers that everybody gets alike: the routes' description, and MCP's list of tools.

No other answer is compressed: the length of a compressed answer tells of secrets that stand beside a stranger's text,
streams would wait, and most files are compressed already.
"""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

LEAST_BYTES: Final = 1_000
LEVEL: Final = 6
ACCEPTED: Final = "accept-encoding"


class Compressed:
    """ASGI application: sends another's answer compressed with gzip to clients that accept it (RFC 9110, 12.5.3)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = GZipMiddleware(app, minimum_size=LEAST_BYTES, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer. Starlette's middleware does not read weights, so a refusal of gzip is taken out of the request."""
        if not _accepts_gzip(Headers(scope=scope).get(ACCEPTED, "")):
            scope = {**scope, "headers": list(scope["headers"])}
            del MutableHeaders(scope=scope)[ACCEPTED]
        await self._app(scope, receive, send)


def _accepts_gzip(header: str) -> bool:
    for entry in header.lower().split(","):
        coding, _, weight = entry.replace(" ", "").partition(";")
        if coding == "gzip":
            return weight.removeprefix("q=").strip("0.") != "" or not weight
    return False
