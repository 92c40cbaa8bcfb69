"""The open sessions over any transport, and the notifications that each gets."""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import anyio
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.session import RequestResponder
from mcp.types import (
    ErrorData,
    LoggingLevel,
    RequestId,
    ResourceUpdatedNotification,
    ResourceUpdatedNotificationParams,
    ServerNotification,
    ServerResult,
)
from pydantic import AnyUrl
from starlette.requests import Request

from drive_server.kernel.context import current_principal
from drive_server.mcp.protocol.failures import call_cancelled
from drive_server.mcp.protocol.requests import Refusal, Requests
from drive_server.mcp.sdk import SdkServerSession

if TYPE_CHECKING:
    from drive_server.kernel.access import Scope
    from drive_server.kernel.settings import Tier

LEVELS: Final[tuple[LoggingLevel, ...]] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Least severe first (RFC 5424)."""
FIRST_LEVEL: Final[LoggingLevel] = "info"
MAX_WAITING = 1000


@dataclass(frozen=True, slots=True)
class Subscription:
    """A resource that is watched: the item behind it, None for a plain resource, and the last change before."""

    node_id: str | None = None
    since: int = 0


class DriveSession(SdkServerSession):
    """One connection. `opened_by` is the principal of a session inside this process, `request` the last over HTTP.

    `key_id` and `listed_by`, scopes and tier, are those of its last caller; None before anybody called. `person` is who
    is behind it, by id and by email, once a change was told. `asked_tools` are those that its host asked for, in this
    order; its list has them if it `keeps_tools`.
    """

    keeps_tools: ClassVar[bool] = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, requests=Requests, **kwargs)
        self.opened_by = current_principal.get()
        self.request: Request | None = None
        self.key_id: str | None = None
        self.listed_by: tuple[frozenset[Scope], Tier | None] | None = None
        self.person: frozenset[str] = frozenset()
        self.asked_tools: dict[str, None] = {}
        self.log_level = FIRST_LEVEL
        self.subscriptions: dict[str, Subscription] = {}
        self._waiting: deque[tuple[str, ServerNotification]] = deque()
        self._woken = anyio.Event()

    def post(self, about: str, notification: ServerNotification) -> None:
        """Send the notification as soon as the client reads. Each is sent, as long as the client keeps up."""
        if len(self._waiting) >= MAX_WAITING:
            each_once = dict(self._waiting)
            self._waiting = deque(each_once.items())
            if about in each_once or len(each_once) >= MAX_WAITING:
                return
        self._waiting.append((about, notification))
        self._woken.set()

    def withdraw(self, about: str) -> None:
        """Forget the posted notifications about this that are not sent yet."""
        self._waiting = deque(said for said in self._waiting if said[0] != about)

    async def send_posted(self) -> None:
        """Send posted notifications, in their order, until cancelled or the client is gone."""
        try:
            while True:
                while self._waiting:
                    _, notification = self._waiting.popleft()
                    await self.send_notification(notification)
                self._woken = anyio.Event()
                await self._woken.wait()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._waiting.clear()

    async def send_log_message(
        self, level: LoggingLevel, data: Any, logger: str | None = None, related_request_id: RequestId | None = None
    ) -> None:
        """Send a message of the log, unless it is less severe than the client's level (logging/setLevel)."""
        if LEVELS.index(level) >= LEVELS.index(self.log_level):
            await super().send_log_message(level, data, logger, related_request_id)

    def refusal_of(self, responder: RequestResponder[Any, ServerResult]) -> ErrorData | None:
        """Note the HTTP request behind it, and return its fault, None if there is none."""
        metadata = responder.message_metadata
        if isinstance(metadata, ServerMessageMetadata) and isinstance(metadata.request_context, Request):
            self.request = metadata.request_context
        request: Any = responder.request
        return request.error if isinstance(request, Refusal) else None

    def answer_to_cancelled(self) -> ErrorData:
        """Return the answer that ends a cancelled request's event stream."""
        return call_cancelled()


class Sessions:
    """All sessions that are open now."""

    def __init__(self) -> None:
        self._open: dict[DriveSession, None] = {}

    def __iter__(self) -> Iterator[DriveSession]:
        """Go through those that can be sent something, as they are at this moment."""
        return iter([session for session in self._open if session.is_ready])

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, session: object) -> bool:
        return session in self._open

    @contextmanager
    def opened(self, session: DriveSession) -> Generator[None]:
        """Count the session among the open ones while this is open."""
        self._open[session] = None
        try:
            yield
        finally:
            del self._open[session]


def updated(uri: str) -> ServerNotification:
    """Return the notification that the resource has changed."""
    return ServerNotification(ResourceUpdatedNotification(params=ResourceUpdatedNotificationParams(uri=AnyUrl(uri))))
