"""Suggestions while a person types: files and folders by name or path, people they share with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import normalize

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Principal, Scope, require_scope
from drive_server.kernel.errors import DriveError
from drive_server.kernel.sql.database import Database
from drive_server.kernel.text.characters import fold_words
from drive_server.models.items import Kind
from drive_server.services.search.fuzzy_names import match_near_names
from drive_server.services.search.names import match_names
from drive_server.services.tree.grantees import granted_to, shown_grantees
from drive_server.services.tree.nodes import (
    SHARED_FOLDER,
    NodeView,
    descendants,
    live_child,
    locate_folder,
    locate_many,
    shared_ids,
    visible_ids,
)
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import ShareRow

if TYPE_CHECKING:
    from datetime import datetime

MAX_SUGGESTIONS = 100
MAX_BELOW = 2000
MAX_TYPED = 1024


@dataclass(frozen=True, slots=True)
class Suggested:
    """Values that fit the typed text, the best first, 100 at most; `total` counts all, None if that is not known."""

    values: tuple[str, ...] = ()
    total: int | None = 0
    has_more: bool = False


class SuggestionService:
    """Suggests values that the caller may use as they are: paths, or ids where no path leads to the item alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def items(self, actor: Actor, typed: str, kind: Kind) -> Suggested:
        """Return files or folders whose name fits the typed text, or whose path continues it if it has a slash."""
        require_scope(actor.principal, Scope.READ)
        if len(typed) > MAX_TYPED or not _is_text(typed):
            return Suggested()
        async with self._database.read() as session:
            if "/" in typed:
                return await _by_path(session, actor.principal, typed, kind)
            ids = await (_by_name if typed.strip() else _newest)(session, actor.principal, typed, kind)
            visible = await locate_many(session, actor.principal, ids[:MAX_SUGGESTIONS])
            found = [visible[node_id] for node_id in ids[:MAX_SUGGESTIONS] if node_id in visible]
            values = await _values(session, actor.principal, found)
        total = len(ids) if typed.strip() or len(ids) <= MAX_SUGGESTIONS else None
        return Suggested(values, total, len(ids) > MAX_SUGGESTIONS)

    async def people(self, actor: Actor, typed: str) -> Suggested:
        """Return the emails of people the caller shares something with, or who share something with them."""
        require_scope(actor.principal, Scope.READ)
        wanted = fold_words(typed[:MAX_TYPED])
        async with self._database.read() as session:
            emails = await _contacts(session, actor.principal)
        fitting = [email for email in emails if wanted in fold_words(email)]
        fitting.sort(key=lambda email: (not email.startswith(wanted), email))
        shown = tuple(fitting[:MAX_SUGGESTIONS])
        return Suggested(shown, len(fitting), len(fitting) > len(shown))


async def _by_name(session: AsyncSession, principal: Principal, typed: str, kind: Kind) -> list[str]:
    visible = visible_ids(principal)
    found = await match_names(session, visible, typed, kind)
    near = await match_near_names(session, visible, typed, kind, with_slips=False)
    matches = list(dict.fromkeys(match.id for match in (*found, *near)))
    return [*await _by_id(session, principal, typed.strip(), kind), *matches]


async def _by_id(session: AsyncSession, principal: Principal, typed: str, kind: Kind) -> list[str]:
    found = await locate_many(session, principal, [typed])
    return [item.id for item in found.values() if item.row.kind == kind and item.row.trash_id is None]


async def _newest(session: AsyncSession, principal: Principal, typed: str, kind: Kind) -> list[str]:
    """Ask for the person's own items and for shared ones one after the other: each has an index of its own."""
    del typed
    live = select(NodeRow.id, NodeRow.updated_at).where(NodeRow.kind == kind, NodeRow.trash_id.is_(None))
    newest = live.order_by(NodeRow.updated_at.desc(), NodeRow.id).limit(MAX_SUGGESTIONS + 1)
    moments: dict[str, datetime] = {}
    for mine in (NodeRow.owner_id == principal.user_id, NodeRow.id.in_(shared_ids(principal))):
        moments |= {node_id: at for node_id, at in await session.execute(newest.where(mine))}  # noqa: C416 - rows, not tuples
    return sorted(moments, key=lambda node_id: (-moments[node_id].timestamp(), node_id))[: MAX_SUGGESTIONS + 1]


