"""Tools for past changes: list it, take it back, and do it again."""

from collections.abc import Sequence
from typing import Annotated

from mcp.types import CallToolResult

from drive_server.kernel.access import Scope
from drive_server.mcp import icons
from drive_server.mcp.calls.call import Call, answer, changed
from drive_server.mcp.results import ChangesResult, RedoResultModel, UndoResultModel
from drive_server.mcp.tools.definition.arguments import (
    ByWhom,
    ChangeId,
    Cursor,
    KindOfChange,
    OptionalItemRef,
    PageSize,
    Preview,
    RedoPreview,
    RunId,
    Since,
    ToolName,
    Until,
)
from drive_server.mcp.tools.definition.spec import EDITS, READS, ToolGroup, ToolSpec, records
from drive_server.mcp.tools.definition.texts import counted, cut_lines, page_text
from drive_server.models.changes import Change, UndoResult
from drive_server.services.tree.names import display_name


class HistoryTools(ToolGroup):
    """List, take back and redo changes."""

    icon = icons.CLOCK
    label = "history"

    @records("undo", "undo")
    @ToolSpec(
        Scope.WRITE,
        "execution",
        "medium",
        EDITS,
        has_preview=True,
        can_be_task=True,
        is_core=True,
    )
    async def undo_changes(
        self, call: Call, run_id: RunId = None, change_id: ChangeId = None, preview: Preview = False
    ) -> Annotated[CallToolResult, UndoResultModel]:
        """Take back changes of the person: a run of the assistant, one change, or this key's last one.

        Use when: the person wants something undone; with `preview` first, to tell its effects.
        Not for: an earlier content of one file (restore_version); other people's changes; deletions for good.
        Notes: items changed since are left as they are, and `skipped` says why; redo_changes takes the undo back.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.undo.undo(
                agreed, run_id=run_id, change_id=change_id, preview=preview, progress=call.progress
            ),
        )
        result = outcome.value
        return changed(actor, outcome, _summary(result), UndoResultModel.of(result), lambda: _lines(result.undone))

    @records("undo", "redo")
    @ToolSpec(Scope.WRITE, "execution", "medium", EDITS, has_preview=True, can_be_task=True)
    async def redo_changes(
        self, call: Call, run_id: RunId = None, change_id: ChangeId = None, preview: RedoPreview = False
    ) -> Annotated[CallToolResult, RedoResultModel]:
        """Do undone changes of the person again: a run of the assistant, one change, or without either the last of it.

        Use when: an undo was a mistake; with `preview` first, to tell its effects.
        Not for: making the same change somewhere else; changes that were not undone.
        Notes: items changed since the undo are left as they are, and `skipped` says why and by whom.
        """
        actor = await call.actor()
        outcome = await call.agreed(
            actor,
            lambda agreed: self._drive.undo.redo(
                agreed, run_id=run_id, change_id=change_id, preview=preview, progress=call.progress
            ),
        )
        result = outcome.value
        text = f"Did {counted(len(result.redone), 'change')} again.{_left(result.skipped)}"
        return changed(actor, outcome, text, RedoResultModel.of(result), lambda: _lines(result.redone))

    @ToolSpec(Scope.READ, "query", "low", READS)
    async def list_changes(
        self,
        call: Call,
        item_id: OptionalItemRef = None,
        run_id: RunId = None,
        since: Since = None,
        until: Until = None,
        tool: ToolName = None,
        by: ByWhom = None,
        kind: KindOfChange = None,
        limit: PageSize = 50,
        cursor: Cursor = None,
    ) -> Annotated[CallToolResult, ChangesResult]:
        """List the changes in the drive, newest first: by the person, or to one item by everybody.

        Use when: the person asks what happened, who did it, when, with which tool, or which changes an undo would take
        back.
        Not for: the earlier contents of a file (list_versions).
        Notes: changes of one run of the assistant have its `run_id`; `approved_by` is who agreed; `undone_by` marks
        undone ones.
        """
        actor = await call.actor()
        begin, end = await self.span(actor, since, until)
        page = await self._drive.journal.list_changes(
            actor,
            item=item_id,
            run_id=run_id,
            since=begin,
            until=end,
            tool=tool,
            by=by,
            kind=kind,
            limit=limit,
            cursor=cursor,
        )
        return answer(actor, page_text(page, "change"), ChangesResult.of(page), lambda: _lines(page.items))


def _summary(result: UndoResult) -> str:
    return f"Took back {counted(len(result.undone), 'change')}.{_left(result.skipped)}"


def _left(skipped: Sequence[object]) -> str:
    return f" Left as it is now: {counted(len(skipped), 'thing')}." if skipped else ""


def _lines(changes: Sequence[Change]) -> str:
    return cut_lines(_line(change) for change in changes)


def _line(change: Change) -> str:
    key = f", key {display_name(change.key_name)}" if change.key_name else ""
    who = f"{change.user_email}, {change.tool or 'no tool'}{key}"
    approved = f", approved by {change.approved_by}" if change.approved_by else ""
    return f"- {change.id}: {change.summary} ({change.at:%Y-%m-%d %H:%M} UTC, {who}{approved})"
