"""Tools for the trash: into it, a look at it, back out of it, and out of it for good."""

from typing import Annotated

from mcp.types import CallToolResult

from drive_server.kernel.access import Scope
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer, changed
from drive_server.mcp.results import ListResult
from drive_server.mcp.tools.definition.arguments import Conflict, Cursor, Etag, ItemRef, OptionalFolderRef, PageSize
from drive_server.mcp.tools.definition.spec import EDITS, OVERWRITES, READS, ToolGroup, ToolSpec, records
from drive_server.mcp.tools.definition.texts import counted, item_lines, item_references, page_text, reference
from drive_server.models.items import DeletedItems, Item


class TrashTools(ToolGroup):
    """Put into the trash, list it, bring back, and delete for good."""

    icon = icons.TRASH
    label = "trash"

    @records("trash", "trash")
    @ToolSpec(
        Scope.DELETE,
        "removal",
        "low",
        OVERWRITES,
        action="trash",
        is_core=True,
    )
    async def trash_item(self, call: Call, item_id: ItemRef, if_match: Etag = None) -> Annotated[CallToolResult, Item]:
        """Move a file or folder, with all that is in it, to the trash.

        Use when: the person wants it deleted.
        Not for: emptying a file (write_file); taking back somebody's access (revoke_share); an item that is in the
        trash already (delete_item).
        Notes: can be brought back with restore_item or undo_changes; people it is shared with lose sight of it.
        """
        actor = await call.actor()
        outcome = await call.agreed(actor, lambda agreed: self._drive.files.trash(agreed, item_id, if_match=if_match))
        return changed(actor, outcome, f"Moved to the trash: {reference(outcome.value)}.", outcome.value)

    @ToolSpec(Scope.READ, "query", "low", READS)
    async def list_trash(
        self, call: Call, limit: PageSize = 100, cursor: Cursor = None
    ) -> Annotated[CallToolResult, ListResult]:
        """List the items in the trash that can be restored, the last trashed first.

        Use when: the person misses something, or wants to know what emptying the trash would delete.
        Not for: items in a folder (list_folder).
        Notes: items that went to the trash inside a folder are not listed by themselves; they come back with that
        folder. After a time that the service sets (30 days by default) items in the trash are deleted for good.
        """
        actor = await call.actor()
        page = await self._drive.files.list_trash(actor, limit=limit, cursor=cursor)
        return answer(actor, page_text(page, "item"), ListResult.of(page), lambda: item_lines(page.items))

    @records("trash", "restore")
    @ToolSpec(Scope.WRITE, "write", "medium", OVERWRITES)
    async def restore_item(
        self, call: Call, item_id: ItemRef, folder_id: OptionalFolderRef = None, on_conflict: Conflict = "fail"
    ) -> Annotated[CallToolResult, Item]:
        """Bring a file or folder back from the trash, with all that went with it.

        Use when: something was deleted that is wanted after all; list_trash shows its items.
        Not for: an earlier content of a file (restore_version); taking back other changes (undo_changes).
        Notes: it goes back to where it was, or to `folder_id`, which is needed if the folder it was in is gone.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.files.restore(agreed, item_id, to_parent=folder_id, on_conflict=on_conflict),
        )
        return changed(actor, outcome, f"Restored: {reference(outcome.value)}.", outcome.value)

    @records("trash", "delete_for_good")
    @ToolSpec(Scope.DELETE, "removal", "high", OVERWRITES)
    async def delete_item(
        self, call: Call, item_id: ItemRef, if_match: Etag = None
    ) -> Annotated[CallToolResult, DeletedItems]:
        """Delete a file or folder that is in the trash for good, with all that is in it.

        Use when: the person wants something in the trash gone for good, by its id.
        Not for: an item that is not in the trash (trash_item); all that is in the trash (empty_trash).
        Notes: this can't be taken back; versions, shares and links go as well; for the owner of the item only.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor, lambda agreed: self._drive.files.delete_for_good(agreed, item_id, if_match=if_match)
        )
        return changed(
            actor, outcome, _deleted(outcome.value), outcome.value, lambda: item_references(outcome.value.items)
        )

    @records("trash")
    @ToolSpec(Scope.DELETE, "removal", "high", EDITS, can_be_task=True)
    async def empty_trash(self, call: Call) -> Annotated[CallToolResult, DeletedItems]:
        """Delete all that is in the person's own trash for good.

        Use when: the person asks for the trash to be emptied, or needs the room.
        Not for: a single item (delete_item); items that are not in the trash (trash_item).
        Notes: this can't be taken back; items in other people's trash stay there.
        """
        actor = await call.actor()
        outcome = await call.agreed(actor, lambda agreed: self._drive.files.empty_trash(agreed, progress=call.progress))
        return changed(
            actor, outcome, _deleted(outcome.value), outcome.value, lambda: item_references(outcome.value.items)
        )


def _deleted(deleted: DeletedItems) -> str:
    return f"Deleted {counted(deleted.count, 'item')} for good."
