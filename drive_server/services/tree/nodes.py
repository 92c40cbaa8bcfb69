"""Items in a session: what a caller names as a row with their role on it; whole trees, as queries."""

from collections.abc import Iterable
from functools import lru_cache

from sqlalchemy import CTE, Select, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.access import Principal, Role
from drive_server.services.tree.located import (
    Located,
    locate_file_now,
    locate_folder_now,
    locate_live_now,
    locate_many_now,
    locate_now,
)
from drive_server.storage.tables import NodeRow, ShareRow

QUERIES_KEPT = 256


async def locate(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Return the item that an id, `root` or a path names, as `locate_now` does."""
    return await session.run_sync(locate_now, principal, ref, needed)


async def locate_live(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Like `locate`, but raises `StateConflictError` for an item in the trash."""
    return await session.run_sync(locate_live_now, principal, ref, needed)


async def locate_folder(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Like `locate_live`, but raises `InvalidInputError` for a file."""
    return await session.run_sync(locate_folder_now, principal, ref, needed)


async def locate_file(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Like `locate_live`, but raises `InvalidInputError` for a folder."""
    return await session.run_sync(locate_file_now, principal, ref, needed)


async def locate_many(session: AsyncSession, principal: Principal, ids: Iterable[str]) -> dict[str, Located]:
    """Return those of the ids that the caller can see, by id. Unknown and foreign ids are left out alike."""
    return await session.run_sync(locate_many_now, principal, ids)


def descendants(node_id: str, *, trash_id: str | None = None) -> CTE:
    """Return a recursive table (id, parent_id, kind, name, depth) of all that is live below the item, without itself.

    With `trash_id`, of all that went to the trash with that item instead. Depth counts from 1.
    """
    in_state = NodeRow.trash_id.is_(None) if trash_id is None else NodeRow.trash_id == trash_id
    columns = (NodeRow.id, NodeRow.parent_id, NodeRow.kind, NodeRow.name)
    below = select(*columns, literal(1).label("depth")).where(NodeRow.parent_id == node_id, in_state)
    table = below.cte("below", recursive=True)
    return table.union_all(
        select(*columns, table.c.depth + 1).join(table, NodeRow.parent_id == table.c.id).where(in_state)
    )


async def depth_of(session: AsyncSession, located: Located) -> int:
    """Return how many folders are above the item, also those that the caller can't see."""
    if located.role == Role.OWNER:
        return len(located.ancestors)
    here = select(NodeRow.id, NodeRow.parent_id).where(NodeRow.id == located.id).cte("above", recursive=True)
    above = here.union(select(NodeRow.id, NodeRow.parent_id).join(here, NodeRow.id == here.c.parent_id))
    return (await session.scalar(select(func.count()).select_from(above)) or 1) - 1


async def count_below(session: AsyncSession, node_id: str) -> int:
    """Return how many live items are below the item."""
    return await session.scalar(select(func.count()).select_from(descendants(node_id))) or 0


def whole_trees(tops: Select[str]) -> CTE:
    """Return a recursive table (id, parent_id) of the items and of all below them, in the trash or not."""
    node = aliased(NodeRow)
    table = select(node.id, node.parent_id).where(node.id.in_(tops)).cte("trees", recursive=True)
    child = aliased(NodeRow)
    return table.union(select(child.id, child.parent_id).join(table, child.parent_id == table.c.id))


def visible_ids(principal: Principal, folder_id: str | None = None) -> Select[str]:
    """Return a query for the ids of all live items that the caller can see, below a folder if one is given.

    To be used inside another query (`.where(NodeRow.id.in_(...))`), so that rights are filtered in the database.
    """
    query = _visible_ids(principal.user_id, principal.email)
    return query.where(NodeRow.id.in_(select(descendants(folder_id).c.id))) if folder_id else query


def shared_ids(principal: Principal) -> Select[str]:
    """Return a query for the ids of all live items that others share with the caller, on the item or above it."""
    return _shared_ids(principal.email)


async def live_child(session: AsyncSession, parent_id: str, name: str) -> NodeRow | None:
    """Return the live item of that name (in its stored form) in the folder."""
    query = select(NodeRow).where(NodeRow.parent_id == parent_id, NodeRow.name == name, NodeRow.trash_id.is_(None))
    return (await session.execute(query)).scalar_one_or_none()


def seen_below(parent: Located, name: str, role: int, shares: int) -> tuple[str, Role, bool]:
    """Return how the caller sees a child with that name, that role of their own (or 0) and so many shares on it.

    The path; the parent's role, or their own if that is higher; and whether somebody besides the owner has a role here.
    """
    return f"{parent.path.rstrip('/')}/{name}", Role(max(parent.role, role)), parent.shared or shares > 0


# Building these takes longer than the database takes to answer them; a query can be used any number of times.
@lru_cache(maxsize=QUERIES_KEPT)
def _visible_ids(user_id: str, email: str) -> Select[str]:
    return select(NodeRow.id).where(
        NodeRow.trash_id.is_(None), or_(NodeRow.owner_id == user_id, NodeRow.id.in_(_shared_ids(email)))
    )


@lru_cache(maxsize=QUERIES_KEPT)
def _shared_ids(email: str) -> Select[str]:
    node = aliased(NodeRow)
    given = (
        select(node.id)
        .join(ShareRow, ShareRow.node_id == node.id)
        .where(ShareRow.email == email, node.trash_id.is_(None))
        .cte("given", recursive=True)
    )
    child = aliased(NodeRow)
    given = given.union(select(child.id).join(given, child.parent_id == given.c.id).where(child.trash_id.is_(None)))
    return select(given.c.id)
