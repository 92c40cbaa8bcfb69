"""Files and folders as things in a tree: look, make folders, rename, move, trash, restore."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Actor, Principal, Role, Scope, require_scope
from drive_server.errors import ForbiddenError, InvalidInputError, NotFoundError, StateConflictError
from drive_server.models import Item, Outcome, Page, TreeNode
from drive_server.names import clean_name, display_name
from drive_server.services.items import checked_limit, describe
from drive_server.services.journal import Journal
from drive_server.services.listing import folder_page, trash_page, tree_of
from drive_server.services.nodes import (
    Located,
    descendants,
    locate,
    locate_folder,
    locate_live,
    locate_many,
)
from drive_server.services.tree import (
    add_node,
    begin,
    finish,
    place,
    require_free_name,
    require_room_below,
    trash_tree,
    untrash_tree,
)
from drive_server.services.writing import MAX_EFFECT_ITEMS, Writing
from drive_server.storage.database import Database
from drive_server.storage.tables import NodeRow

MAX_TREE_DEPTH = 20


class FileService:
    """The drive's tree as one person sees it. A `ref` is an id, `root` or a path from the caller's root.

    Unknown, malformed and foreign refs raise the same `NotFoundError`; mutations take the etag in `if_match` and raise
    `EtagMismatchError` if the item changed since.
    """

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    async def get(self, actor: Actor, ref: str) -> Item:
        """Return the item, live or (for editors) in the trash."""
        require_scope(actor.principal, Scope.READ)
        async with self._database.read() as session:
            return await describe(session, await locate(session, actor.principal, ref))

    async def list_folder(self, actor: Actor, ref: str, *, limit: int = 100, cursor: str | None = None) -> Page[Item]:
        """Return what is in the folder: folders first, then by name in code point order."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        async with self._database.read() as session:
            folder = await locate_folder(session, actor.principal, ref)
            return await folder_page(session, actor.principal, folder, size, cursor)

    async def tree(self, actor: Actor, ref: str, *, depth: int = 2, limit: int = 200) -> TreeNode:
        """Return the folder with its items `depth` levels down, nearest levels first, at most `limit` items.

        A node whose children are not all there is marked `truncated`.
        """
        require_scope(actor.principal, Scope.READ)
        if not 0 <= depth <= MAX_TREE_DEPTH:
            raise InvalidInputError(f"The depth must be 0 to {MAX_TREE_DEPTH}.", hint="Use a smaller depth.")
        room = checked_limit(limit)
        async with self._database.read() as session:
            folder = await locate_folder(session, actor.principal, ref)
            return await tree_of(session, actor.principal, folder, depth, room)

    async def list_trash(self, actor: Actor, *, limit: int = 100, cursor: str | None = None) -> Page[Item]:
        """Return what the caller can restore, last trashed first; what went along inside a folder is not listed."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        async with self._database.read() as session:
            return await trash_page(session, actor.principal, size, cursor)

    async def create_folder(self, actor: Actor, parent: str, name: str) -> Outcome[Item]:
        """Make an empty folder. It belongs to the owner of the folder it is in."""
        require_scope(actor.principal, Scope.WRITE)
        clean = clean_name(name)

        async def operation(writing: Writing) -> Item:
            folder = await locate_folder(writing.session, actor.principal, parent, Role.EDITOR)
            await require_free_name(writing.session, folder.id, clean)
            await require_room_below(writing.session, folder)
            row = add_node(writing, folder, "folder", clean)
            writing.tell("Create", "Created", f"the folder '{display_name(clean)}' in {folder.label}.")
            return await finish(writing, row)

        return await self._journal.change(actor, "create_folder", {"parent": parent, "name": clean}, operation)

    async def rename(self, actor: Actor, ref: str, name: str, *, if_match: str | None = None) -> Outcome[Item]:
        """Give the item another name in its folder."""
        require_scope(actor.principal, Scope.WRITE)
        clean = clean_name(name)

        async def operation(writing: Writing) -> Item:
            located = await locate_live(writing.session, actor.principal, ref, Role.EDITOR)
            await begin(writing, located, if_match)
            _refuse_root(located, "renamed")
            writing.tell("Rename", "Renamed", f"{located.label} to '{display_name(clean)}'.")
            if located.row.name != clean:
                await _rename(writing, located.row, clean)
            return await finish(writing, located.row)

        return await self._journal.change(actor, "rename", {"item": ref, "name": clean}, operation)

    async def move(self, actor: Actor, ref: str, new_parent: str, *, if_match: str | None = None) -> Outcome[Item]:
        """Put the item into another folder of the same owner. Needs the role editor on both folders."""
        require_scope(actor.principal, Scope.WRITE)

        async def operation(writing: Writing) -> Item:
            located = await locate_live(writing.session, actor.principal, ref, Role.EDITOR)
            folder = await locate_folder(writing.session, actor.principal, new_parent, Role.EDITOR)
            await begin(writing, located, if_match)
            await _require_may_take_out(writing.session, actor.principal, located, "moved")
            writing.tell("Move", "Moved", f"{located.label} to {folder.label}.")
            if located.row.parent_id != folder.id:
                await _require_place(writing.session, located, folder)
                writing.touch(located.row)
                located.row.parent_id, located.row.updated_at = folder.id, writing.now
            return await finish(writing, located.row)

        return await self._journal.change(actor, "move", {"item": ref, "parent": new_parent}, operation)

    async def trash(self, actor: Actor, ref: str, *, if_match: str | None = None) -> Outcome[Item]:
        """Move the item, with all that is in it, to the trash. Needs the role editor on the folder it is in."""
        require_scope(actor.principal, Scope.DELETE)

        async def operation(writing: Writing) -> Item:
            located = await locate_live(writing.session, actor.principal, ref, Role.EDITOR)
            await begin(writing, located, if_match)
            await _require_may_take_out(writing.session, actor.principal, located, "put into the trash")
            below = await _show_all(writing, located)
            writing.touch(located.row)
            await trash_tree(writing, located.row)
            holding = f" with {below} item{'s' * (below != 1)} in it" if located.row.kind == "folder" else ""
            writing.tell("Move", "Moved", f"{located.label}{holding} to the trash, from where it can be restored.")
            return await finish(writing, located.row)

        return await self._journal.change(actor, "trash", {"item": ref}, operation)

    async def restore(self, actor: Actor, ref: str, *, to_parent: str | None = None) -> Outcome[Item]:
        """Bring an item back from the trash with all that went with it: to where it was, or to the folder named.

        Raises `StateConflictError` if it is not in the trash or its folder is gone, `NameConflictError` if its name is
        taken there by now.
        """
        require_scope(actor.principal, Scope.WRITE)

        async def operation(writing: Writing) -> Item:
            located = await locate(writing.session, actor.principal, ref, Role.EDITOR)
            await begin(writing, located)
            _require_trashed_by_itself(located)
            folder = await _restore_folder(writing.session, actor.principal, located, to_parent)
            await _require_place(writing.session, located, folder)
            writing.touch(located.row)
            await untrash_tree(writing, located.row)
            located.row.parent_id = folder.id
            writing.tell("Restore", "Restored", f"{located.label} from the trash to {folder.label}.")
            return await finish(writing, located.row)

        return await self._journal.change(actor, "restore", {"item": ref, "parent": to_parent}, operation)


async def _rename(writing: Writing, row: NodeRow, name: str) -> None:
    await require_free_name(writing.session, row.parent_id or "", name, except_id=row.id)
    writing.touch(row)
    await place(writing, row, row.parent_id or "", name)


def _refuse_root(located: Located, done: str) -> None:
    if located.is_root:
        raise StateConflictError(f"The root folder can't be {done}.", hint="Name an item in it.")


async def _require_may_take_out(session: AsyncSession, principal: Principal, located: Located, done: str) -> None:
    """What is in a folder is the folder's content: who was given a single item may change it, not take it away."""
    _refuse_root(located, done)
    if located.role == Role.OWNER:
        return
    parent_id = located.ancestors[0] if located.ancestors else ""
    parent = (await locate_many(session, principal, [parent_id])).get(parent_id)
    if parent is None or parent.role < Role.EDITOR:
        raise ForbiddenError(
            f"{located.label} can only be {done} by those who can edit the folder that it is in.",
            hint="Ask the owner of the item.",
            details={"needed": Role.EDITOR.label, "role": located.role.label},
        )


