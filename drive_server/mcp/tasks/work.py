"""The work of a task: the call of its tool, without the request that brought it; and who is told how it goes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from weakref import ReferenceType, ref

from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.fastmcp.tools import Tool
from mcp.shared.exceptions import McpError
from mcp.types import (
    CallToolResult,
    ProgressToken,
    ServerNotification,
    TaskStatusNotification,
    TaskStatusNotificationParams,
    TextContent,
)
from mcp.types import Task as ShownTask

from drive_server.kernel.access import Actor, Principal
from drive_server.mcp.calls.authentication import IN_PROCESS
from drive_server.mcp.calls.call import refused
from drive_server.mcp.calls.progress import CallProgress, progress_sender
from drive_server.mcp.protocol.failures import public_error
from drive_server.mcp.protocol.sessions import DriveSession
from drive_server.mcp.tasks.calls import RELATED, TaskCall
from drive_server.mcp.tasks.runner import Ending, TaskRunner, Work
from drive_server.registry import ServiceRegistry
from drive_server.services.progress import Progress
from drive_server.services.tasks import Task

ERROR: Final = "error"
"""In the record of a task's end: the JSON-RPC error that the call was answered with, in the place of a result."""
POLL_MILLISECONDS: Final = 1000
MAX_MESSAGE_CHARACTERS: Final = 300

ToolOf = Callable[[str], Tool]


@dataclass(frozen=True, slots=True)
class Listener:
    """The session that had a task made, and the token by which it wants to hear of progress."""

    session: "ReferenceType[DriveSession]"
    token: ProgressToken | None


class TaskWork:
    """Makes the calls of tasks.

    `tool_of` returns a tool by its name, or raises `McpError`; `purges` says whether nothing brings back its removals.
    """

    def __init__(
        self, server: FastMCP[Any], drive: ServiceRegistry, tool_of: ToolOf, purges: Callable[[str], bool]
    ) -> None:
        self._purges = purges
        self._server = server
        self._drive = drive
        self._tool_of = tool_of
        self._listeners: dict[str, Listener] = {}
        self.runner = TaskRunner(drive.tasks, self._perform, self._was_done, self._notify)

    def start(self, task: Task, session: DriveSession, token: ProgressToken | None) -> None:
        """Do the work of a task from now on, and tell this session how it goes."""
        self._listeners[task.id] = Listener(ref(session), token)
        self.runner.start(task)

    def shown(self, task: Task) -> dict[str, Any]:
        """Return the task as the protocol has it, as keyword arguments."""
        return {
            "taskId": task.id,
            "status": task.status,
            "statusMessage": self.runner.message_of(task) or None,
            "createdAt": task.created_at,
            "lastUpdatedAt": task.updated_at,
            "ttl": round((task.expires_at - task.created_at).total_seconds() * 1000),
            "pollInterval": POLL_MILLISECONDS,
        }

    async def _perform(self, work: Work) -> Ending:
        task = work.task
        listener = self._listeners.get(task.id)
        host = listener.session() if listener else None
        purges = self._purges(task.order.tool)
        call = TaskCall(task, self._server, self._drive.identity, self._report(work), host, purges=purges)
        try:
            answered = await self._tool_of(task.order.tool).run(task.order.arguments, call, convert_result=True)
        except McpError as error:
            return _protocol_error(error)
        except ToolError as error:
            if isinstance(error.__cause__, McpError):
                return _protocol_error(error.__cause__)
            answered = refused(public_error(error.__cause__, f"the tool {task.order.tool}"))
        return _ending(answered)

    def _report(self, work: Work) -> Progress:
        """Return the function that notes progress here, and tells the session if it wants to hear of it."""
        listener = self._listeners.get(work.task.id)
        session = listener.session() if listener else None
        if listener is None or session is None or listener.token is None:
            return work
        report = CallProgress(progress_sender(session, listener.token, None, **{RELATED: {"taskId": work.task.id}}))

        async def both(done: int, total: int) -> None:
            await work(done, total)
            await report(done, total)

        return both

    async def _was_done(self, task: Task) -> bool:
        # Even if their key has ended: their changes stay done.
        principal = Principal(task.order.user_id, "", frozenset(), IN_PROCESS)
        order = task.order
        return await self._drive.journal.has_recorded(Actor(principal, order.tool, idempotency_key=order.key))

    def _notify(self, task: Task) -> None:
        listener = self._listeners.pop(task.id, None)
        session = listener.session() if listener else None
        if session is not None:
            params = TaskStatusNotificationParams(**ShownTask(**self.shown(task)).model_dump())
            session.post(f"task {task.id}", ServerNotification(TaskStatusNotification(params=params)))


def _ending(answered: CallToolResult) -> Ending:
    message = next((block.text for block in answered.content if isinstance(block, TextContent)), "")
    result = answered.model_dump(by_alias=True, mode="json", exclude_none=True)
    return Ending(bool(answered.isError), message.partition("\n")[0][:MAX_MESSAGE_CHARACTERS], result)


def _protocol_error(error: McpError) -> Ending:
    data = error.error.model_dump(mode="json", exclude_none=True)
    return Ending(is_error=True, message=error.error.message, result={ERROR: data})
