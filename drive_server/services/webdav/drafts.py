"""Drafts: files that a program writes under another name, to move them over the one that it saves."""

from datetime import timedelta
from typing import Final

from sqlalchemy import exists, or_, select

from drive_server.access import Actor
from drive_server.clock import Clock, utc_now
from drive_server.storage.database import Database
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow

DRAFT_AGE: Final = timedelta(hours=1)


class DavDrafts:
    """Tells drafts from files that have a life of their own."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def is_draft(self, actor: Actor, node_id: str) -> bool:
        """Return whether nothing ever happened to the item but what the caller did by WebDAV within the last hour.

        So nobody else wrote, shared or linked it: nothing is lost when another item takes over its content.
        """
        own = (ChangeRow.user_id == actor.user_id, ChangeRow.method == actor.principal.method)
        touched = select(ChangeRow.id).join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
        touched = touched.where(ChangeItemRow.item_id == node_id)
        query = select(NodeRow.id).where(
            NodeRow.id == node_id,
            NodeRow.created_at >= self._clock() - DRAFT_AGE,
            exists(touched),
            ~exists(touched.where(or_(*(~condition for condition in own)))),
        )
        async with self._database.read() as session:
            return await session.scalar(query) is not None
