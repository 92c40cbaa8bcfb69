"""The client's end of a session inside this process."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio
from mcp import ClientSession
from mcp.shared.session import RequestResponder
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    ClientResult,
    CreateMessageRequest,
    ErrorData,
    JSONRPCError,
    ServerRequest,
)

from drive_server.mcp.protocol.late_answers import TakesLateAnswers
from drive_server.mcp.protocol.messages import VERSION

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

Question = RequestResponder[ServerRequest, ClientResult]


class TrustingSession(TakesLateAnswers, ClientSession):
    """A client that takes the answers of its own process as they are, and lends its model to several requests at once.

    The SDK's checks each answer against the tool's schema, and that schema itself, at every call: several times the
    cost of the call, for an answer that was built from the model which the schema describes. And it reads nothing
    while its model is at work, be it progress or that nobody wants the answer any more.
    """

    async def _received_request(self, responder: Question) -> None:
        if isinstance(responder.request.root, CreateMessageRequest):
            responder.cancel = partial(_take_back, responder)
            await self._task_group.start(self._lend, responder)
        else:
            await super()._received_request(responder)

    async def _lend(self, responder: Question, *, task_status: "TaskStatus[None]") -> None:
        task_status.started()
        try:
            await super()._received_request(responder)
        except anyio.get_cancelled_exc_class():
            # The responder's scope is over, but lets through what it caught: it would end the session.
            if not responder.cancelled:
                raise
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the drive is gone, and so is its question
        finally:
            self._in_flight.pop(responder.request_id, None)

    async def _receive_loop(self) -> None:
        try:
            await super()._receive_loop()
        finally:
            self._tell_who_waits()

    def _tell_who_waits(self) -> None:
        """Tell that no answer will come. The SDK's tells nobody if it is cancelled: they would wait their time out."""
        closed = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
        for request_id, waiting in self._response_streams.items():
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.WouldBlock):
                waiting.send_nowait(JSONRPCError(jsonrpc=VERSION, id=request_id, error=closed))
        self._response_streams.clear()

    async def _validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """Accept it."""


async def _take_back(question: Question) -> None:
    """End the work on a question that nobody asks any more, and answer nothing (basic/utilities/cancellation).

    The SDK's writes an answer, in the task that reads: while it can't be written nothing is read, and if the other
    side's reader writes at that moment too, both wait for ever. It also calls the question answered, so that an
    answer which is ready just then fails, and the session with it.
    """
    question._cancel_scope.cancel()  # pyright: ignore[reportPrivateUsage] - nothing else ends it without an answer
