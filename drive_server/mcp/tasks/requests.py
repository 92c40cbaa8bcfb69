"""MCP's tasks (MCP 2025-11-25, basic/utilities/tasks; experimental there): calls whose results are fetched later.

The SDK's own tasks are tied to a session and stored in memory. These belong to the user and outlive the process.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.fastmcp.tools import Tool
from mcp.shared.exceptions import McpError
from mcp.types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CancelTaskRequest,
    CancelTaskResult,
    CreateTaskResult,
    ErrorData,
    GetTaskPayloadRequest,
    GetTaskPayloadResult,
    GetTaskRequest,
    GetTaskResult,
    ListTasksRequest,
    ListTasksResult,
    ServerResult,
    ServerTasksCapability,
    ServerTasksRequestsCapability,
    TasksCallCapability,
    TasksCancelCapability,
    TasksListCapability,
    TasksToolsCapability,
)
from mcp.types import Task as ShownTask

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import CallCancelledError, StateConflictError
from drive_server.mcp.calls.call import is_settled, refused
from drive_server.mcp.calls.consent import Consent, can_ask
from drive_server.mcp.calls.purging import require_purge
from drive_server.mcp.protocol.failures import as_protocol_error
from drive_server.mcp.protocol.pages import cursor_of
from drive_server.mcp.protocol.sessions import DriveSession
from drive_server.mcp.tasks.calls import RELATED, CallReadyError, Proposal, caller_of, meta_of
from drive_server.mcp.tasks.work import ERROR, TaskWork, ToolOf
from drive_server.mcp.tools.definition.spec import ToolSpec
from drive_server.registry import ServiceRegistry
from drive_server.services.tasks import Order, Task

IMMEDIATE: Final = "io.modelcontextprotocol/model-immediate-response"
"""In `_meta` of a new task: the text that the host may tell its model at once."""
MAX_MILLISECONDS: Final = 10**12

CAPABILITY: Final = ServerTasksCapability(
    list=TasksListCapability(),
    cancel=TasksCancelCapability(),
    requests=ServerTasksRequestsCapability(tools=TasksToolsCapability(call=TasksCallCapability())),
)

Handler = Callable[[Any], Awaitable[ServerResult]]


class TaskRequests:
    """Answers requests about tasks, and calls of tools as tasks."""

    def __init__(
        self,
        server: FastMCP[Any],
        drive: ServiceRegistry,
        consent: Consent,
        specs: Mapping[str, ToolSpec],
        tool_of: ToolOf,
        proposal: Callable[[str, Any], Proposal],
        actor: Callable[[str], Awaitable[Actor]],
    ) -> None:
        self._tasks = drive.tasks
        self._page_size = drive.settings.page_size
        self._consent = consent
        self._specs = specs
        self._tool_of = tool_of
        self._proposal = proposal
        self._actor = actor
        self.work = TaskWork(server, drive, tool_of, lambda name: specs[name].deletes_for_good)
        self.run = self.work.runner.run

    def handlers(self) -> dict[type[Any], Handler]:
        """Return the handlers of the requests about tasks."""
        return {
            GetTaskRequest: self._on_get,
            GetTaskPayloadRequest: self._on_result,
            ListTasksRequest: self._on_list,
            CancelTaskRequest: self._on_cancel,
        }

    async def begin(self, params: CallToolRequestParams) -> ServerResult:
        """Make a task of the call, after asking the person. Raises `McpError` if it can't be one or was refused."""
        with as_protocol_error(f"the tool {params.name}"):
            task, _ = await self.make(params)
        meta = {IMMEDIATE: f"This takes a while, and goes on as task {task.id}."}
        return ServerResult(CreateTaskResult(task=ShownTask(**self.work.shown(task)), _meta=meta))

    async def make(self, params: CallToolRequestParams) -> tuple[Task, bool]:
        """Return the task of the call, after asking the person, and whether it is new.

        Raises `McpError` if the tool can't be one.
        """
        tool = self._tool_of(params.name)
        spec = self._specs.get(tool.name)
        if spec is None or not spec.can_be_task:
            raise McpError(ErrorData(code=METHOD_NOT_FOUND, message="This tool can't be called as a task."))
        proposal = self._proposal(tool.name, params.arguments)
        actor = await proposal.caller()
        order = _order(tool, params, actor)
        async with self._consent.turn(actor):
            known = await self._tasks.find(order)
            if known is not None:
                return known, False
            if spec.deletes_for_good:
                require_purge(actor, is_asked=can_ask(proposal.session))
            if spec.asks_for(order.arguments) != "never" and not is_settled(actor, proposal.session):
                actor = await _approved_caller(tool, order.arguments, proposal)
            task, is_new = await self._tasks.create(replace(order, meta=meta_of(actor)))
        if is_new:
            session, meta = proposal.session, params.meta
            assert isinstance(session, DriveSession)  # noqa: S101 - the protocol's sessions all are
            self.work.start(task, session, meta.progressToken if meta else None)
        return task, is_new

    async def _on_get(self, request: GetTaskRequest) -> ServerResult:
        task = await self.named(request)
        return ServerResult(GetTaskResult(**self.work.shown(task)))

    async def _on_result(self, request: GetTaskPayloadRequest) -> ServerResult:
        """Answer with the result of the call, once it is over."""
        named = await self.named(request)
        with as_protocol_error("a task's result"):
            task = await self.work.runner.ended(named)
        stored = task.result or refused(_cancelled()).model_dump(by_alias=True, mode="json", exclude_none=True)
        if ERROR in stored:
            raise McpError(ErrorData.model_validate(stored[ERROR]))
        meta = {**stored.get("_meta", {}), RELATED: {"taskId": task.id}}
        return ServerResult(GetTaskPayloadResult.model_validate({**stored, "_meta": meta}))

    async def _on_list(self, request: ListTasksRequest) -> ServerResult:
        with as_protocol_error("the list of tasks"):
            actor = await self._actor("tasks/list")
            page = await self._tasks.list_tasks(actor.user_id, self._page_size, cursor_of(request))
        shown = [ShownTask(**self.work.shown(task)) for task in page.items]
        return ServerResult(ListTasksResult(tasks=shown, nextCursor=page.cursor))

    async def _on_cancel(self, request: CancelTaskRequest) -> ServerResult:
        named = await self.named(request)
        with as_protocol_error("the end of a task"):
            try:
                task = await self.work.runner.cancel(named)
            except StateConflictError as error:
                data = ErrorData(code=INVALID_PARAMS, message=error.message, data=error.to_dict())
                raise McpError(data) from error
        return ServerResult(CancelTaskResult(**self.work.shown(task)))

    async def named(self, request: Any) -> Task:
        """Return the caller's task that a request names. Raises `McpError`."""
        with as_protocol_error("a task"):
            actor = await self._actor(request.method)
            return await self.of_user(actor.user_id, request.params.taskId)

    async def of_user(self, user_id: str, task_id: str) -> Task:
        """Return a task of the person. Raises `NotFoundError`."""
        return await self._tasks.get(user_id, task_id)


def _order(tool: Tool, params: CallToolRequestParams, actor: Actor) -> Order:
    ttl = params.task.ttl if params.task else None
    return Order(
        user_id=actor.user_id,
        tool=tool.name,
        arguments=params.arguments or {},
        caller=caller_of(actor.principal),
        meta={},
        key=actor.idempotency_key or "",
        kept_for=None if ttl is None else timedelta(milliseconds=max(0, min(ttl, MAX_MILLISECONDS))),
    )


async def _approved_caller(tool: Tool, arguments: dict[str, Any], proposal: Proposal) -> Actor:
    """Return the caller as the person approved the call. Raises the error that keeps it from being made."""
    try:
        await tool.run(arguments, proposal, convert_result=True)
    except ToolError as error:
        if isinstance(error.__cause__, CallReadyError):
            return error.__cause__.actor
        raise error.__cause__ or error from error
    return await proposal.caller()


def _cancelled() -> CallCancelledError:
    return CallCancelledError(
        "The task was cancelled; nothing was changed.", hint="Make the call again if it is wanted."
    )
