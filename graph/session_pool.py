"""Long-lived sessions by key: opened when first needed, reopened when dead, closed when idle.

anyio's cancel scopes demand that one task opens and closes a session: each has a task of its own.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import anyio
from mcp import ClientSession
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification, RequestId

from graph.clock import Clock

K = TypeVar("K", bound=Hashable)
S = TypeVar("S")
WITHDRAWN_WITHIN_SECONDS: Final = 0.5


class NotOpenedError(Exception):
    """The session did not open; its cause is why."""


@dataclass(slots=True, eq=False)
class Pooled(Generic[S]):
    """One open session."""

    session: S
    owner: "asyncio.Task[None]"
    closing: asyncio.Event
    used_at: float
    in_use: int = 0
    retired: bool = False

    @property
    def alive(self) -> bool:
        """False once the session ended by itself, or was given up."""
        return not (self.retired or self.owner.done())


@dataclass(slots=True)
class _Seat(Generic[S]):
    """The place of one key; the lock lets one of those who are `entering` at a time open its session."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    entering: int = 0
    pooled: Pooled[S] | None = None


class SessionPool(Generic[K, S]):
    """Sessions by key. `ended` hears of each one that ended: its key, itself if it had opened, and the error, if any.

    Seconds: `open_seconds` is the longest wait for a session to open, `idle_seconds` how long an unused one stays open.
    """

    def __init__(
        self,
        *,
        open_seconds: float,
        idle_seconds: float,
        clock: Clock,
        ended: Callable[[K, S | None, BaseException | None], None],
    ) -> None:
        self._open_seconds = open_seconds
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._ended = ended
        self._seats: dict[K, _Seat[S]] = {}
        self._owners: dict[asyncio.Task[None], asyncio.Event] = {}
        self._withdrawals: set[asyncio.Task[None]] = set()

    @property
    def open_sessions(self) -> int:
        """Return the number of open sessions."""
        return len(self._owners)

    def current(self, key: K) -> Pooled[S] | None:
        """Return the open session of a key, None if there is none; it counts as used now."""
        seat = self._seats.get(key)
        if seat is None or seat.pooled is None or not seat.pooled.alive:
            return None
        seat.pooled.used_at = self._now()
        return seat.pooled

    @asynccontextmanager
    async def using(
        self, key: K, open_session: Callable[[], AbstractAsyncContextManager[S]]
    ) -> AsyncGenerator[Pooled[S]]:
        """Hold the session of a key open; opens one if there is none. Raises `NotOpenedError`."""
        self.close_idle()
        seat = self._seats.setdefault(key, _Seat())
        seat.entering += 1
        try:
            async with seat.lock:
                if seat.pooled is None or not seat.pooled.alive:
                    _retire(seat)
                    seat.pooled = await self._connect(key, open_session)
                pooled = seat.pooled
                pooled.in_use += 1
        finally:
            seat.entering -= 1
            if seat.pooled is None and not seat.entering:
                self._seats.pop(key, None)
        try:
            yield pooled
        finally:
            pooled.in_use -= 1
            pooled.used_at = self._now()
            if pooled.retired and not pooled.in_use:
                pooled.closing.set()

    def close(self, key: K, *, at_once: bool = False) -> "asyncio.Task[None] | None":
        """Close the session of a key as soon as nobody uses it, or at once; return its task, None if there is none."""
        seat = self._seats.get(key)
        owner = seat.pooled.owner if seat and seat.pooled else None
        if seat and seat.pooled and at_once:
            seat.pooled.closing.set()
        if seat:
            _retire(seat)
        if seat and not seat.entering:
            del self._seats[key]
        return owner

    def is_open(self, key: K) -> bool:
        """Say whether a key has a session that is alive."""
        seat = self._seats.get(key)
        return bool(seat and seat.pooled and seat.pooled.alive)

    def close_idle(self) -> None:
        """Close the sessions that nobody has used for too long."""
        now = self._now()
        for key, seat in list(self._seats.items()):
            pooled = seat.pooled
            if pooled and not pooled.in_use and now - pooled.used_at > self._idle_seconds:
                self.close(key)

    def withdraw(self, session: ClientSession, request_id: RequestId) -> None:
        """Tell the server, in a task of its own, that nobody waits any more; the SDK does not, and work would go on."""
        task = asyncio.create_task(_send_cancellation(session, request_id), context=Context())
        self._withdrawals.add(task)
        task.add_done_callback(self._withdrawals.discard)

    async def aclose(self) -> None:
        """Close every session and wait until each is closed."""
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*self._withdrawals, return_exceptions=True)
        for key in list(self._seats):
            self.close(key)
        for closing in self._owners.values():
            closing.set()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(*self._owners, return_exceptions=True)

    async def _connect(self, key: K, open_session: Callable[[], AbstractAsyncContextManager[S]]) -> Pooled[S]:
        opened: asyncio.Future[S] = asyncio.get_running_loop().create_future()
        closing = asyncio.Event()
        # A context of its own: the session outlives the run that happens to open it.
        owner = asyncio.create_task(_own(open_session, opened, closing), name="mcp-session", context=Context())
        self._owners[owner] = closing
        owner.add_done_callback(lambda task: self._owner_ended(key, task, opened))
        try:
            async with asyncio.timeout(self._open_seconds):
                await asyncio.wait({owner, opened}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError as error:
            owner.cancel()
            raise NotOpenedError("the session did not open in time") from error
        except asyncio.CancelledError:
            owner.cancel()
            raise
        if not opened.done():
            cause = None if owner.cancelled() else owner.exception()
            raise NotOpenedError("the session ended while it was opened") from cause
        return Pooled(opened.result(), owner, closing, self._now())

    def _owner_ended(self, key: K, owner: "asyncio.Task[None]", opened: "asyncio.Future[S]") -> None:
        del self._owners[owner]
        session = opened.result() if opened.done() else None
        self._ended(key, session, None if owner.cancelled() else owner.exception())

    def _now(self) -> float:
        return self._clock().timestamp()


async def _own(
    open_session: Callable[[], AbstractAsyncContextManager[S]], opened: "asyncio.Future[S]", closing: asyncio.Event
) -> None:
    async with open_session() as session:
        opened.set_result(session)
        await closing.wait()


def _retire(seat: _Seat[Any]) -> None:
    if seat.pooled:
        seat.pooled.retired = True
        if not seat.pooled.in_use:
            seat.pooled.closing.set()
    seat.pooled = None


async def _send_cancellation(session: ClientSession, request_id: RequestId) -> None:
    params = CancelledNotificationParams(requestId=request_id, reason="The run is over.")
    with anyio.move_on_after(WITHDRAWN_WITHIN_SECONDS):
        try:
            await session.send_notification(ClientNotification(CancelledNotification(params=params)))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the session is closed, and its work with it
