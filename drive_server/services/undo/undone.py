"""Which recorded changes hold: a change that was undone does not, and does again once its undo was taken back."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from drive_server.services.journal.recorder import CHANGES, Writing
from drive_server.storage.tables import ChangeRow

UNDOING = frozenset({"undo", "redo"})


@dataclass(frozen=True, slots=True)
class Marks:
    """Keeps `undone_by` of earlier changes true while a change takes some of them back.

    An undo notes what it took back among its own entries, so that it can be followed both ways any number of times.
    """

    writing: Writing

    async def lift(self, change: ChangeRow) -> list[ChangeRow]:
        """Note that the change holds no longer. Returns, oldest first, the changes that it had undone: they hold again.

        If one of those is an undo itself, then what it had undone is undone again, and so on.
        """
        self.writing.note(CHANGES, str(change.id), {"undone": False}, {"undone": True})
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
        """Return what the change undid. The first undos noted nothing: theirs are known by the marks they left."""
        if change.action not in UNDOING:
            return ()
        noted = [int(entry["id"]) for entry in change.entries if entry["table"] == CHANGES]
        condition = ChangeRow.id.in_(noted) if noted else ChangeRow.undone_by == change.id
        return (await self.writing.session.scalars(select(ChangeRow).where(condition))).all()
