"""The one place that turns what a caller names into a row, the caller's role on it and the path they see."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import CTE, ColumnElement, Row, Select, and_, bindparam, case, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.access import Principal, Role, require_role
from drive_server.errors import InvalidInputError, StateConflictError
from drive_server.names import display_name
from drive_server.storage.tables import LinkRow, NodeRow, ShareRow, UserRow

ROOT_REFS = frozenset({"root", "/"})
SHARED_FOLDER = "Shared with me"
MAX_DEPTH = 200
MAX_REF_CHARACTERS = 8192
BATCH = 500
QUERIES_KEPT = 256


@dataclass(frozen=True, slots=True)
class Located:
    """A row as one person sees it.

    `path` starts at what they can see; `ancestors` are the ids of the visible folders above, nearest first;
    `shared` says that somebody besides the owner has a role here, given on the item or above it.
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
        """Whether this is a person's root folder."""
        return self.row.parent_id is None

    @property
    def label(self) -> str:
        """The name as it may stand in a message."""
        return "the root folder" if self.is_root else f"'{display_name(self.row.name)}'"


async def locate(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Return the item that an id, `root` or a path names, live or in the trash.

    Raises `NotFoundError` for what does not exist, is malformed, or is not visible to the caller (the trash is
    visible to editors and owners), and `ForbiddenError` if the caller's role is below `needed`.
    """
    node_id = await _resolve(session, principal, ref)
    found = (await locate_many(session, principal, [node_id])).get(node_id) if node_id else None
    require_role(found.role if found else None, needed, ref)
    assert found is not None  # noqa: S101 - require_role raises without a role
    return found


async def locate_live(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Like `locate`, but raises `StateConflictError` for an item in the trash."""
    found = await locate(session, principal, ref, needed)
    if found.row.trash_id:
        raise StateConflictError(f"{found.label} is in the trash.", hint="Restore it first.", details={"id": found.id})
    return found


async def locate_folder(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Like `locate_live`, but raises `InvalidInputError` for a file."""
    found = await locate_live(session, principal, ref, needed)
    if found.row.kind != "folder":
        raise InvalidInputError(f"{found.label} is a file.", hint="Name a folder.", details={"id": found.id})
    return found


async def locate_file(session: AsyncSession, principal: Principal, ref: str, needed: Role = Role.VIEWER) -> Located:
    """Like `locate_live`, but raises `InvalidInputError` for a folder."""
    found = await locate_live(session, principal, ref, needed)
    if found.row.kind != "file":
        raise InvalidInputError(f"{found.label} is a folder.", hint="Name a file.", details={"id": found.id})
    return found


async def locate_many(session: AsyncSession, principal: Principal, ids: Iterable[str]) -> dict[str, Located]:
    """Return those of the ids that the caller can see, by id. Unknown and foreign ids are left out alike."""
    wanted = list(dict.fromkeys(ids))
    found: dict[str, Located] = {}
    for start in range(0, len(wanted), BATCH):
        found |= await _locate_batch(session, principal, wanted[start : start + BATCH])
    return found


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


def own_role(email: Any) -> Any:
    """Return an aggregate: the highest role of the person among the shares, 0 if there is none."""
    return func.coalesce(func.max(case((ShareRow.email == email, ShareRow.role), else_=0)), 0)


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


async def _resolve(session: AsyncSession, principal: Principal, ref: str) -> str | None:
    if len(ref) > MAX_REF_CHARACTERS or "\0" in ref or not _is_encodable(ref):
        return None
    is_id = not ref.startswith("/") and ref not in ROOT_REFS
    if is_id or principal.link_id is not None:  # paths begin in a drive that who comes by a link knows nothing of
        return ref
    user = await session.get(UserRow, principal.user_id)
    if user is None:
        return None
    if ref in ROOT_REFS:
        return user.root_id
    segments = unicodedata.normalize("NFC", ref).removeprefix("/").removesuffix("/").split("/")
    return await _walk(session, principal, user.root_id, segments[: MAX_DEPTH + 1])


async def _walk(session: AsyncSession, principal: Principal, root_id: str, segments: list[str]) -> str | None:
    first = await live_child(session, root_id, segments[0])
    if first is None and segments[0] == SHARED_FOLDER and len(segments) > 1:
        here, rest = await _shared_by_name(session, principal, segments[1]), segments[2:]
    else:
        here, rest = first.id if first else None, segments[1:]
    for name in rest:
        if here is None:
            return None
        child = await live_child(session, here, name)
        here = child.id if child else None
    return here


async def _shared_by_name(session: AsyncSession, principal: Principal, name: str) -> str | None:
    """Two people may share things of the same name: then the path names neither, and the id has to be used."""
    query = (
        select(NodeRow.id)
        .join(ShareRow, ShareRow.node_id == NodeRow.id)
        .where(ShareRow.email == principal.email, NodeRow.name == name, NodeRow.trash_id.is_(None))
        .limit(2)
    )
    found = (await session.execute(query)).scalars().all()
    return found[0] if len(found) == 1 else None


async def _locate_batch(session: AsyncSession, principal: Principal, ids: list[str]) -> dict[str, Located]:
    chains: dict[str, list[Row[Any]]] = {}
    query, wanted = (_CHAIN, {"id": ids[0]}) if len(ids) == 1 else (_CHAINS, {"ids": ids})
    for link in await session.execute(query, {**wanted, "email": principal.email}):
        chains.setdefault(link.start, []).append(link)
    if principal.link_id is not None:
        return await _see_by_link(session, principal.link_id, chains)
    located = (_see(principal, chain[0].NodeRow, chain) for chain in chains.values())
    return {item.id: item for item in located if item}


def _chains(wanted: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """A query for every item on the way from each wanted one to its root: nearest first, with the caller's share on it.

    The item itself, the first of its chain, comes as its whole row.
    """
    chain = (
        select(NodeRow.id.label("start"), NodeRow.id, NodeRow.parent_id, NodeRow.name, literal(0).label("depth"))
        .where(wanted)
        .cte("chain", recursive=True)
    )
    above = aliased(NodeRow)
    chain = chain.union_all(
        select(chain.c.start, above.id, above.parent_id, above.name, chain.c.depth + 1)
        .join(above, above.id == chain.c.parent_id)
        .where(chain.c.depth <= MAX_DEPTH)
    )
    columns = (chain.c.start, chain.c.id, chain.c.parent_id, chain.c.name, chain.c.depth)
    return (
        select(NodeRow, *columns, own_role(bindparam("email")).label("role"), func.count(ShareRow.id).label("shares"))
        .select_from(chain)
        .outerjoin(NodeRow, and_(NodeRow.id == chain.c.id, chain.c.depth == 0))
        .outerjoin(ShareRow, ShareRow.node_id == chain.c.id)
        .group_by(*columns, NodeRow.id)
        .order_by(chain.c.start, chain.c.depth)
    )


# Every call of the drive asks this: building it once spares a millisecond each time, and one id needs no list of them,
# which is written into the query anew. A bulk update (trash, restore) in the same session may have passed by rows that
# it holds: they are read anew.
_CHAINS = _chains(NodeRow.id.in_(bindparam("ids", expanding=True))).execution_options(populate_existing=True)
_CHAIN = _chains(NodeRow.id == bindparam("id")).execution_options(populate_existing=True)


def _see(principal: Principal, row: NodeRow, chain: list[Row[Any]]) -> Located | None:
    shared = any(link.shares for link in chain)
    if row.owner_id == principal.user_id:
        names = [link.name for link in chain if link.parent_id is not None]
        return Located(row, Role.OWNER, _path([], names), tuple(link.id for link in chain[1:]), shared)
    given = [position for position, link in enumerate(chain) if link.role]
    if not given:
        return None
    role = Role(max(link.role for link in chain))
    if row.trash_id and role < Role.EDITOR:
        return None
    seen = chain[: given[-1] + 1]
    return Located(
        row, role, _path([SHARED_FOLDER], [link.name for link in seen]), tuple(link.id for link in seen[1:]), True
    )


async def _see_by_link(session: AsyncSession, link_id: str, chains: dict[str, list[Row[Any]]]) -> dict[str, Located]:
    """Asked for with each item: a link that was revoked, or has another role now, holds no longer in this very call."""
    link = await session.get(LinkRow, link_id)
    found: dict[str, Located] = {}
    for chain in chains.values():
        row: NodeRow = chain[0].NodeRow
        above = [place.id for place in chain]
        if link is None or link.node_id not in above or row.trash_id:
            continue
        end = above.index(link.node_id) + 1
        path = _path([], [place.name for place in chain[:end]])
        found[row.id] = Located(row, Role(link.role), path, tuple(above[1:end]), shared=True)
    return found


def _path(prefix: list[str], names_upwards: list[str]) -> str:
    return "/" + "/".join([*prefix, *reversed(names_upwards)])


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)
