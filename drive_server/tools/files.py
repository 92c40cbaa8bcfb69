"""Tools for the tree: look around, make folders, rename, move, trash, restore."""

from typing import Annotated

from mcp.types import CallToolResult

from drive_server.drive import Drive
from drive_server.tools.annotations import ADDS, BRINGS_BACK, OVERWRITES, READS
from drive_server.tools.arguments import (
    Cursor,
    Depth,
    Etag,
    FolderRef,
    ItemRef,
    Name,
    OptionalFolderRef,
    PageSize,
    PlaceRef,
)
from drive_server.tools.calls import Call, answer, changed
from drive_server.tools.places import list_place
from drive_server.tools.results import ItemResult, ListResult, TreeResult
from drive_server.tools.texts import counted, item_lines, reference, tree_lines
from drive_server.tools.toolbox import Toolbox


class FileTools:
    """The tools, each named as its method; its docstring is what a model reads of it."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    async def list_folder(
        self, call: Call, folder_id: PlaceRef = "root", limit: PageSize = 100, cursor: Cursor = None
    ) -> Annotated[CallToolResult, ListResult]:
        """List what is directly in a folder: folders first, then files, by name.

        Use when: you need the names, ids or etags of what is in a folder, in the trash, or shared with you.
        Not for: finding something anywhere in the drive (search_files); seeing several levels (get_folder_tree).
        Notes: a page has at most `limit` items; pass the answer's `cursor` to get the next page.
        """
        actor = await call.actor()
        page = await list_place(self._drive, actor, folder_id, limit, cursor)
        text = f"{counted(len(page.items), 'item')}{' of ' + str(page.total) if page.cursor and page.total else ''}."
        if page.cursor:
            text += f" For more, pass cursor {page.cursor}."
        return answer(actor, text, ListResult.of(page), item_lines(page.items))

    async def get_folder_tree(
        self, call: Call, folder_id: FolderRef = "root", depth: Depth = 2
    ) -> Annotated[CallToolResult, TreeResult]:
        """Show a folder with what is below it, several levels at once.

        Use when: you want an overview of how a folder is organised.
        Not for: long lists in one folder (list_folder pages through them); looking up one item (get_file_info).
        Notes: 200 items at most, nearest levels first; a folder that shows fewer than it has is marked `truncated`.
        """
        actor = await call.actor()
        tree = await self._drive.files.tree(actor, folder_id, depth=depth)
        return answer(actor, f"The tree of {tree.item.path}.", TreeResult.of(tree), tree_lines(tree))

    async def get_file_info(self, call: Call, item_id: ItemRef) -> Annotated[CallToolResult, ItemResult]:
        """Tell what a file or folder is: name, path, size, type, version, etag, owner, your role, times.

        Use when: you need the etag before a change, or an id or path for the other one.
        Not for: the content of a file (read_file); what is in a folder (list_folder).
        Notes: works for items in the trash too, for those who can restore them.
        """
        actor = await call.actor()
        item = await self._drive.files.get(actor, item_id)
        return answer(actor, f"{reference(item)}.", ItemResult.of(item))

    async def create_folder(
        self, call: Call, name: Name, parent_id: FolderRef = "root"
    ) -> Annotated[CallToolResult, ItemResult]:
        """Make an empty folder.

        Use when: the person wants a new place for things.
        Not for: files (create_file).
        Notes: refused if the folder has an item of that name already; the answer has the new folder's id.
        """
        actor = await call.actor()
        outcome = await self._drive.files.create_folder(actor, parent_id, name)
        return changed(actor, outcome, f"Created {reference(outcome.value)}.", ItemResult.of(outcome.value))

    async def rename_item(
        self, call: Call, item_id: ItemRef, name: Name, if_match: Etag = None
    ) -> Annotated[CallToolResult, ItemResult]:
        """Give a file or folder another name in the folder it is in.

        Use when: the person wants it to be called differently.
        Not for: putting it into another folder (move_item).
        Notes: the id stays, the path changes; keep the ending of a file's name (.md) unless asked to change it.
        """
        actor = await call.actor()
        outcome = await self._drive.files.rename(actor, item_id, name, if_match=if_match)
        return changed(actor, outcome, f"Renamed: now {reference(outcome.value)}.", ItemResult.of(outcome.value))

    async def move_item(
        self, call: Call, item_id: ItemRef, folder_id: FolderRef, if_match: Etag = None
    ) -> Annotated[CallToolResult, ItemResult]:
        """Put a file or folder, with all that is in it, into another folder.

        Use when: the person wants it to be somewhere else.
        Not for: another name (rename_item); getting rid of it (trash_item).
        Notes: the id stays; refused if the folder has an item of that name, or belongs to somebody else.
        """
        actor = await call.actor()
        outcome = await self._drive.files.move(actor, item_id, folder_id, if_match=if_match)
        return changed(actor, outcome, f"Moved: now {reference(outcome.value)}.", ItemResult.of(outcome.value))

    async def trash_item(
        self, call: Call, item_id: ItemRef, if_match: Etag = None
    ) -> Annotated[CallToolResult, ItemResult]:
        """Move a file or folder, with all that is in it, to the trash.

        Use when: the person wants it deleted.
        Not for: emptying a file (write_file); taking back somebody's access (revoke_share).
        Notes: can be brought back with restore_item or undo_changes; people it is shared with lose sight of it.
        """
        actor = await call.actor()
        outcome = await call.agreed(actor, lambda agreed: self._drive.files.trash(agreed, item_id, if_match=if_match))
        return changed(actor, outcome, f"Moved to the trash: {reference(outcome.value)}.", ItemResult.of(outcome.value))

    async def restore_item(
        self, call: Call, item_id: ItemRef, folder_id: OptionalFolderRef = None
    ) -> Annotated[CallToolResult, ItemResult]:
        """Bring a file or folder back from the trash, with all that went with it.

        Use when: something was deleted that is wanted after all; list_folder of `trash` shows what there is.
        Not for: an earlier content of a file (restore_version); taking back other changes (undo_changes).
        Notes: it goes back to where it was, or to `folder_id`; refused if its name is taken there by now.
        """
        actor = await call.actor()
        outcome = await self._drive.files.restore(actor, item_id, to_parent=folder_id)
        return changed(actor, outcome, f"Restored: {reference(outcome.value)}.", ItemResult.of(outcome.value))


def register(box: Toolbox, drive: Drive) -> None:
    """Put the tools into the box."""
    tools = FileTools(drive)
    box.put(tools.list_folder, "List a folder", READS)
    box.put(tools.get_folder_tree, "Show a folder's tree", READS)
    box.put(tools.get_file_info, "Look up an item", READS)
    box.put(tools.create_folder, "Create a folder", ADDS)
    box.put(tools.rename_item, "Rename an item", OVERWRITES)
    box.put(tools.move_item, "Move an item", OVERWRITES)
    box.put(tools.trash_item, "Move an item to the trash", OVERWRITES)
    box.put(tools.restore_item, "Restore an item from the trash", BRINGS_BACK)
