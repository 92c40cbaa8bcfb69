"""Recognise the steps of a save among the changes of a WebDAV client, by names, by the journal, and by time."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role
from drive_server.kernel.errors import DriveError
from drive_server.services.saves.departures import Absence, find_absence, find_left_name, path_names
from drive_server.services.saves.drafts import DRAFT_AGE, is_draft
from drive_server.services.saves.names import is_passing, is_passing_place
from drive_server.services.tree.nodes import NodeView, live_child, locate_folder, locate_live, locate_many


@dataclass(frozen=True, slots=True)
class Destination:
    """A name in a folder, named by id."""

    folder_id: str
    name: str

    @property
    def arguments(self) -> dict[str, str]:
        """Return the arguments that tell one change from another."""
        return {"parent": self.folder_id, "name": self.name}


@dataclass(frozen=True, slots=True)
class Save:
    """A draft that is moved to the name of the file that it is the new content of.

    The file is missed there (`absence`), or stands there; `is_passing`: a program gave the draft its name.
    """

    draft: NodeView
    node: NodeView
    is_passing: bool
    absence: Absence | None = None


async def find_save(session: AsyncSession, actor: Actor, ref: str, to: Destination, began: datetime) -> Save | None:
    """Return the save that the move of an item to the destination is, None for any other move."""
    draft = await locate_live(session, actor.principal, ref, Role.EDITOR)
    folder = await locate_folder(session, actor.principal, to.folder_id, Role.EDITOR)
    if draft.row.kind != "file" or not await is_draft(session, actor, draft.id, began - DRAFT_AGE):
        return None
    *folders, name = path_names(draft.path)
    is_named_by_program = is_passing_place(folders, name, path_names(folder.path), to.name)
    taken = await live_child(session, folder.id, to.name)
    if taken is None:
        absence = await find_absence(session, actor, folder, to.name, began) if is_named_by_program else None
        return Save(draft, absence.node, True, absence) if absence is not None else None
    goes_aside = not is_named_by_program and is_passing(to.name, name)
    is_beside = is_named_by_program or taken.parent_id == draft.row.parent_id
    if goes_aside or not is_beside or taken.id == draft.id or taken.kind != "file":
        return None
    node = (await locate_many(session, actor.principal, [taken.id]))[taken.id]
    return Save(draft, node, is_named_by_program)


async def find_missed(
    session: AsyncSession, actor: Actor, to: Destination, began: datetime
) -> tuple[Absence, NodeView | None] | None:
    """Return the file that a content at the destination is meant for, with the empty file that is there meanwhile."""
    try:
        folder = await locate_folder(session, actor.principal, to.folder_id, Role.EDITOR)
    except DriveError:
        return None
    absence = await find_absence(session, actor, folder, to.name, began)
    if absence is None:
        return None
    taken = await live_child(session, folder.id, to.name)
    if taken is None:
        return absence, None
    if taken.kind != "file" or taken.size or not await is_draft(session, actor, taken.id, began - DRAFT_AGE):
        return None
    return absence, (await locate_many(session, actor.principal, [taken.id]))[taken.id]


async def find_replaced(
    session: AsyncSession, actor: Actor, node: NodeView, began: datetime
) -> tuple[Absence, NodeView] | None:
    """Return for a file that is deleted the name that it just left, and the new content of it that came there."""
    if node.row.kind != "file":
        return None
    absence = await find_left_name(session, actor, node, began)
    taken = await live_child(session, absence.folder.id, absence.name) if absence is not None else None
    if absence is None or taken is None or taken.kind != "file" or not taken.size:
        return None
    if not await is_draft(session, actor, taken.id, began - DRAFT_AGE):
        return None
    return absence, (await locate_many(session, actor.principal, [taken.id]))[taken.id]
