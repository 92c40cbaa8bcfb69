"""Every reach into a private member of the MCP SDK, which is pinned exactly because of it."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp import ClientSession
from mcp.server.experimental.request_context import Experimental
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.tools import Tool
from mcp.server.lowlevel import Server
from mcp.server.session import InitializationState, ServerSession
from mcp.shared.message import SessionMessage
from mcp.shared.session import BaseSession, RequestResponder
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    CancelledNotification,
    CancelledNotificationParams,
    ClientResult,
    CreateMessageRequest,
    ElicitRequest,
    ErrorData,
    InitializeRequestParams,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCResponse,
    RequestId,
    ServerNotification,
    ServerRequest,
    ServerResult,
    TaskMetadata,
)

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

WITHDRAWN_WITHIN_SECONDS: Final = 0.5
Question = RequestResponder[ServerRequest, ClientResult]


def next_request_id(session: BaseSession[Any, Any, Any, Any, Any]) -> RequestId:
    """Return the id that the session's next request gets."""
    return session._request_id  # pyright: ignore[reportPrivateUsage] - nothing public gives it


async def cancel_request(session: ServerSession, asked: RequestId, request_id: RequestId | None) -> None:
    """Tell the host, if it listens, that nobody waits for the answer any more; also while the call is cancelled."""
    params = CancelledNotificationParams(requestId=asked, reason="The question is over.")
    notification = ServerNotification(CancelledNotification(params=params))
    with anyio.move_on_after(WITHDRAWN_WITHIN_SECONDS, shield=True):
        try:
            await session.send_notification(notification, request_id)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the host is gone, and so is its question


def write_stream(session: ServerSession) -> Any:
    """Return the stream that the session writes to."""
    return session._write_stream  # pyright: ignore[reportPrivateUsage] - nothing public sends without waiting


def was_cancelled(responder: RequestResponder[Any, Any]) -> bool:
    """Return whether the request is over before its handler has begun."""
    return responder._completed  # pyright: ignore[reportPrivateUsage] - the SDK looks at it in another object, too


def experimental(session: ServerSession, task: TaskMetadata | None) -> Experimental:
    """Return the experimental features of a request's context."""
    client = session.client_params.capabilities if session.client_params else None
    return Experimental(task_metadata=task, _client_capabilities=client, _session=session)


async def handle_notification(server: Server[Any, Any], notification: Any) -> None:
    """Let the server's handler of this kind of notification have it."""
    await server._handle_notification(notification)  # pyright: ignore[reportPrivateUsage] - the SDK's `run` calls it


class SdkServer(FastMCP[Any]):
    """FastMCP over a protocol that is given to it; it leaves the program's logging alone."""

    def __init__(self, name: str, instructions: str, protocol: Server[Any, Any]) -> None:
        self._given = protocol
        with _logging_left_alone():
            super().__init__(name, instructions)

    def tool_named(self, name: str) -> Tool | None:
        """Return the tool of this name, None if there is none."""
        return self._tool_manager.get_tool(name)

    def has_resource(self, uri: str) -> bool:
        """Return whether a resource, or a template that fits, was added under this address."""
        manager = self._resource_manager
        resources = {str(resource.uri) for resource in manager.list_resources()}
        return uri in resources or any(template.matches(uri) is not None for template in manager.list_templates())

    def _setup_handlers(self) -> None:
        self._mcp_server = self._given


@contextmanager
def _logging_left_alone() -> Generator[None]:
    """FastMCP sets up the program's logging unless there is a handler; that is the program's own business."""
    handler = logging.NullHandler()
    logging.root.addHandler(handler)
    try:
        yield
    finally:
        logging.root.removeHandler(handler)


