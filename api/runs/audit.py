"""The audit of a run: its calls, the approvals or grants that allowed them, and their changes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import select

from api.drive import DriveForService, RunChange
from api.events.frames import read_frames
from api.storage.tables import ApprovalRow, RunRow
from drive_server.storage.database import Database

STARTED = "tool_call_start"
PROGRESS = "tool_progress"
ENDED = "tool_call_end"


@dataclass(frozen=True, slots=True)
class AuditedApproval:
    """An approval that a call needed.

    `status` is waiting, decided, expired or cancelled; `decision` is approve, edit, reject or respond.
    """

    approval_id: str
    status: str
    asked_at: datetime
    expires_at: datetime
    decision: str | None
    message: str | None
    decided_by: str | None
    decided_at: datetime | None


@dataclass(slots=True)
class AuditedCall:
    """One call of the model, its approvals (several if its target had changed), and its changes.

    `covered_by` is the grant that allowed it, or `plan`. `status` is None while it is open.
    """

    tool_call_id: str
    tool: str
    args: Any = None
    status: str | None = None
    result: str | None = None
    duration_ms: int | None = None
    covered_by: str | None = None
    asked: list[AuditedApproval] = field(default_factory=list[AuditedApproval])
    changes: list[RunChange] = field(default_factory=list[RunChange])


@dataclass(frozen=True, slots=True)
class Audit:
    """A run with its calls in order; `other_changes` belong to no recorded call."""

    run: RunRow
    calls: tuple[AuditedCall, ...]
    other_changes: tuple[RunChange, ...]


async def read_audit(database: Database, drive: DriveForService, run: RunRow) -> Audit:
    """Return the audit of a run, from its events, its approvals and the drive's journal."""
    frames, approvals, changes = await asyncio.gather(
        read_frames(database, run.id), _approvals(database, run.id), drive.changes(run.user_id, run.id)
    )
    calls = _calls([orjson.loads(frame.data) for frame in frames if frame.type in {STARTED, PROGRESS, ENDED}])
    for approval in approvals:
        for key, audited in _audited(approval):
            calls.setdefault(key, AuditedCall(key, "")).asked.append(audited)
    others: list[RunChange] = []
    for change in changes:
        call = calls.get(change.tool_call_id or "")
        (call.changes if call else others).append(change)
    return Audit(run, tuple(calls.values()), tuple(others))


def _calls(events: Sequence[Mapping[str, Any]]) -> dict[str, AuditedCall]:
    calls: dict[str, AuditedCall] = {}
    for event in events:
        key = event["tool_call_id"]
        call = calls.setdefault(key, AuditedCall(key, event["name"]))
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


def _audited(row: ApprovalRow) -> list[tuple[str, AuditedApproval]]:
    decisions: dict[str, Mapping[str, Any]] = {one["tool_call_id"]: one for one in row.decisions or ()}
    keys: list[str] = [action["tool_call_id"] for action in row.payload["actions"]]
    return [(key, _of_call(row, decisions.get(key, {}))) for key in keys]


def _of_call(row: ApprovalRow, decision: Mapping[str, Any]) -> AuditedApproval:
    return AuditedApproval(
        approval_id=row.id,
        status=row.status,
        asked_at=row.created_at,
        expires_at=row.expires_at,
        decision=decision.get("type"),
        message=decision.get("message"),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
    )
