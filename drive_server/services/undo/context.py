"""What every step of an undo works with: finding the item, saying why a thing stays, showing what happens."""

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Select, select

from drive_server.access import Role
from drive_server.errors import ForbiddenError, NotFoundError
from drive_server.messages import Message
from drive_server.models import Change
from drive_server.services.journal.changes import changes_of_item
from drive_server.services.journal.recorder import Writing
from drive_server.services.tree.located import Located
from drive_server.services.tree.nodes import locate, whole_trees
from drive_server.storage.tables import ChangeItemRow, ChangeRow, NodeRow, UserRow

GONE = Message.of("deleted_for_good")
DELETIONS = frozenset({"delete_for_good", "empty_trash", "expire"})


class Kept(Exception):  # noqa: N818 - it is no error: this entry stays as it is, and why
    """Raised by a step that leaves a row as it is, for this reason."""

    def __init__(self, reason: Message) -> None:
        super().__init__(reason.en)
        self.reason = reason


@dataclass(slots=True)
class UndoContext:
    """The change that the undo makes, and the ids of the changes that it takes back."""

    writing: Writing
    own: set[int] = field(default_factory=set[int])

    async def locate(self, item_id: str, needed: Role = Role.EDITOR) -> Located:
        """Return the item. Raises `Kept` if it is gone, or no longer the caller's to change."""
        try:
            return await locate(self.writing.session, self.writing.actor.principal, item_id, needed)
        except (NotFoundError, ForbiddenError) as error:
            is_gone = await self._was_deleted_by_caller(item_id)
            raise Kept(GONE if is_gone else Message.of("role_gone")) from error

    async def _was_deleted_by_caller(self, item_id: str) -> bool:
        """Only the owner deletes for good: nobody else is told whether an item that they lost still exists."""
        query = (
            select(ChangeRow.id)
            .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
            .where(
                ChangeItemRow.item_id == item_id,
                ChangeRow.user_id == self.writing.actor.user_id,
                ChangeRow.action.in_(DELETIONS),
            )
            .limit(1)
        )
        return await self.writing.session.scalar(query) is not None

    async def changed_since(self, change: ChangeRow, located: Located) -> Kept:
        """Return the reason for leaving an item that somebody changed after the change: who, and when."""
        found = await changes_of_item(
            self.writing.session, self.writing.actor.principal, located, after_id=change.id, without=self.own, limit=1
        )
        return _changed_by(found[0] if found else None)

    async def changed_within(self, change: ChangeRow, top: NodeRow) -> Kept:
        """Return the reason for leaving a tree in which somebody changed one of the items that the change made.

        What left the tree may be where the caller sees nothing: of that they are told no more than that it left.
        """
        session, later = self.writing.session, self._changes_of_made(change)
        inside = whole_trees(select(NodeRow.id).where(NodeRow.id == top.id))
        seen = (await session.execute(later.where(ChangeItemRow.item_id.in_(select(inside.c.id))))).first()
        if seen:
            return Kept(Message.of("changed_inside_by", email=seen.email, time=f"{seen.at:%Y-%m-%d %H:%M}"))
        if (await session.execute(later)).first():
            return Kept(Message.of("part_left"))
        return Kept(Message.of("holds_more"))

    def _changes_of_made(self, change: ChangeRow) -> Select[str, datetime]:
        """Return a query for who last changed an item that the change made, and when."""
        made = select(ChangeItemRow.item_id).where(ChangeItemRow.change_id == change.id)
        return (
            select(UserRow.email, ChangeRow.at)
            .join(ChangeRow, ChangeRow.user_id == UserRow.id)
            .join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
            .where(ChangeItemRow.item_id.in_(made), ChangeRow.id > change.id, ChangeRow.id.not_in(self.own))
            .order_by(ChangeRow.id.desc())
            .limit(1)
        )

    def show(self, located: Located, what: Message) -> None:
        """Name the item in the effect, with what happens to it."""
        self.writing.show(located.row, located.path, what)


def _changed_by(later: Change | None) -> Kept:
    if later is None:
        return Kept(Message.of("changed_since"))
    return Kept(Message.of("changed_by", email=later.user_email, time=f"{later.at:%Y-%m-%d %H:%M}"))