class LateAnswers(BaseSession[Any, Any, Any, Any, Any]):
    """A session that goes on when the answer to one of its requests comes just after its request was given up.

    The SDK's finds the waiting call, lets others run, and only then hands the answer over. If the request was given up
    in between, the stream to it is closed, and the SDK takes that for the end of the session.
    """

    async def _handle_response(self, message: SessionMessage) -> None:
        try:
            await super()._handle_response(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # it was given up; if the connection itself has ended, the next thing that is read says so


class SdkServerSession(LateAnswers, ServerSession):
    """The server's end of a session.

    `requests` takes the place of the SDK's type of all requests. While `takes` is set, each message goes to it in the
    task that reads, and it must not wait: the SDK's way to another task, through another stream, is a good part of the
    cost of a small call.
    """

    def __init__(self, *args: Any, requests: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._receive_request_type: Any = requests
        self.takes: Callable[[Any], None] | None = None

    @property
    def is_ready(self) -> bool:
        """Return whether the client has introduced itself: before that nothing is sent to it."""
        return self._initialization_state is InitializationState.Initialized

    def introduce(self, client: InitializeRequestParams) -> None:
        """Take note of the client's capabilities, where no `initialize` tells them."""
        self._client_params = client

    def discard(self) -> None:
        """Close the streams of a session that never runs."""
        self._incoming_message_stream_writer.close()
        self._incoming_message_stream_reader.close()

    def refusal_of(self, responder: RequestResponder[Any, ServerResult]) -> ErrorData | None:
        """Return the error that answers the request at once, None if it goes on."""
        raise NotImplementedError

    def answer_to_cancelled(self) -> ErrorData:
        """Return the answer that ends a cancelled request's event stream; its client does not wait for it."""
        raise NotImplementedError

    async def _received_request(self, responder: RequestResponder[Any, ServerResult]) -> None:
        if (refusal := self.refusal_of(responder)) is not None:
            with responder:
                await responder.respond(refusal)
            return
        # The SDK forgets a cancellation that comes before the request's handler has begun, and answers with the code 0.
        responder.cancel = partial(self._cancel, responder)
        await super()._received_request(responder)

    async def _cancel(self, responder: RequestResponder[Any, ServerResult]) -> None:
        """End the request as the SDK's own `cancel` does, with another answer."""
        if was_cancelled(responder):
            return
        responder._completed = True  # pyright: ignore[reportPrivateUsage]
        responder._cancel_scope.cancel()  # pyright: ignore[reportPrivateUsage]
        await self._send_response(responder.request_id, self.answer_to_cancelled())

    async def _handle_incoming(self, req: Any) -> None:
        if self.takes is None:
            await super()._handle_incoming(req)
        else:
            self.takes(req)

    async def _send_response(self, request_id: RequestId, response: ServerResult | ErrorData) -> None:
        """Unlike the SDK's, send the structure of a tool's answer as it is: it is JSON already, and may be long."""
        if not isinstance(response, ServerResult) or not isinstance(response.root, CallToolResult):
            await super()._send_response(request_id, response)
            return
        result = written(response)
        message = JSONRPCMessage(JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result))
        await self._write_stream.send(SessionMessage(message))


def written(response: ServerResult) -> dict[str, Any]:
    """Return the result as JSON; the structure of a tool's answer is JSON already."""
    answer = response.root
    if not isinstance(answer, CallToolResult):
        return answer.model_dump(by_alias=True, mode="json", exclude_none=True)
    result = answer.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"structuredContent"})
    if answer.structuredContent is not None:
        result["structuredContent"] = answer.structuredContent
    return result


class ConcurrentSession(LateAnswers, ClientSession):
    """The client's end of a session that answers several questions of its server at once: for a model, for a person.

    The SDK's reads nothing while it answers one, neither progress nor a cancellation.

    It takes results as they are. The SDK's checks each against the tool's schema, and that schema itself, at every
    call. For a drive of this process that is several times the cost of the call; and the pattern of a schema that
    another server made up could keep the event loop busy for ever.
    """

    async def _received_request(self, responder: Question) -> None:
        if isinstance(responder.request.root, CreateMessageRequest | ElicitRequest):
            responder.cancel = partial(_give_up, responder)
            await self._task_group.start(self._complete, responder)
        else:
            await super()._received_request(responder)

    async def _complete(self, responder: Question, *, task_status: "TaskStatus[None]") -> None:
        task_status.started()
        try:
            await super()._received_request(responder)
        except anyio.get_cancelled_exc_class():
            # The responder's scope is over, but lets the error it caught through: it would end the session.
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
            self._end_waiting_calls()

    def _end_waiting_calls(self) -> None:
        """Answer that the connection is closed. The SDK's does not if it is cancelled: calls would wait in vain."""
        closed = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
        for request_id, waiting in self._response_streams.items():
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.WouldBlock):
                waiting.send_nowait(JSONRPCError(jsonrpc="2.0", id=request_id, error=closed))
        self._response_streams.clear()

    async def _validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """Accept it."""


class InProcessSession(ConcurrentSession):
    """The client's end of a session with a drive of this process, whose word about its tools counts."""


async def _give_up(question: Question) -> None:
    """End the work on a cancelled question, and answer nothing (basic/utilities/cancellation).

    The SDK's writes an answer, in the task that reads: while it can't be written nothing is read, and if the other
    side's reader writes at that moment too, both wait for ever. It also calls the question answered, so that an
    answer which is ready just then fails, and the session with it.
    """
    question._cancel_scope.cancel()  # pyright: ignore[reportPrivateUsage] - nothing else ends it without an answer
