"""Requests of MCP 2026-07-28 over HTTP: each is answered by itself, in JSON or in a stream of its own."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
)
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Send

from drive_server.drive import Drive
from drive_server.http.streamable_http.event_store import Stream
from drive_server.http.streamable_http.open_requests import OpenRequests
from drive_server.http.streamable_http.routing_headers import VERSION_HEADER, require_headers
from drive_server.http.streamable_http.scope_challenge import scope_challenge
from drive_server.http.streamable_http.stream import (
    EVENT_STREAM,
    FIRST_WAIT_SECONDS,
    JSON_TYPE,
    PING,
    body_part,
    send_part,
    until_disconnected,
)
from drive_server.kernel.errors import DriveError, InvalidInputError, RateLimitError
from drive_server.kernel.http.event_streams import HEARTBEAT_SECONDS, OpenStream, OpenStreams
from drive_server.kernel.messages import Message
from drive_server.mcp.calls.authentication import DriveToken
from drive_server.mcp.protocol.failures import error_data
from drive_server.mcp.protocol.guard import INITIALIZE, Guard, ending, over_limit
from drive_server.mcp.protocol.messages import VERSION, as_error, write_failure, write_message
from drive_server.mcp.protocol.revisions import REVISION, WITH_SESSIONS, stated_revision
from drive_server.mcp.stateless.envelope import (
    MISSING_CAPABILITY,
    Envelope,
    RequestRefusedError,
    refused,
)
from drive_server.mcp.stateless.listening import ended, filter_of, listening
from drive_server.mcp.stateless.requests import LISTEN, StatelessServer

Root = Any
SUBSCRIBE: Final = "resources/subscribe"


class AnswerStream(Stream):
    """The stream of one answer. `status` is that of an answer that goes out as JSON."""

    status = 200


Work = Callable[[AnswerStream], Coroutine[Any, Any, None]]


def is_stateless(request: Request, root: Root = None) -> bool:
    """Return whether the request is one of this revision, or of one that nobody here knows, and not of a session."""
    stated = stated_revision(root.params) if isinstance(root, JSONRPCRequest) else None
    if stated is None and isinstance(root, JSONRPCRequest) and root.method == INITIALIZE:
        return False
    if request.headers.get(VERSION_HEADER) == REVISION:
        return True
    return stated is not None and stated not in WITH_SESSIONS


@dataclass(frozen=True, slots=True)
class StatelessRequests:
    """Answers them, within the limits of this process."""

    server: StatelessServer
    guard: Guard
    drive: Drive
    streams: OpenStreams
    open: OpenRequests

    async def answer(self, root: Root, request: Request, token: DriveToken, send: Send) -> None:
        """Answer one message, which came with this token."""
        if isinstance(root, JSONRPCNotification):
            await _respond(request, send, Response(status_code=202))  # none of them means anything over HTTP
            return
        try:
            if not isinstance(root, JSONRPCRequest):
                raise refused(400, INVALID_REQUEST, InvalidInputError(Message.of("only_requests")))
            await self._answer_request(root, request, token, send)
        except RequestRefusedError as refusal:
            request_id = root.id if isinstance(root, JSONRPCRequest) else None
            await _respond(request, send, _json(write_failure(request_id, refusal.error), refusal.status))

    async def _answer_request(self, root: JSONRPCRequest, request: Request, token: DriveToken, send: Send) -> None:
        require_headers(request.headers, root)
        envelope = self.server.read(root)
        if self.guard.is_ending:
            await _respond(request, send, _unready(503, ending(), root))
            return
        if challenge := scope_challenge(self.drive.settings, token.principal, self._scope_needed(root)):
            await _respond(request, send, challenge)
            return
        if root.method == LISTEN:
            await self._listen(root, envelope, request, token, send)
        else:
            await self._call(root, envelope, request, token, send)

    def _scope_needed(self, root: JSONRPCRequest) -> Any:
        wishes = (root.params or {}).get("notifications")
        subscribes = root.method == LISTEN and isinstance(wishes, dict) and wishes.get("resourceSubscriptions")
        return self.drive.server.scope_needed(SUBSCRIBE if subscribes else root.method, root.params)

    async def _call(
        self, root: JSONRPCRequest, envelope: Envelope, request: Request, token: DriveToken, send: Send
    ) -> None:
        questions = self.server.questions(root, token.principal)

        async def work(stream: AnswerStream, scope: anyio.CancelScope) -> None:
            def tell(message: JSONRPCMessage) -> None:
                if not stream.is_complete:  # a task goes on after its answer, and has nothing to say here any more
                    stream.add(write_message(message), can_be_dropped=True)

            with scope:
                answer = await self.server.answer(root, envelope, questions, request, tell)
                stream.status = _status_of(answer)
                stream.add(write_message(answer), is_last=True)
            if scope.cancelled_caught:
                stream.add(write_message(_given_up(root)), is_last=True)

        try:
            with self.open.called(root.method, _key_of(token)) as scope:
                await answer_with(partial(work, scope=scope), request.receive, send)
        except RateLimitError as error:
            refusal = self.server.as_shown(root, over_limit(root, error))
            await _respond(request, send, _json(write_message(refusal), 200))

    async def _listen(
        self, root: JSONRPCRequest, envelope: Envelope, request: Request, token: DriveToken, send: Send
    ) -> None:
        filter_of(root, envelope)  # refused, it has an answer of its own

        async def work(stream: AnswerStream, held: OpenStream) -> None:
            def tell(message: JSONRPCMessage) -> None:
                if not stream.is_complete:
                    stream.add(write_message(message))

            caller = token.principal
            async with listening(self.server, root, envelope, caller, request, tell, stream.taken):
                with held.waiting():
                    await anyio.sleep_forever()
            stream.add(write_message(ended(self.server, root)), is_last=True)

        user_id = token.principal.user_id
        try:
            with self.open.listened(user_id, _key_of(token)), self.streams.opened(request, user_id, None) as held:
                await answer_with(partial(work, held=held), request.receive, send)
        except RateLimitError as error:
            await _respond(request, send, _unready(429, error, root))


async def answer_with(work: Work, receive: Receive, send: Send) -> None:
    """Send the messages that the work puts into a stream, until it is complete; a client that goes away ends the work.

    An answer that comes soon and alone goes out as JSON.
    """
    stream = AnswerStream("")
    stream.attach()
    async with anyio.create_task_group() as group:
        group.start_soon(until_disconnected, receive, group.cancel_scope)
        group.start_soon(work, stream)
        with anyio.move_on_after(FIRST_WAIT_SECONDS):
            await _news(stream)
        if stream.sole is not None:
            await _send_json(stream, send)
        else:
            await _follow(stream, send)
        group.cancel_scope.cancel()


async def _follow(stream: Stream, send: Send) -> None:
    await send(_head(EVENT_STREAM, (b"x-accel-buffering", b"no")))
    while True:
        is_last = stream.is_complete
        data = b"".join(b"event: message\ndata: %b\n\n" % event.data for event in stream.take())
        if not await send_part(send, data or PING, more=not is_last) or is_last:
            return
        with anyio.move_on_after(HEARTBEAT_SECONDS):
            await _news(stream)


async def _news(stream: Stream) -> None:
    while not stream.unread and not stream.is_complete:
        await stream.wait()


async def _send_json(stream: AnswerStream, send: Send) -> None:
    data = b"".join(event.data for event in stream.take())
    await send({**_head(JSON_TYPE, (b"content-length", str(len(data)).encode())), "status": stream.status})
    await send(body_part(data, more=False))


def _head(media_type: str, header: tuple[bytes, bytes]) -> dict[str, Any]:
    headers = [(b"content-type", media_type.encode()), (b"cache-control", b"no-store, no-transform"), header]
    return {"type": "http.response.start", "status": 200, "headers": headers}


async def _respond(request: Request, send: Send, response: Response) -> None:
    await response(request.scope, request.receive, send)


def _key_of(token: DriveToken) -> str:
    """Return the key to count calls by; tokens of an issuer change, so they count for their person."""
    return token.principal.key_id or token.principal.user_id


def _status_of(answer: JSONRPCMessage) -> int:
    """Return the status of an answer as JSON: errors of the protocol itself have one of their own."""
    return 400 if isinstance(answer.root, JSONRPCError) and answer.root.error.code == MISSING_CAPABILITY else 200


def _given_up(root: JSONRPCRequest) -> JSONRPCMessage:
    """Return the answer to a call that went on for too long while the process shut down."""
    error = as_error(CONNECTION_CLOSED, ending())
    return JSONRPCMessage(JSONRPCError(jsonrpc=VERSION, id=root.id, error=error))


def _unready(status: int, error: DriveError, root: JSONRPCRequest) -> Response:
    body = write_failure(root.id, as_error(error_data(error).code, error))
    return Response(body, status, {"Retry-After": str(error.details["retry_after_seconds"])}, media_type=JSON_TYPE)


def _json(body: bytes, status: int) -> Response:
    return Response(body, status, media_type=JSON_TYPE)
