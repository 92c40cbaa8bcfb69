"""Runs: stop one, see what it changed, take that back."""

from fastapi import APIRouter, Response

from api.drive import RunUndo
from api.http.audit_schemas import AuditedCallView, AuditedChangeView, RunAudit
from api.http.deps import CallerDep, RunsDep, ServiceDep
from api.http.problems import problem_responses
from api.http.schemas import (
    CancelView,
    ChangeList,
    ModelCallView,
    ModelMessage,
    RedoBody,
    RunContextView,
    RunView,
    UndoBody,
    UndoView,
)
from api.memory import ModelCall
from api.runs.audit import Audit
from api.runs.changes import told_changes, told_undo
from api.storage.tables import RunRow
from graph.language import language_of

router = APIRouter(prefix="/runs/{run_id}", tags=["runs"])

ACCEPTED = 202


@router.get("", responses=problem_responses(404))
async def get_run(run_id: str, caller: CallerDep, runs: RunsDep) -> RunView:
    """Say how a run stands."""
    return run_view(await runs.get(caller, run_id))


@router.post("/cancel", responses={ACCEPTED: {"model": CancelView}} | problem_responses(404, 409))
async def cancel(run_id: str, caller: CallerDep, runs: RunsDep, response: Response) -> CancelView:
    """Stop a run. What it did stays and can be undone; what waits for an approval is rejected.

    200 once it has ended, 202 if it needs a moment more, 409 `run_finished` if it had ended before.
    """
    if await runs.cancel(caller, run_id):
        return CancelView(run_id=run_id, status="cancelled")
    response.status_code = ACCEPTED
    return CancelView(run_id=run_id, status="cancelling")


@router.get("/changes", responses=problem_responses(404))
async def changes(run_id: str, caller: CallerDep, runs: RunsDep) -> ChangeList:
    """List what a run changed in the drive, in order."""
    run = await runs.get(caller, run_id)
    told = told_changes(await runs.changes(caller, run_id), language_of(run.message))
    return ChangeList(items=told["changes"], groups=told["groups"])


@router.get("/context", responses=problem_responses(404))
async def context(run_id: str, caller: CallerDep, runs: RunsDep, service: ServiceDep) -> RunContextView:
    """Show what the models of a run were sent: instructions, summaries, messages and results, to the letter."""
    run = await runs.get(caller, run_id)
    calls = await service.graph.memory.seen(run.user_id, run.thread_id, run.id)
    return RunContextView(run_id=run.id, calls=[_call_view(call) for call in calls])


@router.get("/audit", responses=problem_responses(404))
async def audit(run_id: str, caller: CallerDep, runs: RunsDep) -> RunAudit:
    """Say of each call of a run what was asked about it, who allowed it, and which versions it made."""
    return audit_view(await runs.audit(caller, run_id))


@router.post("/undo", responses=problem_responses(403, 404, 409))
async def undo(run_id: str, caller: CallerDep, runs: RunsDep, body: UndoBody | None = None) -> UndoView:
    """Take back what a run changed, or one change of it; what was changed since then is left, and named."""
    wanted = body or UndoBody()
    run, done = await runs.undo(caller, run_id, preview=wanted.preview, change_id=wanted.change_id)
    return undo_view(run, done)


@router.post("/redo", responses=problem_responses(403, 404, 409))
async def redo(run_id: str, caller: CallerDep, runs: RunsDep, body: RedoBody | None = None) -> UndoView:
    """Do again what was taken back of a run; what was changed since then is left, and named."""
    run, done = await runs.redo(caller, run_id, preview=body is not None and body.preview)
    return undo_view(run, done)


def _call_view(call: ModelCall) -> ModelCallView:
    messages = [ModelMessage(**message) for message in call.messages]
    return ModelCallView(
        message_id=call.message_id, messages=messages, estimated_tokens=call.tokens, input_tokens=call.reported
    )


def run_view(run: RunRow) -> RunView:
    """Return a run as clients see it."""
    return RunView(
        run_id=run.id,
        thread_id=run.thread_id,
        status=run.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        created_at=run.created_at,
        finished_at=run.finished_at,
    )


def audit_view(audit: Audit) -> RunAudit:
    """Return the audit as clients see it."""
    run = audit.run
    return RunAudit(
        run_id=run.id,
        thread_id=run.thread_id,
        started_by=run.email,
        scopes=run.scopes,
        mode=run.mode,
        message=run.message,
        status=run.status,
        created_at=run.created_at,
        finished_at=run.finished_at,
        starts=run.starts,
        calls=[AuditedCallView.model_validate(call) for call in audit.calls],
        other_changes=[AuditedChangeView.model_validate(change) for change in audit.other_changes],
    )


def undo_view(run: RunRow, done: RunUndo) -> UndoView:
    """Return what was taken back as clients see it, in the language of the run's message."""
    return UndoView.model_validate(told_undo(done, language_of(run.message)))
