"""The index status of a person's files."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, and_, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.models.search import IndexStatus
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow

MAX_PROBLEMS = 100
MAX_LEVELS = 200


async def index_status(session: AsyncSession, owner_id: str, files: Select[str] | None = None) -> IndexStatus:
    """Return how many of the person's live files are in each state, and the files that are not wholly searchable.

    With `files`, of those with these ids instead, whoever owns them.
    """
    asked = NodeRow.owner_id == owner_id if files is None else NodeRow.id.in_(files)
    mine = and_(NodeRow.id == IndexEntryRow.file_id, asked, NodeRow.trash_id.is_(None))
    counts = await session.execute(
        select(IndexEntryRow.state, func.count()).join(NodeRow, mine).group_by(IndexEntryRow.state)
    )
    found = await session.execute(
        select(IndexEntryRow, NodeRow)
        .join(NodeRow, mine)
        .where(IndexEntryRow.reason != "", or_(IndexEntryRow.state != "ready", IndexEntryRow.is_partial))
        .order_by(NodeRow.name, NodeRow.id)
        .limit(MAX_PROBLEMS)
    )
    rows = found.all()
    paths = await _paths(session, [node.id for _, node in rows])
    problems = tuple(
        {"file_id": node.id, "path": paths[node.id], "state": entry.state, "reason": entry.reason}
        for entry, node in rows
    )
    return IndexStatus(dict(counts.all()), problems)


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
