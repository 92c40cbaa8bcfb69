"""The work that is left to the index, as the database knows it: which files are pending, and what became of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, delete, func, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.storage.database import Database
from drive_server.storage.tables import IndexEntryRow, NodeRow, VersionRow

MOST_FILES = 32
MOST_BYTES = 4_000_000
MOST_ATTEMPTS = 3
UNSYNCHRONISED = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class Job:
    """A file to be indexed as it was when it was claimed. `blob` is None for one that is to leave the index."""

    file_id: str
    owner_id: str
    version: int
    name: str
    media_type: str
    blob: str | None
    attempts: int


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a job: the state and the reason to be kept with the file."""

    job: Job
    state: str
    reason: str = ""


class PendingFiles:
    """The queue. A claimed file is `indexing`; a change meanwhile makes it `pending`, and its result is dropped."""

    def __init__(self, database: Database, retry_after: timedelta) -> None:
        self._database = database
        self._retry_after = retry_after

    async def claim(self, *, retry_at_once: bool) -> list[Job]:
        """Mark the next files as being indexed and return them, small ones first; none if nothing is to be done.

        A file that failed waits before its next attempt, longer each time, unless `retry_at_once`.
        """
        condition = IndexEntryRow.state == "pending" if retry_at_once else self._is_due()
        async with self._database.read() as session:
            if await session.scalar(select(IndexEntryRow.file_id).where(condition).limit(1)) is None:
                return []
        async with self._database.write() as session:
            rows = (await session.execute(_next_files(condition))).all()
            jobs = _fitting(rows)
            await _set_state(session, [job.file_id for job in jobs], state="indexing")
        return jobs

    async def finish(self, results: Sequence[Result]) -> None:
        """Keep the results of files that did not change meanwhile."""
        async with self._database.write() as session:
            for result in results:
                values = {
                    "state": result.state,
                    "reason": result.reason,
                    "attempts": 0,
                    "updated_at": datetime.now(UTC),
                }
                await session.execute(_claimed(result.job).values(values), execution_options=UNSYNCHRONISED)
            left = [result.job.file_id for result in results if result.job.blob is None]
            if left:
                await session.execute(_of_deleted_files(left), execution_options=UNSYNCHRONISED)

    async def fail(self, job: Job, reason: str) -> None:
        """Note a failed attempt: the file is tried again, or has failed after the last one."""
        attempts = job.attempts + 1
        state = "failed" if attempts >= MOST_ATTEMPTS else "pending"
        values = {"state": state, "reason": reason, "attempts": attempts, "updated_at": datetime.now(UTC)}
        async with self._database.write() as session:
            await session.execute(_claimed(job).values(values), execution_options=UNSYNCHRONISED)

    async def recover(self, *, everything: bool) -> None:
        """Put in order what an earlier writer left: claimed files, files that failed for want of a disk, lost entries.

        With `everything`, all files are pending again: the index has lost them.
        """
        interrupted = IndexEntryRow.state == "indexing"
        exhausted = and_(IndexEntryRow.state == "failed", IndexEntryRow.attempts >= MOST_ATTEMPTS)
        lost = IndexEntryRow.state == "ready" if everything else literal(value=False)
        async with self._database.write() as session:
            await session.execute(_to_pending(or_(interrupted, exhausted, lost)), execution_options=UNSYNCHRONISED)
            await session.execute(_missing_entries())

    async def restart(self, owner_id: str | None) -> None:
        """Make all files pending again, of one person or of all."""
        condition = IndexEntryRow.owner_id == owner_id if owner_id else literal(value=True)
        async with self._database.write() as session:
            await session.execute(_to_pending(condition), execution_options=UNSYNCHRONISED)

    async def is_any_left(self) -> bool:
        """Return whether a file is pending or being indexed."""
        unfinished = IndexEntryRow.state.in_(("pending", "indexing"))
        async with self._database.read() as session:
            return await session.scalar(select(IndexEntryRow.file_id).where(unfinished).limit(1)) is not None

    def _is_due(self) -> ColumnElement[bool]:
        now = datetime.now(UTC)
        waits = [
            and_(IndexEntryRow.attempts == attempts, IndexEntryRow.updated_at <= now - self._retry_after * 4**attempts)
            for attempts in range(1, MOST_ATTEMPTS)
        ]
        return and_(IndexEntryRow.state == "pending", or_(IndexEntryRow.attempts == 0, *waits))


def _next_files(condition: ColumnElement[bool]) -> Select[IndexEntryRow, NodeRow, VersionRow]:
    content = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
    return (
        select(IndexEntryRow, NodeRow, VersionRow)
        .outerjoin(NodeRow, NodeRow.id == IndexEntryRow.file_id)
        .outerjoin(VersionRow, content)
        .where(condition)
        .order_by(IndexEntryRow.attempts, func.coalesce(NodeRow.size, 0), IndexEntryRow.updated_at)
        .limit(MOST_FILES)
    )


def _fitting(rows: Sequence[Row[IndexEntryRow, NodeRow, VersionRow]]) -> list[Job]:
    """Return the first of the files that are not too large together, one at least."""
    jobs: list[Job] = []
    size = 0
    for entry, node, version in rows:
        size += node.size if node else 0
        if jobs and (size > MOST_BYTES or entry.attempts):
            break
        jobs.append(_job(entry, node, version))
    return jobs


def _job(entry: IndexEntryRow, node: NodeRow | None, version: VersionRow | None) -> Job:
    if node is None:  # deleted for good
        return Job(entry.file_id, entry.owner_id, entry.version, "", "", None, entry.attempts)
    blob = version.blob if version and node.trash_id is None else None
    return Job(node.id, node.owner_id, node.version, node.name, node.media_type, blob, entry.attempts)


async def _set_state(session: AsyncSession, file_ids: Collection[str], state: str) -> None:
    statement = update(IndexEntryRow).where(IndexEntryRow.file_id.in_(file_ids)).values(state=state)
    await session.execute(statement, execution_options=UNSYNCHRONISED)


def _claimed(job: Job) -> Any:
    return update(IndexEntryRow).where(IndexEntryRow.file_id == job.file_id, IndexEntryRow.state == "indexing")


def _of_deleted_files(file_ids: Collection[str]) -> Any:
    exists = select(NodeRow.id).where(NodeRow.id == IndexEntryRow.file_id).exists()
    return delete(IndexEntryRow).where(IndexEntryRow.file_id.in_(file_ids), ~exists)


def _to_pending(condition: ColumnElement[bool]) -> Any:
    values = {"state": "pending", "reason": "", "attempts": 0, "updated_at": datetime.now(UTC)}
    return update(IndexEntryRow).where(condition).values(values)


def _missing_entries() -> Any:
    """Insert an entry for each live file without one."""
    columns = ["file_id", "owner_id", "version", "state", "reason", "attempts", "updated_at"]
    known = select(IndexEntryRow.file_id).where(IndexEntryRow.file_id == NodeRow.id).exists()
    files = select(
        NodeRow.id, NodeRow.owner_id, NodeRow.version, literal("pending"), literal(""), literal(0), NodeRow.updated_at
    ).where(NodeRow.kind == "file", NodeRow.trash_id.is_(None), ~known)
    return insert(IndexEntryRow).from_select(columns, files)
