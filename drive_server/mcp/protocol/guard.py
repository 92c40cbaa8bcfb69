"""The guard of every client from outside, over HTTP and stdio alike: it admits requests or refuses them."""

from collections.abc import Callable
from time import monotonic
from typing import Any, Final

import anyio
from mcp.types import (
    INVALID_REQUEST,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from drive_server.kernel.errors import (
    DriveError,
    InvalidInputError,
    RateLimitError,
    StateConflictError,
    UnavailableError,
)
from drive_server.kernel.messages import Message
from drive_server.kernel.rate_limiter import RateLimiter
from drive_server.kernel.settings import DriveSettings
from drive_server.mcp.calls.call import refused
from drive_server.mcp.protocol.failures import error_data
from drive_server.mcp.protocol.messages import BATCHES_IN, VERSION, as_error
from drive_server.mcp.protocol.revisions import WITH_SESSIONS, stated_revision, unsupported

INITIALIZE: Final = "initialize"
PING: Final = "ping"
CALL: Final = "tools/call"
UNCOUNTED: Final = frozenset({PING, INITIALIZE, "tasks/cancel"})
"""Requests that no limit counts: they are short, and end other calls or show that the server is alive."""
MAX_REQUESTS: Final = 1000
RETRY_SECONDS: Final = 1


class Guard:
    """The limits of one process. `clock` gives seconds."""

    def __init__(self, settings: DriveSettings, clock: Callable[[], float] = monotonic) -> None:
        self.concurrent_calls = settings.concurrent_calls
        limit = settings.calls_per_minute
        reason = Message.of("calls_per_minute", limit=limit)
        self.rates = RateLimiter(limit, reason, {"unit": "calls per minute"}, clock=clock)
        self.is_ending = False

    def admission(self) -> "Admission":
        """Return the admission of one session."""
        return Admission(self)


class Admission:
    """The requests of one session that have no answer yet. `protocol_version`: as agreed on, empty before."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._open: dict[str, str] = {}
        self._calls = 0
        self._introduction: str | None = None
        self.protocol_version = ""
        self._idle = anyio.Event()

    @property
    def is_idle(self) -> bool:
        """Return whether every request has its answer."""
        return not self._open

    @property
    def takes_batches(self) -> bool:
        """Return whether the session's version of the protocol has batches."""
        return self.protocol_version == BATCHES_IN

    @property
    def is_initialized(self) -> bool:
        """Return whether the session is initialized, or about to be."""
        return self._introduction is not None

    async def wait_idle(self) -> None:
        """Return when every request has its answer."""
        while self._open:
            self._idle = anyio.Event()
            await self._idle.wait()

    def admit(self, request: JSONRPCRequest, key: str) -> JSONRPCMessage | None:
        """Admit the request, made with this key, and return None; or return the answer that refuses it."""
        if not self.is_initialized and request.method != INITIALIZE and self._is_of_another_revision(request):
            refused_revision = stated_revision(request.params)
            return _answer(request.id, unsupported(refused_revision, "revision_over_http", WITH_SESSIONS))
        try:
            self._require_order(request)
        except DriveError as error:
            code = error_data(error).code if isinstance(error, UnavailableError) else INVALID_REQUEST
            return _answer(request.id, as_error(code, error))
        try:
            self._require_room(request)
            if request.method != PING:
                self._guard.rates.take(key)
        except RateLimitError as error:
            return over_limit(request, error)
        self._begin(request)
        return None

    @staticmethod
    def _is_of_another_revision(request: JSONRPCRequest) -> bool:
        stated = stated_revision(request.params)
        return stated is not None and stated not in WITH_SESSIONS

    def answered(self, answer: JSONRPCResponse | JSONRPCError) -> None:
        """Take note that a request has its answer."""
        name = str(answer.id)
        method = self._open.pop(name, None)
        if method is not None and method not in UNCOUNTED:
            self._calls -= 1
        if name == self._introduction and method == INITIALIZE:
            self._introduced(answer)
        if not self._open:
            self._idle.set()

    def _introduced(self, answer: JSONRPCResponse | JSONRPCError) -> None:
        if isinstance(answer, JSONRPCError):
            self._introduction = None
        else:
            self.protocol_version = str(answer.result.get("protocolVersion", ""))

    def _begin(self, request: JSONRPCRequest) -> None:
        name = str(request.id)
        self._open[name] = request.method
        if request.method not in UNCOUNTED:
            self._calls += 1
        if request.method == INITIALIZE:
            self._introduction = name

    def _require_order(self, request: JSONRPCRequest) -> None:
        if self._guard.is_ending:
            raise ending()
        if str(request.id) in self._open:
            raise InvalidInputError(
                "A request with this id has no answer yet.", hint="Give each request an id of its own."
            )
        if request.method == INITIALIZE and self._introduction is not None:
            raise StateConflictError("This session is initialized already.", hint="Open another session.")
        if request.method not in {INITIALIZE, PING} and self._introduction is None:
            raise StateConflictError("This session is not initialized yet.", hint="Send `initialize` first.")

    def _require_room(self, request: JSONRPCRequest) -> None:
        limit = self._guard.concurrent_calls
        if request.method not in UNCOUNTED and self._calls >= limit:
            raise too_many_at_once(limit)
        if len(self._open) >= MAX_REQUESTS:
            raise too_many_at_once(MAX_REQUESTS)


def ending() -> UnavailableError:
    """Return the error for a request that comes while the process shuts down."""
    return UnavailableError(Message.of("shutting_down"), details={"retry_after_seconds": RETRY_SECONDS})


def too_many_at_once(limit: int) -> RateLimitError:
    """Return the error for a call beyond the limit of those that may go on at once."""
    return RateLimitError(
        Message.of("calls_at_once", limit=limit),
        details={"limit": limit, "unit": "calls at once", "retry_after_seconds": RETRY_SECONDS},
    )


def over_limit(request: JSONRPCRequest, error: RateLimitError) -> JSONRPCMessage:
    """Return the answer to a request over a limit; to a call it is the tool's own error, so that the model sees it."""
    params: dict[str, Any] = request.params or {}
    # A call that asks for a task expects a task, and has no place for a tool's error.
    if request.method != CALL or "task" in params:
        return _answer(request.id, error_data(error))
    result: CallToolResult = refused(error)
    return JSONRPCMessage(
        JSONRPCResponse(
            jsonrpc=VERSION, id=request.id, result=result.model_dump(mode="json", by_alias=True, exclude_none=True)
        )
    )


def _answer(request_id: RequestId, error: ErrorData) -> JSONRPCMessage:
    return JSONRPCMessage(JSONRPCError(jsonrpc=VERSION, id=request_id, error=error))
