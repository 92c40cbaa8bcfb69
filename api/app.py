"""The composition root: opens the drive and the assistant, and puts the service on HTTP. Nothing else is global."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

from fastapi import FastAPI
from langchain_core.language_models import BaseChatModel
from sqlalchemy import select
from starlette.requests import Request

from api.assistant import open_assistant
from api.clock import Clock, SystemClock
from api.http.application import build_api
from api.plans import Plans
from api.ports import Caller, Place, RunChange, RunUndo
from api.runs.webhooks import target_of
from api.service import open_service
from api.storage.database import open_database
from drive_server.connect import Actor, Drive, DriveSettings, Principal, Scope, open_drive
from drive_server.errors import InvalidInputError
from drive_server.http.app import (
    BodyLimit,
    bearer_token,
    build_http,
    build_pages,
    mount_mcp,
    principal_of_request,
    serving,
)
from graph.drive.connections import drive_sessions
from graph.model_factory import open_models
from graph.models.asking import ModelRole
from graph.models.sampling import LentModel
from graph.settings import AgentSettings
from graph.single_flight import SingleFlight

HEARTBEAT_SECONDS = 5.0
CHANGES_PAGE = 200
VERSIONS = "versions"
"""The entries of a change that are about contents."""


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
                    port.authenticate,
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


class DriveForService:
    """The drive as the service uses it (`DrivePort`); callers are the drive's own principals."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._principals = SingleFlight[Principal]()

    async def authenticate(self, request: Request) -> Principal:
        """Return the caller, by bearer token or session cookie. Concurrent requests with one token share a look-up."""
        token = bearer_token(request)
        if token is None:
            return await principal_of_request(self._drive, request)
        return await self._principals.do(token, lambda: principal_of_request(self._drive, request))

    async def locate(self, caller: Caller, place: Place) -> Place:
        """Return the place with ids of items that the caller can see. Raises the drive's errors otherwise."""
        return Place(
            await self._id_of(caller, place.file_id, "file"), await self._id_of(caller, place.folder_id, "folder")
        )

    async def changes(self, user_id: str, run_id: str) -> tuple[RunChange, ...]:
        """Return the changes of a run of this user, in order."""
        actor = Actor(await self._drive.identity.principal_for(user_id, [Scope.READ]))
        found: list[RunChange] = []
        cursor: str | None = None
        while True:
            page = await self._drive.journal.list_changes(actor, run_id=run_id, limit=CHANGES_PAGE, cursor=cursor)
            found += [_to_run_change(change) for change in page.items]
            cursor = page.cursor
            if cursor is None:
                return tuple(reversed(found))

    async def undo(
        self, caller: Caller, run_ids: Sequence[str], change_id: int | None = None, *, preview: bool
    ) -> RunUndo:
        """Undo the changes of the runs, or the one change."""
        actor = Actor(cast("Principal", caller), tool="undo_run")
        runs = () if change_id is not None else run_ids
        result = (await self._drive.undo.undo(actor, change_id=change_id, run_ids=runs, preview=preview)).value
        undone = tuple(_to_run_change(change) for change in result.undone)
        return RunUndo(undone, result.skipped, result.change_id, result.preview)

    async def redo(self, caller: Caller, run_id: str, *, preview: bool) -> RunUndo:
        """Redo the undone changes of a run; `undone` in the result has them."""
        actor = Actor(cast("Principal", caller), tool="redo_run")
        result = (await self._drive.undo.redo(actor, run_id=run_id, preview=preview)).value
        redone = tuple(_to_run_change(change) for change in result.redone)
        return RunUndo(redone, result.skipped, result.change_id, result.preview)

    async def check(self) -> None:
        """Raise if the drive's database can't answer."""
        async with self._drive.database.read() as session:
            await session.execute(select(1))

    async def _id_of(self, caller: Caller, ref: str | None, kind: str) -> str | None:
        if ref is None:
            return None
        item = await self._drive.files.get(Actor(cast("Principal", caller)), ref)
        if item.kind != kind:
            raise InvalidInputError(f"context.{kind}_id names no {kind}.", hint=f"Use the id of a {kind}.")
        return item.id


def _to_run_change(change: Any) -> RunChange:
    return RunChange(
        id=change.id,
        tool=change.tool,
        summary=change.summary,
        item_id=change.item_id,
        action=change.action,
        at=change.at,
        tool_call_id=change.tool_call_id,
        approved_by=change.approved_by,
        approval_id=change.approval_id,
        grant_id=change.grant_id,
        undone_by=change.undone_by,
        messages=change.messages,
        versions=tuple(_version(entry) for entry in change.entries if entry["table"] == VERSIONS),
    )


def _version(entry: dict[str, Any]) -> dict[str, Any]:
    before, after = entry["before"] or {}, entry["after"] or {}
    return {"file_id": entry["id"], "before": before.get("number"), "after": after.get("number")}
