"""Threads: list, read, rename, delete."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.status import HTTP_204_NO_CONTENT

from api.drive import Principal
from api.errors import MissingScopeError, NotFoundError
from api.http.deps import ApprovalsDep, CallerDep, RunsDep, ServiceDep, ThreadsDep
from api.http.problems import problem_responses
from api.http.routes.approvals import approval_view
from api.http.routes.runs import run_view, undo_view
from api.http.schemas import (
    MAX_REF_CHARACTERS,
    ResultView,
    ThreadList,
    ThreadPatch,
    ThreadSummary,
    ThreadUndoBody,
    ThreadView,
    UndoView,
)
from api.http.transcript import read_transcript
from api.storage.tables import ThreadRow

router = APIRouter(prefix="/threads", tags=["threads"])

Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=MAX_REF_CHARACTERS)]


@router.get("", responses=problem_responses())
async def list_threads(caller: CallerDep, threads: ThreadsDep, limit: Limit = 50, cursor: Cursor = None) -> ThreadList:
    """List your threads, the one used last first."""
    page = await threads.page(caller, limit, cursor)
    return ThreadList(items=[_summary(row) for row in page.threads], cursor=page.cursor)


@router.get("/{thread_id}", responses=problem_responses(404))
async def get_thread(
    thread_id: str, caller: CallerDep, service: ServiceDep, approvals: ApprovalsDep, limit: Limit = 200
) -> ThreadView:
    """Return a thread with its newest messages (`limit` of them), plan, route, and what runs or waits on it."""
    row = await service.threads.get(caller, thread_id)
    run = await service.threads.newest_run(thread_id)
    transcript = await read_transcript(service.graph.graph, thread_id, run, limit)
    waiting = await approvals.waiting(caller, thread_id)
    return ThreadView(
        **_summary(row).model_dump(),
        messages=transcript.messages,
        has_earlier=transcript.has_earlier,
        plan=transcript.plan,
        route=transcript.route,
        run=run_view(run) if run else None,
        approval=approval_view(waiting[0]) if waiting else None,
    )


@router.get("/{thread_id}/results/{reference}", responses=problem_responses(404))
async def get_result(thread_id: str, reference: str, caller: CallerDep, service: ServiceDep) -> ResultView:
    """Return in full a long result, of which the thread's messages have an excerpt."""
    row = await service.threads.get(caller, thread_id)
    text = await service.graph.memory.result(row.user_id, row.id, reference)
    if text is None:
        raise NotFoundError("This thread has no such result.")
    return ResultView(reference=reference, text=text)


@router.patch("/{thread_id}", responses=problem_responses(403, 404))
async def rename_thread(thread_id: str, body: ThreadPatch, caller: CallerDep, threads: ThreadsDep) -> ThreadSummary:
    """Give a thread another title; it is cut to 80 characters."""
    _require_write(caller)
    return _summary(await threads.rename(caller, thread_id, body.title))


@router.delete("/{thread_id}", status_code=HTTP_204_NO_CONTENT, responses=problem_responses(403, 404, 409))
async def delete_thread(thread_id: str, caller: CallerDep, service: ServiceDep) -> None:
    """Delete a thread with all that was said in it; what it changed in the drive stays.

    409 `thread_busy` while a run is at work. One that waits for an approval is cancelled, and the approval rejected.
    """
    _require_write(caller)
    await service.delete_thread(caller, thread_id)


def _require_write(caller: Principal) -> None:
    if "write" not in caller.scopes:
        raise MissingScopeError("write")


@router.post("/{thread_id}/undo", responses=problem_responses(403, 404, 409))
async def undo_thread(thread_id: str, caller: CallerDep, runs: RunsDep, body: ThreadUndoBody | None = None) -> UndoView:
    """Take back, as one change, what the runs of a thread changed, or those from `since_run` on."""
    wanted = body or ThreadUndoBody()
    run, done = await runs.undo_thread(caller, thread_id, since_run=wanted.since_run, preview=wanted.preview)
    return undo_view(run, done)


def _summary(row: ThreadRow) -> ThreadSummary:
    return ThreadSummary(thread_id=row.id, title=row.title, created_at=row.created_at, updated_at=row.updated_at)
