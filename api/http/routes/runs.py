"""Runs: list, read, cancel, audit, undo and redo them."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.drive import Principal, changes_to_view
from api.http.dependencies import CallerDep, ServiceDep
from api.http.filtered_route import FilteredRoute
from api.http.requests import MAX_REF_CHARACTERS, RedoBody, UndoBody
from api.http.schemas import (
    CancelView,
    ChangeList,
    ModelCallView,
    OutsideCallView,
    RunContextView,
    RunList,
    RunStatus,
    RunView,
    UndoView,
)
from api.http.views import outside_call_view, run_view, undo_view
from api.runs.audit import RunAudit
from api.service import Service
from api.storage.tables import RunRow
from api.withholding import withhold_texts
from drive_server.kernel.http.problem import problem_responses
from graph.language import language_of

router = APIRouter(prefix="/runs", tags=["runs"], route_class=FilteredRoute)

ACCEPTED = 202


@router.get("", responses=problem_responses(403))
async def list_runs(
    caller: CallerDep,
    service: ServiceDep,
    thread_id: Annotated[str | None, Query(max_length=64)] = None,
    status: Annotated[list[RunStatus] | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Query(max_length=MAX_REF_CHARACTERS)] = None,
) -> RunList:
    """List your runs, newest first: all, those of a thread, or those with one of the states."""
    page = await service.runs.page(caller, limit, cursor, thread_id=thread_id, status=status or ())
    return RunList(items=[run_view(run) for run in page.runs], cursor=page.cursor)


@router.get("/{run_id}", responses=problem_responses(403, 404))
async def get_run(run_id: str, caller: CallerDep, service: ServiceDep) -> RunView:
    """Return a run."""
    return run_view(await service.runs.get(caller, run_id))


@router.post("/{run_id}/cancel", responses={ACCEPTED: {"model": CancelView}} | problem_responses(403, 404, 409))
async def cancel_run(run_id: str, caller: CallerDep, service: ServiceDep, response: Response) -> CancelView:
    """Stop a run. Its changes stay and can be undone; an approval that waits is rejected.

    200 once it has ended, 202 if it needs a moment more, 409 `run_finished` if it had ended before. A key stops only
    runs whose scopes it has (403 `missing_scope`).
    """
    if await service.runs.cancel(caller, run_id):
        return CancelView(run_id=run_id, status="cancelled")
    response.status_code = ACCEPTED
    return CancelView(run_id=run_id, status="cancelling")


@router.get("/{run_id}/changes", responses=problem_responses(403, 404))
async def list_run_changes(run_id: str, caller: CallerDep, service: ServiceDep) -> ChangeList:
    """List the changes of a run in the drive, in order, and its calls of your own MCP servers."""
    run = await service.runs.get(caller, run_id)
    views = changes_to_view(await service.runs.changes(caller, run_id), language_of(run.message))
    outside = await _outside_calls(run, caller, service)
    return ChangeList(items=views["changes"], groups=views["groups"], outside=outside)


@router.get("/{run_id}/context", responses=problem_responses(403, 404))
async def get_run_context(run_id: str, caller: CallerDep, service: ServiceDep) -> RunContextView:
    """Return a run's requests to its models, to the letter: instructions, summaries, messages and results."""
    run = await service.runs.get(caller, run_id)
    at = run.head_checkpoint
    hidden = await service.withholding.hidden_items(caller, run.thread_id, at)
    calls = await service.graph.memory.model_calls(run.user_id, run.thread_id, run.id, hidden, at)
    return RunContextView(run_id=run.id, calls=[ModelCallView.model_validate(call) for call in calls])


@router.get("/{run_id}/audit", responses=problem_responses(403, 404))
async def get_run_audit(run_id: str, caller: CallerDep, service: ServiceDep) -> RunAudit:
    """Return each call of a run with its approvals, who decided, and the versions that it made."""
    found = await service.runs.audit(caller, run_id)
    run = await service.runs.get(caller, run_id)
    if not await service.withholding.hidden(caller, run):
        return found
    return RunAudit.model_validate(withhold_texts(found.model_dump(), language_of(run.message)))


@router.post("/{run_id}/undo", responses=problem_responses(403, 404, 409))
async def undo_run(run_id: str, caller: CallerDep, service: ServiceDep, body: UndoBody | None = None) -> UndoView:
    """Undo the changes of a run, or one of them; items that were changed since are left, and named."""
    wanted = body or UndoBody()
    run, result = await service.runs.undo(caller, run_id, preview=wanted.preview, change_id=wanted.change_id)
    outside = await _outside_calls(run, caller, service) if wanted.change_id is None else []
    return undo_view(run, result).model_copy(update={"outside": outside})


@router.post("/{run_id}/redo", responses=problem_responses(403, 404, 409))
async def redo_run(run_id: str, caller: CallerDep, service: ServiceDep, body: RedoBody | None = None) -> UndoView:
    """Redo the undone changes of a run; items that were changed since are left, and named."""
    run, result = await service.runs.redo(caller, run_id, preview=body is not None and body.preview)
    return undo_view(run, result)


async def _outside_calls(run: RunRow, caller: Principal, service: Service) -> list[OutsideCallView]:
    """Return a run's calls of the person's own servers, as they may see them now."""
    language, records = language_of(run.message), await service.runs.outside_calls(caller, run.id)
    if records and await service.withholding.hidden(caller, run):
        records = withhold_texts(records, language)
    return [outside_call_view(record, language) for record in records]
