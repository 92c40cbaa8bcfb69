"""The drive over HTTP: bytes and lists, login and keys, and MCP's Streamable HTTP."""

from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from importlib.metadata import version
from urllib.parse import urlsplit

from fastapi import FastAPI

from drive_server.connect import open_drive
from drive_server.http import metadata
from drive_server.http.access import principal_of_request
from drive_server.http.dav.mount import mount_dav
from drive_server.http.description import describe, operation_id
from drive_server.http.headers.cors import CorsPolicy
from drive_server.http.headers.responses import Application
from drive_server.http.items.routers import PLACE
from drive_server.http.limits import BodyLimit, PlainAddress
from drive_server.http.oauth import authorize, endpoints
from drive_server.http.pages import connect, icons, link, login, oidc, passage, password
from drive_server.http.request_address import RequestAddress
from drive_server.http.routes import (
    bulk,
    changes,
    contacts,
    events,
    exports,
    imports,
    index_events,
    index_states,
    items,
    links,
    search,
    shares,
    views,
)
from drive_server.http.routes.files import archive, contents, texts, thumbnails, uploads, versions
from drive_server.http.routes.people import auth, groups, notices, passkeys, proofs, users
from drive_server.http.streamable_http.endpoint import mount_mcp, serving
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.http.credentials import bearer_token
from drive_server.kernel.http.problem import install_problem_handlers, problem_responses
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import DriveSettings
from drive_server.kernel.telemetry.traces import exporting_to

__all__ = [
    "Application",
    "bearer_token",
    "create_app",
    "describe",
    "include_pages",
    "include_routes",
    "install_middleware",
    "install_problem_handlers",
    "mount_dav",
    "mount_mcp",
    "operation_id",
    "principal_of_request",
    "serving",
    "traced",
]


def include_routes(app: FastAPI) -> None:
    """Add the routes below `/api`. They serve the drive that `serving` was given.

    Each resource is included in the application itself: FastAPI matches a request's address once more on every level of
    routers within routers, which was a quarter of the processor time of reading an item.
    """
    # Routes that name more of an address go before those that take the rest of it for an item's path.
    naming_more = (
        search,
        contacts,
        index_events,
        versions,
        thumbnails,
        texts,
        contents,
        uploads,
        changes,
        shares,
        archive,
        events,
        exports,
        imports,
    )
    for part in (*naming_more, bulk, views, index_states, items):
        app.include_router(part.router, prefix=PLACE, responses=problem_responses(403, 404))
    for part in (auth, passkeys, proofs, users, groups, notices, links):
        app.include_router(part.router, prefix="/api")


def include_pages(app: FastAPI) -> None:
    """Add the routes at the root that people and programs without a key reach: pages, metadata."""
    for part in (metadata, icons, authorize, endpoints, oidc, login, password, connect, link, passage):
        app.include_router(part.router)


def create_app(settings: DriveSettings) -> FastAPI:
    """Return the drive without the assistant; its lifespan opens the drive, and makes an embedded one's local user."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        with traced(settings):
            async with opened(app):
                yield

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncGenerator[None]:
        async with open_drive(settings) as drive:
            if settings.is_embedded:
                await drive.identity.ensure_local_user()
            async with serving(app, drive):
                yield

    app = Application(
        title="Drive",
        version=version("drive-agent"),
        openapi_url=None,  # `describe` adds it, with an etag
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=operation_id,
    )
    describe(app)
    include_routes(app)
    include_pages(app)
    mount_mcp(app)
    mount_dav(app)
    install_problem_handlers(app)
    install_middleware(app, settings)
    return app


@contextmanager
def traced(settings: DriveSettings) -> Generator[None]:
    """Send traces where the settings say, until the end of the block. Raises `InvalidInputError` without packages."""
    with ExitStack() as stack:
        try:
            stack.enter_context(exporting_to(settings.otlp_endpoint, version("drive-agent")))
        except ImportError as error:
            raise InvalidInputError(Message.of("no_trace_packages")) from error
        yield


def install_middleware(app: FastAPI, settings: DriveSettings) -> None:
    """Install the checks of each request before all routes: its size, its address, and the site that it comes from."""
    app.state.slow_seconds = settings.slow_seconds
    public = urlsplit(settings.public_url)
    app.state.secure_host = (public.hostname or "") if public.scheme == "https" else ""
    app.add_middleware(BodyLimit, limit=settings.max_request_bytes)
    app.add_middleware(PlainAddress)
    app.add_middleware(RequestAddress, settings=settings)
    if settings.resolved_cors_origins:
        app.add_middleware(CorsPolicy, origins=settings.resolved_cors_origins)
