"""The drive alone as an HTTP application, for those who run it without the assistant."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from drive_server.connect import open_drive
from drive_server.http.build import BodyLimit, build_http, build_pages, install_problem_handlers, mount_mcp, serving
from drive_server.settings import DriveSettings


def create_app(settings: DriveSettings) -> FastAPI:
    """Return the application; its lifespan opens the drive, and makes the local user if there is none yet."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with open_drive(settings) as drive:
            await drive.identity.ensure_local_user()
            async with serving(app, drive):
                yield

    app = FastAPI(title="Drive", version=version("drive-agent"), lifespan=lifespan)
    app.include_router(build_http())
    app.include_router(build_pages())
    mount_mcp(app)
    install_problem_handlers(app)
    app.add_middleware(BodyLimit, limit=settings.max_request_bytes)
    return app
