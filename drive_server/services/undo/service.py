"""Taking changes back, and doing them again: each is itself one change in the journal."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.kernel.access import Actor, Scope, require_scope
from drive_server.kernel.errors import InvalidInputError, NotFoundError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.models.changes import Outcome, RedoResult, UndoResult
from drive_server.services.journal.recorder import Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.progress import Progress, silent
from drive_server.services.undo.reversal import Reversal, checked_id, select_changes
from drive_server.storage.tables.journal import ChangeRow

UNDO = "undo"


async def select_undos(
    session: AsyncSession, actor: Actor, run_id: str | None, change_id: int | None
) -> Sequence[ChangeRow]:
    """Return the caller's undos that hold, newest first: those of the run or the change, or their last one.

    `change_id` names the undone change or the undo itself. Raises `NotFoundError` for changes that are not the
    caller's, and `StateConflictError` if nothing of it is undone.
    """
    if run_id is not None and change_id is not None:
        raise InvalidInputError("Name a run or a change, not both.", hint="Leave one of them out.")
    if run_id is not None:
        return await _of_run(session, actor, run_id)
    if change_id is not None:
        return await _of_change(session, actor, change_id)
    target = aliased(ChangeRow)
    newest = (
        select(ChangeRow)
        .join(target, target.id == ChangeRow.undoes)
        .where(ChangeRow.user_id == actor.user_id, *_HOLDS, target.action != UNDO)
        .order_by(ChangeRow.id.desc())
        .limit(1)
    )
    found = (await session.scalars(newest)).all()
    if not found:
        raise StateConflictError(Message.of("nothing_to_redo"))
    return found


async def _of_run(session: AsyncSession, actor: Actor, run_id: str) -> Sequence[ChangeRow]:
    own = (ChangeRow.user_id == actor.user_id, ChangeRow.run_id == run_id)
    rows = (await session.scalars(select(ChangeRow).where(*own))).all()
    if not rows:
        raise NotFoundError(Message.of("no_change"))
    ids = {row.undone_by for row in rows if row.undone_by} | {row.id for row in rows if row.action == UNDO}
    query = select(ChangeRow).where(ChangeRow.id.in_(ids), *_HOLDS).order_by(ChangeRow.id.desc())
    undos = (await session.scalars(query)).all()
    if not undos:
        raise StateConflictError(Message.of("not_undone"))
    return undos


async def _of_change(session: AsyncSession, actor: Actor, change_id: int) -> Sequence[ChangeRow]:
    own = select(ChangeRow).where(ChangeRow.user_id == actor.user_id)
    row = (await session.scalars(own.where(ChangeRow.id == checked_id(change_id)))).one_or_none()
    if row is None:
        raise NotFoundError(Message.of("no_change"))
    wanted = row.id if row.action == UNDO else row.undone_by
    undos = (await session.scalars(own.where(ChangeRow.id == wanted, *_HOLDS))).all()
    if not undos:
        raise StateConflictError(Message.of("not_undone"))
    return undos


_HOLDS = (ChangeRow.action == UNDO, ChangeRow.undone_by.is_(None))


class UndoService:
    """Undoes and redoes a person's recorded changes."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def undo(
        self,
        actor: Actor,
        *,
        run_id: str | None = None,
        change_id: int | None = None,
        run_ids: Sequence[str] = (),
        preview: bool = False,
        progress: Progress = silent,
    ) -> Outcome[UndoResult]:
        """Take back a run (or several as one) or a change of the caller; without either, the last change of their key.

        Rows changed since stay, and `skipped` says why. The undo is one change that can itself be undone.
        Raises `NotFoundError` for changes that are not the caller's and `StateConflictError` if all is undone already.
        """
        require_scope(actor.principal, Scope.READ if preview else Scope.WRITE)
        acting = replace(actor, dry_run=actor.dry_run or preview)
        runs = [run for run in (run_id, *run_ids) if run is not None]

        async def operation(recorder: Recorder) -> UndoResult:
            changes = await select_changes(recorder.session, acting, runs, change_id)
            reversal = Reversal(recorder, check_scopes=not preview)
            await reversal.take_back(changes, progress)
            result = reversal.result(acting.principal.email, preview=acting.dry_run)
            # To tell of thousands of changes takes a while, and so do the next steps: others come in between.
            await asyncio.sleep(0)
            return result

        arguments = {"run_id": run_id, "change_id": change_id} | ({"run_ids": [*run_ids]} if run_ids else {})
        outcome = await self._journal.change(acting, "undo", arguments, operation, waits=progress is not silent)
        undone = tuple(replace(change, undone_by=outcome.change_id) for change in outcome.value.undone)
        return replace(outcome, value=replace(outcome.value, undone=undone, change_id=outcome.change_id))

    async def redo(
        self,
        actor: Actor,
        *,
        run_id: str | None = None,
        change_id: int | None = None,
        preview: bool = False,
        progress: Progress = silent,
    ) -> Outcome[RedoResult]:
        """Redo changes that the caller undid: of a run, of a change (by its own id or its undo's), or of the last undo.

        Rows changed since the undo stay, and `skipped` says why. The redo can itself be undone. Raises
        `NotFoundError` for changes that are not the caller's and `StateConflictError` if nothing of it is undone.
        """
        require_scope(actor.principal, Scope.READ if preview else Scope.WRITE)
        acting = replace(actor, dry_run=actor.dry_run or preview)

        async def operation(recorder: Recorder) -> RedoResult:
            undos = await select_undos(recorder.session, acting, run_id, change_id)
            reversal = Reversal(recorder, check_scopes=not preview, direction="redo")
            await reversal.take_back(undos, progress)
            result = reversal.redone(acting.principal.email, preview=acting.dry_run)
            await asyncio.sleep(0)
            return result

        outcome = await self._journal.change(
            acting, "redo", {"run_id": run_id, "change_id": change_id}, operation, waits=progress is not silent
        )
        return replace(outcome, value=replace(outcome.value, change_id=outcome.change_id))
