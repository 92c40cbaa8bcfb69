"""Items in a session: a caller's reference as a row with their role on it; whole trees, as queries."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import CTE, Select, bindparam, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.kernel.access import Principal, Role, require_role
from drive_server.kernel.errors import InvalidInputError, StateConflictError
from drive_server.kernel.messages import Message
from drive_server.services.tree.ancestors import (
    MAX_DEPTH,
    OF_MANY,
    OF_ONE,
    OF_ROOT,
    AncestorPath,
    AncestorQuery,
    Reader,
)
from drive_server.services.tree.grantees import granted_to
from drive_server.services.tree.names import display_name
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import LinkRow, ShareRow

ROOT_REFS = frozenset({"root", "/"})
SHARED_FOLDER = "Shared with me"
MAX_REF_CHARACTERS = 8192
BATCH = 500
# Built once: names are looked up, and links asked for, with most calls.
_ROOT_ID = select(UserRow.root_id).where(UserRow.id == bindparam("user"))
_CHILD_ID = select(NodeRow.id).where(
    NodeRow.parent_id == bindparam("parent"), NodeRow.name == bindparam("name"), NodeRow.trash_id.is_(None)
)
_SHARED_BY_NAME = (
    select(NodeRow.id)
    .join(ShareRow, ShareRow.node_id == NodeRow.id)
    .where(granted_to(bindparam("email")), NodeRow.name == bindparam("name"), NodeRow.trash_id.is_(None))
    .distinct()
    .limit(2)
)
_LINK = select(LinkRow.node_id, LinkRow.role).where(LinkRow.id == bindparam("id"))


def item_message(name: str) -> Message:
    """Return the item of that name as it may stand in a message."""
    return Message.of("item", name=display_name(name))


@dataclass(frozen=True, slots=True)
class NodeView:
    """A row as one person sees it.

    `path` starts at the topmost item that they can see; `ancestors` are the ids of the visible folders above, nearest
    first; `shared` says that somebody besides the owner has a role here, given on the item or above it. The row belongs
    to the session that it was located with; one that was located with a connection belongs to none, and is only to be
    read.
    """

    row: NodeRow
    role: Role
    path: str
    ancestors: tuple[str, ...]
    shared: bool

    @property
    def id(self) -> str:
        """The item's id."""
        return self.row.id

    @property
    def is_root(self) -> bool:
        """Return whether this is a person's root folder."""
        return self.row.parent_id is None

    @property
    def subject(self) -> Message:
        """The item as it may stand in a message."""
        return Message.of("root") if self.is_root else item_message(self.row.name)


