"""Departures: which file a WebDAV client just took away from a name, and how it is found again."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import Table, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role
from drive_server.kernel.errors import ForbiddenError, NotFoundError
from drive_server.services.journal.recorder import Recorder
from drive_server.services.saves.drafts import was_changed_by_others
from drive_server.services.saves.names import is_passing_place, suffix_of
from drive_server.services.tree.nodes import NodeView, locate
from drive_server.storage.tables.dav import DavDepartureRow, DavLockRow
from drive_server.storage.tables.items import NodeRow

AWAY: Final = timedelta(seconds=60)
"""How long after a file went aside, under a name that programs give, a new content at its name is its own."""
DELETED: Final = timedelta(seconds=30)
"""How long after a file was deleted a new content at its name is its own."""
_LOCKS = cast("Table", DavLockRow.__table__)


@dataclass(frozen=True, slots=True)
class Absence:
    """A file that is missed at its name in the folder, and where it is now; `departure` says since when."""

    folder: NodeView
    departure: DavDepartureRow
    node: NodeView

    @property
    def name(self) -> str:
        """The name that the file left."""
        return self.departure.name


async def note_departure(recorder: Recorder, row: NodeRow, folder_id: str, name: str, now: datetime) -> None:
    """Note that the file leaves the name in this change, and end its locks: they come back with it."""
    session = recorder.session
    departure = await session.merge(
        DavDepartureRow(
            folder_id=folder_id, name=name, node_id=row.id, user_id=recorder.actor.user_id, left_at=now, change_id=0
        )
    )
    departure.locks = await _take_locks(session, row.id)

    def recorded(change_id: int) -> None:
        departure.change_id = change_id

    recorder.on_recorded.append(recorded)


async def find_absence(
    session: AsyncSession, actor: Actor, folder: NodeView, name: str, began: datetime
) -> Absence | None:
    """Return the file that a program is about to save at this name of the folder, which is free; None if there is none.

    It went aside within a minute, under a name that programs give; or the same person deleted it, within half a minute.
    """
    departure = await session.get(DavDepartureRow, (folder.id, name), populate_existing=True)
    if departure is None or departure.left_at < began - AWAY:
        return None
    absence = await _absence(session, actor, folder, departure)
    if absence is None:
        return None
    if absence.node.row.trash_id is not None:
        is_soon = departure.left_at >= began - DELETED and departure.user_id == actor.user_id
        return absence if is_soon else None
    return absence if _is_aside(absence, absence.node.path) else None


async def find_left_name(session: AsyncSession, actor: Actor, node: NodeView, began: datetime) -> Absence | None:
    """Return where a file is missed that its person deletes right after it went aside; None for any other file."""
    query = select(DavDepartureRow).where(
        DavDepartureRow.node_id == node.id,
        DavDepartureRow.user_id == actor.user_id,
        DavDepartureRow.left_at >= began - DELETED,
    )
    for departure in await session.scalars(query.order_by(DavDepartureRow.left_at.desc())):
        try:
            folder = await locate(session, actor.principal, departure.folder_id, Role.EDITOR)
        except (NotFoundError, ForbiddenError):
            continue
        absence = await _absence(session, actor, folder, departure)
        other_kind = suffix_of(node.row.name) != suffix_of(departure.name)
        if absence is not None and (other_kind or _is_aside(absence, node.path)):
            return absence
    return None


async def bring_locks_back(session: AsyncSession, departure: DavDepartureRow, now: datetime) -> None:
    """Let the locks hold again that the file had at its name, unless others came in between; forget the departure."""
    node_id = departure.node_id
    taken = select(DavLockRow.token).where(DavLockRow.node_id == node_id, DavLockRow.expires_at > now).limit(1)
    locks = [{**lock, "expires_at": datetime.fromisoformat(lock["expires_at"])} for lock in departure.locks]
    held = [lock for lock in locks if lock["expires_at"] > now]
    if held and await session.scalar(taken) is None:
        await session.execute(insert(_LOCKS), held)
    await session.delete(departure)


async def awaits_content(session: AsyncSession, row: NodeRow, now: datetime) -> bool:
    """Return whether the file is empty and locked: davfs2 locks a name, and sends its content once it is closed."""
    held = select(DavLockRow.token).where(DavLockRow.node_id == row.id, DavLockRow.expires_at > now)
    return row.size == 0 and await session.scalar(held.limit(1)) is not None


async def hand_locks_over(session: AsyncSession, from_id: str, to_id: str) -> None:
    """Let the locks of one file hold for another of the same folder."""
    await session.execute(update(_LOCKS).where(_LOCKS.c.node_id == from_id).values(node_id=to_id))


async def _take_locks(session: AsyncSession, node_id: str) -> list[dict[str, Any]]:
    found = (await session.execute(select(_LOCKS).where(_LOCKS.c.node_id == node_id))).mappings().all()
    await session.execute(delete(_LOCKS).where(_LOCKS.c.node_id == node_id))
    return [{**lock, "expires_at": lock["expires_at"].isoformat()} for lock in found]


async def _absence(session: AsyncSession, actor: Actor, folder: NodeView, departure: DavDepartureRow) -> Absence | None:
    try:
        node = await locate(session, actor.principal, departure.node_id, Role.EDITOR)
    except (NotFoundError, ForbiddenError):
        return None
    is_here = (node.row.parent_id, node.row.name, node.row.trash_id) == (folder.id, departure.name, None)
    if is_here or node.row.kind != "file" or node.row.owner_id != folder.row.owner_id:
        return None
    person, method = departure.user_id, actor.principal.method
    if await was_changed_by_others(session, person, method, node.id, departure.change_id):
        return None
    return Absence(folder, departure, node)


def _is_aside(absence: Absence, path: str) -> bool:
    *folders, name = path_names(path)
    return is_passing_place(folders, name, path_names(absence.folder.path), absence.name)


def path_names(path: str) -> list[str]:
    """Return the names that an item's path is made of; none for a root."""
    return [name for name in path.split("/") if name]
