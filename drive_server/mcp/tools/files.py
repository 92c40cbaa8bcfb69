"""Tools for the tree: look around, make folders, rename, move, copy."""

from typing import Annotated

from mcp.types import CallToolResult

from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.errors import NotFoundError
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer, changed
from drive_server.mcp.lean_results import whole_item
from drive_server.mcp.results import ListResult
from drive_server.mcp.tools.definition.arguments import (
    Conflict,
    Cursor,
    Depth,
    Etag,
    FolderConflict,
    FolderRef,
    ItemRef,
    ItemRefs,
    Name,
    OptionalName,
    PageSize,
    PlaceRef,
)
from drive_server.mcp.tools.definition.spec import ADDS, EDITS, OVERWRITES, READS, ToolGroup, ToolSpec, records
from drive_server.mcp.tools.definition.texts import (
    counted,
    item_facts,
    item_lines,
    item_references,
    page_text,
    reference,
    shown_path,
    tree_lines,
)
from drive_server.models.base import Page
from drive_server.models.items import Item, MovedItems, TreeNode
from drive_server.registry import ServiceRegistry
from drive_server.services.tree.nodes import SHARED_FOLDER

TRASH = "trash"
SHARED = "shared"


class FileTools(ToolGroup):
    """Look around the tree, make folders, rename, move and copy."""

    icon = icons.FOLDER
    label = "folders"

    @ToolSpec(Scope.READ, "query", "low", READS, is_core=True)
    async def list_folder(
        self, call: Call, folder_id: PlaceRef = "root", limit: PageSize = 100, cursor: Cursor = None
    ) -> Annotated[CallToolResult, ListResult]:
        """List the items directly in a folder: folders first, then files, by name.

        Use when: you need the names, ids or etags of items in a folder, in the trash, or shared with you.
        Not for: finding something anywhere in the drive (search_files); seeing several levels (get_folder_tree).
        Notes: a page has at most `limit` items; pass the answer's `cursor` to get the next page.
        """
        actor = await call.actor()
        page = await list_place(self._drive, actor, folder_id, limit, cursor)
        return answer(actor, page_text(page, "item"), ListResult.of(page), lambda: item_lines(page.items))

    @ToolSpec(Scope.READ, "query", "low", READS)
    async def get_folder_tree(
        self, call: Call, folder_id: FolderRef = "root", depth: Depth = 2
    ) -> Annotated[CallToolResult, TreeNode]:
        """Show a folder with the items below it, several levels at once.

        Use when: you want an overview of how a folder is organised.
        Not for: long lists in one folder (list_folder pages through them); looking up one item (get_file_info).
        Notes: 200 items at most, nearest levels first; a folder that shows fewer than it has is marked `truncated`.
        """
        actor = await call.actor()
        tree = await self._drive.files.tree(actor, folder_id, depth=depth)
        return answer(actor, f"The tree of {shown_path(tree.item)}.", tree, lambda: tree_lines(tree))

    @ToolSpec(Scope.READ, "query", "low", READS)
    async def get_file_info(self, call: Call, item_id: ItemRef) -> Annotated[CallToolResult, Item]:
        """Tell the facts of a file or folder: name, path, size, type, version, etag, owner, your role, times.

        Use when: you need the etag before a change, or an id or path for the other one.
        Not for: the content of a file (read_file); the items in a folder (list_folder).
        Notes: works for items in the trash too, for those who can restore them.
        """
        actor = await call.actor()
        item = await self._drive.files.get(actor, item_id)
        return answer(actor, f"{reference(item)}.", item, lambda: item_facts(item), whole_item)

    @records("create")
    @ToolSpec(Scope.WRITE, "write", "low", ADDS, action="create", is_core=True)
    async def create_folder(
        self, call: Call, name: Name, folder_id: FolderRef = "root", on_conflict: FolderConflict = "fail"
    ) -> Annotated[CallToolResult, Item]:
        """Make an empty folder.

        Use when: the person wants a new place for things.
        Not for: files (create_file).
        Notes: the answer has the new folder's id, and its name if another was taken.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor, lambda agreed: self._drive.files.create_folder(agreed, folder_id, name, on_conflict=on_conflict)
        )
        return changed(actor, outcome, f"Created {reference(outcome.value)}.", outcome.value)

    @records("organise", "rename")
    @ToolSpec(Scope.WRITE, "write", "medium", OVERWRITES, action="rename", is_core=True)
    async def rename_item(
        self, call: Call, item_id: ItemRef, name: Name, if_match: Etag = None, on_conflict: Conflict = "fail"
    ) -> Annotated[CallToolResult, Item]:
        """Give a file or folder another name in the folder it is in.

        Use when: the person wants it to be called differently.
        Not for: putting it into another folder (move_item).
        Notes: the id stays, the path changes; keep the ending of a file's name (.md) unless asked to change it.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.files.rename(agreed, item_id, name, if_match=if_match, on_conflict=on_conflict),
        )
        return changed(actor, outcome, f"Renamed: now {reference(outcome.value)}.", outcome.value)

    @records("organise", "move")
    @ToolSpec(Scope.WRITE, "write", "medium", OVERWRITES, action="move", is_core=True)
    async def move_item(
        self, call: Call, item_id: ItemRef, folder_id: FolderRef, if_match: Etag = None, on_conflict: Conflict = "fail"
    ) -> Annotated[CallToolResult, Item]:
        """Put a file or folder, with all that is in it, into another folder.

        Use when: the person wants it to be somewhere else.
        Not for: several items (move_items); another name (rename_item); getting rid of it (trash_item).
        Notes: the id stays; refused if the folder belongs to somebody else (copy_item works there).
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.files.move(
                agreed, item_id, folder_id, if_match=if_match, on_conflict=on_conflict
            ),
        )
        return changed(actor, outcome, f"Moved: now {reference(outcome.value)}.", outcome.value)

    @records("organise", "move_many")
    @ToolSpec(
        Scope.WRITE,
        "write",
        "medium",
        OVERWRITES,
        action="move",
        can_be_task=True,
    )
    async def move_items(
        self, call: Call, item_ids: ItemRefs, folder_id: FolderRef, on_conflict: Conflict = "fail"
    ) -> Annotated[CallToolResult, MovedItems]:
        """Put several files and folders into one folder, all of them or, if one can't be moved, none.

        Use when: more than one item is to go to the same place.
        Not for: a single item (move_item); copies (copy_item).
        Notes: one change, which undo_changes takes back as a whole; an item inside another of them stays in it.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.files.move_many(
                agreed, item_ids, folder_id, on_conflict=on_conflict, progress=call.progress
            ),
        )
        moved = outcome.value
        text = f"Moved {counted(len(moved.items) - moved.unchanged, 'item')} to {shown_path(moved.folder)}."
        return changed(actor, outcome, text, moved, lambda: item_references(moved.items))

    @records("create", "copy")
    @ToolSpec(Scope.WRITE, "write", "medium", EDITS, action="copy", can_be_task=True)
    async def copy_item(
        self,
        call: Call,
        item_id: ItemRef,
        folder_id: FolderRef,
        name: OptionalName = None,
        on_conflict: Conflict = "fail",
    ) -> Annotated[CallToolResult, Item]:
        """Copy a file, or a folder with all that is in it, into a folder.

        Use when: the person wants a second one, to change or to give away, and to keep the first.
        Not for: putting it somewhere else (move_item); an earlier content of it (restore_version).
        Notes: the copy belongs to the owner of the folder; it starts with the content of now, without the earlier
        versions, shares and links of the original.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.files.copy(
                agreed, item_id, folder_id, name, on_conflict=on_conflict, progress=call.progress
            ),
        )
        return changed(actor, outcome, f"Copied: {reference(outcome.value)}.", outcome.value)


def is_list(ref: str) -> bool:
    """Return whether the ref names, or may name, a list that is no folder: the trash, or items that others share."""
    return ref in {TRASH, SHARED} or ref.removesuffix("/") == f"/{SHARED_FOLDER}"


async def list_place(
    drive: ServiceRegistry, actor: Actor, ref: str, limit: int, cursor: str | None, start: str = ""
) -> Page[Item]:
    """Return a page of the folder that the ref names, of the trash, or of the items that others shared.

    Of a folder, only items with a name that begins with `start`. `/Shared with me` is the items that others shared,
    unless the caller has a folder of this name.
    """
    if ref == TRASH:
        return await drive.files.list_trash(actor, limit=limit, cursor=cursor)
    if ref == SHARED:
        return await drive.sharing.shared_with_me(actor, limit=limit, cursor=cursor)
    try:
        return await drive.files.list_folder(actor, ref, limit=limit, cursor=cursor, start=start)
    except NotFoundError:
        if not is_list(ref):
            raise
        return await drive.sharing.shared_with_me(actor, limit=limit, cursor=cursor)
