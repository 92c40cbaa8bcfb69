"""The address of a request as the public address of its answer, where nothing else is set."""

from starlette.types import ASGIApp, Receive, Scope, Send

from drive_server.http.hosts import HostAllowlist
from drive_server.kernel.context import request_address
from drive_server.kernel.settings import DriveSettings


class RequestAddress:
    """ASGI middleware: lets links in an answer lead to where the request came in, if its Host is one of our names.

    Not where a public address is set; nor with an issuer of tokens, which are meant for one address.
    """

    def __init__(self, app: ASGIApp, settings: DriveSettings) -> None:
        self._app = app
        self._hosts = HostAllowlist(settings)
        self._is_fixed = bool(settings.public_url or settings.jwt_issuer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if self._is_fixed or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        token = request_address.set(self._hosts.address(scope))
        try:
            await self._app(scope, receive, send)
        finally:
            request_address.reset(token)
