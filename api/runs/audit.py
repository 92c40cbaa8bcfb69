"""The whole chain of a run: who asked for it, each call of the model, what allowed the call, and what it changed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import select

from api.drive import DriveForService, RunChange
from api.events.store import read_all
from api.storage.database import Database
from api.storage.tables import ApprovalRow, RunRow

STARTED = "tool_call_start"
PROGRESS = "tool_progress"
ENDED = "tool_call_end"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person was asked about a call, and what became of that.

    `status` is waiting, decided, expired or cancelled; `decision` what they said: approve, edit, reject or respond.
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
    """One call: as the model made it, what was asked about it (several times if its target had changed), and what it
    changed. `covered_by` is the grant that allowed it unasked, or `plan`. `status` is None while it is open.
    """

    tool_call_id: str
    tool: str
    args: Any = None
    status: str | None = None
    result: str | None = None
    duration_ms: int | None = None
    covered_by: str | None = None
    asked: list[Asked] = field(default_factory=list[Asked])
    changes: list[RunChange] = field(default_factory=list[RunChange])


@dataclass(frozen=True, slots=True)
class Audit:
    """A run with its calls in order; `other_changes` came with no call of the model that is known."""

    run: RunRow
    calls: tuple[AuditedCall, ...]
    other_changes: tuple[RunChange, ...]


async def read_audit(database: Database, drive: DriveForService, run: RunRow) -> Audit:
    """Put the chain of a run together from its events, its approvals and the drive's journal."""
    frames, approvals, changes = await asyncio.gather(
        read_all(database, run.id), _approvals(database, run.id), drive.changes(run.user_id, run.id)
    )
    kept = [frame for frame in frames if frame.type in {STARTED, PROGRESS, ENDED}]
    calls = _calls([orjson.loads(frame.data) for frame in kept])
    for approval in approvals:
        for key, asked in _asked(approval):
            calls.setdefault(key, AuditedCall(key, "")).asked.append(asked)
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


def _asked(row: ApprovalRow) -> list[tuple[str, Asked]]:
    said: dict[str, Mapping[str, Any]] = {one["tool_call_id"]: one for one in row.decisions or ()}
    return [(key, _of_call(row, said.get(key, {}))) for key in _keys(row)]


def _keys(row: ApprovalRow) -> list[str]:
    return [action["tool_call_id"] for action in row.payload["actions"]]


def _of_call(row: ApprovalRow, decision: Mapping[str, Any]) -> Asked:
    return Asked(
        approval_id=row.id,
        status=row.status,
        asked_at=row.created_at,
        expires_at=row.expires_at,
        decision=decision.get("type"),
        message=decision.get("message"),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
    )
