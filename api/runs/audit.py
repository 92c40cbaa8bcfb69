"""The audit of a run: its calls, the approvals or grants that allowed them, and their changes."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict
from sqlalchemy import select

from api.approvals.contents import without_contents
from api.drive import DriveForService
from api.events.frames import read_frames
from api.storage.tables import ApprovalRow, RunRow
from drive_server.kernel.sql.database import Database
from graph.links.text_fields import DATA

STARTED = "tool_call_start"
PROGRESS = "tool_progress"
ENDED = "tool_call_end"


ApprovalStatus = Literal["waiting", "decided", "expired", "cancelled"]


class AuditedApprovalView(BaseModel):
    """An approval that a call needed, and the decision on the call, if there is one.

    With a `question` the call's server asked it; `fields` are the names of those that were filled in, never the values.
    """

    approval_id: str
    status: ApprovalStatus
    asked_at: datetime
    expires_at: datetime
    decision: str | None
    message: str | None
    decided_by: str | None
    decided_key: str | None
    decided_at: datetime | None
    question: str | None = None
    fields: list[str] | None = None


class VersionView(BaseModel):
    """A new content: the version of the file before (none for a new file) and after."""

    file_id: str
    before: int | None
    after: int | None


class AuditedChangeView(BaseModel):
    """A row of the journal: the change, and the approval or grant that allowed it."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    at: datetime | None
    tool: str
    action: str
    summary: str
    item_id: str | None
    versions: list[VersionView]
    approved_by: str | None
    approved_key: str | None
    approval_id: str | None
    grant_id: str | None
    undone_by: int | None


class AuditedCallView(BaseModel):
    """One call of the model. `status` is none while it is open; `covered_by` the grant that allowed it, or `plan`."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    tool_call_id: str
    tool: str
    args: Annotated[Any, DATA] = None
    status: str | None = None
    result: Annotated[str | None, DATA] = None
    duration_ms: int | None = None
    covered_by: str | None = None
    asked: list[AuditedApprovalView] = []
    changes: list[AuditedChangeView] = []


class RunAudit(BaseModel):
    """The chain from a run to its calls, the approvals or grants that allowed them, and the versions that they made."""

    run_id: str
    thread_id: str
    started_by: str
    scopes: list[str]
    mode: str
    message: Annotated[str, DATA]
    status: str
    created_at: datetime
    finished_at: datetime | None
    starts: int
    calls: list[AuditedCallView]
    other_changes: list[AuditedChangeView]


async def read_audit(database: Database, drive: DriveForService, run: RunRow) -> RunAudit:
    """Return the audit of a run, from its events, its approvals and the drive's journal."""
    frames, approvals, changes = await asyncio.gather(
        read_frames(database, run.id), _approvals(database, run.id), drive.changes(run.user_id, run.id)
    )
    calls = _calls([orjson.loads(frame.data) for frame in frames if frame.type in {STARTED, PROGRESS, ENDED}])
    for approval in approvals:
        for key, audited in _audited(approval):
            calls.setdefault(key, AuditedCallView(tool_call_id=key, tool="")).asked.append(audited)
    others: list[AuditedChangeView] = []
    for change in changes:
        call = calls.get(change.tool_call_id or "")
        (call.changes if call else others).append(AuditedChangeView.model_validate(change))
    return RunAudit(
        run_id=run.id,
        thread_id=run.thread_id,
        started_by=run.email,
        scopes=run.scopes,
        mode=run.mode,
        message=run.message,
        status=run.status,
        created_at=run.created_at,
        finished_at=run.finished_at,
        starts=run.starts,
        calls=list(calls.values()),
        other_changes=others,
    )


def _calls(events: Sequence[Mapping[str, Any]]) -> dict[str, AuditedCallView]:
    calls: dict[str, AuditedCallView] = {}
    for event in events:
        key = event["tool_call_id"]
        call = calls.setdefault(key, AuditedCallView(tool_call_id=key, tool=event["name"]))
        if event["type"] == STARTED:
            call.args = event["args"]
        elif event["type"] == ENDED:
            call.status, call.result, call.duration_ms = event["status"], event["result"], event["duration_ms"]
        elif event.get("reason"):
            call.covered_by = event.get("grant_id") or "plan"
    return calls


async def _approvals(database: Database, run_id: str) -> list[ApprovalRow]:
    query = select(ApprovalRow).where(ApprovalRow.run_id == run_id)
    async with database.read() as session:
        return list(await session.scalars(query.order_by(ApprovalRow.created_at, ApprovalRow.id)))


def _audited(row: ApprovalRow) -> list[tuple[str, AuditedApprovalView]]:
    stored = without_contents(row.payload, row.decisions or ())
    decisions: dict[str, Mapping[str, Any]] = {one["tool_call_id"]: one for one in stored}
    actions: list[Mapping[str, Any]] = row.payload["actions"]
    keyed = [(str(action["tool_call_id"]), action) for action in actions]
    return [(key, _of_call(row, action, decisions.get(key, {}))) for key, action in keyed]


def _of_call(row: ApprovalRow, action: Mapping[str, Any], decision: Mapping[str, Any]) -> AuditedApprovalView:
    question: Mapping[str, Any] | None = action.get("question")
    return AuditedApprovalView(
        approval_id=row.id,
        status=row.status,  # pyright: ignore[reportArgumentType] - the model checks the word
        asked_at=row.created_at,
        expires_at=row.expires_at,
        decision=decision.get("type"),
        message=decision.get("message"),
        decided_by=row.decided_by,
        decided_key=row.decided_key,
        decided_at=row.decided_at,
        question=question["message"] if question else None,
        fields=decision.get("fields"),
    )
