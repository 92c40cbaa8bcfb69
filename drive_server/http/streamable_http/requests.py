"""The authenticated requests of MCP's Streamable HTTP (MCP 2025-11-25, basic/transports)."""

import logging
from dataclasses import dataclass
from typing import Final

from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import DEFAULT_NEGOTIATED_VERSION, INVALID_REQUEST, JSONRPCMessage, JSONRPCRequest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from drive_server.drive import Drive
from drive_server.http.headers.compression import Compressed
from drive_server.http.streamable_http.event_store import Stream
from drive_server.http.streamable_http.scope_challenge import scope_challenge
from drive_server.http.streamable_http.sessions import HttpSession, SessionTable
from drive_server.http.streamable_http.stateless import StatelessRequests, is_stateless
from drive_server.http.streamable_http.stream import EVENT_STREAM, JSON_TYPE, EventStreamResponse
from drive_server.kernel.errors import DriveError, InvalidInputError, NotFoundError, TooLargeError, UnauthenticatedError
from drive_server.kernel.http.event_streams import OpenStreams
from drive_server.kernel.http.problem import CODES, problem, problem_of
from drive_server.kernel.messages import Message
from drive_server.mcp.calls.authentication import DriveToken
from drive_server.mcp.protocol.failures import error_data
from drive_server.mcp.protocol.guard import INITIALIZE, Guard, ending
from drive_server.mcp.protocol.messages import (
    Batch,
    MessageError,
    as_error,
    read_messages,
    write_batch,
    write_failure,
    write_message,
)
from drive_server.mcp.protocol.revisions import REVISION

logger = logging.getLogger(__name__)

SESSION_HEADER: Final = "mcp-session-id"
VERSION_HEADER: Final = "mcp-protocol-version"
LAST_EVENT_HEADER: Final = "last-event-id"
RESUMABLE_SINCE: Final = "2025-11-25"
METHODS: Final = "GET, POST, DELETE"
TOOLS_LIST: Final = "tools/list"


