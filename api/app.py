"""The composition root: opens the drive and the assistant, and puts the service on HTTP. Nothing else is global."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI
from langchain_core.language_models import BaseChatModel

from api.assistant import open_assistant
from api.clock import Clock, SystemClock
from api.drive import DriveForService
from api.errors import SecretsKeyError
from api.http import approval_pages
from api.http.dependencies import bearer
from api.http.routes import (
    approvals,
    branches,
    chat,
    grants,
    memories,
    memory_imports,
    messages,
    page,
    plans,
    runs,
    status,
    system,
    threads,
)
from api.http.routes import models as model_routes
from api.http.routes import thread_imports as thread_import_routes
from api.http.routes.servers import assistants
from api.http.routes.servers import definitions as server_routes
from api.http.routes.servers import offers as offer_routes
from api.http.routes.servers import sign_ins as sign_in_routes
from api.langgraph.router import include_langgraph
from api.langgraph.runs.clients import open_clients
from api.metrics.status import StatusReader
from api.openai import completions, responses
from api.openai import models as openai_models
from api.plans import Plans
from api.runs.webhook_hosts import WebhookHosts
from api.runs.webhook_target import target_of
from api.servers.assistants import PersonsChoices
from api.servers.secrets import open_secrets
from api.servers.service import Servers
from api.servers.sign_ins import StoredCredentials
from api.service import open_service
from api.storage.database import open_database
from api.storage.installation import service_parts, service_url
from drive_server.connect import Drive, DriveSettings, open_drive
from drive_server.http.app import (
    Application,
    describe,
    include_pages,
    include_routes,
    install_middleware,
    mount_dav,
    mount_mcp,
    operation_id,
    serving,
    traced,
)
from drive_server.kernel.errors import AccountDisabledError
from drive_server.kernel.http.event_streams import HEARTBEAT_SECONDS
from drive_server.kernel.http.problem import install_problem_handlers
from drive_server.storage.installation.parts import Part, index_part
from graph.dependencies import model_in
from graph.drive.connections import drive_sessions
from graph.model_factory import ModelSet, open_models
from graph.models.sampling import LentModel
from graph.servers.pool import ServerPool
from graph.settings import AgentSettings, ModelRole


def create_app(
    drive_settings: DriveSettings | None = None,
    agent_settings: AgentSettings | None = None,
    *,
    models: Mapping[ModelRole, BaseChatModel] | None = None,
    clock: Clock | None = None,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
) -> FastAPI:
    """Return the service as an ASGI application; settings default to the environment, `models` to the settings."""
    settings = drive_settings or DriveSettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        time = clock or SystemClock()
        async with AsyncExitStack() as stack:
            stack.enter_context(traced(settings))
            agent = agent_settings or AgentSettings()
            keys = agent.secrets_key.get_secret_value()
            if not settings.is_embedded and not keys.strip():
                raise SecretsKeyError("secrets_key_needed")
            parts = service_parts(settings.root, settings.resolved_database_url, agent.threads_url)
            drive = await stack.enter_async_context(open_drive(settings, time.now, parts))
            if settings.is_embedded:
                await drive.identity.ensure_local_user()
            await stack.enter_async_context(serving(app, drive))
            url = service_url(settings.root, settings.resolved_database_url)
            database = await open_database(url, drive.signer)
            stack.push_async_callback(database.dispose)
            built = ModelSet(models) if models else await stack.enter_async_context(open_models(agent, settings.root))
            webhook = target_of(agent.webhook_url, agent.webhook_secret.get_secret_value())
            plans = Plans(database, time)
            secrets = await open_secrets(database, settings.root, keys, keep=settings.keep_everything)
            credentials = StoredCredentials(database, secrets, time)
            lent = LentModel(model_in(built.models, "reader"))
            pool = ServerPool(
                agent,
                folder=settings.root / "mcp-servers",
                clock=time.now,
                credentials=credentials,
                sampling=lent,
            )
            stack.push_async_callback(pool.aclose)
            sessions, choices = drive_sessions(drive, lent), PersonsChoices(database, secrets)
            assistant = await stack.enter_async_context(
                open_assistant(
                    settings.root,
                    agent,
                    sessions,
                    time,
                    built,
                    plans,
                    settings.resolved_public_url,
                    choices,
                    pool,
                )
            )
            port = DriveForService(drive, settings.resolved_public_url)
            app.state.status = StatusReader(port, database, time, *local_places(settings, parts))
            app.state.service = await stack.enter_async_context(
                open_service(
                    database,
                    assistant,
                    port,
                    time,
                    Servers(database, secrets, pool, time, agent.mcp_servers_per_person),
                    heartbeat_seconds,
                    plans,
                    webhook,
                    agent.thread_days,
                    choices,
                    WebhookHosts(agent.webhook_hosts),
                )
            )
            app.state.clients = await stack.enter_async_context(open_clients(app.state.service))
            await drive.installation.mark()
            yield

    app = build_api(lifespan)
    # Before the drive's many routes, with each of which the address of every turn would be compared otherwise.
    include_langgraph(app)
    include_routes(app)
    include_pages(app)
    mount_mcp(app)
    mount_dav(app)
    install_middleware(app, settings)
    return app


def local_places(settings: DriveSettings, parts: Sequence[Part]) -> tuple[list[Path], Path | None]:
    """Return those of the parts that are files of this machine, and the folder of the index if it is on it."""
    index = index_part(settings.resolved_index_url)
    return [Path(part.place) for part in parts if "://" not in part.place], Path(index.place) if index else None


async def local_login_link(app: FastAPI) -> str:
    """Return an address that logs one browser in as the owner of the running service, once.

    An owner whom another administrator disabled logs in nowhere, and a database of several services has none: then it
    is the page for everybody else.
    """
    drive: Drive = app.state.drive
    if not drive.settings.is_embedded:
        return f"{drive.address}/login"
    _, token = await drive.identity.ensure_local_user()
    try:
        return (await drive.login_links.create(await drive.identity.authenticate(token))).url
    except AccountDisabledError:
        return f"{drive.address}/login"


DESCRIPTION = """
Your drive, and an assistant that works in it, asks before what matters, and can take all of it back.

Send the local access token (file `token` in the data directory) or an API key as `Authorization: Bearer ...`.
Errors are `application/problem+json` with a stable `code`, a sentence in `detail`, and a `hint`.
"""


def build_api(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]]) -> FastAPI:
    """Return the application. `lifespan` has to put the running `Service` into `app.state.service`."""
    app = Application(
        title="Drive Agent",
        version=version("drive-agent"),
        description=DESCRIPTION,
        openapi_url=None,  # `describe` adds it, with an etag
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=operation_id,
    )
    describe(app)
    # The first router that has a path answers, and a router is built when a request comes to it: this one is small.
    app.include_router(system.router)
    app.include_router(page.router)
    app.include_router(page.guests)
    api = APIRouter(dependencies=[Depends(bearer)])
    own = (server_routes, sign_in_routes, offer_routes, assistants, messages, thread_import_routes)
    parts = (
        chat,
        runs,
        approvals,
        grants,
        threads,
        branches,
        plans,
        memory_imports,
        memories,
        model_routes,
        status,
        *own,
    )
    for part in parts:
        api.include_router(part.router)
    app.include_router(api, prefix="/api")
    app.include_router(approval_pages.router)
    for door in (completions, responses, openai_models):
        app.include_router(door.router, prefix="/v1")
    install_problem_handlers(app)
    return app
