"""The MCP sessions over HTTP: each with its streams, its owner, and an end."""

import logging
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Final

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from starlette.requests import Request

from drive_server.http.streamable_http.event_store import EventLog, Stream
from drive_server.kernel.errors import RateLimitError, UnavailableError
from drive_server.kernel.settings import DriveSettings
from drive_server.mcp.connection import SessionConnection
from drive_server.mcp.lowlevel import DriveProtocol
from drive_server.mcp.protocol.guard import RETRY_SECONDS, Guard
from drive_server.mcp.protocol.messages import Batch, MessageError, as_error, write_failure, write_message

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

logger = logging.getLogger(__name__)

UPDATED: Final = "notifications/resources/updated"
ID_BYTES: Final = 16
MAX_SWEEP_SECONDS: Final = 30.0
RELEASE_SECONDS: Final = 1.0


class HttpSession(SessionConnection):
    """A session of one person. Its messages go into its streams, and wait there for a reader."""

    def __init__(self, protocol: DriveProtocol, guard: Guard, user_id: str, clock: Callable[[], float]) -> None:
        super().__init__(protocol, guard)
        self.id = token_hex(ID_BYTES)
        self.user_id = user_id
        self.log = EventLog()
        self._clock = clock
        self._uses = 0
        self._last_used = clock()

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Keep the session from being idle while this is open."""
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1
            self._last_used = self._clock()

    @property
    def is_busy(self) -> bool:
        """Say whether a connection is open or a call is running."""
        return bool(self._uses) or not self.admission.is_idle

    @property
    def idle_seconds(self) -> float:
        """Return the seconds since the client last sent something or had a call running."""
        return 0.0 if self.is_busy else self._clock() - self._last_used

    async def call(
        self, request: JSONRPCRequest, key: str, http: Request, *, can_resume: bool, is_batched: bool = False
    ) -> Stream | JSONRPCMessage:
        """Pass on a request; return the stream of its answer, or the refusal."""
        if refusal := self.admission.admit(request, key):
            return refusal
        stream = self.log.begin(request.id, is_batched=is_batched)
        metadata = self._metadata(http, stream, can_resume=can_resume)
        if not await self.forward(SessionMessage(JSONRPCMessage(request), metadata)):
            self.end_streams()
        return stream

    async def receive_batch(self, batch: Batch, key: str, http: Request) -> list[bytes]:
        """Pass on the messages of a batch; return the answers to those that get one."""
        streams: list[Stream] = []
        answers: list[bytes] = []
        for entry in batch.entries:
            if isinstance(entry, MessageError):
                answers.append(write_failure(entry.request_id, entry.error))
            elif not isinstance(entry.root, JSONRPCRequest):
                await self.receive(entry, key)
            else:
                begun = await self.call(entry.root, key, http, can_resume=False, is_batched=True)
                if isinstance(begun, Stream):
                    streams.append(begun)
                else:
                    answers.append(write_message(begun))
        for stream in streams:
            answers.append(await stream.answer())
            self.log.forget(stream)
        return answers

    def end_streams(self) -> None:
        """Answer all open requests with an error, and detach all readers."""
        closed = UnavailableError(
            "The session was closed before this had its answer.",
            hint="Open a session, and check whether it was done; with an idempotency key it can be repeated safely.",
        )
        for request_id, stream in self.log.unanswered():
            stream.add(write_failure(request_id, as_error(CONNECTION_CLOSED, closed)), is_last=True)
            self.log.end(request_id)
        self.log.own.detach()

    async def _deliver(self, message: SessionMessage) -> None:
        root = message.message.root
        if isinstance(root, JSONRPCResponse | JSONRPCError):
            self._answer(root.id, write_message(message.message))
            return
        stream = self._stream_for(message)
        method = root.method
        if stream is self.log.own and method == UPDATED:
            await stream.wait_for_reader()
        can_be_dropped = isinstance(root, JSONRPCNotification) and method != UPDATED
        stream.add(write_message(message.message), can_be_dropped=can_be_dropped)

    def _answer(self, request_id: RequestId, data: bytes) -> None:
        stream = self.log.of_request(request_id)
        if stream is not None:
            stream.add(data, is_last=True)
            self.log.end(request_id)

    def _stream_for(self, message: SessionMessage) -> Stream:
        metadata = message.metadata
        about = metadata.related_request_id if isinstance(metadata, ServerMessageMetadata) else None
        stream = self.log.of_request(about) if about is not None else None
        return self.log.own if stream is None or stream.is_batched else stream

    def _metadata(self, http: Request, stream: Stream, *, can_resume: bool) -> ServerMessageMetadata:
        if not can_resume:
            return ServerMessageMetadata(request_context=http)

        return ServerMessageMetadata(
            request_context=http,
            close_sse_stream=partial(_release, stream),
            close_standalone_sse_stream=partial(_release, self.log.own),
        )


async def _release(stream: Stream) -> None:
    """Close the connection that reads once it has all earlier events; its client will resume (SEP-1699)."""
    with anyio.move_on_after(RELEASE_SECONDS):
        await stream.taken()
    stream.detach()


class SessionTable:
    """The open sessions: a limited number for each person, none idle for too long. `clock` gives seconds."""

    def __init__(
        self, protocol: DriveProtocol, guard: Guard, settings: DriveSettings, clock: Callable[[], float] = monotonic
    ) -> None:
        self._protocol = protocol
        self._guard = guard
        self._most = settings.sessions_per_user
        self._idle_seconds = settings.session_idle_seconds
        self._clock = clock
        self._sessions: dict[str, HttpSession] = {}
        self._group: TaskGroup

    def __len__(self) -> int:
        return len(self._sessions)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Let sessions live for as long as this is open."""
        async with anyio.create_task_group() as self._group:
            self._group.start_soon(self._sweep)
            try:
                yield
            finally:
                self.close_all()
                self._group.cancel_scope.cancel()

    def open(self, user_id: str) -> HttpSession:
        """Begin a session. If the person has too many, the one that was idle longest ends: few clients end theirs.

        Raises `RateLimitError` if each of them has an open connection or a running call.
        """
        self.close_idle()
        mine = [session for session in self._sessions.values() if session.user_id == user_id]
        if len(mine) >= self._most:
            self._make_room(mine)
        session = HttpSession(self._protocol, self._guard, user_id, self._clock)
        self._sessions[session.id] = session
        self._group.start_soon(self._run_session, session)
        return session

    def find(self, session_id: str, user_id: str) -> HttpSession | None:
        """Return the person's session of this id, None if there is none."""
        session = self._sessions.get(session_id)
        if session is None or session.user_id != user_id:
            return None
        if session.idle_seconds >= self._idle_seconds:
            self.close(session)
            return None
        return session

    def close(self, session: HttpSession) -> None:
        """End a session."""
        self._sessions.pop(session.id, None)
        session.close()

    def close_idle(self) -> None:
        """End the sessions that were idle for too long."""
        for session in list(self._sessions.values()):
            if session.idle_seconds >= self._idle_seconds:
                self.close(session)

    def close_all(self) -> None:
        """End all sessions."""
        for session in list(self._sessions.values()):
            self.close(session)

    async def wind_down(self, seconds: float) -> None:
        """Wait `seconds` for running calls, then close all sessions; other streams end at once."""
        sessions = list(self._sessions.values())
        for session in sessions:
            session.log.own.detach()
            await session.cancel_questions()
        with anyio.move_on_after(seconds):
            for session in sessions:
                await session.admission.wait_idle()
        self.close_all()

    async def _run_session(self, session: HttpSession) -> None:
        try:
            await session.run()
        except Exception:
            logger.exception("A session ended early.")
        finally:
            self.close(session)
            session.end_streams()

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(min(self._idle_seconds / 4, MAX_SWEEP_SECONDS))
            self.close_idle()

    def _make_room(self, mine: Sequence[HttpSession]) -> None:
        free = [session for session in mine if not session.is_busy]
        if not free:
            raise RateLimitError(
                f"You have {self._most} sessions at work, and may have no more.",
                hint="End one (DELETE), or close a stream or wait for a call of one.",
                details={"limit": self._most, "unit": "sessions", "retry_after_seconds": RETRY_SECONDS},
            )
        self.close(max(free, key=lambda session: session.idle_seconds))
