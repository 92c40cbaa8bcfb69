"""The pool of MCP sessions, one long-lived session per person and set of scopes; every tool call goes through it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Final, Protocol, cast

import anyio
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, McpError
from mcp.client.session import SamplingFnT
from mcp.shared.session import ProgressFnT
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    ReadResourceResult,
    TextContent,
)
from pydantic import AnyUrl

from drive_server.connect import (
    ALL_SCOPES,
    META_APPROVAL_ID,
    META_APPROVED_BY,
    META_APPROVED_KEY,
    META_CHANGE_ID,
    META_DRY_RUN,
    META_EFFECT,
    META_FOREIGN,
    META_GRANT_ID,
    META_IDEMPOTENCY_KEY,
    META_IF_MATCH,
    META_OF_OTHERS,
    META_REPLAYED,
    META_RUN_ID,
    META_TIME_ZONE,
    META_TOOL,
    META_TOOL_CALL_ID,
    Drive,
    DriveSettings,
    InProcessSession,
    UnauthenticatedError,
    in_process_session,
    next_request_id,
    open_drive,
    read_settings,
)
from drive_server.kernel.telemetry.conventions import EXECUTE_TOOL, OPERATION, RUN_ID, TOOL_CALL_ID, TOOL_NAME
from drive_server.kernel.telemetry.traces import span, traceparent
from graph.clock import Clock, utc_now
from graph.context import RunContext
from graph.errors import DriveUnavailableError
from graph.policy.tools import ToolFacts, read_facts
from graph.session_pool import NotOpenedError, Pooled, SessionPool
from graph.settings import AgentSettings

__all__ = [
    "ALL_SCOPES",
    "META_APPROVAL_ID",
    "META_APPROVED_BY",
    "META_APPROVED_KEY",
    "META_CHANGE_ID",
    "META_DRY_RUN",
    "META_EFFECT",
    "META_FOREIGN",
    "META_GRANT_ID",
    "META_IDEMPOTENCY_KEY",
    "META_IF_MATCH",
    "META_OF_OTHERS",
    "META_REPLAYED",
    "META_RUN_ID",
    "META_TIME_ZONE",
    "META_TOOL_CALL_ID",
    "ConnectionPool",
    "DriveSettings",
    "LocalDrive",
    "SessionOpener",
    "Toolbox",
    "drive_sessions",
    "read_settings",
]

logger = logging.getLogger(__name__)

SessionOpener = Callable[[RunContext], AbstractAsyncContextManager[ClientSession]]
OnProgress = ProgressFnT

ATTEMPTS: Final = 2
AWAY: Final = frozenset({"answer_lost", "contents_away", "database_away"})
"""The codes of a drive whose database or object store can't be reached. Calls that change something have a key: one
whose answer was lost is done once."""
PAUSES_SECONDS: Final = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)
"""Before each further call of a drive that can't reach them: half a minute, as long as a server takes to fail over."""
OPEN_SECONDS: Final = 30.0
REQUEST_TIMEOUT: Final = 408
"""The code that the SDK gives an answer that did not come in time."""


class Sender(Protocol):
    """Sends one call to the person's session, whichever that is by then."""

    async def __call__(
        self, name: str, args: Mapping[str, Any], meta: Mapping[str, Any], on_progress: OnProgress | None
    ) -> CallToolResult:
        """Return the answer. Raises `DriveUnavailableError` if none comes."""
        ...


class ResourceReader(Protocol):
    """Reads a resource in the person's session, whichever that is by then."""

    async def __call__(self, uri: str) -> ReadResourceResult | None:
        """Return the resource; None if the drive refuses it, or can't be reached."""
        ...


