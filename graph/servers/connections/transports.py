"""Sessions with outside servers over the three transports, through the SDK's clients.

Not the adapters' `create_session`: its session can't be another class than the SDK's, and its program's environment
takes values of the service's (see `stdio`).
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Final, cast

import anyio
import httpx
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import ClientSession
from mcp.client.session import ElicitationFnT, LoggingFnT, MessageHandlerFnT, SamplingFnT
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import (
    METHOD_NOT_FOUND,
    ErrorData,
    Implementation,
    InitializeResult,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ServerNotification,
    ServerRequest,
)
from pydantic import ValidationError

from drive_server.connect import ConcurrentSession
from graph.servers.addresses import AddressGuard, GuardedTransport
from graph.servers.allowances import roots_for
from graph.servers.connections.blocks import with_known_blocks
from graph.servers.connections.stdio import AllowedCommands, Streams, folder_of, stdio_streams
from graph.servers.definition import ServerDefinition
from graph.servers.faults import reason_of
from graph.servers.intake import Intake
from graph.servers.oauth.tokens import Tokens
from graph.servers.reasons import FaultError, Reason

CONNECT_SECONDS: Final = 10.0
LEAVE_SECONDS: Final = 6.0
"""The longest wait for a server to hear that its session is over; a program has less, and is ended in any case."""
SILENT_SECONDS: Final = 3600.0
"""A stream on which nothing arrives for so long is closed; calls have their own time, and idle sessions theirs."""
HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
MAX_ID: Final = 20
AnyMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
CLIENT: Final = Implementation(name="drive-agent", version="1")

for _name in ("mcp.client.sse", "mcp.client.streamable_http"):
    # They log servers' messages, at any length, and addresses with keys in them. Their failures reach the person.
    logging.getLogger(_name).setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Means:
    """The parts that connections are made with; `folder` has the working directories of programs."""

    guard: AddressGuard
    commands: AllowedCommands
    folder: Path
    message_bytes: int
    tokens: Tokens | None = None
    sampling: SamplingFnT | None = None


@dataclass(frozen=True, slots=True)
class OpenedServer:
    """A session that is ready, and how the server introduced itself."""

    session: ClientSession
    introduction: InitializeResult


@asynccontextmanager
async def open_server(
    definition: ServerDefinition,
    means: Means,
    *,
    logging_callback: LoggingFnT,
    message_handler: MessageHandlerFnT,
    elicitation_callback: ElicitationFnT | None = None,
) -> AsyncGenerator[OpenedServer]:
    """Open a session, and end with the reason, in an exception group, as soon as the connection is broken."""
    broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def fail(fault: FaultError) -> None:
        if not broken.done():
            broken.set_exception(fault)
            broken.exception()  # nobody may be waiting any more

    intake = Intake(means.message_bytes, fail)
    filtered, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with anyio.create_task_group() as group, filtered, read:
        group.start_soon(_wait_for, broken)
        with anyio.CancelScope() as leaving:
            async with (
                _streams(definition, means, intake) as (incoming, write),
                ConcurrentSession(
                    read,
                    cast("Any", write),
                    sampling_callback=means.sampling,
                    elicitation_callback=elicitation_callback,
                    list_roots_callback=roots_for(definition, _folder(definition, means)),
                    logging_callback=logging_callback,
                    message_handler=message_handler,
                    client_info=CLIENT,
                ) as session,
            ):
                group.start_soon(_filter, incoming, filtered, write, intake, definition.host)
                yield OpenedServer(session, await session.initialize())
                broken.cancel()
                leaving.deadline = anyio.current_time() + LEAVE_SECONDS
        group.cancel_scope.cancel()


async def _wait_for(broken: "asyncio.Future[None]") -> None:
    await asyncio.wait({broken})
    if not broken.cancelled():
        broken.result()


def _streams(definition: ServerDefinition, means: Means, intake: Intake) -> AbstractAsyncContextManager[Streams]:
    if definition.type == "stdio":
        return stdio_streams(definition, means.commands, _folder(definition, means), intake)
    return _http_streams(definition, means, intake)


def _folder(definition: ServerDefinition, means: Means) -> Path:
    return folder_of(means.folder, definition.user_id, definition.id)


@asynccontextmanager
async def _http_streams(definition: ServerDefinition, means: Means, intake: Intake) -> AsyncGenerator[Streams]:
    headers = _checked_headers(definition.headers)
    own_auth = means.tokens.auth(definition) if means.tokens else None

    def client(
        headers: dict[str, str] | None = None, timeout: httpx.Timeout | None = None, auth: httpx.Auth | None = None
    ) -> httpx.AsyncClient:
        transport = GuardedTransport(means.guard, intake)
        return httpx.AsyncClient(
            transport=transport, headers=headers, timeout=timeout, auth=auth or own_auth, trust_env=False
        )

    if definition.type == "sse":
        opened = sse_client(definition.base_url, headers, CONNECT_SECONDS, SILENT_SECONDS, client)
        async with opened as (read, write):
            yield read, write
    else:
        times = httpx.Timeout(CONNECT_SECONDS, read=SILENT_SECONDS)
        async with (
            client(headers, times) as http,
            streamable_http_client(definition.base_url, http_client=http) as (read, write, _),
        ):
            yield read, write


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers. Raises `FaultError`: the libraries' own errors would have the secret in them."""
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value.strip()):
            raise FaultError(Reason("definition", {"detail": f"header {name!r}"}))
    return {name: value.strip() for name, value in headers.items()}


