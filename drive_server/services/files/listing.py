"""Pages of items: those in a folder, in the tree below it, in the trash."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.kernel.access import Principal, Role
from drive_server.kernel.pagination import Cursors
from drive_server.models.base import Page
from drive_server.models.items import Item, TreeNode
from drive_server.services.tree.ancestors import Reader, own_role
from drive_server.services.tree.grantees import granted_to
from drive_server.services.tree.items import ItemColumns, describe_all, item_of
from drive_server.services.tree.name_order import PLACE_COLUMNS, NameOrder, first_page, first_rows, rows_in_order
from drive_server.services.tree.nodes import NodeView, child_view, descendants, locate_many
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import ShareRow

_rank = case((NodeRow.kind == "folder", 0), else_=1)
_FOLDERS_FIRST = NameOrder((_rank, NodeRow.name), lambda row, name: (int(row.kind == "file"), name))


def _described(rows: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Return a query for live items in their order, with the details that a listing shows."""
    page = rows.subquery()
    child = aliased(NodeRow)
    children = select(func.count()).where(child.parent_id == page.c.id, child.trash_id.is_(None)).scalar_subquery()
    shares = ShareRow.node_id == page.c.id
    beside = {
        "email": UserRow.email,
        "state": IndexEntryRow.state,
        "children": case((page.c.kind == "folder", children)).label("children"),
    }
    return (
        select(
            *(beside[name] if name in beside else page.c[name] for name in ItemColumns._fields),
            *(page.c[name] for name in PLACE_COLUMNS if name in page.c),
            select(own_role(bindparam("email"))).where(shares).scalar_subquery().label("role"),
            select(func.count(ShareRow.id)).where(shares).scalar_subquery().label("shares"),
        )
        .join(UserRow, UserRow.id == page.c.owner_id)
        .outerjoin(IndexEntryRow, IndexEntryRow.file_id == page.c.id)
        .order_by(case((page.c.kind == "folder", 0), else_=1), page.c.name)
    )


# Built once: each list asks these.
_NODES = select(NodeRow.__table__).where(NodeRow.trash_id.is_(None))
_TOTAL = (
    select(func.count())
    .select_from(NodeRow)
    .where(NodeRow.parent_id == bindparam("folder_id"), NodeRow.trash_id.is_(None))
)
_FIRST = _described(first_rows(_NODES.where(NodeRow.parent_id == bindparam("folder_id")), _FOLDERS_FIRST))
_BY_ID = _described(_NODES.where(NodeRow.id.in_(bindparam("ids", expanding=True))))


def folder_page(
    reader: Reader, principal: Principal, folder: NodeView, size: int, cursors: Cursors, cursor: str | None, start: str
) -> Page[Item]:
    """Return the folder's items whose names begin with `start`: folders first, then by name in code point order."""
    here = {"folder_id": folder.id, "email": principal.email}
    if cursor is None and not start:
        rows, more = first_page(reader, _FIRST, here, size, _FOLDERS_FIRST, cursors)
    else:
        query = _NODES.where(NodeRow.parent_id == folder.id, *_beginning_with(start))
        rows, more = rows_in_order(reader, query, _FOLDERS_FIRST, size, cursors, cursor)
        found = reader.execute(_BY_ID, {"ids": [row.id for row in rows], "email": principal.email})
        described = {row.id: row for row in found}
        rows = [described[row.id] for row in rows]
    is_whole = cursor is None and more is None
    total = len(rows) if is_whole else reader.scalar(_TOTAL.where(*_beginning_with(start)), here)
    return Page(tuple(_child(folder, row) for row in rows), more, total)


async def tree_of(session: AsyncSession, principal: Principal, folder: NodeView, depth: int, room: int) -> TreeNode:
    """Return the folder with the nearest `room` items at most `depth` levels below it."""
    below = descendants(folder.id)
    query = (
        select(NodeRow.id)
        .join(below, below.c.id == NodeRow.id)
        .where(below.c.depth <= depth)
        .order_by(below.c.depth, _rank, NodeRow.name)
        .limit(room)
    )
    ids = (await session.scalars(query)).all()
    nodes = await locate_many(session, principal, ids)
    items = await describe_all(session, [folder, *(nodes[node_id] for node_id in ids)])
    return _assemble(items)


async def trash_page(
    session: AsyncSession, principal: Principal, size: int, cursors: Cursors, cursor: str | None
) -> Page[Item]:
    """Return the items that went to the trash by themselves and that the caller may restore, last trashed first."""
    mine = or_(NodeRow.owner_id == principal.user_id, NodeRow.id.in_(_below_editable_shares(principal)))
    query = select(NodeRow.id).where(NodeRow.trash_id == NodeRow.id, mine)
    if cursor is not None:
        moment, node_id = cursors.decode(cursor, str, str)
        at = datetime.fromisoformat(moment)
        query = query.where(or_(NodeRow.trashed_at < at, and_(NodeRow.trashed_at == at, NodeRow.id > node_id)))
    query = query.order_by(NodeRow.trashed_at.desc(), NodeRow.id).limit(size + 1)
    ids = (await session.scalars(query)).all()
    nodes = await locate_many(session, principal, ids[:size])
    items = await describe_all(session, [nodes[node_id] for node_id in ids[:size]])
    last = items[-1].trashed_at if len(ids) > size else None
    return Page(tuple(items), cursors.encode(last.isoformat(), items[-1].id) if last else None)


def _beginning_with(start: str) -> list[ColumnElement[bool]]:
    """Return the conditions for names that begin with `start`: none for an empty one."""
    # Not LIKE: SQLite compares ASCII letters without their case there.
    return [func.substr(NodeRow.name, 1, len(start)) == start] if start else []


def _child(folder: NodeView, row: Row[Any]) -> Item:
    """Return a child as the caller sees it: with the folder's role, or a higher one of their own."""
    columns = ItemColumns._make(row[: len(ItemColumns._fields)])
    path, role, shared = child_view(folder, columns.name, row.role, row.shares)
    return item_of(columns, columns, path, role, folder.id, shared=shared)


def _below_editable_shares(principal: Principal) -> Select[str]:
    child = aliased(NodeRow)
    below = (
        select(child.id)
        .join(ShareRow, ShareRow.node_id == child.parent_id)
        .where(granted_to(principal.email), ShareRow.role >= int(Role.EDITOR))
        .cte("below_shares", recursive=True)
    )
    further = aliased(NodeRow)
    below = below.union(select(further.id).join(below, further.parent_id == below.c.id))
    return select(below.c.id)


def _assemble(items: Iterable[Item]) -> TreeNode:
    root, *rest = items
    children: dict[str | None, list[Item]] = {}
    for item in rest:
        children.setdefault(item.parent_id, []).append(item)
    return _branch(root, children)


def _branch(item: Item, children: dict[str | None, list[Item]]) -> TreeNode:
    below = tuple(_branch(child, children) for child in children.get(item.id, ()))
    return TreeNode(item=item, children=below, truncated=(item.child_count or 0) > len(below))