def locate_sync(reader: Reader, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Return the item that an id, `root` or a path names, live or in the trash.

    Raises `NotFoundError` for an item that does not exist, is malformed, or is not visible to the caller (the trash is
    visible to editors and owners), and `ForbiddenError` if the caller's role is below `needed`.
    """
    found = _find(reader, principal, ref)
    require_role(found.role if found else None, needed, ref)
    assert found is not None  # noqa: S101 - require_role raises without a role
    return found


def locate_live_sync(reader: Reader, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Do as `locate_sync` does, but raise `StateConflictError` for an item in the trash."""
    found = locate_sync(reader, principal, ref, needed)
    if found.row.trash_id:
        raise StateConflictError(Message.of("in_trash", item=found.subject), details={"id": found.id})
    return found


def locate_folder_sync(reader: Reader, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Do as `locate_live_sync` does, but raise `InvalidInputError` for a file."""
    found = locate_live_sync(reader, principal, ref, needed)
    if found.row.kind != "folder":
        raise InvalidInputError(Message.of("is_file", item=found.subject), details={"id": found.id})
    return found


def locate_file_sync(reader: Reader, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Do as `locate_live_sync` does, but raise `InvalidInputError` for a folder."""
    found = locate_live_sync(reader, principal, ref, needed)
    if found.row.kind != "file":
        raise InvalidInputError(Message.of("is_folder", item=found.subject), details={"id": found.id})
    return found


def locate_below_sync(reader: Reader, principal: Principal, ref: str, names: Sequence[str]) -> NodeView:
    """Return the live item that the names lead to from a folder. Raises as `locate_sync` does."""
    here: str | None = locate_live_sync(reader, principal, ref).id
    for name in names[: MAX_DEPTH + 1]:
        here = _child(reader, here, unicodedata.normalize("NFC", name)) if _is_encodable(name) else None
    found = _views(reader, principal, OF_ONE, {"id": here}).get(here) if here else None
    require_role(found.role if found else None, Role.VIEWER, names[-1] if names else ref)
    assert found is not None  # noqa: S101 - require_role raises without a role
    return found


def locate_many_sync(reader: Reader, principal: Principal, ids: Iterable[str]) -> dict[str, NodeView]:
    """Return those of the ids that the caller can see, by id. Unknown and foreign ids are left out alike."""
    wanted = list(dict.fromkeys(ids))
    found: dict[str, NodeView] = {}
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        wanted_now, values = (OF_ONE, {"id": batch[0]}) if len(batch) == 1 else (OF_MANY, {"ids": batch})
        found |= _views(reader, principal, wanted_now, values)
    return found


def _find(reader: Reader, principal: Principal, ref: str) -> NodeView | None:
    if len(ref) > MAX_REF_CHARACTERS or "\0" in ref or not _is_encodable(ref):
        return None
    is_id = not ref.startswith("/") and ref not in ROOT_REFS
    if is_id or principal.link_id is not None:  # paths begin in a drive that who comes by a link knows nothing of
        return _views(reader, principal, OF_ONE, {"id": ref}).get(ref)
    if ref in ROOT_REFS:
        return next(iter(_views(reader, principal, OF_ROOT, {"user": principal.user_id}).values()), None)
    segments = unicodedata.normalize("NFC", ref).removeprefix("/").removesuffix("/").split("/")
    node_id = _walk(reader, principal, segments[: MAX_DEPTH + 1])
    return _views(reader, principal, OF_ONE, {"id": node_id}).get(node_id) if node_id else None


def _walk(reader: Reader, principal: Principal, segments: list[str]) -> str | None:
    root_id = reader.scalar(_ROOT_ID, {"user": principal.user_id})
    first = _child(reader, root_id, segments[0])
    if first is None and segments[0] == SHARED_FOLDER and len(segments) > 1:
        here, rest = _shared_by_name(reader, principal, segments[1]), segments[2:]
    else:
        here, rest = first, segments[1:]
    for name in rest:
        here = _child(reader, here, name)
    return here


def _child(reader: Reader, parent_id: str | None, name: str) -> str | None:
    return reader.scalar(_CHILD_ID, {"parent": parent_id, "name": name}) if parent_id else None


def _shared_by_name(reader: Reader, principal: Principal, name: str) -> str | None:
    """Two people may share things of the same name: then the path names neither, and the id has to be used."""
    found = reader.scalars(_SHARED_BY_NAME, {"email": principal.email, "name": name}).all()
    return found[0] if len(found) == 1 else None


def _views(reader: Reader, principal: Principal, wanted: AncestorQuery, values: dict[str, Any]) -> dict[str, NodeView]:
    ancestor_paths = wanted.read(reader, {**values, "email": principal.email})
    if principal.link_id is not None:
        return _views_by_link(reader, principal.link_id, ancestor_paths)
    nodes = (_to_view(principal, ancestors) for ancestors in ancestor_paths.values())
    return {item.id: item for item in nodes if item}


def _to_view(principal: Principal, ancestors: AncestorPath) -> NodeView | None:
    row, links = ancestors.row, ancestors.links
    shared = any(link.shares for link in links)
    if row.owner_id == principal.user_id:
        names = [link.name for link in links if link.parent_id is not None]
        return NodeView(row, Role.OWNER, _path([], names), tuple(link.id for link in links[1:]), shared)
    granted = [position for position, link in enumerate(links) if link.role]
    if not granted:
        return None
    role = Role(max(link.role for link in links))
    if row.trash_id and role < Role.EDITOR:
        return None
    shown = links[: granted[-1] + 1]
    path = _path([SHARED_FOLDER], [link.name for link in shown])
    return NodeView(row, role, path, tuple(link.id for link in shown[1:]), True)


def _views_by_link(reader: Reader, link_id: str, ancestor_paths: dict[str, AncestorPath]) -> dict[str, NodeView]:
    """Return the views by a link, which is read with each call: it may have been revoked or have another role."""
    link = reader.execute(_LINK, {"id": link_id}).one_or_none()
    found: dict[str, NodeView] = {}
    for ancestors in ancestor_paths.values():
        row = ancestors.row
        above = [place.id for place in ancestors.links]
        if link is None or link.node_id not in above or row.trash_id:
            continue
        end = above.index(link.node_id) + 1
        path = _path([], [place.name for place in ancestors.links[:end]])
        found[row.id] = NodeView(row, Role(link.role), path, tuple(above[1:end]), shared=True)
    return found


def _path(prefix: list[str], names_upwards: list[str]) -> str:
    return "/" + "/".join([*prefix, *reversed(names_upwards)])


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


QUERIES_KEPT = 256


async def locate(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Return the item that an id, `root` or a path names, as `locate_sync` does."""
    return await session.run_sync(locate_sync, principal, ref, needed)


async def locate_live(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Do as `locate` does, but raise `StateConflictError` for an item in the trash."""
    return await session.run_sync(locate_live_sync, principal, ref, needed)


async def locate_folder(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Do as `locate_live` does, but raise `InvalidInputError` for a file."""
    return await session.run_sync(locate_folder_sync, principal, ref, needed)


async def locate_file(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> NodeView:
    """Do as `locate_live` does, but raise `InvalidInputError` for a folder."""
    return await session.run_sync(locate_file_sync, principal, ref, needed)


async def locate_many(session: AsyncSession, principal: Principal, ids: Iterable[str]) -> dict[str, NodeView]:
    """Return those of the ids that the caller can see, by id. Unknown and foreign ids are left out alike."""
    return await session.run_sync(locate_many_sync, principal, ids)


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


async def depth_of(session: AsyncSession, node: NodeView) -> int:
    """Return how many folders are above the item, also those that the caller can't see."""
    if node.role == Role.OWNER:
        return len(node.ancestors)
    here = select(NodeRow.id, NodeRow.parent_id).where(NodeRow.id == node.id).cte("above", recursive=True)
    above = here.union(select(NodeRow.id, NodeRow.parent_id).join(here, NodeRow.id == here.c.parent_id))
    return (await session.scalar(select(func.count()).select_from(above)) or 1) - 1


async def count_below(session: AsyncSession, node_id: str) -> int:
    """Return how many live items are below the item."""
    return await session.scalar(select(func.count()).select_from(descendants(node_id))) or 0


def subtrees(tops: Select[str], *, with_entries: bool = True) -> CTE:
    """Return a recursive table (id, parent_id) of the items and of all below them, in the trash or not.

    Without `with_entries`, items below that are entries of the trash by themselves are left out, with all in them.
    """
    node = aliased(NodeRow)
    table = select(node.id, node.parent_id).where(node.id.in_(tops)).cte("trees", recursive=True)
    child = aliased(NodeRow)
    below = select(child.id, child.parent_id).join(table, child.parent_id == table.c.id)
    if not with_entries:
        below = below.where(or_(child.trash_id.is_(None), child.trash_id != child.id))
    return table.union(below)


def visible_ids(principal: Principal, folder_id: str | None = None) -> Select[str]:
    """Return a query for the ids of all live items that the caller can see, below a folder if one is given."""
    query = _visible_ids(principal.user_id, principal.email)
    return query.where(NodeRow.id.in_(select(descendants(folder_id).c.id))) if folder_id else query


def shared_ids(principal: Principal) -> Select[str]:
    """Return a query for the ids of all live items that others share with the caller, on the item or above it."""
    return _shared_ids(principal.email)


async def live_child(session: AsyncSession, parent_id: str, name: str) -> NodeRow | None:
    """Return the live item of that name (in its stored form) in the folder."""
    query = select(NodeRow).where(NodeRow.parent_id == parent_id, NodeRow.name == name, NodeRow.trash_id.is_(None))
    return (await session.execute(query)).scalar_one_or_none()


def child_view(parent: NodeView, name: str, role: int, shares: int) -> tuple[str, Role, bool]:
    """Return the path, role and shared state of a child, by its name, own role (or 0) and number of shares."""
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
    visible = (
        select(node.id)
        .join(ShareRow, ShareRow.node_id == node.id)
        .where(granted_to(email), node.trash_id.is_(None))
        .distinct()
        .cte("given", recursive=True)
    )
    child = aliased(NodeRow)
    visible = visible.union(
        select(child.id).join(visible, child.parent_id == visible.c.id).where(child.trash_id.is_(None))
    )
    return select(visible.c.id)
