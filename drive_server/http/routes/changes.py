"""Routes of the journal: list changes, take one back, do it again."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.http.items.writes import reply
from drive_server.http.lists import DriveChangeList
from drive_server.kernel.http.problem import problem_responses
from drive_server.mcp.results import RedoResultModel, UndoResultModel
from drive_server.mcp.tools.definition.arguments import (
    MAX_EMAIL_CHARACTERS,
    MAX_INTEGER,
    MAX_RUN_ID_CHARACTERS,
    MAX_TOOL_CHARACTERS,
)
from drive_server.mcp.tools.history import HistoryTools
from drive_server.services.journal.changes import MAX_MOMENT_CHARACTERS, ChangeKind
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = APIRouter(tags=["drive"])

Moment = Annotated[str | None, Query(max_length=MAX_MOMENT_CHARACTERS)]
ChangeNumber = Annotated[
    int, Path(ge=0, le=MAX_INTEGER, description="The change: an `id` of the list, or `Drive-Change-Id` of an answer.")
]


class Reversal(BaseModel):
    """The options of an undo or a redo of a change."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"preview": True}]})

    preview: Annotated[bool, Field(strict=True, description="Tell what it would do, and change nothing.")] = False


@router.get("/changes", name=HistoryTools.list_changes.__name__, responses=problem_responses(403, 404))
async def list_changes(
    drive: DriveDep,
    actor: ActorDep,
    item_id: Annotated[str | None, Query(max_length=MAX_REF_CHARACTERS)] = None,
    run_id: Annotated[str | None, Query(max_length=MAX_RUN_ID_CHARACTERS)] = None,
    since: Moment = None,
    until: Moment = None,
    tool: Annotated[str | None, Query(max_length=MAX_TOOL_CHARACTERS)] = None,
    by: Annotated[str | None, Query(max_length=MAX_EMAIL_CHARACTERS)] = None,
    kind: ChangeKind | None = None,
    everybodys: bool = False,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 50,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
) -> DriveChangeList:
    """List changes, newest first: of the caller, or of one item by everybody; by filters.

    `since` (inclusive) and `until` (exclusive) are ISO 8601, `by` an email. Administrators may ask for `everybodys`;
    `item_id` has to be an id then.
    """
    page = await drive.journal.list_changes(
        actor,
        item=item_id,
        run_id=run_id,
        since=since,
        until=until,
        tool=tool,
        by=by,
        kind=kind,
        everybodys=everybodys,
        limit=limit,
        cursor=cursor,
    )
    return DriveChangeList.of(page)


@router.post(
    "/changes/{change_id}/undo",
    name=HistoryTools.undo_changes.__name__,
    responses=problem_responses(403, 404, 409, 507),
)
async def undo_change(
    change_id: ChangeNumber, drive: DriveDep, actor: WriterDep, response: Response, options: Reversal | None = None
) -> UndoResultModel:
    """Take back a change of the caller, by any of their programs; parts changed since stay, with the reason.

    The undo is a change itself, which can be undone. A deletion for good can't (it is among `skipped`).
    """
    preview = options is not None and options.preview
    outcome = await drive.undo.undo(actor, change_id=change_id, preview=preview)
    return UndoResultModel.of(reply(response, outcome))


@router.post(
    "/changes/{change_id}/redo",
    name=HistoryTools.redo_changes.__name__,
    responses=problem_responses(403, 404, 409, 507),
)
async def redo_change(
    change_id: ChangeNumber, drive: DriveDep, actor: WriterDep, response: Response, options: Reversal | None = None
) -> RedoResultModel:
    """Do again a change that was taken back, by its own number or that of its undo."""
    preview = options is not None and options.preview
    outcome = await drive.undo.redo(actor, change_id=change_id, preview=preview)
    return RedoResultModel.of(reply(response, outcome))
