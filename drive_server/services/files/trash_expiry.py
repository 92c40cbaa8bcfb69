"""The end of what lies in the trash for too long: it is deleted for good, and the journal says so."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, select

from drive_server.access import ALL_SCOPES, Actor, Principal
from drive_server.clock import Clock, utc_now
from drive_server.models import DeletedItems
from drive_server.services.files.deletion import delete_trees
from drive_server.services.journal.recorder import Writing
from drive_server.services.journal.service import Journal
from drive_server.services.progress import silent
from drive_server.storage.database import Database
from drive_server.storage.tables import NodeRow, UserRow

TOOL: Final = "expiry"
METHOD: Final = "system"
ITEMS_AT_ONCE = 100


class Expiry:
    """Empties the trash of what went there more than `days` days ago, in the name of whom it belongs to."""

    def __init__(self, database: Database, journal: Journal, days: int, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._journal = journal
        self._days = days
        self._clock = clock

    async def run_once(self) -> int:
        """Delete what is due, in changes of bounded size, and return how many items that were."""
        due = self._clock() - timedelta(days=self._days)
        async with self._database.read() as session:
            owners = (
                select(UserRow.id, UserRow.email)
                .where(UserRow.id.in_(select(NodeRow.owner_id).where(*_is_due(due))))
                .order_by(UserRow.id)
            )
            found = (await session.execute(owners)).all()
        total = 0
        for user_id, email in found:
            owner = Actor(Principal(user_id, email, ALL_SCOPES, METHOD), tool=TOOL)
            while count := await self._expire(owner, due):
                total += count
        return total

    async def _expire(self, owner: Actor, due: datetime) -> int:
        """Delete the oldest that are due still: somebody may have brought one back just now."""

        async def operation(writing: Writing) -> DeletedItems:
            tops = await _oldest(writing, owner.user_id, due)
            count = await delete_trees(writing, tops, silent)
            writing.describe("expire", count=count, days=self._days)
            return DeletedItems(count, ())

        arguments = {"until": due.isoformat()}
        return (await self._journal.change(owner, "expire", arguments, operation)).value.count


async def _oldest(writing: Writing, owner_id: str, due: datetime) -> Sequence[NodeRow]:
    query = select(NodeRow).where(NodeRow.owner_id == owner_id, *_is_due(due)).order_by(NodeRow.trashed_at, NodeRow.id)
    return (await writing.session.scalars(query.limit(ITEMS_AT_ONCE))).all()


def _is_due(due: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return NodeRow.trash_id == NodeRow.id, NodeRow.trashed_at < due
