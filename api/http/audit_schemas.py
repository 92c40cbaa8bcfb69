"""The JSON of a run's audit."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class AuditView(BaseModel):
    """Base of the parts, which are read from the audit's own objects."""

    model_config = ConfigDict(from_attributes=True)


class AskedView(AuditView):
    """What the person was asked about a call, and what they said; nothing if nobody did."""

    approval_id: str
    status: Literal["waiting", "decided", "expired", "cancelled"]
    asked_at: datetime
    expires_at: datetime
    decision: str | None
    message: str | None
    decided_by: str | None
    decided_at: datetime | None


class VersionView(BaseModel):
    """A content that was made: the version of the file before (none for a new file) and after."""

    file_id: str
    before: int | None
    after: int | None


class AuditedChangeView(AuditView):
    """A row of the journal: what changed, and what allowed it."""

    id: int
    at: datetime | None
    tool: str
    action: str
    summary: str
    item_id: str | None
    versions: list[VersionView]
    approved_by: str | None
    approval_id: str | None
    grant_id: str | None
    undone_by: int | None


class AuditedCallView(AuditView):
    """One call of the model. `status` is none while it is open; `covered_by` the grant that allowed it, or `plan`."""

    tool_call_id: str
    tool: str
    args: Any
    status: str | None
    result: str | None
    duration_ms: int | None
    covered_by: str | None
    asked: list[AskedView]
    changes: list[AuditedChangeView]


class RunAudit(BaseModel):
    """The chain from a run to its calls, the approvals or grants that allowed them, and the versions that they made."""

    run_id: str
    thread_id: str
    started_by: str
    scopes: list[str]
    mode: str
    message: str
    status: str
    created_at: datetime
    finished_at: datetime | None
    starts: int
    calls: list[AuditedCallView]
    other_changes: list[AuditedChangeView]
