"""From located rows to the plain values that services return, a page at a time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Row, Select, bindparam, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.kernel.access import Role
from drive_server.kernel.errors import InvalidInputError
from drive_server.models.items import IndexState, Item, Kind
from drive_server.services.tree.ancestors import Reader
from drive_server.services.tree.nodes import NodeView
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow

MAX_LIMIT = 1000
MAX_CURSOR_CHARACTERS = 16_384


class ItemColumns(NamedTuple):
    """The columns of an item's own row and of its row of `DETAILS`, in the order in which a list selects them.

    SQLAlchemy looks up a row's column by name ten times as slowly: a list makes its items of these.
    """

    id: str
    kind: Kind
    name: str
    revision: int
    size: int
    media_type: str
    version: int
    created_at: datetime
    updated_at: datetime
    modified_at: datetime
    trashed_at: datetime | None
    email: str
    state: IndexState | None
    children: int | None


def etag_of(row: NodeRow | Row[Any] | ItemColumns) -> str:
    """Return the etag: opaque to clients, different after every change of the item itself."""
    return f"{row.id[:8]}-{row.revision}"


async def describe(session: AsyncSession, node: NodeView) -> Item:
    """Return one item as its `Item`."""
    return (await describe_all(session, [node]))[0]


async def describe_all(session: AsyncSession, node: Sequence[NodeView]) -> list[Item]:
    """Return the items in their order, with owner, number of children and state of the index; one query for all."""
    return await session.run_sync(describe_all_sync, node)


def describe_all_sync(reader: Reader, nodes: Sequence[NodeView]) -> list[Item]:
    """Return the items in their order, as `describe_all` does."""
    if not nodes:
        return []
    found = reader.execute(DETAILS, {"ids": [entry.id for entry in nodes]})
    details = {row.id: row for row in found}
    return [describe_with(entry, details[entry.id]) for entry in nodes]


def checked_limit(limit: int) -> int:
    """Return the page size, at most 1000. Raises `InvalidInputError` below 1."""
    if limit < 1:
        raise InvalidInputError("The limit must be at least 1.", hint=f"Use 1 to {MAX_LIMIT}.")
    return min(limit, MAX_LIMIT)


def describe_with(node: NodeView, details: Row[Any]) -> Item:
    """Return the item, with its row of `DETAILS`."""
    parent_id = node.ancestors[0] if node.ancestors else None
    return item_of(node.row, details, node.path, node.role, parent_id, shared=node.shared)


def item_of(
    row: NodeRow | Row[Any] | ItemColumns,
    details: Row[Any] | ItemColumns,
    path: str,
    role: Role,
    parent_id: str | None,
    *,
    shared: bool,
) -> Item:
    """Return the item of a row of the table of nodes, with its row of `DETAILS` and how the caller sees it."""
    return Item(
        id=row.id,
        kind=cast("Kind", row.kind),
        name=row.name,
        path=path,
        parent_id=parent_id,
        owner=details.email,
        role=role.label,
        etag=etag_of(row),
        size=row.size,
        media_type=row.media_type,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
        modified_at=row.modified_at,
        trashed_at=row.trashed_at,
        child_count=details.children,
        index_state=details.state,
        shared=shared,
    )


def _details() -> Select[*tuple[Any, ...]]:
    """Children count that are in the same state: the live ones of a live folder, those that went with a trashed one."""
    child = aliased(NodeRow)
    same_state = or_(child.trash_id == NodeRow.trash_id, child.trash_id.is_(None) & NodeRow.trash_id.is_(None))
    children = select(func.count(child.id)).where(child.parent_id == NodeRow.id, same_state).scalar_subquery()
    return (
        select(
            NodeRow.id, UserRow.email, IndexEntryRow.state, case((NodeRow.kind == "folder", children)).label("children")
        )
        .join(UserRow, UserRow.id == NodeRow.owner_id)
        .outerjoin(IndexEntryRow, IndexEntryRow.file_id == NodeRow.id)
        .where(NodeRow.id.in_(bindparam("ids", expanding=True)))
    )


DETAILS = _details()
"""The facts of an item besides its row: `id`, `email` of the owner, `state` of the index, `children` of a folder.

Asked for every item that is returned, so it is built once.
"""
