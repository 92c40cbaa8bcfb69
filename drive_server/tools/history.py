"""Tools for what was done: list it, and take it back."""

from typing import Annotated

from mcp.types import CallToolResult

from drive_server.access import Actor
from drive_server.drive import Drive
from drive_server.models import Outcome, UndoResult
from drive_server.tools.annotations import EDITS, READS
from drive_server.tools.arguments import ChangeId, Cursor, OptionalItemRef, PageSize, Preview, RunId
from drive_server.tools.calls import Call, answer, changed
from drive_server.tools.results import ChangesResult, UndoResultModel
from drive_server.tools.texts import counted
from drive_server.tools.toolbox import Toolbox


class HistoryTools:
    """The tools, each named as its method; its docstring is what a model reads of it."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive

    async def undo_changes(
        self, call: Call, run_id: RunId = None, change_id: ChangeId = None, preview: Preview = False
    ) -> Annotated[CallToolResult, UndoResultModel]:
        """Take back changes of the person: a run of the assistant, one change, or without either what was done last.

        Use when: the person wants something undone; with `preview` first, to tell what it would take back.
        Not for: an earlier content of one file (restore_version); other people's changes.
        Notes: what was changed since is left as it is, and `skipped` says why; the undo itself can be undone.
        """
        actor = await call.actor()

        async def undo(agreed: Actor) -> Outcome[UndoResult]:
            return await self._drive.journal.undo(agreed, run_id=run_id, change_id=change_id, preview=preview)

        outcome = await (undo(actor) if preview else call.agreed(actor, undo))
        return changed(actor, outcome, _told(outcome.value), UndoResultModel.of(outcome.value))

    async def list_changes(
        self,
        call: Call,
        item_id: OptionalItemRef = None,
        run_id: RunId = None,
        limit: PageSize = 50,
        cursor: Cursor = None,
    ) -> Annotated[CallToolResult, ChangesResult]:
        """List what was changed in the drive, newest first: by the person, or to one item by everybody.

        Use when: the person asks what happened, who did it, or what an undo would be about.
        Not for: the earlier contents of a file (list_versions).
        Notes: changes of one run of the assistant have its `run_id`; `undone_by` marks what was taken back.
        """
        actor = await call.actor()
        page = await self._drive.journal.list_changes(actor, item=item_id, run_id=run_id, limit=limit, cursor=cursor)
        lines = [f"- {change.id}: {change.summary} ({change.at:%Y-%m-%d %H:%M} UTC)" for change in page.items]
        return answer(actor, f"{counted(len(lines), 'change')}.", ChangesResult.of(page), "\n".join(lines))


def register(box: Toolbox, drive: Drive) -> None:
    """Put the tools into the box."""
    tools = HistoryTools(drive)
    box.put(tools.undo_changes, "Undo changes", EDITS)
    box.put(tools.list_changes, "List changes", READS)


def _told(result: UndoResult) -> str:
    left = f" Left as it is now: {counted(len(result.skipped), 'thing')}." if result.skipped else ""
    return f"Took back {counted(len(result.undone), 'change')}.{left}"
