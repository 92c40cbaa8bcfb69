"""Tasks as the extension of MCP 2026-07-28 has them: the server decides which calls become tasks, and clients ask."""

from contextlib import suppress
from typing import Any, Final, Literal

import anyio
from mcp.shared.exceptions import McpError
from mcp.types import (
    CallToolRequest,
    CancelTaskRequest,
    EmptyResult,
    ErrorData,
    GetTaskRequest,
    Request,
    ServerResult,
    TaskMetadata,
)
from mcp.types import RequestParams as Params

from drive_server.kernel.errors import StateConflictError
from drive_server.mcp.calls.call import refused
from drive_server.mcp.protocol.failures import as_protocol_error, public_error
from drive_server.mcp.tasks.requests import Handler, TaskRequests
from drive_server.mcp.tasks.work import ERROR
from drive_server.services.tasks import CANCELLED, COMPLETED, FAILED, Task

AT_ONCE_SECONDS: Final = 2.0
"""A call that ends so soon is answered with its result, not with a task."""
STOPS_WITHIN_SECONDS: Final = 2.0


class DirectedCall(CallToolRequest):
    """A call of a tool by a client that takes a task for an answer."""


class DetailedTaskRequest(GetTaskRequest):
    """A request for a task with its result."""


class UpdateTaskParams(Params):
    """Answers to a task's questions; none of the drive's asks anything once it is made."""

    taskId: str  # noqa: N815 - the protocol's name
    inputResponses: dict[str, Any]  # noqa: N815


class UpdateTaskRequest(Request[UpdateTaskParams, Literal["tasks/update"]]):
    """A request that brings answers to a task."""

    method: Literal["tasks/update"] = "tasks/update"
    params: UpdateTaskParams


class StopTaskRequest(CancelTaskRequest):
    """A request to stop a task, which is only acknowledged."""


class TaskExtension:
    """Answers the requests of the extension, by the tasks that 2025-11-25 has."""

    def __init__(self, requests: TaskRequests) -> None:
        self._requests = requests

    def handlers(self) -> dict[type[Any], Handler]:
        """Return the handler of each kind of request."""
        return {
            DirectedCall: self._on_call,
            DetailedTaskRequest: self._on_get,
            UpdateTaskRequest: self._on_update,
            StopTaskRequest: self._on_stop,
        }

    def detailed(self, task: Task) -> dict[str, Any]:
        """Return the task as the extension has it, with its result or error once it is over."""
        shown = self._requests.work.shown(task)
        detailed = {
            "taskId": task.id,
            "status": task.status,
            "createdAt": task.created_at.isoformat(),
            "lastUpdatedAt": task.updated_at.isoformat(),
            "ttlMs": shown["ttl"],
            "pollIntervalMs": shown["pollInterval"],
        }
        if message := shown["statusMessage"]:
            detailed["statusMessage"] = message
        return {**detailed, **_outcome(task)}

    async def named(self, user_id: str, task_id: str) -> Task:
        """Return a task of the person. Raises `NotFoundError`."""
        return await self._requests.of_user(user_id, task_id)

    async def ended(self, task: Task) -> Task:
        """Return the task once it is over."""
        return await self._requests.work.runner.ended(task)

    async def _on_call(self, request: DirectedCall) -> ServerResult:
        """Answer with the result of a call that ends soon, else with its task; a refusal is the tool's own error."""
        params = request.params
        params.task = TaskMetadata()
        try:
            task, is_new = await self._requests.make(params)
        except McpError:
            raise
        except Exception as error:  # noqa: BLE001 - `public_error` logs an unforeseen error
            return ServerResult(refused(public_error(error, f"the tool {params.name}")))
        try:
            with anyio.move_on_after(AT_ONCE_SECONDS):
                task = await self.ended(task)
        except anyio.get_cancelled_exc_class():
            if is_new:  # its client is gone before it heard of a task, and so has cancelled the call
                with anyio.CancelScope(shield=True):
                    await self._stop(task)
            raise
        outcome = _outcome(task)
        if error := outcome.get(ERROR):
            raise McpError(ErrorData.model_validate(error))
        if result := outcome.get("result"):
            return ServerResult(EmptyResult.model_validate(result))
        return ServerResult(EmptyResult.model_validate({"resultType": "task", **self.detailed(task)}))

    async def _on_get(self, request: DetailedTaskRequest) -> ServerResult:
        task = await self._requests.named(request)
        return ServerResult(EmptyResult.model_validate(self.detailed(task)))

    async def _on_update(self, request: UpdateTaskRequest) -> ServerResult:
        await self._requests.named(request)
        return ServerResult(EmptyResult())

    async def _on_stop(self, request: StopTaskRequest) -> ServerResult:
        task = await self._requests.named(request)
        with as_protocol_error("the end of a task"):
            await self._stop(task)
        return ServerResult(EmptyResult())

    async def _stop(self, task: Task) -> None:
        """Stop the task unless it is over; it ends later if it can't end soon."""
        with suppress(StateConflictError), anyio.move_on_after(STOPS_WITHIN_SECONDS):
            await self._requests.work.runner.cancel(task)


def _outcome(task: Task) -> dict[str, Any]:
    """Return the result or the error of a task, with the status that the extension has for it.

    A tool's own error is a result; `failed` is for errors of JSON-RPC.
    """
    if task.status not in {COMPLETED, FAILED} or task.result is None:
        return {"status": CANCELLED} if task.status == CANCELLED else {}
    if ERROR in task.result:
        return {"status": FAILED, ERROR: task.result[ERROR]}
    return {"status": COMPLETED, "result": {"resultType": "complete", **task.result}}