async def _require_place(session: AsyncSession, located: Located, folder: Located) -> None:
    if located.row.owner_id != folder.row.owner_id:
        raise StateConflictError(
            f"{located.label} and {folder.label} belong to different people; an item can't change its owner.",
            hint="Create a new file there with the same content.",
        )
    await require_room_below(session, folder, located.row)
    await require_free_name(session, folder.id, located.row.name, except_id=located.id)


async def _show_all(writing: Writing, located: Located) -> int:
    """Note what goes along for the effect, and return how many items that is."""
    below = descendants(located.id)
    total = await writing.session.scalar(select(func.count()).select_from(below)) or 0
    writing.count = total + 1
    nearest = select(below.c.id).order_by(below.c.depth, below.c.name).limit(MAX_EFFECT_ITEMS - 1)
    ids = (await writing.session.scalars(nearest)).all() if writing.actor.dry_run else []
    found = await locate_many(writing.session, writing.actor.principal, ids)
    for entry in (located, *(found[node_id] for node_id in ids)):
        writing.show(entry.row, entry.path)
    return total


def _require_trashed_by_itself(located: Located) -> None:
    if located.row.trash_id is None:
        raise StateConflictError(f"{located.label} is not in the trash.", hint="There is nothing to restore.")
    if located.row.trash_id != located.id:
        raise StateConflictError(
            f"{located.label} went to the trash inside a folder.",
            hint="Restore that folder.",
            details={"folder_id": located.row.trash_id} if located.row.trash_id in located.ancestors else {},
        )


async def _restore_folder(
    session: AsyncSession, principal: Principal, located: Located, to_parent: str | None
) -> Located:
    if to_parent is not None:
        return await locate_folder(session, principal, to_parent, Role.EDITOR)
    try:
        return await locate_folder(session, principal, located.row.parent_id or "", Role.EDITOR)
    except (NotFoundError, ForbiddenError, StateConflictError) as error:
        raise StateConflictError(
            f"The folder that {located.label} was in is gone.", hint="Name a folder to restore it to."
        ) from error
