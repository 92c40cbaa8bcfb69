"""The route of the audit: changes in the journal."""

from typing import Annotated

from fastapi import APIRouter, Query

from drive_server.http.access import ActorDep, DriveDep
from drive_server.mcp.results import ChangesResult
from drive_server.mcp.tools.arguments import MAX_EMAIL_CHARACTERS, MAX_RUN_ID_CHARACTERS, MAX_TOOL_CHARACTERS
from drive_server.mcp.tools.history import HistoryTools
from drive_server.services.journal.changes import MAX_MOMENT_CHARACTERS, ChangeKind
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT
from drive_server.services.tree.nodes import MAX_REF_CHARACTERS

router = APIRouter(tags=["drive"])

Moment = Annotated[str | None, Query(max_length=MAX_MOMENT_CHARACTERS)]


@router.get("/changes", name=HistoryTools.list_changes.__name__)
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
) -> ChangesResult:
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
    return ChangesResult.of(page)
