"""Rows as clients see them, for several routes."""

from api.http.schemas import ApprovalView, RunView, UndoView
from api.ports import RunUndo
from api.runs.changes import told_undo
from api.storage.tables import ApprovalRow, RunRow
from graph.language import language_of


def approval_view(row: ApprovalRow) -> ApprovalView:
    """Return an approval as clients see it."""
    return ApprovalView(
        approval_id=row.id,
        thread_id=row.thread_id,
        run_id=row.run_id,
        status=row.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        created_at=row.created_at,
        expires_at=row.expires_at,
        actions=row.payload["actions"],
        decisions=row.decisions,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
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


def undo_view(run: RunRow, done: RunUndo) -> UndoView:
    """Return what was taken back as clients see it, in the language of the run's message."""
    return UndoView.model_validate(told_undo(done, language_of(run.message)))
