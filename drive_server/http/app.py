"""The drive over HTTP: bytes and lists, login and keys, and MCP's Streamable HTTP."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from drive_server.connect import open_drive
from drive_server.http import metadata
from drive_server.http.access import bearer_token, principal_of_request
from drive_server.http.description import describe, operation_id
from drive_server.http.limits import BodyLimit, PlainAddress
from drive_server.http.pages import connect, link, login, passage
from drive_server.http.problem import install_problem_handlers
from drive_server.http.request_address import RequestAddress
from drive_server.http.response_headers import Application
from drive_server.http.routes import auth, changes, files, index_events, items, links, search, shares, uploads
from drive_server.http.streamable_http.endpoint import mount_mcp, serving
from drive_server.settings import DriveSettings

__all__ = [
    "Application",
    "BodyLimit",
    "PlainAddress",
    "RequestAddress",
    "bearer_token",
    "build_http",
    "build_pages",
    "create_app",
    "describe",
    "install_problem_handlers",
    "mount_mcp",
    "operation_id",
    "principal_of_request",
    "serving",
]


def build_http() -> APIRouter:
    """Return the routes below `/api`. They serve the drive that `serving` was given."""
    drive = APIRouter(prefix="/drive")
    for part in (search, index_events, files, uploads, changes, shares, items):
        drive.include_router(part.router)
    api = APIRouter(prefix="/api")
    api.include_router(drive)
    api.include_router(auth.router)
    api.include_router(links.router)
    return api


def build_pages() -> APIRouter:
    """Return the routes at the root that people and programs without a key reach: pages, metadata."""
    pages = APIRouter()
    pages.include_router(metadata.router)
    pages.include_router(login.router)
    pages.include_router(connect.router)
    pages.include_router(link.router)
    pages.include_router(passage.router)
    return pages


def create_app(settings: DriveSettings) -> FastAPI:
    """Return the drive without the assistant; its lifespan opens the drive, and makes the local user if absent."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with open_drive(settings) as drive:
            await drive.identity.ensure_local_user()
            async with serving(app, drive):
                yield

    app = Application(
        title="Drive",
        version=version("drive-agent"),
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=operation_id,
    )
    describe(app)
    app.include_router(build_http())
    app.include_router(build_pages())
    mount_mcp(app)
    install_problem_handlers(app)
    app.add_middleware(BodyLimit, limit=settings.max_request_bytes)
    app.add_middleware(PlainAddress)
    app.add_middleware(RequestAddress, settings=settings)
    return app
