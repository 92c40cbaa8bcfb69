"""The SDK's low-level server with true capabilities, a list of its sessions, and a code for each error."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions, request_ctx
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.shared.context import RequestContext
from mcp.shared.exceptions import McpError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.session import RequestResponder
from mcp.types import (
    CallToolRequest,
    ErrorData,
    GetTaskRequest,
    Icon,
    RequestId,
    ResourcesCapability,
    ServerCapabilities,
    ServerResult,
    ToolsCapability,
)

from drive_server.kernel.telemetry.conventions import MCP_METHOD, TOOL_NAME
from drive_server.kernel.telemetry.traces import SpanKind, span
from drive_server.mcp.protocol.failures import error_data, public_error
from drive_server.mcp.protocol.requests import unknown_method
from drive_server.mcp.protocol.sessions import DriveSession, Sessions
from drive_server.mcp.sdk import experimental, handle_notification, was_cancelled
from drive_server.mcp.tasks.requests import CAPABILITY

HandlerContext = RequestContext[ServerSession, Any, Any]
Admission = Callable[[HandlerContext, Any], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def _admit_all(context: HandlerContext, request: Any) -> AsyncGenerator[None]:
    del context, request
    yield


class DriveProtocol(Server[Any, Any]):
    """Runs sessions of `DriveSession` and answers their requests.

    `sessions` are the open ones. `admission` surrounds each request, with its context: a limiter stands there, and
    refuses by raising `McpError` or one of the drive's errors.
    """

    def __init__(self, name: str, version: str, instructions: str, icon: Icon) -> None:
        super().__init__(name, version, instructions, icons=[icon])
        self.sessions = Sessions()
        self.admission: Admission = _admit_all

    def get_capabilities(
        self, notification_options: NotificationOptions, experimental_capabilities: dict[str, dict[str, Any]]
    ) -> ServerCapabilities:
        """Announce the methods that have handlers. The SDK's would deny subscriptions and changes of the lists."""
        capabilities = super().get_capabilities(notification_options, experimental_capabilities)
        if capabilities.tools is not None:
            capabilities.tools = ToolsCapability(listChanged=True)
        if capabilities.resources is not None:
            capabilities.resources = ResourcesCapability(subscribe=True, listChanged=True)
        if GetTaskRequest in self.request_handlers:
            capabilities.tasks = CAPABILITY
        return capabilities

    async def run(
        self,
        read_stream: Any,
        write_stream: Any,
        initialization_options: InitializationOptions,
        raise_exceptions: bool = False,
        stateless: bool = False,
    ) -> None:
        """Serve one connection until its streams end; calls that are still going on are cancelled then."""
        del raise_exceptions
        async with AsyncExitStack() as stack:
            lifespan = await stack.enter_async_context(self.lifespan(self))
            session = DriveSession(read_stream, write_stream, initialization_options, stateless=stateless)
            await stack.enter_async_context(session)
            stack.enter_context(self.sessions.opened(session))
            async with anyio.create_task_group() as calls:

                def take(message: Any) -> None:
                    calls.start_soon(self._take, message, session, lifespan)

                calls.start_soon(session.send_posted)
                session.takes = take
                try:
                    async for message in session.incoming_messages:  # earlier ones could be taken; then the end
                        take(message)
                finally:
                    session.takes = None
                    calls.cancel_scope.cancel()

    async def answer_alone(
        self, request: Any, session: DriveSession, request_id: RequestId, http: Any
    ) -> ServerResult | ErrorData:
        """Answer a request that comes by itself, not as a message of a session that runs (MCP 2026-07-28)."""
        meta = request.params.meta if request.params else None
        async with self.lifespan(self) as lifespan:
            context = HandlerContext(request_id, meta, session, lifespan, experimental(session, None), request=http)
            return await self._response(context, request)

    async def _take(self, message: Any, session: DriveSession, lifespan: Any) -> None:
        """Unlike the SDK's, collect no warnings: their filters are the program's, not one message's."""
        if isinstance(message, RequestResponder):
            with message:
                if was_cancelled(message):
                    return
                await self._answer(message, _context_of(message, session, lifespan))
        elif not isinstance(message, Exception):
            await handle_notification(self, message.root)

    async def _answer(self, message: Any, context: HandlerContext) -> None:
        """Unlike the SDK's, answer an unforeseen error with a code, and without its text."""
        try:
            response = await self._response(context, message.request.root)
        except anyio.get_cancelled_exc_class():
            if message.cancelled:  # by its client, who was answered then
                return
            raise
        if was_cancelled(message):  # too late to stop it: all of it was done, and nobody waits for the answer
            return
        try:
            await message.respond(response)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the client went away before its answer

    async def _response(self, context: HandlerContext, request: Any) -> ServerResult | ErrorData:
        handler = self.request_handlers.get(type(request))
        if handler is None:
            return unknown_method()
        token = request_ctx.set(context)
        try:
            name, attributes = _span_of(request)
            sent = (context.meta and context.meta.model_extra) or {}
            with span(name, attributes, SpanKind.SERVER, sent):
                async with self.admission(context, request):
                    return await handler(request)
        except McpError as error:
            return error.error
        except Exception as error:  # noqa: BLE001 - the last seam: it is logged, and answered without its text
            return error_data(public_error(error, request.method))
        finally:
            request_ctx.reset(token)


def _span_of(request: Any) -> tuple[str, dict[str, str]]:
    """Return the name and the attributes of a request's span; a call's has the name of its tool."""
    attributes = {MCP_METHOD: str(request.method)}
    if isinstance(request, CallToolRequest):
        attributes[TOOL_NAME] = request.params.name
        return f"{request.method} {request.params.name}", attributes
    return str(request.method), attributes


def _context_of(message: Any, session: DriveSession, lifespan: Any) -> HandlerContext:
    found = message.message_metadata
    metadata = found if isinstance(found, ServerMessageMetadata) else ServerMessageMetadata()
    return RequestContext(
        message.request_id,
        message.request_meta,
        session,
        lifespan,
        experimental(session, getattr(message.request.root.params, "task", None)),
        request=metadata.request_context,
        close_sse_stream=metadata.close_sse_stream,
        close_standalone_sse_stream=metadata.close_standalone_sse_stream,
    )