class RefusalError(Exception):
    """A request that is answered without the session: `response` says why."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


@dataclass(frozen=True, slots=True)
class McpRequests:
    """Answers requests, with the sessions and limits of this process."""

    sessions: SessionTable
    guard: Guard
    drive: Drive
    streams: OpenStreams
    stateless: StatelessRequests

    async def answer(self, request: Request, token: DriveToken, send: Send) -> None:
        """Answer one request, made with this token."""
        kinds = {"POST": self._post, "GET": self._get, "DELETE": self._delete}
        try:
            answer = kinds.get(request.method, _other_method)
            if request.method != "POST" and is_stateless(request):
                answer = _only_post
            await answer(request, token, send)
        except RefusalError as refusal:
            await refusal.response(request.scope, request.receive, send)
        except ClientDisconnect:
            return

    async def _post(self, request: Request, token: DriveToken, send: Send) -> None:
        _require_types(request, JSON_TYPE, EVENT_STREAM)
        message = await self._message(request, token)
        if isinstance(message, Batch):
            await self._answer_batch(message, request, token, send)
            return
        root = message.root
        if is_stateless(request, root):
            await self.stateless.answer(root, request, token, send)
            return
        if isinstance(root, JSONRPCRequest):
            self._require_running(root)
            needed = self.drive.server.scope_needed(root.method, root.params)
            if challenge := scope_challenge(self.drive.settings, token.principal, needed):
                raise RefusalError(challenge)
            if root.method == INITIALIZE and SESSION_HEADER not in request.headers:
                await self._open(request, root, token, send)
                return
        session = self._session(request, token)
        with session.in_use():
            if isinstance(root, JSONRPCRequest):
                await self._call(session, request, root, token, send)
                return
            await session.receive(message, _key_of(token))
        await _respond(request, send, Response(status_code=202))

    async def _answer_batch(self, batch: Batch, request: Request, token: DriveToken, send: Send) -> None:
        session = self._session(request, token)
        with session.in_use():
            answers = await session.receive_batch(batch, _key_of(token), request)
        body = Response(write_batch(answers), media_type=JSON_TYPE) if answers else Response(status_code=202)
        await _respond(request, send, body)

    async def _open(self, request: Request, root: JSONRPCRequest, token: DriveToken, send: Send) -> None:
        try:
            self.guard.rates.check(_key_of(token))
            session = self.sessions.open(token.principal.user_id)
        except DriveError as error:
            raise _refusal(error.status, error, root) from error
        try:
            with session.in_use():
                await self._call(session, request, root, token, send)
        finally:
            if not session.admission.is_initialized:
                self.sessions.close(session)

    async def _call(
        self, session: HttpSession, request: Request, root: JSONRPCRequest, token: DriveToken, send: Send
    ) -> None:
        can_resume = _version_of(request, root) >= RESUMABLE_SINCE
        answer = await session.call(root, _key_of(token), request, can_resume=can_resume)
        if isinstance(answer, Stream):
            response = EventStreamResponse(session.log, answer, session.id, is_primed=can_resume, can_be_json=True)

            async def app(scope: Scope, receive: Receive, send: Send) -> None:
                del scope
                await response.send_all(receive, send)

            await (Compressed(app) if root.method == TOOLS_LIST else app)(request.scope, request.receive, send)
        else:
            # With 200: a client's session must not end because one of its requests was refused.
            await _respond(request, send, Response(write_message(answer), media_type=JSON_TYPE))

    async def _get(self, request: Request, token: DriveToken, send: Send) -> None:
        _require_types(request, EVENT_STREAM)
        session = self._session(request, token)
        stream, after = session.log.own, None
        if last := request.headers.get(LAST_EVENT_HEADER):
            stream, after = _place_of(session, last)
        elif stream.has_reader:
            raise _refusal(409, InvalidInputError("This session has such a stream already.", hint="Read that one."))
        elif self.guard.is_ending:
            raise _refusal(503, ending())

        async def allowed() -> bool:
            return await self._is_still_valid(token)

        is_primed = _version_of(request) >= RESUMABLE_SINCE
        with session.in_use(), self.streams.opened(request, session.user_id, None) as held:
            response = EventStreamResponse(
                session.log, stream, session.id, is_primed=is_primed, held=held, allowed=allowed
            )
            await response.send_all(request.receive, send, after)

    async def _delete(self, request: Request, token: DriveToken, send: Send) -> None:
        self.sessions.close(self._session(request, token))
        await _respond(request, send, Response(status_code=204))

    async def _is_still_valid(self, token: DriveToken) -> bool:
        """Say whether the key that opened a stream is still valid: it may have been revoked."""
        try:
            principal = await self.drive.identity.authenticate_program(token.token)
        except UnauthenticatedError:
            return False
        return principal.user_id == token.principal.user_id

    async def _message(self, request: Request, token: DriveToken) -> JSONRPCMessage | Batch:
        body = await self._body(request)
        session = self.sessions.find(request.headers.get(SESSION_HEADER, ""), token.principal.user_id)
        try:
            return read_messages(body, takes_batches=session is not None and session.admission.takes_batches)
        except MessageError as error:
            body = write_failure(error.request_id, error.error)
            raise RefusalError(Response(body, 400, media_type=JSON_TYPE)) from error

    async def _body(self, request: Request) -> bytearray:
        body, most = bytearray(), self.drive.settings.max_request_bytes
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise RefusalError(
                    problem_of(
                        TooLargeError(
                            "This message is too large.", hint=f"The limit is {most} bytes.", details={"limit": most}
                        )
                    )
                )
        return body

    def _session(self, request: Request, token: DriveToken) -> HttpSession:
        session_id = request.headers.get(SESSION_HEADER)
        if not session_id:
            raise _refusal(400, InvalidInputError(Message.of("session_not_named")))
        session = self.sessions.find(session_id, token.principal.user_id)
        if session is None:
            raise _refusal(404, NotFoundError(Message.of("no_mcp_session")))
        if _version_of(request) not in SUPPORTED_PROTOCOL_VERSIONS:
            supported = ", ".join(SUPPORTED_PROTOCOL_VERSIONS)
            raise _refusal(
                400, InvalidInputError("This version of the protocol is not known.", hint=f"Use one of {supported}.")
            )
        return session

    def _require_running(self, root: JSONRPCRequest) -> None:
        if self.guard.is_ending:
            raise _refusal(503, ending(), root)


async def _other_method(request: Request, token: DriveToken, send: Send) -> None:
    del token
    refusal = problem(405, CODES[405], "MCP has no such method.", f"Use {METHODS}.", headers={"Allow": METHODS})
    await _respond(request, send, refusal)


async def _only_post(request: Request, token: DriveToken, send: Send) -> None:
    del token
    hint = f"Revision {REVISION} has no sessions and no streams of their own."
    await _respond(request, send, problem(405, CODES[405], "Use POST.", hint, headers={"Allow": "POST"}))


async def _respond(request: Request, send: Send, response: Response) -> None:
    await response(request.scope, request.receive, send)


def _place_of(session: HttpSession, event_id: str) -> tuple[Stream, int]:
    found = session.log.find(event_id)
    if found is None:
        raise _refusal(
            400,
            InvalidInputError("This session has no such event, or none any more.", hint="Go on without Last-Event-ID."),
        )
    return found


def _require_types(request: Request, *types: str) -> None:
    """Require that the client accepts both kinds of answers: the server chooses one."""
    if request.method == "POST" and _plain_type(request.headers.get("content-type", "")) != JSON_TYPE:
        raise RefusalError(problem(415, CODES[415], "The body is not declared as JSON.", f"Send it as {JSON_TYPE}."))
    accepted = {_plain_type(kind) for kind in request.headers.get("accept", "").split(",")}
    for needed in types:
        family = needed.partition("/")[0] + "/*"
        if accepted.isdisjoint({needed, family, "*/*"}):
            raise _refusal(
                406, InvalidInputError("This request does not accept the answer.", hint=f"Accept {', '.join(types)}.")
            )


def _plain_type(declared: str) -> str:
    return declared.partition(";")[0].strip().lower()


def _version_of(request: Request, root: JSONRPCRequest | None = None) -> str:
    if root is not None and root.method == INITIALIZE:
        return str((root.params or {}).get("protocolVersion", DEFAULT_NEGOTIATED_VERSION))
    return request.headers.get(VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)


def _key_of(token: DriveToken) -> str:
    """Return the key to count calls by; tokens of an issuer change, so they count for their person."""
    return token.principal.key_id or token.principal.user_id


def _refusal(status: int, error: DriveError, root: JSONRPCRequest | None = None) -> RefusalError:
    code = INVALID_REQUEST if isinstance(error, InvalidInputError) else error_data(error).code
    wait = error.details.get("retry_after_seconds")
    headers = None if wait is None else {"Retry-After": str(wait)}
    body = write_failure(root.id if root else None, as_error(code, error))
    return RefusalError(Response(body, status, headers, media_type=JSON_TYPE))
