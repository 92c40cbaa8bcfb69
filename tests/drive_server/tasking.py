"""Tasks as a client asks for them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import McpError
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
    from collections.abc import AsyncGenerator

    from mcp import ClientSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

RELATED = "io.modelcontextprotocol/related-task"
COPY = {"item_id": "/Many", "folder_id": "root", "name": "Copy"}


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


async def fill(drive: Drive, actor: Actor, files: int = 3) -> None:
    """Put a folder of so many files there, for `COPY` to copy."""
    await drive.files.create_folder(actor, "root", "Many")
    for number in range(files):
        await drive.documents.create(actor, "/Many", f"{number}.md", f"数 {number}")


async def names(drive: Drive, actor: Actor, folder: str = "root") -> list[str]:
    """Return the names of what is in the folder."""
    return [item.name for item in (await drive.files.list_folder(actor, folder)).items]


@asynccontextmanager
async def refused_with(code: int) -> AsyncGenerator[dict[str, Any]]:
    """Expect a JSON-RPC error with the code; gives its data."""
    data: dict[str, Any] = {}
    with pytest.raises(McpError) as refused:
        yield data
    assert refused.value.error.code == code, refused.value.error
    data |= refused.value.error.data or {}
