"""Stars: items that a person wants at hand. A personal mark: no one else sees it, and no journal records it."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database
from drive_server.models.base import Page
from drive_server.models.items import Item
from drive_server.services.tree.items import checked_limit, describe, describe_all
from drive_server.services.tree.nodes import BATCH, locate, locate_live, locate_many, visible_ids
from drive_server.storage.tables.items import StarRow

_STARRED = select(StarRow.node_id).where(
    StarRow.user_id == bindparam("user"), StarRow.node_id.in_(bindparam("ids", expanding=True))
)
_MINE = select(StarRow.node_id).where(StarRow.user_id == bindparam("user")).limit(bindparam("most"))
FEW_IDS = 20
"""Beyond so many ids, asking for a person's stars is cheaper than writing all ids into the query."""
MAX_STARS = 500


class StarService:
    """Stars items, and lists them. Everyone who sees an item may star it; starring twice is starring once."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def star(self, actor: Actor, ref: str) -> Item:
        """Put a star on an item. Raises `StateConflictError` for one in the trash."""
        return await self._mark(actor, ref, starred=True)

    async def unstar(self, actor: Actor, ref: str) -> Item:
        """Take the star off an item, which may have none."""
        return await self._mark(actor, ref, starred=False)

    async def among(self, actor: Actor, ids: Sequence[str]) -> frozenset[str]:
        """Return those of the ids that the caller starred, by a query for each 500 of them."""
        return await self._database.read_sync(lambda connection: starred_sync(connection, actor, ids))

    async def page(self, actor: Actor, limit: int = 100, cursor: str | None = None) -> Page[Item]:
        """Return the starred items that the caller sees, the last starred first; none that are in the trash."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        cursors = Cursors(self._database.signer, actor.user_id, "stars")

        async def work(session: AsyncSession) -> tuple[Sequence[StarRow], list[Item], Sequence[StarRow]]:
            found = await _stars(session, actor, size, cursors.decode(cursor, str, str) if cursor else None)
            shown = found[:size]
            nodes = await locate_many(session, actor.principal, [star.node_id for star in shown])
            items = await describe_all(session, [nodes[star.node_id] for star in shown if star.node_id in nodes])
            return found, items, shown

        found, items, shown = await self._database.look(work)
        more = cursors.encode(shown[-1].at.isoformat(), shown[-1].node_id) if len(found) > size else None
        return Page(tuple(items), more)

    async def _mark(self, actor: Actor, ref: str, *, starred: bool) -> Item:
        require_person(actor.principal)
        require_scope(actor.principal, Scope.WRITE)

        async def work(session: AsyncSession) -> Item:
            node = await (locate_live if starred else locate)(session, actor.principal, ref)
            key = (actor.user_id, node.id)
            if not starred:
                mine = and_(StarRow.user_id == actor.user_id, StarRow.node_id == node.id)
                await session.execute(delete(StarRow).where(mine))
            elif await session.get(StarRow, key) is None:
                session.add(StarRow(user_id=actor.user_id, node_id=node.id, at=self._clock()))
            return await describe(session, node)

        return await self._database.change(work)


def starred_sync(connection: Connection, actor: Actor, ids: Sequence[str]) -> frozenset[str]:
    """Return those of the ids that the caller starred, as `StarService.among` does."""
    if len(ids) > FEW_IDS:
        mine = connection.scalars(_MINE, {"user": actor.user_id, "most": MAX_STARS + 1}).all()
        if len(mine) <= MAX_STARS:
            return frozenset(mine).intersection(ids)
    found: set[str] = set()
    for start in range(0, len(ids), BATCH):
        found.update(connection.scalars(_STARRED, {"user": actor.user_id, "ids": ids[start : start + BATCH]}))
    return frozenset(found)


async def _stars(session: AsyncSession, actor: Actor, size: int, after: list[str] | None) -> Sequence[StarRow]:
    query = select(StarRow).where(StarRow.user_id == actor.user_id, StarRow.node_id.in_(visible_ids(actor.principal)))
    if after is not None:
        at = datetime.fromisoformat(after[0])
        query = query.where(or_(StarRow.at < at, and_(StarRow.at == at, StarRow.node_id > after[1])))
    return (await session.scalars(query.order_by(StarRow.at.desc(), StarRow.node_id).limit(size + 1))).all()
