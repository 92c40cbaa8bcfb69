"""The composition root: opens the drive and the assistant, and puts the service on HTTP. Nothing else is global."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from langchain_core.language_models import BaseChatModel

from api.assistant import open_assistant
from api.clock import Clock, SystemClock
from api.drive import DriveForService
from api.http.application import build_api
from api.plans import Plans
from api.runs.webhooks import target_of
from api.service import open_service
from api.storage.database import open_database
from drive_server.connect import DriveSettings, open_drive
from drive_server.http.app import (
    BodyLimit,
    build_http,
    build_pages,
    mount_mcp,
    serving,
)
from graph.drive.connections import drive_sessions
from graph.model_factory import open_models
from graph.models.asking import ModelRole
from graph.models.sampling import LentModel
from graph.settings import AgentSettings

HEARTBEAT_SECONDS = 5.0


def create_app(
    drive_settings: DriveSettings | None = None,
    agent_settings: AgentSettings | None = None,
    *,
    models: Mapping[ModelRole, BaseChatModel] | None = None,
    clock: Clock | None = None,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
) -> FastAPI:
    """Return the whole service as an ASGI application; its lifespan opens and closes everything.

    Settings that are not given are read from the environment; `models` replaces those of the settings.
    """
    settings = drive_settings or DriveSettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        time = clock or SystemClock()
        async with AsyncExitStack() as stack:
            drive = await stack.enter_async_context(open_drive(settings))
            await drive.identity.ensure_local_user()
            await stack.enter_async_context(serving(app, drive))
            database = await open_database(_database_url(settings), drive.signer)
            stack.push_async_callback(database.dispose)
            agent = agent_settings or AgentSettings()
            chosen = models or await stack.enter_async_context(open_models(agent))
            webhook = target_of(agent.webhook_url, agent.webhook_secret.get_secret_value())
            plans = Plans(database, time)
            sessions = drive_sessions(drive, LentModel(chosen["agent"]))
            assistant = await stack.enter_async_context(
                open_assistant(settings.root, agent, sessions, time, chosen, plans, settings.public_url)
            )
            port = DriveForService(drive)
            app.state.service = await stack.enter_async_context(
                open_service(
                    database,
                    assistant,
                    port,
                    time,
                    heartbeat_seconds,
                    plans,
                    webhook,
                    agent.thread_days,
                )
            )
            yield

    app = build_api(lifespan)
    app.include_router(build_http())
    app.include_router(build_pages())
    mount_mcp(app)
    app.add_middleware(BodyLimit, limit=settings.max_request_bytes)
    return app


def _database_url(settings: DriveSettings) -> str:
    """Return the service's database: on SQLite a file of its own, as a file has one writer; else the drive's."""
    if settings.resolved_database_url.startswith("sqlite"):
        return f"sqlite+aiosqlite:///{settings.root / 'api.db'}"
    return settings.resolved_database_url
