"""Taking recorded changes back, newest first, leaving what was changed since and saying why."""

from collections.abc import Sequence
from hashlib import sha256

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Actor, Scope, require_scope
from drive_server.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    NameConflictError,
    NotFoundError,
    StateConflictError,
)
from drive_server.models import UndoResult
from drive_server.services.changes import to_change
from drive_server.services.undo_steps import Kept, Steps
from drive_server.services.writing import Entry, Writing
from drive_server.storage.tables import ChangeRow

MAX_ID = 1 << 62
NEWEST = 50
MAX_TOLD = 5


async def select_changes(
    session: AsyncSession, actor: Actor, run_id: str | None, change_id: int | None
) -> Sequence[ChangeRow]:
    """Return the caller's changes to take back, newest first: of the run, the one, or what they did last.

    Raises `NotFoundError` for what is not the caller's, `StateConflictError` if there is nothing left to take back.
    """
    if run_id is not None and change_id is not None:
        raise InvalidInputError("Name a run or a change, not both.", hint="Leave one of them out.")
    own = select(ChangeRow).where(ChangeRow.user_id == actor.user_id).order_by(ChangeRow.id.desc())
    if run_id is None and change_id is None:
        newest = next((row for row in await session.scalars(own.limit(NEWEST)) if row.entries), None)
        if newest is None:
            raise StateConflictError("There is nothing to undo.", hint="Only your own changes can be undone.")
        run_id, change_id = newest.run_id, newest.id
    if run_id is not None:
        rows = (await session.scalars(own.where(ChangeRow.run_id == run_id))).all()
    else:
        rows = (await session.scalars(own.where(ChangeRow.id == _checked_id(change_id)))).all()
    return _open_ones(rows)


class Undoing:
    """One undo in progress: what was taken back so far and what had to stay."""

    def __init__(self, writing: Writing, *, check_scopes: bool) -> None:
        self._writing = writing
        self._check_scopes = check_scopes
        self._steps = Steps(writing)
        self._undone: list[ChangeRow] = []
        self._skipped: list[dict[str, object]] = []

    async def take_back(self, changes: Sequence[ChangeRow]) -> None:
        """Take the changes back in their order. Raises `MissingScopeError` if the key lacks a scope for one."""
        for change in changes:
            # Asked again here: taking back an undo of the same run may just have brought an earlier change back.
            if change.undone_by is None:
                await self._take_back_change(change)
        await self._steps.finish()
        await self._writing.session.flush()
        self._tell()

    def result(self, email: str, *, preview: bool) -> UndoResult:
        """Return what was taken back and what was left; all these changes are the caller's, whose email this is."""
        undone = tuple(to_change(change, email) for change in self._undone)
        return UndoResult(undone=undone, skipped=tuple(self._skipped), change_id=None, preview=preview)

    async def _take_back_change(self, change: ChangeRow) -> None:
        taken = left = 0
        for entry in reversed(change.entries):
            if self._check_scopes:
                require_scope(self._writing.actor.principal, _scope_for(entry))
            try:
                taken += await self._steps.take_back(change, entry)
            except (NotFoundError, ForbiddenError):
                self._leave(change, entry, "the folder it was in is no longer open to you")
                left += 1
            except (Kept, NameConflictError, StateConflictError) as reason:
                self._leave(change, entry, str(reason))
                left += 1
            await self._writing.session.flush()
        if taken:
            await self._mark(change)

    async def _mark(self, change: ChangeRow) -> None:
        self._undone.append(change)
        if change.undoes is not None:
            revived = select(ChangeRow).where(ChangeRow.undone_by == change.id)
            for row in await self._writing.session.scalars(revived):
                row.undone_by = None

    def _leave(self, change: ChangeRow, entry: Entry, reason: str) -> None:
        known = entry["after"] or entry["before"] or {}
        item_id = known.get("node_id", entry["id"])
        self._skipped.append({"change_id": change.id, "item_id": item_id, "summary": change.summary, "reason": reason})

    def _tell(self) -> None:
        writing = self._writing
        summaries = [change.summary.rstrip(".") for change in self._undone]
        told = "; ".join(summaries[:MAX_TOLD]) + ("; …" if len(summaries) > MAX_TOLD else "")
        left = (
            f" Left as it is now: {len(self._skipped)} changed since or not yours to change." if self._skipped else ""
        )
        count = len(summaries)
        writing.tell("Take back", "Took back", f"{count} change{'s' * (count != 1)}: {told or 'none'}.{left}")
        writing.count = len(writing.items)
        writing.item_id = self._undone[0].item_id if count == 1 else None
        writing.undoes = self._undone[0].id if self._undone else None
        writing.on_recorded.append(self._mark_undone)
        writing.etag = self._etag()
        self._require_as_approved()

    def _mark_undone(self, change_id: int) -> None:
        for change in self._undone:
            change.undone_by = change_id

    def _etag(self) -> str:
        """What was shown and approved is what gets done: the same changes taken back, the same ones left."""
        shown = [
            [change.id for change in self._undone],
            [[left["change_id"], left["item_id"]] for left in self._skipped],
        ]
        return f"undo-{sha256(orjson.dumps(shown)).hexdigest()[:16]}"

    def _require_as_approved(self) -> None:
        approved = self._writing.actor.if_match
        if approved is not None and approved != self._writing.etag:
            raise EtagMismatchError(
                "What would be undone is not what was shown.",
                hint="Preview the undo again.",
                details={"etag": self._writing.etag},
            )


def _open_ones(rows: Sequence[ChangeRow]) -> Sequence[ChangeRow]:
    if not rows:
        raise NotFoundError("There is no such run or change of yours.", hint="List your changes to see what there is.")
    if all(row.undone_by is not None or not row.entries for row in rows):
        raise StateConflictError(
            "That was undone already.",
            hint="Undo the undo itself to do it again.",
            details={"undone_by": next((row.undone_by for row in rows if row.undone_by), None)},
        )
    return rows


def _checked_id(change_id: int | None) -> int:
    return change_id if change_id is not None and 0 <= change_id < MAX_ID else -1


def _scope_for(entry: Entry) -> Scope:
    if entry["table"] == "shares":
        return Scope.SHARE
    goes_to_trash = (entry["before"] or {}).get("trash_id") is not None
    return Scope.DELETE if goes_to_trash else Scope.WRITE
