"""The work that is left to the index, as the database knows it: which files are pending, and what became of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.clock import utc_now
from drive_server.knowledge.index.rows import READING, content_key
from drive_server.knowledge.ingest.readings import forget_readings, forget_unused_readings, has_passages, keep_readings
from drive_server.storage.database import Database
from drive_server.storage.tables import IndexEntryRow, NodeRow, VersionRow

MOST_FILES = 32
MOST_BYTES = 4_000_000
MOST_ATTEMPTS = 3
ANEW = "anew"
"""The table of a file that is to be read and embedded again, whatever the index has of it."""

NOBODY = "0" * 32
"""The owner of what is in the trash, to the index: no search asks for it, and a restored file is neither read nor
embedded again."""

WITHOUT_VECTORS = "The embedding model can't be reached: it is found by its words only until it can."
UNFINISHED = ("pending", "indexing")
UNSYNCHRONISED = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class Job:
    """A file to be indexed as it was when it was claimed. `blob` is None for one that is to leave the index.

    `state` is the one that its entry has meanwhile: `indexing`, or what it was for a file that is found all the same
    and is only to be brought into another table. `anew`: nothing of what the index has is to be reused. One that
    `is_trashed` is `NOBODY`'s; it stays in the index if it is there.
    """

    file_id: str
    owner_id: str
    version: int
    name: str
    media_type: str
    blob: str | None
    attempts: int
    state: str = "indexing"
    anew: bool = False
    is_trashed: bool = False
    size: int = 0

    @property
    def content(self) -> str:
        """The key of its content; empty without one."""
        return content_key(self.blob, self.name, self.media_type) if self.blob else ""

    @property
    def is_found_already(self) -> bool:
        """Whether searches find the file as it is while this job is undone."""
        return self.state != "indexing"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a job: the state and the reason to be kept with the file, and how many passages it has.

    A job that is `postponed` stays to be done, when the embedding model can be reached again.
    """

    job: Job
    state: str
    reason: str = ""
    passages: int = 0
    postponed: bool = False


class PendingFiles:
    """The queue. A claimed file is `indexing`; a change meanwhile makes it `pending`, and its result is dropped.

    `table` is the one that files are to be in.
    """

    def __init__(self, database: Database, retry_after: timedelta, table: str) -> None:
        self._database = database
        self._retry_after = retry_after
        self._table = table

    async def claim(self, besides: Collection[str], *, retry_at_once: bool) -> list[Job]:
        """Mark the next files as being indexed and return them, small ones first; none if nothing is to be done.

        A file that failed waits before its next attempt, longer each time, unless `retry_at_once`. Those of `besides`
        are left out.
        """
        pending = and_(IndexEntryRow.state == "pending", IndexEntryRow.file_id.not_in(besides))
        condition = pending if retry_at_once else and_(pending, self._is_due())
        async with self._database.read() as session:
            if await session.scalar(select(IndexEntryRow.file_id).where(condition).limit(1)) is None:
                return []
        async with self._database.write() as session:
            rows = (await session.execute(_next_files(condition))).all()
            jobs = _fitting(rows)
            await _set_state(session, [job.file_id for job in jobs], state="indexing")
        return jobs

    async def claim_elsewhere(self, besides: Collection[str], *, retry_at_once: bool) -> list[Job]:
        """Return the next files whose passages are in another table. They keep their states: they are found there."""
        due = literal(value=True) if retry_at_once else self._is_due()
        condition = and_(self._is_elsewhere(), due, IndexEntryRow.file_id.not_in(besides))
        async with self._database.read() as session:
            return _fitting((await session.execute(_next_files(condition))).all())

    async def finish(self, results: Sequence[Result]) -> None:
        """Keep the results of files that did not change meanwhile."""
        # What can't be read may be the reader's fault, not the file's.
        read = [result for result in results if result.job.content and result.state != "failed"]
        left = [result.job.file_id for result in results if result.job.blob is None]
        async with self._database.write() as session:
            await self._keep_states(session, results)
            readings = {result.job.content: (result.state, result.reason, result.passages) for result in read}
            await keep_readings(session, readings)
            if left:
                await session.execute(_of_deleted_files(left), execution_options=UNSYNCHRONISED)

    async def _keep_states(self, session: AsyncSession, results: Sequence[Result]) -> None:
        """Set the states of all files with one statement for each set of columns."""
        together: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for result in results:
            values = self._postponed(result.job) if result.postponed else self._done(result)
            claimed = {"claimed_file": result.job.file_id, "claimed_state": result.job.state}
            together.setdefault(tuple(values), []).append(values | claimed)
        for columns, rows in together.items():
            await session.execute(_set_columns(columns), rows)

    async def fail(self, job: Job, reason: str) -> None:
        """Note a failed attempt: the file is tried again, or has failed after the last one."""
        attempts = job.attempts + 1
        waiting = job.state if job.is_found_already else "pending"
        state = "failed" if attempts >= MOST_ATTEMPTS else waiting
        table = {"index_table": self._table} if state == "failed" else {}
        values = {"state": state, "reason": reason, "attempts": attempts, "updated_at": utc_now(), **table}
        async with self._database.write() as session:
            await session.execute(_claimed(job).values(values), execution_options=UNSYNCHRONISED)

    async def recover(self, tables: Collection[str]) -> None:
        """Put in order what an earlier writer left: claimed files, files that failed for want of a disk, lost entries.

        Pending again is also what was in a table that is not among `tables`, the ones that there are, and what another
        version of the readers read.
        """
        entry = IndexEntryRow
        interrupted = entry.state == "indexing"
        exhausted = and_(entry.state == "failed", entry.attempts >= MOST_ATTEMPTS)
        finished = entry.state.not_in(UNFINISHED)
        lost = and_(entry.state == "ready", entry.content != "", entry.index_table.not_in(tables), has_passages())
        outdated = and_(finished, entry.content != "", ~entry.content.endswith(f"/{READING}"))
        unknown = and_(finished, entry.content == "", _is_live())
        async with self._database.write() as session:
            again = or_(interrupted, exhausted, lost, outdated, unknown)
            await session.execute(_to_pending(again), execution_options=UNSYNCHRONISED)
            await session.execute(_missing_entries())
            await forget_unused_readings(session)

    async def restart(self, owner_id: str | None) -> None:
        """Make all files pending again, of one person or of all, and forget what reading them gave."""
        condition = IndexEntryRow.owner_id == owner_id if owner_id else literal(value=True)
        async with self._database.write() as session:
            await forget_readings(session, select(IndexEntryRow.content).where(condition))
            anew = _to_pending(condition).values(content="", index_table=ANEW)
            await session.execute(anew, execution_options=UNSYNCHRONISED)

    async def is_any_left(self) -> bool:
        """Return whether a file is pending or being indexed."""
        async with self._database.read() as session:
            unfinished = select(IndexEntryRow.file_id).where(IndexEntryRow.state.in_(UNFINISHED))
            return await session.scalar(unfinished.limit(1)) is not None

    async def is_any_elsewhere(self) -> bool:
        """Return whether a file's passages are in another table, and not yet in the one that they are to be in."""
        async with self._database.read() as session:
            return await session.scalar(select(IndexEntryRow.file_id).where(self._is_elsewhere()).limit(1)) is not None

    def _is_elsewhere(self) -> ColumnElement[bool]:
        return and_(IndexEntryRow.state == "ready", IndexEntryRow.index_table != self._table)

    def _is_due(self) -> ColumnElement[bool]:
        now = utc_now()
        waits = [
            and_(IndexEntryRow.attempts == attempts, IndexEntryRow.updated_at <= now - self._retry_after * 4**attempts)
            for attempts in range(1, MOST_ATTEMPTS)
        ]
        return or_(IndexEntryRow.attempts == 0, *waits)

    def _indexed(self, job: Job) -> dict[str, Any]:
        return {"updated_at": utc_now(), "content": job.content, "index_table": self._table}

    def _done(self, result: Result) -> dict[str, Any]:
        return {"state": result.state, "reason": result.reason, "attempts": 0, **self._indexed(result.job)}

    def _postponed(self, job: Job) -> dict[str, Any]:
        attempts = min(job.attempts + 1, MOST_ATTEMPTS - 1)
        if job.is_found_already:
            return {"attempts": attempts, "updated_at": utc_now()}
        return {"state": "pending", "reason": WITHOUT_VECTORS, "attempts": attempts, **self._indexed(job)}


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
    state = "indexing" if entry.state in UNFINISHED else entry.state
    anew = entry.index_table == ANEW
    if node is None:  # deleted for good
        return Job(entry.file_id, entry.owner_id, entry.version, "", "", None, entry.attempts, state)
    blob = version.blob if version else None
    trashed = node.trash_id is not None
    owner = NOBODY if trashed else node.owner_id
    kept = (blob, entry.attempts, state, anew, trashed, node.size)
    return Job(node.id, owner, node.version, node.name, node.media_type, *kept)


