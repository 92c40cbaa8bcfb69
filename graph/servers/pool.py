"""The pool of connections to people's own MCP servers, one session per person and server."""

import asyncio
import logging
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
from mcp import ClientSession, McpError
from mcp.client.session import SamplingFnT
from mcp.shared.session import ProgressFnT
from mcp.types import (
    CallToolResult,
    GetPromptResult,
    Prompt,
    ReadResourceResult,
    RequestId,
    Resource,
    Tool,
)
from pydantic import AnyUrl

from drive_server.kernel.rate_limiter import SlidingWindow
from graph.clock import Clock, utc_now
from graph.servers.addresses import AddressGuard, Lookup
from graph.servers.allowances import sampling_for
from graph.servers.connections.calls import CallRequest, is_timeout, refused_call, watched
from graph.servers.connections.connection import ServerConnection, ServerDetails, unless_over
from graph.servers.connections.in_flight import CallInFlight, ProgressReports
from graph.servers.connections.stdio import AllowedCommands, folder_of
from graph.servers.connections.transports import Means, open_server
from graph.servers.definition import ServerDefinition
from graph.servers.elicitation.held import HeldCalls
from graph.servers.elicitation.questions import Ask
from graph.servers.faults import LostError, reason_of, was_not_sent
from graph.servers.oauth.credentials import CredentialStore
from graph.servers.oauth.sign_in import SignIns
from graph.servers.place import ServerSlot
from graph.servers.reasons import Reason, ServerUnavailableError, timed_out
from graph.servers.status import DISCONNECTED, Key, ServerStatus, StatusBoard, StatusWatch
from graph.session_pool import NotOpenedError, Pooled, SessionPool
from graph.settings import AgentSettings

logger = logging.getLogger(__name__)

T = TypeVar("T")
OnProgress = ProgressFnT

OPEN_SECONDS: Final = 30.0
SAMPLES_PER_MINUTE: Final = 10
"""Questions to the model, of a server that may ask it."""
IDLE_SECONDS: Final = 1800.0
LIST_SECONDS: Final = 30.0
PING_SECONDS: Final = 3.0
REAP_SECONDS: Final = 60.0
NO_VERSION: Final = sys.maxsize
"""The version of a deleted server: a turn that began before uses it no more."""
FAILURES: Final = (McpError, LostError, OSError, ValueError, anyio.ClosedResourceError, anyio.BrokenResourceError)
"""The SDK's errors, or `unless_over`; a time-out is an `OSError`, an answer that is not valid a `ValueError`."""


class _NotSentError(Exception):
    """The session is of no more use, and the call certainly had no effect."""

    def __init__(self, unavailable: ServerUnavailableError) -> None:
        super().__init__(unavailable.detail)
        self.unavailable = unavailable