async def _by_path(session: AsyncSession, principal: Principal, typed: str, kind: Kind) -> Suggested:
    """Suggest paths that continue the typed text, the nearest levels first; its last part may be in any case."""
    start = normalize("NFC", typed if typed.startswith("/") else f"/{typed}")
    ids = [
        *await _below(session, principal, start.rpartition("/")[0] or "/", kind),
        *await _shared(session, principal, start, kind),
    ]
    visible = await locate_many(session, principal, ids)
    found_items = [visible[node_id] for node_id in ids if node_id in visible]
    fitting = [item for item in found_items if fold_words(item.path).startswith(fold_words(start))]
    values = await _values(session, principal, fitting[:MAX_SUGGESTIONS])
    is_all = len(ids) <= MAX_BELOW
    return Suggested(values, len(fitting) if is_all else None, len(fitting) > MAX_SUGGESTIONS or not is_all)


async def _below(session: AsyncSession, principal: Principal, folder_path: str, kind: Kind) -> list[str]:
    try:
        folder = await locate_folder(session, principal, folder_path)
    except DriveError:  # no such folder, or not the caller's to see: nothing goes on from here
        return []
    below = descendants(folder.id)
    query = select(below.c.id).where(below.c.kind == kind).order_by(below.c.depth, below.c.name)
    return list(await session.scalars(query.limit(MAX_BELOW + 1)))


async def _shared(session: AsyncSession, principal: Principal, start: str, kind: Kind) -> list[str]:
    if not f"/{SHARED_FOLDER}/".casefold().startswith(start.casefold()):
        return []
    query = select(NodeRow.id).where(NodeRow.id.in_(shared_ids(principal)), NodeRow.kind == kind)
    return list(await session.scalars(query.order_by(NodeRow.name, NodeRow.id).limit(MAX_BELOW + 1)))


async def _values(session: AsyncSession, principal: Principal, found: Sequence[NodeView]) -> tuple[str, ...]:
    shared = [item for item in found if item.row.owner_id != principal.user_id]
    unclear = await _unclear_names(session, principal) if shared else None
    return tuple(
        item.id if item in shared and (unclear is None or item.path.split("/")[2] in unclear) else item.path
        for item in found
    )


async def _unclear_names(session: AsyncSession, principal: Principal) -> set[str] | None:
    """Return the names that several shared items have; None if the caller's own folder hides all shared ones."""
    user = await session.get(UserRow, principal.user_id)
    if user is None or await live_child(session, user.root_id, SHARED_FOLDER):
        return None
    query = (
        select(NodeRow.name)
        .join(ShareRow, ShareRow.node_id == NodeRow.id)
        .where(granted_to(principal.email), NodeRow.trash_id.is_(None))
        .group_by(NodeRow.name)
        .having(func.count(NodeRow.id.distinct()) > 1)
    )
    return set(await session.scalars(query))


async def _contacts(session: AsyncSession, principal: Principal) -> set[str]:
    shares = select(ShareRow.email, UserRow.email).join(NodeRow, NodeRow.id == ShareRow.node_id)
    query = shares.join(UserRow, UserRow.id == NodeRow.owner_id).where(
        NodeRow.trash_id.is_(None), or_(NodeRow.owner_id == principal.user_id, granted_to(principal.email))
    )
    emails = {email for pair in await session.execute(query.distinct()) for email in pair}
    return {*(await shown_grantees(session, emails)).values()} - {principal.email}


def _is_text(typed: str) -> bool:
    return "\0" not in typed and not any("\ud800" <= char <= "\udfff" for char in typed)
