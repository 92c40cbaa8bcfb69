"""Threads: list, read, rename, delete."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.status import HTTP_204_NO_CONTENT

from api.errors import NotFoundError
from api.http.dependencies import CallerDep, ServiceDep, WriterDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import MAX_REF_CHARACTERS, ThreadPatch, ThreadUndoBody
from api.http.schemas import MessageView, ResultView, ThreadList, ThreadSummary, ThreadView, UndoView
from api.http.views import message_view, run_view, shown_approval, undo_view
from api.storage.tables import RunRow, ThreadRow
from api.withholding import withhold_texts
from drive_server.http.problem import problem_responses
from graph.language import language_of

router = APIRouter(prefix="/threads", tags=["threads"], route_class=FilteredRoute)

Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str | None, Query(max_length=MAX_REF_CHARACTERS)]


@router.get("", responses=problem_responses())
async def list_threads(caller: CallerDep, service: ServiceDep, limit: Limit = 50, cursor: Cursor = None) -> ThreadList:
    """List your threads, the one used last first."""
    page = await service.threads.page(caller, limit, cursor)
    return ThreadList(items=[_summary(row) for row in page.threads], cursor=page.cursor)


@router.get("/{thread_id}", responses=problem_responses(404))
async def get_thread(thread_id: str, caller: CallerDep, service: ServiceDep, limit: Limit = 200) -> ThreadView:
    """Return a thread with its newest messages (at most `limit`), plan, route, active run and waiting approval."""
    row = await service.threads.get(caller, thread_id)
    run = await service.threads.newest_run(thread_id)
    snapshot = await service.graph.graph.aget_state({"configurable": {"thread_id": thread_id}})
    seen = await service.withholding.messages(caller, thread_id, snapshot.values)
    messages = _messages({"messages": seen}, run)
    waiting = await service.approvals.waiting(caller, thread_id)
    plan = snapshot.values.get("plan")
    if plan and run and await service.withholding.hidden_items(caller, thread_id):
        plan = withhold_texts(plan, language_of(run.message))
    return ThreadView(
        **_summary(row).model_dump(),
        messages=messages[-limit:],
        has_earlier=len(messages) > limit,
        plan=plan,
        route=snapshot.values.get("route"),
        run=run_view(run) if run else None,
        approval=await shown_approval(waiting[0], caller, service) if waiting else None,
    )


@router.get("/{thread_id}/results/{reference}", responses=problem_responses(404))
async def get_result(thread_id: str, reference: str, caller: CallerDep, service: ServiceDep) -> ResultView:
    """Return a long result in full; the thread's messages have an excerpt of it."""
    row = await service.threads.get(caller, thread_id)
    others = await service.graph.memory.items_of_result(row.user_id, row.id, reference)
    if await service.drive.hidden(caller, others):
        raise NotFoundError("result_not_shared")
    text = await service.graph.memory.result(row.user_id, row.id, reference)
    if text is None:
        raise NotFoundError("no_result")
    return ResultView(reference=reference, text=text)


@router.patch("/{thread_id}", responses=problem_responses(403, 404))
async def rename_thread(thread_id: str, body: ThreadPatch, caller: WriterDep, service: ServiceDep) -> ThreadSummary:
    """Give a thread another title; it is cut to 80 characters."""
    return _summary(await service.threads.rename(caller, thread_id, body.title))


@router.delete("/{thread_id}", status_code=HTTP_204_NO_CONTENT, responses=problem_responses(403, 404, 409))
async def delete_thread(thread_id: str, caller: WriterDep, service: ServiceDep) -> None:
    """Delete a thread with all its messages; its changes in the drive stay.

    409 `thread_busy` while a run works. A run that waits for an approval is cancelled, and the approval rejected.
    """
    await service.delete_thread(caller, thread_id)


@router.post("/{thread_id}/undo", responses=problem_responses(403, 404, 409))
async def undo_thread(
    thread_id: str, caller: CallerDep, service: ServiceDep, body: ThreadUndoBody | None = None
) -> UndoView:
    """Undo, as one change, the changes of a thread's runs, or of those from `since_run` on."""
    wanted = body or ThreadUndoBody()
    run, result = await service.runs.undo_thread(caller, thread_id, since_run=wanted.since_run, preview=wanted.preview)
    return undo_view(run, result)


def _messages(state: Mapping[str, Any], newest: RunRow | None) -> list[MessageView]:
    """Return the messages of a thread. The newest run's message is there even before the graph has seen it."""
    views = [view for message in state.get("messages", []) if (view := message_view(message))]
    if newest and all(view.id != newest.id for view in views):
        views.append(MessageView(id=newest.id, role="user", text=newest.message))
    return views


def _summary(row: ThreadRow) -> ThreadSummary:
    times = {"created_at": row.created_at, "updated_at": row.updated_at}
    return ThreadSummary(thread_id=row.id, title=row.title, model=row.model, **times)
