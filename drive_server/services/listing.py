"""Pages of items: what is in a folder, in the tree below it, in the trash."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Select, and_, case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.access import Principal, Role
from drive_server.errors import InvalidInputError
from drive_server.models import Item, Page, TreeNode
from drive_server.services.items import decode_cursor, describe_all, encode_cursor
from drive_server.services.nodes import Located, descendants, locate_children, locate_many
from drive_server.storage.tables import NodeRow, ShareRow

_rank = case((NodeRow.kind == "folder", 0), else_=1)


async def folder_page(
    session: AsyncSession, principal: Principal, folder: Located, size: int, cursor: str | None
) -> Page[Item]:
    """Return the folder's items: folders first, then by name in code point order."""
    live = (NodeRow.parent_id == folder.id, NodeRow.trash_id.is_(None))
    total = await session.scalar(select(func.count()).select_from(NodeRow).where(*live))
    query = select(NodeRow).where(*live).order_by(_rank, NodeRow.name).limit(size + 1)
    if cursor:
        rank, name = decode_cursor(cursor, int, str)
        query = query.where(or_(_rank > rank, and_(_rank == rank, NodeRow.name > name)))
    rows = (await session.scalars(query)).all()
    items = await describe_all(session, await locate_children(session, principal, folder, rows[:size]))
    more = encode_cursor(int(items[-1].kind == "file"), items[-1].name) if len(rows) > size else None
    return Page(tuple(items), more, total)


async def tree_of(session: AsyncSession, principal: Principal, folder: Located, depth: int, room: int) -> TreeNode:
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
    located = await locate_many(session, principal, ids)
    items = await describe_all(session, [folder, *(located[node_id] for node_id in ids)])
    return _assemble(items)


async def trash_page(session: AsyncSession, principal: Principal, size: int, cursor: str | None) -> Page[Item]:
    """Return what went to the trash by itself and the caller may restore, last trashed first."""
    mine = or_(NodeRow.owner_id == principal.user_id, NodeRow.id.in_(_below_editable_shares(principal)))
    query = select(NodeRow.id).where(NodeRow.trash_id == NodeRow.id, mine)
    if cursor:
        at, node_id = _trash_key(cursor)
        query = query.where(or_(NodeRow.trashed_at < at, and_(NodeRow.trashed_at == at, NodeRow.id > node_id)))
    query = query.order_by(NodeRow.trashed_at.desc(), NodeRow.id).limit(size + 1)
    ids = (await session.scalars(query)).all()
    located = await locate_many(session, principal, ids[:size])
    items = await describe_all(session, [located[node_id] for node_id in ids[:size]])
    last = items[-1].trashed_at if len(ids) > size else None
    return Page(tuple(items), encode_cursor(last.isoformat(), items[-1].id) if last else None)


def _below_editable_shares(principal: Principal) -> Select[str]:
    child = aliased(NodeRow)
    below = (
        select(child.id)
        .join(ShareRow, ShareRow.node_id == child.parent_id)
        .where(ShareRow.email == principal.email, ShareRow.role >= int(Role.EDITOR))
        .cte("below_shares", recursive=True)
    )
    further = aliased(NodeRow)
    below = below.union(select(further.id).join(below, further.parent_id == below.c.id))
    return select(below.c.id)


def _trash_key(cursor: str) -> tuple[datetime, str]:
    at, node_id = decode_cursor(cursor, str, str)
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise InvalidInputError("The cursor is not one that this list gave.", hint="Start again without it.") from error
    if moment.tzinfo is None:
        raise InvalidInputError("The cursor is not one that this list gave.", hint="Start again without it.")
    return moment, node_id


def _assemble(items: Iterable[Item]) -> TreeNode:
    root, *rest = items
    children: dict[str | None, list[Item]] = {}
    for item in rest:
        children.setdefault(item.parent_id, []).append(item)
    return _branch(root, children)


def _branch(item: Item, children: dict[str | None, list[Item]]) -> TreeNode:
    below = tuple(_branch(child, children) for child in children.get(item.id, ()))
    return TreeNode(item, below, truncated=(item.child_count or 0) > len(below))