async def _set_state(session: AsyncSession, file_ids: Collection[str], state: str) -> None:
    statement = update(IndexEntryRow).where(IndexEntryRow.file_id.in_(file_ids)).values(state=state)
    await session.execute(statement, execution_options=UNSYNCHRONISED)


def _claimed(job: Job) -> Any:
    return update(IndexEntryRow).where(IndexEntryRow.file_id == job.file_id, IndexEntryRow.state == job.state)


def _set_columns(columns: Sequence[str]) -> Any:
    """Return the statement that sets columns of the entries of claimed files, for any number of files at once."""
    entries = cast("Table", IndexEntryRow.__table__)
    claimed = (entries.c.file_id == bindparam("claimed_file"), entries.c.state == bindparam("claimed_state"))
    return update(entries).where(*claimed).values({column: bindparam(column) for column in columns})


def _of_deleted_files(file_ids: Collection[str]) -> Any:
    exists = select(NodeRow.id).where(NodeRow.id == IndexEntryRow.file_id).exists()
    return delete(IndexEntryRow).where(IndexEntryRow.file_id.in_(file_ids), ~exists)


def _to_pending(condition: ColumnElement[bool]) -> Any:
    values = {"state": "pending", "reason": "", "attempts": 0, "updated_at": utc_now()}
    return update(IndexEntryRow).where(condition).values(values)


def _is_live() -> ColumnElement[bool]:
    return select(NodeRow.id).where(NodeRow.id == IndexEntryRow.file_id, NodeRow.trash_id.is_(None)).exists()


def _missing_entries() -> Any:
    """Insert an entry for each live file without one."""
    columns = ["file_id", "owner_id", "version", "state", "reason", "attempts", "updated_at"]
    known = select(IndexEntryRow.file_id).where(IndexEntryRow.file_id == NodeRow.id).exists()
    files = select(
        NodeRow.id, NodeRow.owner_id, NodeRow.version, literal("pending"), literal(""), literal(0), NodeRow.updated_at
    ).where(NodeRow.kind == "file", NodeRow.trash_id.is_(None), ~known)
    return insert(IndexEntryRow).from_select(columns, files)
