"""Tasks as a client asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CancelTaskRequest,
    CancelTaskRequestParams,
    CancelTaskResult,
    ClientRequest,
    CreateTaskResult,
    GetTaskPayloadRequest,
    GetTaskPayloadRequestParams,
    GetTaskRequest,
    GetTaskRequestParams,
    GetTaskResult,
    ListTasksRequest,
    ListTasksResult,
    PaginatedRequestParams,
    RequestParams,
    Task,
    TaskMetadata,
)

if TYPE_CHECKING:
    from mcp import ClientSession

RELATED = "io.modelcontextprotocol/related-task"


async def begin(
    session: ClientSession,
    tool: str,
    arguments: dict[str, Any],
    *,
    ttl: int | None = 60_000,
    meta: dict[str, Any] | None = None,
) -> Task:
    """Call a tool as a task."""
    params = CallToolRequestParams(name=tool, arguments=arguments, task=TaskMetadata(ttl=ttl))
    params.meta = RequestParams.Meta(**meta) if meta else None
    request = ClientRequest(CallToolRequest(params=params))
    return (await session.send_request(request, CreateTaskResult)).task


async def look_at(session: ClientSession, task_id: str) -> GetTaskResult:
    """Return the task as it is now."""
    params = GetTaskRequestParams(taskId=task_id)
    return await session.send_request(ClientRequest(GetTaskRequest(params=params)), GetTaskResult)


async def result_of(session: ClientSession, task_id: str) -> CallToolResult:
    """Wait for the task's result."""
    params = GetTaskPayloadRequestParams(taskId=task_id)
    return await session.send_request(ClientRequest(GetTaskPayloadRequest(params=params)), CallToolResult)


async def cancelled(session: ClientSession, task_id: str) -> CancelTaskResult:
    """Cancel the task."""
    params = CancelTaskRequestParams(taskId=task_id)
    return await session.send_request(ClientRequest(CancelTaskRequest(params=params)), CancelTaskResult)


async def listed(session: ClientSession, cursor: str | None = None) -> ListTasksResult:
    """Return a page of the tasks."""
    params = PaginatedRequestParams(cursor=cursor)
    return await session.send_request(ClientRequest(ListTasksRequest(params=params)), ListTasksResult)
