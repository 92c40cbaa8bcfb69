"""Whom a change may concern: the people who see what it touched, and the watched items that it is a change of."""

from collections.abc import Collection, Iterable

from sqlalchemy import CTE, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.services.journal.feed import Recorded
from drive_server.services.tree.located import BATCH
from drive_server.storage.tables import NodeRow, ShareRow


async def people_around(session: AsyncSession, changes: Iterable[Recorded]) -> frozenset[str]:
    """Return all who own what was touched, by id, and who have or had a role on it or above it, by email."""
    changes = list(changes)
    people = {person for change in changes for person in change.people}
    for ids in _batches({item for change in changes for item in change.items}):
        people |= set(await session.scalars(_OWNERS, {"ids": ids}))
        people |= set(await session.scalars(_SHARED_WITH, {"ids": ids}))
    return frozenset(people)


async def places_of(
    session: AsyncSession, changes: Collection[Recorded], watched: Collection[str]
) -> dict[str, frozenset[int]]:
    """Return for each watched item the numbers of the changes that are changes of it.

    That are those of itself, of what is or was directly in it, and those of a folder above that place all below it.
    """
    above = await _ancestors(session, watched)
    parents = await _parents(session, {item for change in changes for item in change.items})
    found: dict[str, set[int]] = {}
    for change in changes:
        folders = change.folders | {parents[item] for item in change.items if item in parents}
        for item in watched:
            if item in change.items or item in folders or change.roots & above.get(item, frozenset()):
                found.setdefault(item, set()).add(change.id)
    return {item: frozenset(numbers) for item, numbers in found.items()}


async def _parents(session: AsyncSession, items: Collection[str]) -> dict[str, str]:
    parents: dict[str, str] = {}
    for ids in _batches(items):
        rows = await session.execute(_PARENTS, {"ids": ids})
        parents |= {item: parent for item, parent in rows if parent is not None}
    return parents


async def _ancestors(session: AsyncSession, items: Collection[str]) -> dict[str, frozenset[str]]:
    above: dict[str, set[str]] = {}
    for ids in _batches(items):
        for start, ancestor in await session.execute(_CHAINS, {"ids": ids}):
            above.setdefault(start, set()).add(ancestor)
    return {item: frozenset(ancestors) for item, ancestors in above.items()}


def _batches(items: Collection[str]) -> list[list[str]]:
    ordered = sorted(items)
    return [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]


def _upwards() -> CTE:
    chain = (
        select(NodeRow.id.label("start"), NodeRow.id, NodeRow.parent_id)
        .where(NodeRow.id.in_(bindparam("ids", expanding=True)))
        .cte("chain", recursive=True)
    )
    return chain.union(
        select(chain.c.start, NodeRow.id, NodeRow.parent_id).join(NodeRow, NodeRow.id == chain.c.parent_id)
    )


_CHAIN = _upwards()
_CHAINS = select(_CHAIN.c.start, _CHAIN.c.id)
_PARENTS = select(NodeRow.id, NodeRow.parent_id).where(NodeRow.id.in_(bindparam("ids", expanding=True)))
_OWNERS = select(NodeRow.owner_id).where(NodeRow.id.in_(bindparam("ids", expanding=True))).distinct()
_SHARED_WITH = select(ShareRow.email).join(_CHAIN, _CHAIN.c.id == ShareRow.node_id).distinct()