async def no_resource(uri: str) -> ReadResourceResult | None:
    """Read nothing: a toolbox without a session has no resources."""
    del uri


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Toolbox:
    """The tools that a person's session offers, by name, and the policy's `facts` of each.

    It outlives the session: calls go to the one that is alive.

    Models see the adapters' tools. Calls don't go through them: they lack `_meta`, lose half of
    the result, and take longer (`benchmarks/agent/tool_call.py`).
    """

    tools: Mapping[str, BaseTool]
    send: Sender
    facts: Mapping[str, ToolFacts] = field(default_factory=dict[str, ToolFacts])
    read_resource: ResourceReader = no_resource

    def facts_of(self, name: str) -> ToolFacts:
        """Return the facts of a tool; of one that is not in the box there are none."""
        return self.facts.get(name) or ToolFacts(name)

    async def call(
        self, name: str, args: Mapping[str, Any], *, meta: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> CallToolResult:
        """Call a tool that is in the box. Raises `DriveUnavailableError` if no answer comes."""
        attributes = {OPERATION: EXECUTE_TOOL, TOOL_NAME: name, **_ids_in(meta)}
        with span(f"{EXECUTE_TOOL} {name}", attributes):
            return await self.send(name, args, {**meta, **traceparent()}, on_progress)


def _ids_in(meta: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids of the call and of its run, as attributes of a span."""
    named = {TOOL_CALL_ID: meta.get(META_TOOL_CALL_ID), RUN_ID: meta.get(META_RUN_ID)}
    return {key: str(value) for key, value in named.items() if value}


_Session = tuple[ClientSession, Toolbox]


class ConnectionPool:
    """Sessions by (user id, scopes): opened when first needed, reopened when dead, closed when idle.

    Seconds: `call_seconds` is the longest wait for one call, `long_call_seconds` for one that reads many files,
    `idle_seconds` how long an unused session stays open.
    """

    def __init__(
        self,
        open_session: SessionOpener,
        *,
        call_seconds: float = 60,
        long_call_seconds: float = 1800,
        idle_seconds: float = 600,
        clock: Clock = utc_now,
    ) -> None:
        self._open_session = open_session
        self._timeout = timedelta(seconds=call_seconds)
        self._long_timeout = timedelta(seconds=long_call_seconds)
        self._sessions = SessionPool[tuple[str, frozenset[str]], _Session](
            open_seconds=OPEN_SECONDS, idle_seconds=idle_seconds, clock=clock, ended=_log_end
        )

    @classmethod
    def of(cls, settings: AgentSettings, open_session: SessionOpener, clock: Clock = utc_now) -> "ConnectionPool":
        """Return a pool with the times that the settings give."""
        return cls(
            open_session,
            call_seconds=settings.tool_timeout_seconds,
            long_call_seconds=settings.long_tool_timeout_seconds,
            idle_seconds=settings.session_idle_seconds,
            clock=clock,
        )

    @property
    def open_sessions(self) -> int:
        """Return the number of open sessions."""
        return self._sessions.open_sessions

    async def toolbox(self, who: RunContext) -> Toolbox:
        """Return the person's tools; opens the session if need be. Raises `DriveUnavailableError`."""
        if current := self._sessions.current(_key(who)):
            return current.session[1]
        async with self._using(who) as pooled:
            return pooled.session[1]

    async def aclose(self) -> None:
        """Close every session and wait until each is closed."""
        await self._sessions.aclose()

    @asynccontextmanager
    async def _using(self, who: RunContext) -> AsyncGenerator[Pooled[_Session]]:
        try:
            async with self._sessions.using(_key(who), partial(self._open, who)) as pooled:
                yield pooled
        except NotOpenedError as error:
            raise DriveUnavailableError(str(error)) from error

    @asynccontextmanager
    async def _open(self, who: RunContext) -> AsyncGenerator[_Session]:
        async with self._open_session(who) as session:
            tools = await load_mcp_tools(session)
            # Only a drive in this process speaks for itself: another server could call anything harmless.
            facts = [_facts(tool, own=isinstance(session, InProcessSession)) for tool in tools]
            named = {tool.name: tool for tool in tools}
            by_name = {tool.name: tool for tool in facts}
            yield session, Toolbox(named, partial(self._call, who), by_name, partial(self._read, who))

    async def _call(
        self,
        who: RunContext,
        name: str,
        args: Mapping[str, Any],
        meta: Mapping[str, Any],
        on_progress: OnProgress | None,
    ) -> CallToolResult:
        """Call, again and again while the drive can't reach its storage: a changing call has its idempotency key."""
        for pause in PAUSES_SECONDS:
            result = await self._call_once(who, name, args, meta, on_progress)
            if not (result.isError and (result.structuredContent or {}).get("code") in AWAY):
                return result
            await asyncio.sleep(pause)
        return await self._call_once(who, name, args, meta, on_progress)

    async def _call_once(
        self,
        who: RunContext,
        name: str,
        args: Mapping[str, Any],
        meta: Mapping[str, Any],
        on_progress: OnProgress | None,
    ) -> CallToolResult:
        """Call, once more on a new session if the old one is dead."""
        for attempt in range(1, ATTEMPTS + 1):
            async with self._using(who) as pooled:
                try:
                    return await self._answer(pooled.session, name, args, meta, on_progress)
                except (McpError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
                    if refusal := _refusal(error):
                        return refusal
                    pooled.retired = pooled.retired or _is_lost(error)
                    if attempt == ATTEMPTS or not _is_closed(error):
                        raise DriveUnavailableError(f"{name}: {error!r}") from error
        raise AssertionError

    async def _read(self, who: RunContext, uri: str) -> ReadResourceResult | None:
        try:
            async with self._using(who) as pooled, asyncio.timeout(self._timeout.total_seconds()):
                return await pooled.session[0].read_resource(AnyUrl(uri))
        except (DriveUnavailableError, McpError, TimeoutError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return None

    async def _answer(
        self,
        opened: _Session,
        name: str,
        args: Mapping[str, Any],
        meta: Mapping[str, Any],
        on_progress: OnProgress | None,
    ) -> CallToolResult:
        # A long call's work goes on unless the server hears that nobody waits for it any more.
        session, toolbox = opened
        is_long = toolbox.facts_of(name).is_long
        request_id = next_request_id(session)
        timeout = self._long_timeout if is_long else self._timeout
        try:
            return await session.call_tool(name, dict(args), timeout, on_progress, meta=dict(meta))
        except (asyncio.CancelledError, McpError) as error:
            if is_long and not (isinstance(error, McpError) and error.error.code != REQUEST_TIMEOUT):
                self._sessions.withdraw(session, request_id)
            raise


def _key(who: RunContext) -> tuple[str, frozenset[str]]:
    return who.user_id, frozenset(who.scopes)


def _facts(tool: BaseTool, *, own: bool) -> ToolFacts:
    stated = tool.metadata or {}
    return read_facts(tool.name, stated, stated.get("_meta", {}).get(META_TOOL) if own else None)


def _log_end(_key: object, _session: object, error: BaseException | None) -> None:
    if error:
        logger.warning("An MCP session ended with an error.", exc_info=error)


def _is_closed(error: Exception) -> bool:
    return not isinstance(error, McpError) or error.error.code == CONNECTION_CLOSED


def _is_lost(error: Exception) -> bool:
    """Say whether the session is of no more use: closed, or silent for the whole time that it was given."""
    return _is_closed(error) or (isinstance(error, McpError) and error.error.code == REQUEST_TIMEOUT)


def _refusal(error: Exception) -> CallToolResult | None:
    """Return as a result the server's refusal by an error of the protocol, such as a cursor that it did not give."""
    data = error.error.data if isinstance(error, McpError) else None
    if not isinstance(data, dict) or "code" not in data:
        return None
    details = cast("dict[str, Any]", data)
    text = " ".join(part for part in (f"{details['code']}: {details.get('message', '')}", details.get("hint")) if part)
    return CallToolResult(content=[TextContent(type="text", text=text)], structuredContent=details, isError=True)


def drive_sessions(drive: Drive, lent: SamplingFnT | None = None) -> SessionOpener:
    """Return the opener of a person's session with a drive in this process; `lent` is the model that it may use."""

    @asynccontextmanager
    async def open_session(who: RunContext) -> AsyncGenerator[ClientSession]:
        principal = await drive.identity.principal_for(who.user_id, who.scopes)
        async with in_process_session(drive, principal, sampling=lent) as session:
            yield session

    return open_session


class LocalDrive:
    """The drive of this process for hosts that have no composition root of ours: `langgraph dev`.

    It is opened when the first session needs it, by a task that keeps it until the event loop ends. Without a login
    every session is the local user's, also if a run names another.
    """

    def __init__(self, settings: DriveSettings, lent: SamplingFnT | None = None, *, has_login: bool = False) -> None:
        self._settings = settings
        self._lent = lent
        self._has_login = has_login
        self._opened: asyncio.Future[Drive] | None = None
        self._owner: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open_session(self, who: RunContext) -> AsyncGenerator[ClientSession]:
        """Open a session of `who`, or of the local user with their scopes."""
        drive = await self._drive()
        if not self._has_login:
            user, _ = await drive.identity.ensure_local_user()
            who = replace(who, user_id=user.id)
        async with drive_sessions(drive, self._lent)(who) as session:
            yield session

    async def holder(self, secret: str) -> RunContext | None:
        """Return whose key or token it is, and its scopes; None if it is unknown, revoked or expired."""
        drive = await self._drive()
        try:
            principal = await drive.identity.authenticate(secret)
        except UnauthenticatedError:
            return None
        return RunContext(principal.user_id, principal.email, tuple(sorted(principal.scopes)))

    async def _drive(self) -> Drive:
        if self._opened is None or self._owner is None or self._owner.done():
            self._opened = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._own(self._opened), name="local-drive", context=Context())
        return await asyncio.shield(self._opened)

    async def _own(self, opened: "asyncio.Future[Drive]") -> None:
        try:
            async with open_drive(self._settings) as drive:
                opened.set_result(drive)
                await asyncio.Event().wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)