async def _filter(
    incoming: ObjectReceiveStream[SessionMessage | Exception],
    filtered: ObjectSendStream[SessionMessage | Exception],
    write: ObjectSendStream[SessionMessage],
    intake: Intake,
    host: str,
) -> None:
    """Hand on the messages that the session can use; it would log the rest, at any length.

    The end of the stream is the end.
    """
    try:
        async with incoming:
            async for item in incoming:
                if isinstance(item, Exception):
                    intake.fail(FaultError(reason_of(item, host, SILENT_SECONDS)))
                elif _is_of_use(_as_json(item.message.root), intake):
                    await filtered.send(item)
                elif isinstance(item.message.root, JSONRPCRequest):
                    await write.send(_refusal(item.message.root))
    except FaultError as fault:
        intake.fail(fault)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    intake.fail(FaultError(Reason("closed")))


def _as_json(root: AnyMessage) -> AnyMessage:
    """Return the message with null for the numbers in it that JSON does not have: NaN and infinity."""
    waiting: list[Any] = [getattr(root, "params", None), getattr(root, "result", None)]
    while waiting:
        match waiting.pop():
            case dict() as named:
                container, items = cast("Any", named), list(cast("dict[Any, Any]", named).items())
            case list() as listed:
                container, items = cast("Any", listed), list(enumerate(cast("list[Any]", listed)))
            case _:
                continue
        for key, value in items:
            if isinstance(value, float) and not isfinite(value):
                container[key] = None
            elif isinstance(value, dict | list):
                waiting.append(value)
    return root


def _is_of_use(root: AnyMessage, intake: Intake) -> bool:
    intake.take_message()
    if isinstance(root, JSONRPCResponse):
        with_known_blocks(root)
    if isinstance(root, JSONRPCResponse | JSONRPCError):
        return isinstance(root.id, int) or (len(root.id) <= MAX_ID and root.id.isdecimal())
    shape = ServerRequest if isinstance(root, JSONRPCRequest) else ServerNotification
    try:
        shape.model_validate(root.model_dump(by_alias=True, mode="json", exclude_none=True))
    except ValidationError:
        return False
    return True


def _refusal(request: JSONRPCRequest) -> SessionMessage:
    error = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
    return SessionMessage(JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=request.id, error=error)))
