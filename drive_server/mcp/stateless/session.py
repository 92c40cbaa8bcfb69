"""The session of one request: it sends only messages of this request, and asks by ending it."""

from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import McpError
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    CreateMessageRequest,
    ElicitRequest,
    ElicitResult,
    JSONRPCMessage,
    ListRootsRequest,
    LoggingLevel,
    RequestId,
    ServerNotification,
)
from starlette.requests import Request

from drive_server.kernel.errors import StateConflictError
from drive_server.kernel.messages import Message
from drive_server.mcp.calls.questions import AsksInResults, Question
from drive_server.mcp.protocol.messages import as_error
from drive_server.mcp.protocol.sessions import LEVELS, DriveSession
from drive_server.mcp.stateless.envelope import Envelope, lacking
from drive_server.mcp.stateless.questions import CallQuestions, InputRequest

Sink = Callable[[JSONRPCMessage], None]
"""Takes the messages before the answer, at once."""
Room = Callable[[], Awaitable[None]]
"""Returns when the client has taken all messages so far."""


NEEDED: Final[Mapping[type[Any], str]] = {
    ElicitRequest: "elicitation",
    CreateMessageRequest: "sampling",
    ListRootsRequest: "roots",
}
"""The capability that each kind of request for input needs."""


class Outbox:
    """The stream that the session writes to."""

    def __init__(self, sink: Sink, room: Room | None) -> None:
        self._sink = sink
        self._room = room

    async def send(self, message: SessionMessage) -> None:
        """Pass on a message, once there is room."""
        if self._room is not None:
            await self._room()
        self._sink(message.message)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Part of the stream: it has nothing to close."""
        del kind, error, trace


class RequestSession(DriveSession, AsksInResults):
    """Stands for a session, for one request. `questions` is None where nobody is asked."""

    keeps_tools = False

    def __init__(
        self,
        options: InitializationOptions,
        envelope: Envelope,
        http: Request,
        sink: Sink,
        questions: CallQuestions | None = None,
        room: Room | None = None,
    ) -> None:
        super().__init__(None, Outbox(sink, room), options, stateless=True)  # it never runs, and so reads no stream
        self.introduce(envelope.client)
        self.request = http
        self._announced = envelope.announced
        self._level = envelope.log_level
        self._questions = questions

    @property
    def asked(self) -> dict[str, Any] | None:
        """The questions to be answered before the call is made again, as a result has them; None if there are none."""
        return self._questions.asked if self._questions else None

    def post(self, about: str, notification: ServerNotification) -> None:
        """Drop it: notifications that belong to no request are for those who listen."""

    async def answer_to(self, question: Question, form: dict[str, Any]) -> tuple[ElicitResult, Question]:
        """Return the person's answer; see `AsksInResults`."""
        if self._questions is None:
            raise _no_requests()
        return await self._questions.answer_to(question, form)

    async def inputs(self, wanted: Mapping[str, InputRequest]) -> dict[str, Any]:
        """Return the client's answers to these; for tools and prompts that were added the way FastMCP has it.

        The call ends here until the answers are there, and begins anew then: change nothing before. Raises `McpError`
        if the client does not announce that it can answer them.
        """
        needed = {NEEDED[type(request)]: {} for request in wanted.values()}
        if not self._announced.issuperset(needed):
            raise McpError(lacking("input_not_announced", needed))
        if self._questions is None:
            raise _no_requests()
        return await self._questions.inputs(wanted)

    async def send_log_message(
        self, level: LoggingLevel, data: Any, logger: str | None = None, related_request_id: RequestId | None = None
    ) -> None:
        """Send a message of the log if the request wants any of this level."""
        if self._level is not None and LEVELS.index(level) >= LEVELS.index(self._level):
            await super().send_log_message(level, data, logger, related_request_id)

    async def send_request(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise `McpError`: a server has no requests in this revision."""
        del args, kwargs
        raise _no_requests()


def _no_requests() -> McpError:
    return McpError(as_error(INTERNAL_ERROR, StateConflictError(Message.of("no_requests_to_client"))))
