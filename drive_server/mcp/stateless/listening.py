"""`subscriptions/listen`: one request whose answer is a stream of notifications (MCP 2026-07-28, basic/patterns)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
from mcp.types import (
    INVALID_PARAMS,
    ErrorData,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    ServerNotification,
    SubscribeRequest,
)
from pydantic import BaseModel, Field, StrictBool, ValidationError
from starlette.requests import Request

from drive_server.kernel.access import Principal
from drive_server.kernel.errors import InvalidInputError, NotFoundError
from drive_server.mcp.protocol.messages import VERSION
from drive_server.mcp.protocol.requests import Refusal, checked
from drive_server.mcp.protocol.revisions import RESERVED, REVISION
from drive_server.mcp.protocol.sessions import DriveSession
from drive_server.mcp.protocol.subscriptions import MAX_SUBSCRIPTIONS
from drive_server.mcp.stateless.envelope import Envelope, lacks_tasks, refused
from drive_server.mcp.stateless.requests import StatelessServer
from drive_server.mcp.stateless.session import RequestSession, Room, Sink
from drive_server.services.tasks import Task

SUBSCRIPTION_KEY: Final = f"{RESERVED}subscriptionId"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
TASK_CHANGED: Final = "notifications/tasks"
MAX_TASKS: Final = 100


class Filter(BaseModel):
    """The notifications that a client wants."""

    toolsListChanged: StrictBool | None = None  # noqa: N815 - the protocol's names
    promptsListChanged: StrictBool | None = None  # noqa: N815
    resourcesListChanged: StrictBool | None = None  # noqa: N815
    resourceSubscriptions: list[str] = Field(default_factory=list, max_length=MAX_SUBSCRIPTIONS)  # noqa: N815
    taskIds: list[str] = Field(default_factory=list, max_length=MAX_TASKS)  # noqa: N815

    @property
    def kinds(self) -> frozenset[str]:
        """The notifications that are wanted."""
        wanted = {
            "notifications/tools/list_changed": self.toolsListChanged,
            "notifications/resources/list_changed": self.resourcesListChanged,
            "notifications/resources/updated": self.resourceSubscriptions,
        }
        return frozenset(kind for kind, is_wanted in wanted.items() if is_wanted)


class ListeningSession(RequestSession):
    """Stands for a session that only listens: it gets the notifications that it wants, and no other."""

    kinds: frozenset[str] = frozenset()

    def post(self, about: str, notification: ServerNotification) -> None:
        """Send the notification soon if it is wanted."""
        if notification.root.method in self.kinds:
            DriveSession.post(self, about, notification)


def filter_of(root: JSONRPCRequest, envelope: Envelope) -> Filter:
    """Return the notifications that the request wants. Raises `RequestRefusedError`."""
    try:
        found = Filter.model_validate((root.params or {}).get("notifications"))
    except ValidationError as error:
        wrong = InvalidInputError(
            "`notifications` of this request can't be used.", hint=f"Send it as protocol {REVISION} has it."
        )
        raise refused(400, INVALID_PARAMS, wrong) from error
    if found.taskIds and not envelope.takes_tasks:
        raise lacks_tasks()
    return found


@asynccontextmanager
async def listening(
    server: StatelessServer,
    root: JSONRPCRequest,
    envelope: Envelope,
    caller: Principal,
    http: Request,
    sink: Sink,
    room: Room,
) -> AsyncGenerator[None]:
    """Let the sink hear, first which of its wishes the drive grants, and then of changes, for as long as this is open.

    Changes wait for room. Raises `RequestRefusedError` for wishes that can't be read.
    """
    wanted = filter_of(root, envelope)

    def tell(message: JSONRPCMessage) -> None:
        if isinstance(message.root, JSONRPCNotification):
            sink(_about(root, message.root.method, message.root.params or {}))

    session = ListeningSession(server.options, envelope, http, tell, room=room)
    session.kinds = wanted.kinds
    drive = server.drive
    try:
        with drive.sessions.opened(session):
            drive.tool_lists.note(session, caller)
            tasks = await _tasks(server, caller, wanted.taskIds)
            addresses = await _subscribed(server, session, root, http, wanted.resourceSubscriptions)
            sink(_about(root, ACKNOWLEDGED, {"notifications": _granted(wanted, addresses, tasks)}))
            async with anyio.create_task_group() as group:
                group.start_soon(session.send_posted)
                for task in tasks:
                    group.start_soon(_tell_of_end, server, task, partial(_about, root, TASK_CHANGED), sink)
                yield
                group.cancel_scope.cancel()
    finally:
        session.discard()


async def _subscribed(
    server: StatelessServer, session: ListeningSession, root: JSONRPCRequest, http: Request, addresses: Sequence[str]
) -> list[str]:
    """Watch the resources as `resources/subscribe` does; return those that the caller may watch."""
    granted: list[str] = []
    for address in dict.fromkeys(addresses):
        request = checked(SubscribeRequest, {"method": "resources/subscribe", "params": {"uri": address}}, REVISION)
        if isinstance(request, Refusal):
            continue
        answer = await server.drive.protocol.answer_alone(request.root, session, root.id, http)
        if not isinstance(answer, ErrorData):
            granted.append(address)
    return granted


async def _tasks(server: StatelessServer, caller: Principal, ids: Sequence[str]) -> list[Task]:
    found: list[Task] = []
    for task_id in dict.fromkeys(ids):
        try:
            found.append(await server.drive.task_extension.named(caller.user_id, task_id))
        except NotFoundError:
            continue  # nothing is promised about it: the client sees that
    return found


async def _tell_of_end(server: StatelessServer, task: Task, about: Any, sink: Sink) -> None:
    try:
        ended = await server.drive.task_extension.ended(task)
    except NotFoundError:
        return  # it was kept no longer
    sink(about(server.drive.task_extension.detailed(ended)))


def ended(server: StatelessServer, root: JSONRPCRequest) -> JSONRPCMessage:
    """Return the answer with which the drive ends a stream."""
    return server.result(root, {"_meta": {SUBSCRIPTION_KEY: root.id}})


def _granted(wanted: Filter, addresses: list[str], tasks: list[Task]) -> dict[str, Any]:
    granted: dict[str, Any] = {}
    if wanted.toolsListChanged:
        granted["toolsListChanged"] = True
    if wanted.resourcesListChanged:
        granted["resourcesListChanged"] = True
    if addresses:
        granted["resourceSubscriptions"] = addresses
    if tasks:
        granted["taskIds"] = [task.id for task in tasks]
    return granted


def _about(root: JSONRPCRequest, method: str, params: dict[str, Any]) -> JSONRPCMessage:
    meta = {**params.get("_meta", {}), SUBSCRIPTION_KEY: root.id}
    told = JSONRPCNotification(jsonrpc=VERSION, method=method, params={**params, "_meta": meta})
    return JSONRPCMessage(told)