class ServerPool:
    """Sessions by (user id, server id): opened when first needed, reopened when dead, closed when idle.

    `folder` has the working directories of servers that are programs; without one they are temporary. `commands` may
    be added to while the pool is in use. `credentials` has those of people who sign in to their servers; `sampling`
    asks the model for servers that may.
    """

    def __init__(
        self,
        settings: AgentSettings,
        *,
        folder: Path | None = None,
        clock: Clock = utc_now,
        lookup: Lookup | None = None,
        credentials: CredentialStore | None = None,
        sampling: SamplingFnT | None = None,
    ) -> None:
        self.held = HeldCalls()
        self.commands = AllowedCommands(settings.stdio_commands.split(","))
        self._guard = AddressGuard(settings.mcp_private_hosts.split(","), lookup)
        self._sign_ins = SignIns(credentials, self._guard, clock) if credentials else None
        self._sampling = sampling
        self._settings = settings
        self._folder = folder
        self._temporary: Path | None = None
        self._clock = clock
        self._places: dict[Key, ServerSlot] = {}
        self._board = StatusBoard()
        self._rate = SlidingWindow(settings.mcp_calls_per_minute, clock=self._now)
        self._samples = SlidingWindow(SAMPLES_PER_MINUTE, clock=self._now)
        self._sessions = SessionPool[Key, ServerConnection](
            open_seconds=OPEN_SECONDS, idle_seconds=IDLE_SECONDS, clock=clock, ended=self._ended
        )
        self._reaper: asyncio.TimerHandle | None = None

    @property
    def sign_ins(self) -> SignIns:
        """Return the sign-ins; only a pool with a store for them has any."""
        assert self._sign_ins  # noqa: S101 - the service's has
        return self._sign_ins

    @property
    def open_sessions(self) -> int:
        """Return the number of open sessions."""
        return self._sessions.open_sessions

    async def tools(self, definition: ServerDefinition, *, wait_seconds: float | None = None) -> Sequence[Tool]:
        """Return the server's tools, at most 5 minutes old. Raises `ServerUnavailableError`.

        After `wait_seconds` the caller waits no longer, while the connection goes on being opened.
        """
        async with self._using(definition, wait_seconds) as pooled:
            return await self._ask(definition, pooled, pooled.session.tools(self._now()))

    async def call(
        self,
        definition: ServerDefinition,
        tool: str,
        args: Mapping[str, Any],
        *,
        meta: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        ask: Ask | None = None,
    ) -> CallToolResult:
        """Return the answer of a tool, an error of the protocol as one. Raises `ServerUnavailableError` if none comes.

        A call that may have been carried out is never made again. `ask` puts the server's questions to the person
        meanwhile; without it the server hears no. Raises `UrlsRequiredError` if they have to open addresses first.
        """
        self._count(definition)
        request = CallRequest(tool, args, meta, ProgressReports(on_progress) if on_progress else None, ask)
        with suppress(_NotSentError):
            return await self._call_once(definition, request)
        try:
            return await self._call_once(definition, request)
        except _NotSentError as error:
            raise error.unavailable from error

    async def details(self, definition: ServerDefinition) -> ServerDetails:
        """Connect now, also after failures, and return the server's details. Raises `ServerUnavailableError`."""
        async with self._using(definition, even_after_failures=True) as pooled:
            return await self._ask(definition, pooled, pooled.session.details(self._now()))

    async def resources(self, definition: ServerDefinition) -> Sequence[Resource]:
        """Return the resources that a server offers. Raises `ServerUnavailableError`."""
        async with self._using(definition) as pooled:
            return await self._ask(definition, pooled, pooled.session.resources())

    async def prompts(self, definition: ServerDefinition) -> Sequence[Prompt]:
        """Return the prompts that a server offers. Raises `ServerUnavailableError`."""
        async with self._using(definition) as pooled:
            return await self._ask(definition, pooled, pooled.session.prompts())

    async def prompt(self, definition: ServerDefinition, name: str, args: Mapping[str, str]) -> GetPromptResult:
        """Return the messages of a prompt. Raises `ServerUnavailableError`, also if the server refuses it."""
        async with self._using(definition) as pooled:
            return await self._ask(definition, pooled, pooled.session.session.get_prompt(name, dict(args)))

    async def resource(self, definition: ServerDefinition, uri: str) -> ReadResourceResult:
        """Return a resource. Raises `ServerUnavailableError`, also if the server refuses it."""
        try:
            address = AnyUrl(uri)
        except ValueError as error:
            raise ServerUnavailableError(definition.name, Reason("refused")) from error
        async with self._using(definition) as pooled:
            return await self._ask(definition, pooled, pooled.session.session.read_resource(address))

    def status(self, user_id: str, server_id: str) -> ServerStatus:
        """Return the state of a person's connection."""
        return self._board.get((user_id, server_id))

    def watch(self, user_id: str) -> AsyncGenerator[tuple[str, ServerStatus]]:
        """Yield (server id, status): those that are not simply closed, then each change, until the caller stops."""
        return self._board.watch(user_id)

    def watching(self, user_id: str) -> AbstractContextManager[StatusWatch]:
        """Watch the same; see `StatusWatch`."""
        return self._board.watching(user_id)

    def end_watches(self) -> None:
        """End all watches, so that the service can shut down."""
        self._board.end_watches()

    async def close(self, user_id: str, server_id: str) -> None:
        """Close a connection and forget its failures: the server was changed, switched off or deleted."""
        key = user_id, server_id
        place = self._places.setdefault(key, ServerSlot())
        place.succeeded()
        if opening := place.opening:
            opening.cancel()
            await asyncio.wait({opening})
        if owner := self._sessions.close(key, at_once=True):
            await asyncio.wait({owner})
        self._board.set(key, DISCONNECTED)

    async def remove(self, user_id: str, server_id: str) -> None:
        """Close a connection for good, and delete the working directory of its program."""
        self._places.setdefault((user_id, server_id), ServerSlot()).version = NO_VERSION
        await self.close(user_id, server_id)
        if root := self._folder or self._temporary:
            await asyncio.to_thread(shutil.rmtree, folder_of(root, user_id, server_id), ignore_errors=True)

    async def aclose(self) -> None:
        """Close every session, and wait until each is closed."""
        if self._reaper:
            self._reaper.cancel()
        await self.held.aclose()
        openings = {place.opening for place in self._places.values() if place.opening}
        for opening in openings:
            opening.cancel()
        await asyncio.gather(*openings, return_exceptions=True)
        await self._sessions.aclose()
        if self._sign_ins:
            await self._sign_ins.aclose()
        if self._temporary:
            await asyncio.to_thread(shutil.rmtree, self._temporary, ignore_errors=True)

    @asynccontextmanager
    async def _using(
        self, definition: ServerDefinition, wait_seconds: float | None = None, *, even_after_failures: bool = False
    ) -> AsyncGenerator[Pooled[ServerConnection]]:
        """Hold the session open. Raises `ServerUnavailableError` if there is none and none can be opened."""
        await self._ready(definition, wait_seconds, even_after_failures=even_after_failures)
        try:
            async with self._sessions.using(_key(definition), partial(self._open, definition)) as pooled:
                if pooled.session.version != definition.version:
                    raise ServerUnavailableError(definition.name, Reason("changed"))
                yield pooled
        except NotOpenedError as error:
            raise ServerUnavailableError(definition.name, self._not_opened(definition, error)) from error

    async def _ready(
        self, definition: ServerDefinition, wait_seconds: float | None, *, even_after_failures: bool
    ) -> None:
        """Wait until there is a session; all callers wait for the same attempt, which goes on without them."""
        key = _key(definition)
        place = self._places.setdefault(key, ServerSlot(definition.version))
        self._check_version(definition, place)
        place.host = definition.host
        if self._sessions.is_open(key):
            return
        if place.opening is None:
            reason = None if even_after_failures else place.backoff(self._now())
            if reason:
                raise ServerUnavailableError(definition.name, reason)
            place.opening = asyncio.create_task(self._connect(definition, place), context=Context())
        opening = place.opening
        done, _ = await asyncio.wait({opening}, timeout=wait_seconds)
        if not done:
            raise ServerUnavailableError(definition.name, timed_out(wait_seconds or 0))
        if reason := Reason("changed") if opening.cancelled() else opening.result():
            raise ServerUnavailableError(definition.name, reason)

    def _check_version(self, definition: ServerDefinition, place: ServerSlot) -> None:
        """Close the session of an older definition. Raises `ServerUnavailableError` if this is the older one."""
        if definition.version < place.version:
            raise ServerUnavailableError(definition.name, Reason("changed"))
        if definition.version > place.version:
            if place.opening:
                place.opening.cancel()
            self._sessions.close(_key(definition))
            place.version, place.opening = definition.version, None
            place.succeeded()

    async def _connect(self, definition: ServerDefinition, place: ServerSlot) -> Reason | None:
        """Open the session; return the reason if it can't be."""
        try:
            async with self._sessions.using(_key(definition), partial(self._open, definition)):
                return None
        except NotOpenedError as error:
            return self._not_opened(definition, error)
        finally:
            if place.version == definition.version:
                place.opening = None

    @asynccontextmanager
    async def _open(self, definition: ServerDefinition) -> AsyncGenerator[ServerConnection]:
        key = _key(definition)
        self._board.set(key, ServerStatus("connecting"))
        connection = ServerConnection(definition.version, self._settings.mcp_tools_per_server)
        async with open_server(
            definition,
            await self._means(definition),
            logging_callback=connection.in_flight.log,
            message_handler=connection.hear,
            elicitation_callback=connection.in_flight.elicit,
        ) as opened:
            connection.open(opened.session, opened.introduction)
            self._places.setdefault(key, ServerSlot(definition.version)).newest = connection
            self._board.set(key, ServerStatus("connected"))
            self._reap_later()
            yield connection

    async def _means(self, definition: ServerDefinition) -> Means:
        if self._folder is None and self._temporary is None:
            self._temporary = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="drive-agent-servers-"))
        folder = self._folder or self._temporary
        assert folder  # noqa: S101 - it is one of them
        tokens = self._sign_ins.tokens if self._sign_ins else None
        sampling = sampling_for(definition, self._sampling, self._samples)
        return Means(self._guard, self.commands, folder, self._settings.mcp_result_bytes, tokens, sampling)

    def _not_opened(self, definition: ServerDefinition, error: NotOpenedError) -> Reason:
        reason = _logged(reason_of(error.__cause__, definition.host, OPEN_SECONDS), error)
        if place := self._places.get(_key(definition)):
            place.failed(reason, self._now())
            self._board.set(_key(definition), ServerStatus("error", reason))
        return reason

    def _ended(self, key: Key, connection: ServerConnection | None, error: BaseException | None) -> None:
        """Note the end of a connection that was open; that of one which did not open is noted by who wanted it.

        One that was replaced says nothing of the newer one, which may have opened just now.
        """
        place = self._places.get(key)
        if place is None or place.newest is not connection:
            return
        place.newest = None
        if self._board.get(key).status != "connected":
            return
        if error is None:
            self._board.set(key, DISCONNECTED)
            return
        reason = _logged(reason_of(error, place.host, OPEN_SECONDS), error)
        place.broke(reason, self._now())
        self._board.set(key, ServerStatus("error", reason))

    async def _ask(
        self, definition: ServerDefinition, pooled: Pooled[ServerConnection], work: Coroutine[Any, Any, T]
    ) -> T:
        """Return the server's answer. Raises `ServerUnavailableError`."""
        try:
            async with asyncio.timeout(LIST_SECONDS):
                answer = await unless_over(work, pooled.owner)
        except FAILURES as error:
            if isinstance(error, TimeoutError):
                self._give_up(definition, pooled, LIST_SECONDS)
            raise self._unavailable(definition, error, LIST_SECONDS) from error
        self._succeeded(definition)
        return answer

    def _count(self, definition: ServerDefinition) -> None:
        key = "\0".join(_key(definition))
        if seconds := self._rate.wait_seconds(key):
            params = {"limit": self._settings.mcp_calls_per_minute, "seconds": seconds}
            raise ServerUnavailableError(definition.name, Reason("busy", params))
        self._rate.count(key)

    async def _call_once(self, definition: ServerDefinition, request: CallRequest) -> CallToolResult:
        async with self._using(definition) as pooled:
            session, call = pooled.session.session, CallInFlight(definition.timeout, request.reports, request.ask)
            sent: list[RequestId] = []
            try:
                with pooled.session.in_flight.making(call):
                    async with call.time():
                        work = request.send(session, sent)
                        if definition.type == "streamableHttp":
                            work = watched(work, session)
                        answer = await unless_over(work, pooled.owner)
            except asyncio.CancelledError:
                self._withdraw(session, sent)
                raise
            except FAILURES as error:
                return await self._failed_call(definition, pooled, error, sent)
            self._succeeded(definition)
            return answer

    async def _failed_call(
        self,
        definition: ServerDefinition,
        pooled: Pooled[ServerConnection],
        error: Exception,
        sent: Sequence[RequestId],
    ) -> CallToolResult:
        """Return the server's refusal as a result for the model. Raises `ServerUnavailableError`."""
        if was_not_sent(error, sent[0] if sent else None):
            pooled.retired = True
            raise _NotSentError(self._unavailable(definition, error, definition.timeout)) from error
        if is_timeout(error):
            self._withdraw(pooled.session.session, sent)
            if not await _answers(pooled):
                self._give_up(definition, pooled, definition.timeout)
        elif isinstance(error, McpError):
            return refused_call(error.error)
        reason = reason_of(error, definition.host, definition.timeout)
        raise ServerUnavailableError(definition.name, reason, outcome_unknown=True) from error

    def _withdraw(self, session: ClientSession, sent: Sequence[RequestId]) -> None:
        if sent:
            self._sessions.withdraw(session, sent[0])

    def _give_up(self, definition: ServerDefinition, pooled: Pooled[ServerConnection], seconds: float) -> None:
        """Use a session no more that is silent."""
        pooled.retired = True
        reason = timed_out(seconds)
        if place := self._places.get(_key(definition)):
            place.broke(reason, self._now())
        self._board.set(_key(definition), ServerStatus("error", reason))

    def _succeeded(self, definition: ServerDefinition) -> None:
        if place := self._places.get(_key(definition)):
            place.succeeded()

    def _unavailable(self, definition: ServerDefinition, error: Exception, seconds: float) -> ServerUnavailableError:
        return ServerUnavailableError(definition.name, reason_of(error, definition.host, seconds))

    def _reap_later(self) -> None:
        """Close idle sessions from time to time, while there are any."""
        if self._reaper is None:
            self._reaper = asyncio.get_running_loop().call_later(REAP_SECONDS, self._reap)

    def _reap(self) -> None:
        self._reaper = None
        self._sessions.close_idle()
        if self._sessions.open_sessions:
            self._reap_later()

    def _now(self) -> float:
        return self._clock().timestamp()


def _key(definition: ServerDefinition) -> Key:
    return definition.user_id, definition.id


def _logged(reason: Reason, error: BaseException) -> Reason:
    """Log an error that no reason stands for."""
    if reason.code == "internal":
        logger.warning("A connection to an MCP server failed.", exc_info=error)
    return reason


async def _answers(pooled: Pooled[ServerConnection]) -> bool:
    """Say whether the server is alive: a call that takes too long does not end the others of its session."""
    try:
        async with asyncio.timeout(PING_SECONDS):
            await unless_over(pooled.session.session.send_ping(), pooled.owner)
    except McpError:
        return True
    except FAILURES:
        return False
    return True
