"""Undo recorded changes, newest first, but leave rows that changed since and say why."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import orjson
from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Scope, require_scope
from drive_server.kernel.errors import (
    EtagMismatchError,
    ForbiddenError,
    InvalidInputError,
    NameConflictError,
    NotFoundError,
    StateConflictError,
)
from drive_server.kernel.messages import Message, localized
from drive_server.models.changes import RedoResult, UndoResult
from drive_server.services.journal.changes import HAS_ENTRIES, summary_of, to_change
from drive_server.services.journal.recorder import CHANGES, Entry, Recorder
from drive_server.services.progress import Progress, silent
from drive_server.services.undo.steps import Steps, StepSkipped, UndoContext
from drive_server.storage.tables.journal import ChangeRow

UNDOING = frozenset({"undo", "redo"})


@dataclass(frozen=True, slots=True)
class Marks:
    """Keeps `undone_by` of earlier changes true while a change takes some of them back."""

    recorder: Recorder

    async def lift(self, change: ChangeRow) -> list[ChangeRow]:
        """Note that the change holds no longer. Return, oldest first, the changes that hold again by that."""
        self.recorder.note(CHANGES, str(change.id), {"undone": False}, {"undone": True})
        revived: list[ChangeRow] = []
        pending = [(change, False)]
        while pending:
            source, holds = pending.pop()
            for target in await self._undone_by(source):
                if target.undone_by != (None if holds else source.id):
                    continue
                target.undone_by = source.id if holds else None
                pending.append((target, not holds))
                if source is change:
                    revived.append(target)
        return sorted(revived, key=lambda row: row.id)

    async def _undone_by(self, change: ChangeRow) -> Sequence[ChangeRow]:
        """Return the changes that the change undid.

        The first undos noted nothing: theirs are known by the marks they left.
        """
        if change.action not in UNDOING:
            return ()
        noted = [int(entry["id"]) for entry in change.entries if entry["table"] == CHANGES]
        condition = ChangeRow.id.in_(noted) if noted else ChangeRow.undone_by == change.id
        return (await self.recorder.session.scalars(select(ChangeRow).where(condition))).all()


MAX_ID = 1 << 62
MAX_NAMED = 5
ROWS_AT_ONCE = 100


Direction = Literal["undo", "redo"]


async def select_changes(
    session: AsyncSession, actor: Actor, run_ids: Sequence[str], change_id: int | None
) -> Sequence[ChangeRow]:
    """Return the caller's changes to take back, newest first: of the runs, the one, or this key's last one.

    Without either, the assistant's changes are left alone, and so are undos: those have to be named.
    """
    if run_ids and change_id is not None:
        raise InvalidInputError("Name a run or a change, not both.", hint="Leave one of them out.")
    own = select(ChangeRow).where(ChangeRow.user_id == actor.user_id).order_by(ChangeRow.id.desc())
    if not run_ids and change_id is None:
        principal = actor.principal
        undoable = own.where(
            ChangeRow.method == principal.method,
            ChangeRow.key_name == principal.key_name,
            ChangeRow.run_id.is_(None),
            ChangeRow.undone_by.is_(None),
            ChangeRow.action.not_in(UNDOING),
            HAS_ENTRIES,
        )
        newest = await session.scalar(undoable.limit(1))
        if newest is None:
            raise StateConflictError(Message.of("nothing_to_undo"))
        change_id = newest.id
    if run_ids:
        rows = await _read_batches(session, own.where(ChangeRow.run_id.in_(run_ids)))
    else:
        rows = (await session.scalars(own.where(ChangeRow.id == checked_id(change_id)))).all()
    return _require_open(rows)


class Reversal:
    """One undo in progress: the undone changes, and those that had to stay. A redo does the `named` changes again."""

    def __init__(self, recorder: Recorder, *, check_scopes: bool, direction: Direction = "undo") -> None:
        self._writing = recorder
        self._check_scopes = check_scopes
        self._direction: Direction = direction
        self._context = UndoContext(recorder)
        self._steps = Steps(self._context)
        self._marks = Marks(recorder)
        self._undone: list[ChangeRow] = []
        self._named: list[ChangeRow] = []
        self._skipped: list[dict[str, object]] = []
        self._left_rows: set[tuple[int, str, str]] = set()

    async def take_back(self, changes: Sequence[ChangeRow], progress: Progress = silent) -> None:
        """Take the changes back in their order. Raises `MissingScopeError` if the key lacks a scope for one."""
        self._context.own.update(change.id for change in changes)
        for done, change in enumerate(changes):
            await progress(done, len(changes))
            # Asked again here: taking back an undo of the same run may just have brought an earlier change back.
            if change.undone_by is None:
                await self._take_back_change(change)
        await progress(len(changes), len(changes))
        await self._steps.finish()
        await self._writing.session.flush()
        self._describe()

    def result(self, email: str, *, preview: bool) -> UndoResult:
        """Return the undone and the skipped changes; all these changes are the caller's, whose email this is."""
        undone = tuple(to_change(change, email, entries=()) for change in self._undone)
        return UndoResult(undone=undone, skipped=tuple(self._skipped), change_id=None, preview=preview)

    def redone(self, email: str, *, preview: bool) -> RedoResult:
        """Return the redone and the skipped changes."""
        redone = tuple(to_change(change, email, entries=()) for change in self._named)
        return RedoResult(redone=redone, skipped=tuple(self._skipped), change_id=None, preview=preview)

    async def _take_back_change(self, change: ChangeRow) -> None:
        taken: dict[tuple[str, str], Entry] = {}
        for entry in reversed(change.entries):
            if self._check_scopes and entry["table"] != CHANGES:
                require_scope(self._writing.actor.principal, _scope_for(entry))
            key = entry["table"], entry["id"]
            left: Message | None = None
            try:
                if await self._steps.take_back(change, entry):
                    taken.setdefault(key, entry)
            except (NotFoundError, ForbiddenError):
                left = Message.of("folder_closed")
            except (StepSkipped, NameConflictError, StateConflictError) as error:
                left = error.reason
            if left:
                self._leave(change, entry, left)
                await self._return_item(taken, key)
            await self._writing.session.flush()
        if taken:
            await self._mark(change)

    async def _return_item(self, taken: dict[tuple[str, str], Entry], key: tuple[str, str]) -> None:
        """Undo the first step back of an item whose second step has to stay: it is aside, where nobody looks for it."""
        entry = taken.get(key)
        if entry and key[0] == "nodes" and "trash_id" not in (entry["after"] or {}):
            await self._steps.return_item(taken.pop(key))

    async def _mark(self, change: ChangeRow) -> None:
        self._undone.append(change)
        revived = await self._marks.lift(change)
        self._named += revived if self._direction == "redo" else [change]

    def _leave(self, change: ChangeRow, entry: Entry, reason: Message) -> None:
        row = (change.id, entry["table"], entry["id"])
        if row in self._left_rows:  # an earlier step of a change that moved the row several times
            return
        self._left_rows.add(row)
        values = entry["after"] or entry["before"] or {}
        item_id = values.get("node_id", entry["id"])
        texts = localized(summary=summary_of(change), reason=reason)
        self._skipped.append({"change_id": change.id, "item_id": item_id, **texts})

    def _describe(self) -> None:
        recorder = self._writing
        count, skipped = len(self._named), len(self._skipped)
        shown = [*map(summary_of, self._named[:MAX_NAMED]), *(["…"] if count > MAX_NAMED else [])]
        changes = Message.joined("semicolons", shown) if shown else Message.of("nothing")
        code = "left_not_undone" if self._direction == "undo" else "left_not_redone"
        left = Message.of(code, count=skipped)
        recorder.describe(self._direction, count=count, changes=changes, left=left if skipped else "")
        recorder.left = self._skipped
        recorder.count = len(recorder.items)
        recorder.item_id = self._undone[0].item_id if len(self._undone) == 1 else None
        recorder.undoes = self._undone[0].id if self._undone else None
        recorder.on_recorded.append(self._mark_undone)
        recorder.etag = self._etag()
        self._require_as_approved()

    def _mark_undone(self, change_id: int) -> None:
        for change in self._undone:
            change.undone_by = change_id

    def _etag(self) -> str:
        """Return the etag of an undo: the changes taken back, and the entries left."""
        shown = [
            [change.id for change in self._undone],
            [[left["change_id"], left["item_id"]] for left in self._skipped],
        ]
        return f"undo-{sha256(orjson.dumps(shown)).hexdigest()[:16]}"

    def _require_as_approved(self) -> None:
        approved = self._writing.actor.if_match
        if approved is not None and approved != self._writing.etag:
            raise EtagMismatchError(Message.of("undo_not_as_shown"), details={"etag": self._writing.etag})


