"""Stored results of reading many files: too large for one answer, and visible to their owner only."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete, func, insert, select

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.map_reduce.findings import Finding, Outcome, failed
from drive_server.services.map_reduce.prompts import Task
from drive_server.services.tree.nodes import locate_many
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.work import BulkFindingRow, BulkResultRow

MAX_KEPT: Final = 50
"""The most results of a person; beyond that the oldest are deleted."""
WITHHELD: Final = "access to it has ended"
PARTLY_WITHHELD: Final = (
    "You may no longer read some of the files that this rests on, so only what the others say is shown."
)


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A result as its owner may see it now: `findings` from `first` on, of `total`."""

    id: str
    instruction: str
    text: str
    note: str
    coverage: str
    model: str
    findings: tuple[Finding, ...]
    first: int
    total: int
    created_at: datetime
    expires_at: datetime


class StoredResults:
    """Stores results for `kept_for`. A result of somebody else is not found."""

    def __init__(self, database: Database, kept_for: timedelta, clock: Clock = utc_now) -> None:
        self._database = database
        self._kept_for = kept_for
        self._clock = clock

    async def store(self, actor: Actor, task: Task, outcome: Outcome) -> tuple[str, datetime]:
        """Keep the result; return its id, and when it is forgotten."""
        now, result_id = self._clock(), new_id()
        summary = {
            "instruction": task.instruction,
            "text": outcome.text,
            "note": outcome.note,
            "coverage": outcome.coverage,
            "model": outcome.model,
        }
        row = BulkResultRow(
            id=result_id, user_id=actor.user_id, summary=summary, created_at=now, expires_at=now + self._kept_for
        )
        findings = [
            {"result_id": result_id, "position": position, "finding": asdict(finding)}
            for position, finding in enumerate(outcome.findings)
        ]
        async with self._database.write() as session:
            session.add(row)
            await session.flush()
            if findings:
                await session.execute(insert(BulkFindingRow), findings)
            mine = select(BulkResultRow.id).where(BulkResultRow.user_id == actor.user_id)
            old = mine.order_by(BulkResultRow.created_at.desc(), BulkResultRow.id).offset(MAX_KEPT)
            await session.execute(delete(BulkResultRow).where(BulkResultRow.id.in_(await session.scalars(old))))
        return result_id, row.expires_at

    async def page(self, actor: Actor, result_id: str, first: int, limit: int) -> StoredResult:
        """Return a result of the caller, with at most `limit` of its findings from `first` on, counted from 0.

        Findings of files that they may not read any more are left out. Raises `NotFoundError` for any other.
        """
        require_person(actor.principal)
        require_scope(actor.principal, Scope.READ)
        async with self._database.read() as session:
            row = await session.get(BulkResultRow, result_id)
            if row is None or row.user_id != actor.user_id or row.expires_at <= self._clock():
                raise NotFoundError(Message.of("no_result"))
            mine = BulkFindingRow.result_id == result_id
            stored = await session.scalars(select(BulkFindingRow.finding).where(mine).order_by(BulkFindingRow.position))
            findings = [Finding(**finding) for finding in stored]
            visible = await locate_many(session, actor.principal, [one.file_id for one in findings if one.file_id])
        may_read = {file_id for file_id, node in visible.items() if node.row.trash_id is None}
        return _page_of(row, [_as_seen(one, may_read) for one in findings], findings, first, limit)

    async def expire(self) -> int:
        """Remove expired results; return how many."""
        over = BulkResultRow.expires_at <= self._clock()
        async with self._database.write() as session:
            count = await session.scalar(select(func.count()).select_from(BulkResultRow).where(over)) or 0
            await session.execute(delete(BulkResultRow).where(over))
        return count


def _as_seen(finding: Finding, may_read: set[str]) -> Finding:
    is_seen = finding.file_id is None or finding.file_id in may_read
    return finding if is_seen else failed(finding.path, "not_found", WITHHELD)


def _page_of(row: BulkResultRow, shown: list[Finding], stored: list[Finding], first: int, limit: int) -> StoredResult:
    summary: dict[str, Any] = row.summary
    is_whole = shown == stored
    return StoredResult(
        id=row.id,
        instruction=summary["instruction"],
        text=summary["text"] if is_whole else "",
        note=summary["note"] if is_whole else PARTLY_WITHHELD,
        coverage=summary["coverage"],
        model=summary["model"],
        findings=tuple(shown[first : first + limit]),
        first=first,
        total=len(shown),
        created_at=row.created_at,
        expires_at=row.expires_at,
    )
