"""WebDAV in the application: at `/dav`, and below the addresses of links. The first request imports wsgidav."""

from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from drive_server.http.dav.endpoint import DavEndpoint

PATHS: Final = ("/dav", "/dav/{path:path}", "/s/{token}/dav", "/s/{token}/dav/{path:path}")


def mount_dav(app: FastAPI) -> None:
    """Put WebDAV into the application. It answers while `serving` is open."""
    dav = _DavApp(app)
    for path in PATHS:
        app.router.routes.insert(0, Route(path, dav, include_in_schema=False))
    app.router.routes.insert(0, Route("/", _server_options, methods=["OPTIONS"], include_in_schema=False))


class _DavApp:
    """Calls the endpoint for the drive that `serving` was given. An object: `Route` takes functions for views."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._endpoint: DavEndpoint | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        drive = self._app.state.drive
        if self._endpoint is None or self._endpoint.drive is not drive:
            from drive_server.http.dav.endpoint import DavEndpoint

            self._endpoint = DavEndpoint(drive)
        await self._endpoint(Request(scope, receive), scope, send)


async def _server_options(request: Request) -> Response:
    """Say that there is WebDAV on this server: Windows asks for it at the root before it maps a folder."""
    del request
    return Response(None, 200, {"DAV": "1, 2, 3", "MS-Author-Via": "DAV", "Allow": "OPTIONS, GET, HEAD"})
