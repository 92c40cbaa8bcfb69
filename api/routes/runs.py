"""Runs: stop one, see what it changed, take that back."""

from fastapi import APIRouter, Response

from api.deps import CallerDep, RunsDep
from api.ports import RunChange
from api.problems import problem_responses
from api.schemas import CancelView, ChangeList, ChangeView, RunView, UndoBody, UndoView
from api.tables import RunRow

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
    return ChangeList(items=[change_view(change) for change in await runs.changes(caller, run_id)])


@router.post("/undo", responses=problem_responses(403, 404, 409))
async def undo(run_id: str, caller: CallerDep, runs: RunsDep, body: UndoBody | None = None) -> UndoView:
    """Take back what a run changed; what was changed since then is left, and named. Undoing an undo redoes."""
    done = await runs.undo(caller, run_id, preview=body is not None and body.preview)
    return UndoView(
        undone=[change_view(change) for change in done.undone],
        skipped=list(done.skipped),
        change_id=done.change_id,
        preview=done.preview,
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


def change_view(change: RunChange) -> ChangeView:
    """Return a change as clients see it."""
    return ChangeView(id=change.id, tool=change.tool, summary=change.summary, item_id=change.item_id)
