"""Drafts and other passing files: the journal tells whether they have a life of their own."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Select, exists, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.kernel.access import Actor
from drive_server.services.saves.names import is_passing, is_passing_folder, is_probe, is_scratch, marks_an_open_file
from drive_server.services.tree.nodes import subtrees
from drive_server.storage.tables.dav import DavDepartureRow
from drive_server.storage.tables.items import NodeRow, VersionRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow

DRAFT_AGE: Final = timedelta(hours=1)
MAX_HOLDERS: Final = 50
MAX_PASSING: Final = 50
"""Items of a folder that programs make for one save."""


async def is_draft(
    session: AsyncSession, actor: Actor, node_id: str, since: datetime, *, of_anybody: bool = False
) -> bool:
    """Return whether the item was made since then, and changed only by the caller's WebDAV requests.

    So nobody else wrote, shared or linked it: nothing is lost when another item takes over its content. `of_anybody`:
    other people may have done it too, by WebDAV.
    """
    query = select(NodeRow.id).where(NodeRow.id == node_id, NodeRow.created_at >= since)
    is_own = ChangeRow.method == actor.principal.method
    if not of_anybody:
        is_own &= ChangeRow.user_id == actor.user_id
    changes = _changes(node_id)
    return await session.scalar(query.where(exists(changes), ~exists(changes.where(~is_own)))) is not None


async def was_changed_by_others(session: AsyncSession, user_id: str, method: str, node_id: str, after: int) -> bool:
    """Return whether a change after that one touched the item that was not the person's in this way."""
    later = _changes(node_id).where(ChangeRow.id > after, or_(ChangeRow.user_id != user_id, ChangeRow.method != method))
    return await session.scalar(later.limit(1)) is not None


async def passing_items(session: AsyncSession, actor: Actor, row: NodeRow, since: datetime) -> list[NodeRow]:
    """Return the item, with all below it, if neither programs nor anybody else need any of it; else nothing.

    Such are marks of an open file, empty probes, scratch files of office programs, and copies of an older content of a
    file that still has it among its versions.
    """
    if row.kind == "file":
        return [row] if await _is_passing(session, actor, row, since) else []
    if not is_passing_folder(row.name) or not await is_draft(session, actor, row.id, since):
        return []
    tree = subtrees(select(NodeRow.id).where(NodeRow.id == row.id))
    rows = (await session.scalars(select(NodeRow).join(tree, tree.c.id == NodeRow.id).limit(MAX_PASSING + 1))).all()
    if len(rows) > MAX_PASSING:
        return []
    for inner in rows:
        is_file = inner.kind == "file"
        if not await (_is_passing if is_file else _is_own)(session, actor, inner, since):
            return []
    return [*rows]


async def is_spare(session: AsyncSession, actor: Actor, row: NodeRow, saved: NodeRow) -> bool:
    """Return whether the file is a backup of the other one that a program made, with a content that this has too."""
    if row.kind != "file" or not is_passing(row.name, saved.name):
        return False
    is_untouched = await is_draft(session, actor, row.id, row.created_at, of_anybody=True)
    return is_untouched and saved.id in {holder.id for holder in await _holders(session, row)}


async def _is_own(session: AsyncSession, actor: Actor, row: NodeRow, since: datetime) -> bool:
    return await is_draft(session, actor, row.id, since)


async def _is_passing(session: AsyncSession, actor: Actor, row: NodeRow, since: datetime) -> bool:
    is_mark = marks_an_open_file(row.name)
    since = row.created_at if is_mark else since
    if not await is_draft(session, actor, row.id, since, of_anybody=True):
        return False
    if await session.scalar(select(DavDepartureRow.node_id).where(DavDepartureRow.node_id == row.id).limit(1)):
        return False  # it is somewhere else for a moment: an item that comes to its name is meant for it
    is_of_programs = is_mark or is_scratch(row.name) or (row.size == 0 and is_probe(row.name))
    if is_of_programs and await is_draft(session, actor, row.id, since):
        return True
    parent = await session.get_one(NodeRow, row.parent_id)
    is_aside = is_passing_folder(parent.name)
    return any(is_aside or is_passing(row.name, holder.name) for holder in await _holders(session, row))


async def _holders(session: AsyncSession, row: NodeRow) -> list[NodeRow]:
    """Return other live files of the same owner that have the file's content as one of their versions."""
    own = aliased(VersionRow)
    query = (
        select(NodeRow)
        .join(VersionRow, VersionRow.node_id == NodeRow.id)
        .join(own, own.blob == VersionRow.blob)
        .where(own.node_id == row.id, own.number == row.version)
        .where(NodeRow.id != row.id, NodeRow.owner_id == row.owner_id, NodeRow.trash_id.is_(None))
        .distinct()
        .limit(MAX_HOLDERS)
    )
    return [*(await session.scalars(query)).all()]


def _changes(node_id: str) -> Select[int]:
    touched = select(ChangeRow.id).join(ChangeItemRow, ChangeItemRow.change_id == ChangeRow.id)
    return touched.where(ChangeItemRow.item_id == node_id)
