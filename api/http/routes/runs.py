"""Runs: read, cancel, audit, undo and redo them."""

from fastapi import APIRouter, Response

from api.http.dependencies import CallerDep, RunsDep, ServiceDep
from api.http.requests import RedoBody, UndoBody
from api.http.schemas import (
    CancelView,
    ChangeList,
    ModelCallView,
    ModelMessage,
    RunAudit,
    RunContextView,
    RunView,
    UndoView,
)
from api.http.views import audit_view, run_view, undo_view
from api.memory import ModelCall
from api.runs.changes import changes_to_view
from drive_server.http.problem import problem_responses
from graph.language import language_of

router = APIRouter(prefix="/runs/{run_id}", tags=["runs"])

ACCEPTED = 202


@router.get("", responses=problem_responses(404))
async def get_run(run_id: str, caller: CallerDep, runs: RunsDep) -> RunView:
    """Return a run."""
    return run_view(await runs.get(caller, run_id))


@router.post("/cancel", responses={ACCEPTED: {"model": CancelView}} | problem_responses(404, 409))
async def cancel(run_id: str, caller: CallerDep, runs: RunsDep, response: Response) -> CancelView:
    """Stop a run. Its changes stay and can be undone; an approval that waits is rejected.

    200 once it has ended, 202 if it needs a moment more, 409 `run_finished` if it had ended before.
    """
    if await runs.cancel(caller, run_id):
        return CancelView(run_id=run_id, status="cancelled")
    response.status_code = ACCEPTED
    return CancelView(run_id=run_id, status="cancelling")


@router.get("/changes", responses=problem_responses(404))
async def changes(run_id: str, caller: CallerDep, runs: RunsDep) -> ChangeList:
    """List the changes of a run in the drive, in order."""
    run = await runs.get(caller, run_id)
    views = changes_to_view(await runs.changes(caller, run_id), language_of(run.message))
    return ChangeList(items=views["changes"], groups=views["groups"])


@router.get("/context", responses=problem_responses(404))
async def context(run_id: str, caller: CallerDep, runs: RunsDep, service: ServiceDep) -> RunContextView:
    """Return a run's requests to its models, to the letter: instructions, summaries, messages and results."""
    run = await runs.get(caller, run_id)
    calls = await service.graph.memory.seen(run.user_id, run.thread_id, run.id)
    return RunContextView(run_id=run.id, calls=[_call_view(call) for call in calls])


@router.get("/audit", responses=problem_responses(404))
async def audit(run_id: str, caller: CallerDep, runs: RunsDep) -> RunAudit:
    """Return each call of a run with its approvals, who decided, and the versions that it made."""
    return audit_view(await runs.audit(caller, run_id))


@router.post("/undo", responses=problem_responses(403, 404, 409))
async def undo(run_id: str, caller: CallerDep, runs: RunsDep, body: UndoBody | None = None) -> UndoView:
    """Undo the changes of a run, or one of them; items that were changed since are left, and named."""
    wanted = body or UndoBody()
    run, result = await runs.undo(caller, run_id, preview=wanted.preview, change_id=wanted.change_id)
    return undo_view(run, result)


@router.post("/redo", responses=problem_responses(403, 404, 409))
async def redo(run_id: str, caller: CallerDep, runs: RunsDep, body: RedoBody | None = None) -> UndoView:
    """Redo the undone changes of a run; items that were changed since are left, and named."""
    run, result = await runs.redo(caller, run_id, preview=body is not None and body.preview)
    return undo_view(run, result)


def _call_view(call: ModelCall) -> ModelCallView:
    messages = [ModelMessage(**message) for message in call.messages]
    return ModelCallView(
        message_id=call.message_id, messages=messages, estimated_tokens=call.tokens, input_tokens=call.reported
    )
