"""The index status of people's files."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from drive_server.knowledge.text.omissions import omission_sentence
from drive_server.models.search import IndexStatus
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow

MAX_PROBLEMS = 100
MAX_OWNERS = 500
"""People in one query."""
MAX_LEVELS = 200


async def index_statuses(session: AsyncSession, owner_ids: Collection[str]) -> dict[str, IndexStatus]:
    """Return how many live files of each person are in each state, and their files that are not wholly searchable."""
    found: dict[str, IndexStatus] = {}
    owners = sorted(owner_ids)
    for start in range(0, len(owners), MAX_OWNERS):
        asked = NodeRow.owner_id.in_(owners[start : start + MAX_OWNERS])
        found |= await _statuses(session, asked, NodeRow.owner_id)
    return {owner: found.get(owner, IndexStatus()) for owner in owner_ids}


async def index_status_of(session: AsyncSession, files: Select[str]) -> IndexStatus:
    """Return the same of the files with these ids, whoever owns them."""
    return (await _statuses(session, NodeRow.id.in_(files), literal(""))).get("", IndexStatus())


async def _statuses(
    session: AsyncSession, asked: ColumnElement[bool], key: ColumnElement[str] | InstrumentedAttribute[str]
) -> dict[str, IndexStatus]:
    """Return the status of the files that are asked about, in groups by the key."""
    live = and_(NodeRow.id == IndexEntryRow.file_id, asked, NodeRow.trash_id.is_(None))
    states = select(key, IndexEntryRow.state, func.count()).join(NodeRow, live).group_by(key, IndexEntryRow.state)
    counts: dict[str, dict[str, int]] = {}
    for group, state, count in await session.execute(states):
        counts.setdefault(group, {})[state] = count
    place = func.row_number().over(partition_by=key, order_by=(NodeRow.name, NodeRow.id)).label("place")
    ranked = (
        select(key.label("key"), NodeRow.id, IndexEntryRow.state, IndexEntryRow.reason, IndexEntryRow.omissions, place)
        .join(NodeRow, live)
        .where(IndexEntryRow.reason != "", or_(IndexEntryRow.state != "ready", IndexEntryRow.is_partial))
        .subquery()
    )
    rows = (await session.execute(select(ranked).where(ranked.c.place <= MAX_PROBLEMS).order_by(ranked.c.place))).all()
    paths = await _paths(session, [row.id for row in rows])
    problems: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        one = {"file_id": row.id, "path": paths[row.id], "state": row.state, "reason": row.reason}
        one["reason_zh"] = omission_sentence(row.omissions, "zh")
        problems.setdefault(row.key, []).append(one)
    return {group: IndexStatus(counts[group], tuple(problems.get(group, ()))) for group in counts}


async def _paths(session: AsyncSession, file_ids: Collection[str]) -> dict[str, str]:
    """Return the path of each file from its owner's root."""
    above: Any = (
        select(NodeRow.id.label("file_id"), NodeRow.name, NodeRow.parent_id, literal(0).label("depth"))
        .where(NodeRow.id.in_(file_ids))
        .cte("above", recursive=True)
    )
    parents = select(above.c.file_id, NodeRow.name, NodeRow.parent_id, above.c.depth + 1)
    above = above.union_all(parents.join(NodeRow, NodeRow.id == above.c.parent_id).where(above.c.depth < MAX_LEVELS))
    rows = await session.execute(select(above.c.file_id, above.c.name).order_by(above.c.file_id, above.c.depth.desc()))
    names: dict[str, list[str]] = {}
    for file_id, name in rows:
        names.setdefault(file_id, []).append(name)
    return {file_id: "/" + "/".join(name for name in parts if name) for file_id, parts in names.items()}
