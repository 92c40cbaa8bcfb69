"""Files and folders as things in a tree: look, make folders, rename, move, copy, trash, restore, delete for good."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database
from drive_server.models.base import Page
from drive_server.models.changes import Outcome
from drive_server.models.items import DeletedItems, Item, MovedItems, OnConflict, TreeNode
from drive_server.services.files import copying, moving, trash
from drive_server.services.files.conflicts import check_choice, resolve_conflict
from drive_server.services.files.listing import folder_page, trash_page, tree_of
from drive_server.services.files.operations import (
    add_node,
    begin,
    finish,
    new_node_view,
    require_room_below,
    set_modified_at,
)
from drive_server.services.journal.recorder import Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.progress import Progress, silent
from drive_server.services.tree.items import checked_limit, describe_all_sync
from drive_server.services.tree.names import clean_name
from drive_server.services.tree.nodes import (
    item_message,
    locate_below_sync,
    locate_folder,
    locate_folder_sync,
    locate_live,
    locate_many_sync,
    locate_sync,
)

MAX_TREE_DEPTH = 20
SET_DATE = "set_date"


class FileService:
    """The drive's tree as one person sees it. A `ref` is an id, `root` or a path from the caller's root.

    Unknown, malformed and foreign refs raise the same `NotFoundError`; mutations take the etag in `if_match` and raise
    `EtagMismatchError` if the item changed since. `on_conflict` is the rule for a taken name: `fail` raises
    `NameConflictError` with a free name, `rename` takes the next free one, `replace` moves the item that is there, if
    it is of the same kind, to the trash in the same change.
    """

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal
        journal.register(SET_DATE, "edit")

    async def visible(self, actor: Actor, ids: Iterable[str]) -> frozenset[str]:
        """Return those of the ids that are items which the caller sees. Raises `MissingScopeError`."""
        require_scope(actor.principal, Scope.READ)
        wanted = list(ids)
        found = await self._database.read_sync(lambda connection: locate_many_sync(connection, actor.principal, wanted))
        return frozenset(found)

    async def get(self, actor: Actor, ref: str) -> Item:
        """Return the item, live or (for editors) in the trash."""
        return await self._database.read_sync(lambda connection: self.get_sync(connection, actor, ref))

    def get_sync(self, connection: Connection, actor: Actor, ref: str) -> Item:
        """Return the item as `get` does, in a transaction that is under way."""
        require_scope(actor.principal, Scope.READ)
        return describe_all_sync(connection, [locate_sync(connection, actor.principal, ref)])[0]

    async def find(self, actor: Actor, ref: str, names: Sequence[str]) -> Item:
        """Return the live item that the names lead to from a folder; the folder itself without any."""
        return await self._database.read_sync(lambda connection: self.find_sync(connection, actor, ref, names))

    def find_sync(self, connection: Connection, actor: Actor, ref: str, names: Sequence[str]) -> Item:
        """Return the item as `find` does, in a transaction that is under way."""
        require_scope(actor.principal, Scope.READ)
        return describe_all_sync(connection, [locate_below_sync(connection, actor.principal, ref, names)])[0]

    async def list_folder(
        self, actor: Actor, ref: str, *, limit: int = 100, cursor: str | None = None, start: str = ""
    ) -> Page[Item]:
        """Return the items in the folder: folders first, then by name in code point order.

        With `start` only items with a name that begins so, letter for letter; a cursor is for the same `start`.
        """
        return await self._database.read_sync(
            lambda connection: self.list_folder_sync(connection, actor, ref, limit=limit, cursor=cursor, start=start)
        )

    def list_folder_sync(
        self,
        connection: Connection,
        actor: Actor,
        ref: str,
        *,
        limit: int = 100,
        cursor: str | None = None,
        start: str = "",
    ) -> Page[Item]:
        """Return the page as `list_folder` does, in a transaction that is under way."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        folder = locate_folder_sync(connection, actor.principal, ref)
        cursors = Cursors(self._database.signer, actor.user_id, "folder", folder.id, start)
        return folder_page(connection, actor.principal, folder, size, cursors, cursor, start)

    async def tree(self, actor: Actor, ref: str, *, depth: int = 2, limit: int = 200) -> TreeNode:
        """Return the folder with at most `limit` items, nearest levels first; a node that lacks some is `truncated`."""
        require_scope(actor.principal, Scope.READ)
        if not 0 <= depth <= MAX_TREE_DEPTH:
            raise InvalidInputError(f"The depth must be 0 to {MAX_TREE_DEPTH}.", hint="Use a smaller depth.")
        room = checked_limit(limit)

        async def work(session: AsyncSession) -> TreeNode:
            folder = await locate_folder(session, actor.principal, ref)
            return await tree_of(session, actor.principal, folder, depth, room)

        return await self._database.look(work)

    async def list_trash(self, actor: Actor, *, limit: int = 100, cursor: str | None = None) -> Page[Item]:
        """Return the items that the caller can restore, last trashed first, without those inside a trashed folder."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)

        async def work(session: AsyncSession) -> Page[Item]:
            cursors = Cursors(self._database.signer, actor.user_id, "trash")
            return await trash_page(session, actor.principal, size, cursors, cursor)

        return await self._database.look(work)

    async def create_folder(
        self, actor: Actor, parent: str, name: str, *, on_conflict: OnConflict = "fail"
    ) -> Outcome[Item]:
        """Make an empty folder. It belongs to the owner of the folder it is in. `replace` is no choice here."""
        require_scope(actor.principal, Scope.WRITE)
        check_choice(on_conflict, ("fail", "rename"))
        clean = clean_name(name)

        async def operation(recorder: Recorder) -> Item:
            folder = await locate_folder(recorder.session, actor.principal, parent, Role.EDITOR)
            found = await resolve_conflict(recorder, folder, clean, "folder", on_conflict)
            await require_room_below(recorder.session, folder)
            row = add_node(recorder, folder, "folder", found.name)
            recorder.describe("create_folder", item=item_message(found.name), folder=folder.subject)
            return await finish(recorder, row, new_node_view(folder, row))

        arguments = _arguments({"parent": parent, "name": clean}, on_conflict)
        return await self._journal.change(actor, "create_folder", arguments, operation)

    async def set_date(self, actor: Actor, ref: str, at: datetime, *, if_match: str | None = None) -> Outcome[Item]:
        """Give the item, or the content that the file has now, another date of its own."""
        require_scope(actor.principal, Scope.WRITE)

        async def operation(recorder: Recorder) -> Item:
            node = await locate_live(recorder.session, actor.principal, ref, Role.EDITOR)
            await begin(recorder, node, if_match)
            recorder.describe(SET_DATE, item=node.subject, date=f"{at:%Y-%m-%d %H:%M} UTC")
            if node.row.modified_at != at:
                recorder.touch(node.row)
                await set_modified_at(recorder, node.row, at)
            return await finish(recorder, node.row, node)

        return await self._journal.change(actor, SET_DATE, {"item": ref, "date": at.isoformat()}, operation)

    async def rename(
        self, actor: Actor, ref: str, name: str, *, if_match: str | None = None, on_conflict: OnConflict = "fail"
    ) -> Outcome[Item]:
        """Give the item another name in its folder."""
        require_scope(actor.principal, Scope.WRITE)
        check_choice(on_conflict)
        clean = clean_name(name)

        async def operation(recorder: Recorder) -> Item:
            return await moving.rename(recorder, ref, clean, on_conflict, if_match)

        arguments = _arguments({"item": ref, "name": clean}, on_conflict)
        return await self._journal.change(actor, "rename", arguments, operation)

    async def move(
        self,
        actor: Actor,
        ref: str,
        new_parent: str,
        *,
        name: str | None = None,
        if_match: str | None = None,
        on_conflict: OnConflict = "fail",
        replaces_any_kind: bool = False,
    ) -> Outcome[Item]:
        """Put the item into another folder of the same owner, under another `name` if one is given, as one change.

        With `replaces_any_kind`, `replace` lets a folder take the place of a file and the other way round.

        Needs the role editor on both folders.
        """
        require_scope(actor.principal, Scope.WRITE)
        check_choice(on_conflict)
        clean = clean_name(name) if name is not None else None

        async def operation(recorder: Recorder) -> Item:
            choice = moving.MoveChoice(on_conflict, if_match, clean, replaces_any_kind)
            return await moving.move(recorder, ref, new_parent, choice)

        renamed = {"name": clean} if clean is not None else {}
        arguments = _arguments({"item": ref, "parent": new_parent, **renamed}, on_conflict)
        return await self._journal.change(actor, "move", arguments, operation)

    async def move_many(
        self,
        actor: Actor,
        refs: Sequence[str],
        new_parent: str,
        *,
        on_conflict: OnConflict = "fail",
        progress: Progress = silent,
    ) -> Outcome[MovedItems]:
        """Put up to 1000 items into one folder, as one change: all of them or, if one can't be moved, none."""
        require_scope(actor.principal, Scope.WRITE)
        check_choice(on_conflict)

        async def operation(recorder: Recorder) -> MovedItems:
            return await moving.move_items(recorder, refs, new_parent, on_conflict, progress)

        arguments = {"items": [*refs], "parent": new_parent, "on_conflict": on_conflict}
        return await self._journal.change(actor, "move_many", arguments, operation, waits=progress is not silent)

    async def copy(
        self,
        actor: Actor,
        ref: str,
        new_parent: str,
        name: str | None = None,
        *,
        if_match: str | None = None,
        on_conflict: OnConflict = "fail",
        progress: Progress = silent,
        replaces_any_kind: bool = False,
        with_contents: bool = True,
    ) -> Outcome[Item]:
        """Copy the item, with all that is live in it, into a folder, whose owner the copy belongs to.

        With `replaces_any_kind`, `replace` lets a folder take the place of a file and the other way round; without
        `with_contents`, a folder is copied without its items.

        Needs the role viewer on the item and editor on the folder. Copies have the content of now as version 1; earlier
        versions, shares and links stay with the original. Raises `StateConflictError` for a folder into itself, and
        `InvalidInputError` over 100,000 items.
        """
        require_scope(actor.principal, Scope.READ)
        require_scope(actor.principal, Scope.WRITE)
        check_choice(on_conflict)
        clean = clean_name(name) if name is not None else None

        async def operation(recorder: Recorder) -> Item:
            choice = copying.CopyChoice(on_conflict, if_match, replaces_any_kind, with_contents)
            return await copying.copy(recorder, ref, new_parent, clean, choice, progress)

        arguments = {"item": ref, "parent": new_parent, "name": clean, "on_conflict": on_conflict}
        return await self._journal.change(actor, "copy", arguments, operation, waits=progress is not silent)

    async def trash(self, actor: Actor, ref: str, *, if_match: str | None = None) -> Outcome[Item]:
        """Move the item, with all that is in it, to the trash. Needs the role editor on the folder it is in."""
        require_scope(actor.principal, Scope.DELETE)

        async def operation(recorder: Recorder) -> Item:
            return await trash.trash(recorder, ref, if_match)

        return await self._journal.change(actor, "trash", {"item": ref}, operation)

    async def restore(
        self,
        actor: Actor,
        ref: str,
        *,
        to_parent: str | None = None,
        if_match: str | None = None,
        on_conflict: OnConflict = "fail",
    ) -> Outcome[Item]:
        """Bring an item back from the trash with all that went with it: to where it was, or to the folder named.

        Raises `StateConflictError` if it is not in the trash, or if its folder is gone and no other is named.
        """
        require_scope(actor.principal, Scope.WRITE)
        check_choice(on_conflict)

        async def operation(recorder: Recorder) -> Item:
            return await trash.restore(recorder, ref, to_parent, on_conflict, if_match)

        arguments = _arguments({"item": ref, "parent": to_parent}, on_conflict)
        return await self._journal.change(actor, "restore", arguments, operation)

    async def delete_for_good(self, actor: Actor, ref: str, *, if_match: str | None = None) -> Outcome[DeletedItems]:
        """Delete an item that is in the trash, with its versions, shares and links and all that is in it.

        Items in it that went to the trash before stay there. For its owner only. The journal keeps that it was done;
        nothing brings it back. Raises `StateConflictError` for an item that is not in the trash, or went there inside a
        folder.
        """
        require_scope(actor.principal, Scope.DELETE)

        async def operation(recorder: Recorder) -> DeletedItems:
            return await trash.delete_for_good(recorder, ref, if_match)

        return await self._journal.change(actor, "delete_for_good", {"item": ref}, operation)

    async def empty_trash(self, actor: Actor, *, progress: Progress = silent) -> Outcome[DeletedItems]:
        """Delete all that is in the caller's own trash for good, as one change."""
        require_scope(actor.principal, Scope.DELETE)

        async def operation(recorder: Recorder) -> DeletedItems:
            return await trash.empty_trash(recorder, progress)

        return await self._journal.change(actor, "empty_trash", {}, operation, waits=progress is not silent)


def _arguments(arguments: dict[str, str | None], on_conflict: OnConflict) -> dict[str, str | None]:
    """Return the arguments for the digest; a call without a choice has the digest of calls before there was one."""
    return arguments if on_conflict == "fail" else {**arguments, "on_conflict": on_conflict}