async def _read_batches(session: AsyncSession, query: Select[ChangeRow]) -> list[ChangeRow]:
    """Return the rows; turning all of a long run into objects at once would hold up everybody else in the process."""
    rows: list[ChangeRow] = []
    async for part in (await session.stream_scalars(query)).partitions(ROWS_AT_ONCE):
        rows += part
        await asyncio.sleep(0)
    return rows


def _require_open(rows: Sequence[ChangeRow]) -> Sequence[ChangeRow]:
    if not rows:
        raise NotFoundError(Message.of("no_change"))
    if not any(row.entries for row in rows):
        raise StateConflictError(Message.of("nothing_to_undo"))
    if all(row.undone_by is not None or not row.entries for row in rows):
        raise StateConflictError(
            Message.of("undone_already"),
            details={"undone_by": next((row.undone_by for row in rows if row.undone_by), None)},
        )
    return rows


def checked_id(change_id: int | None) -> int:
    """Return the id, or one that no change has if the database could not even compare it."""
    return change_id if change_id is not None and 0 <= change_id < MAX_ID else -1


def _scope_for(entry: Entry) -> Scope:
    if entry["table"] in {"shares", "links"}:
        return Scope.SHARE
    was_made = entry["table"] == "nodes" and entry["before"] is None
    goes_to_trash = was_made or (entry["before"] or {}).get("trash_id") is not None
    return Scope.DELETE if goes_to_trash else Scope.WRITE
