"""The queue of files to index, in the database: which are pending, and the results."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
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
from sqlalchemy.orm import aliased

from drive_server.kernel.clock import utc_now
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.index.rows import READING, content_key
from drive_server.knowledge.ingest.readings import (
    Reading,
    delete_readings,
    has_passages,
    save_readings,
)
from drive_server.knowledge.readers.recognized import awaits_ocr
from drive_server.knowledge.text.omissions import is_partial, reason_with
from drive_server.storage.tables.index import IndexEntryRow, ReadingRow
from drive_server.storage.tables.items import NodeRow, VersionRow

MAX_FILES = 32
MAX_BYTES = 4_000_000
MAX_ATTEMPTS = 3
OCR_PATIENCE = 60
"""The factor by which OCR waits longer between attempts than reading: nobody waits for it, and a disk may recover."""
MAX_IDS = 500
FROM_SCRATCH = "anew"
"""The `index_table` of a file that must be read and embedded again, with nothing reused."""

TRASH_OWNER = "0" * 32
"""The owner of trashed files in the index: no search asks for it, and a restored file is not embedded again."""

WITHOUT_VECTORS = "The embedding model can't be reached: it is found by its words only until it can."
UNFINISHED = ("pending", "indexing")
UNSYNCHRONISED = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class Job:
    """A file to be indexed, as it was when it was claimed. `blob` is None for a file that must leave the index.

    `state` is that of its entry meanwhile: `indexing`, or its former state if it only moves to another table and can be
    found all the time. `from_scratch`: nothing in the index is reused. A file that `is_trashed` belongs to
    `TRASH_OWNER`; it stays in the index if it is there.
    """

    file_id: str
    owner_id: str
    version: int
    name: str
    media_type: str
    blob: str | None
    attempts: int
    state: str = "indexing"
    from_scratch: bool = False
    is_trashed: bool = False
    size: int = 0

    @property
    def content(self) -> str:
        """The key of its content; empty without one."""
        return content_key(self.blob, self.name, self.media_type) if self.blob else ""

    @property
    def is_searchable(self) -> bool:
        """True if searches find the file in its current version before this job is done."""
        return self.state != "indexing"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a job: the file's new state and reason, and the number of its passages."""

    job: Job
    state: str
    reason: str = ""
    passages: int = 0
    postponed: bool = False
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])
    properties: Mapping[str, str] = field(default_factory=dict[str, str])


class PendingFiles:
    """The queue. A claimed file is `indexing`; a change meanwhile makes it `pending`, and its result is dropped."""

    def __init__(self, database: Database, retry_after: timedelta, table: str) -> None:
        self._database = database
        self._retry_after = retry_after
        self._table = table

    async def claim(self, excluded: Collection[str], *, retry_at_once: bool) -> list[Job]:
        """Claim the next files besides `excluded`, small ones first; failed ones wait unless `retry_at_once`."""
        pending = and_(IndexEntryRow.state == "pending", IndexEntryRow.file_id.not_in(excluded))
        condition = pending if retry_at_once else and_(pending, self._is_due())
        if not await self._has(condition):
            return []

        async def claim(session: AsyncSession) -> list[Job]:
            rows = (await session.execute(_next_files(condition))).all()
            jobs = _first_batch(rows)
            await _set_state(session, [job.file_id for job in jobs], state="indexing")
            return jobs

        return await self._database.change(claim)

    async def claim_for_migration(self, excluded: Collection[str], *, retry_at_once: bool) -> list[Job]:
        """Return the next files whose passages are in another table. Their states stay, as they are found there."""
        due = literal(value=True) if retry_at_once else self._is_due()
        condition = and_(self._is_in_other_table(), due, IndexEntryRow.file_id.not_in(excluded))
        return await self._first(_next_files(condition))

    async def finish(self, results: Sequence[Result]) -> None:
        """Save the results of files that did not change meanwhile."""
        # A failure may be the reader's fault, not the file's.
        read = [result for result in results if result.job.content and result.state != "failed"]
        left = [result.job.file_id for result in results if result.job.blob is None]

        async def save(session: AsyncSession) -> None:
            await self._save_states(session, results)
            await save_readings(session, {result.job.content: _reading(result) for result in read})
            if left:
                await session.execute(_of_deleted_files(left), execution_options=UNSYNCHRONISED)

        await self._database.change(save)

    async def _save_states(self, session: AsyncSession, results: Sequence[Result]) -> None:
        """Set the states of all files with one statement for each set of columns."""
        batches: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for result in results:
            values = self._postponed_values(result.job) if result.postponed else self._finished_values(result)
            claimed = {"claimed_file": result.job.file_id, "claimed_state": result.job.state}
            batches.setdefault(tuple(values), []).append(values | claimed)
        for columns, rows in batches.items():
            await session.execute(_set_columns(columns), rows)

    async def fail(self, job: Job, reason: str) -> None:
        """Note a failed attempt. After the last one the file is `failed`."""
        attempts = job.attempts + 1
        waiting = job.state if job.is_searchable else "pending"
        state = "failed" if attempts >= MAX_ATTEMPTS else waiting
        table = {"index_table": self._table} if state == "failed" else {}
        values = {"state": state, "reason": reason, "attempts": attempts, "updated_at": utc_now(), **table}
        async with self._database.write() as session:
            await session.execute(_claimed(job).values(values), execution_options=UNSYNCHRONISED)

    async def recover(self, tables: Collection[str]) -> None:
        """Make files pending that an earlier writer or another version of the readers left unfinished."""
        entry = IndexEntryRow
        interrupted = entry.state == "indexing"
        exhausted = entry.attempts >= MAX_ATTEMPTS
        finished = entry.state.not_in(UNFINISHED)
        lost = and_(entry.state == "ready", entry.content != "", entry.index_table.not_in(tables), has_passages())
        outdated = and_(finished, entry.content != "", ~entry.content.endswith(f"/{READING}"))
        unknown = and_(finished, entry.content == "", _is_live())
        async with self._database.write() as session:
            again = or_(interrupted, exhausted, lost, outdated, unknown)
            await session.execute(_to_pending(again), execution_options=UNSYNCHRONISED)
            await session.execute(_missing_entries())

    async def restart_missing(self, passages: Mapping[str, int]) -> None:
        """Make files pending again of which this table has another number of passages than their reading says."""
        entry = IndexEntryRow
        query = (
            select(entry.file_id, ReadingRow.passages)
            .join(ReadingRow, ReadingRow.content == entry.content)
            .where(entry.state == "ready", entry.index_table == self._table, ReadingRow.passages > 0)
        )

        def missing(connection: Connection) -> list[str]:
            rows = connection.execute(query)
            return [file_id for file_id, expected in rows if passages.get(file_id, 0) != expected]

        found = await self._database.read_sync(missing)
        for start in range(0, len(found), MAX_IDS):
            async with self._database.write() as session:
                again = _to_pending(entry.file_id.in_(found[start : start + MAX_IDS])).values(index_table="")
                await session.execute(again, execution_options=UNSYNCHRONISED)

    async def restart(self, owner_id: str | None) -> None:
        """Make all files pending again, of one person or of all, and delete their readings."""
        condition = IndexEntryRow.owner_id == owner_id if owner_id else literal(value=True)
        async with self._database.write() as session:
            await delete_readings(session, select(IndexEntryRow.content).where(condition))
            again = _to_pending(condition).values(content="", index_table=FROM_SCRATCH)
            await session.execute(again, execution_options=UNSYNCHRONISED)
            await self._database.tell_others(session)

    async def restart_files(self, files: Select[str]) -> int:
        """Make the files with these ids pending again, and delete their readings; return how many were not pending."""
        condition = and_(IndexEntryRow.file_id.in_(files), IndexEntryRow.state.not_in(UNFINISHED))
        async with self._database.write() as session:
            count = await session.scalar(select(func.count()).select_from(IndexEntryRow).where(condition))
            await delete_readings(session, select(IndexEntryRow.content).where(condition))
            again = _to_pending(condition).values(content="", index_table=FROM_SCRATCH)
            await session.execute(again, execution_options=UNSYNCHRONISED)
            await self._database.tell_others(session)
        return count or 0

    async def next_for_ocr(self) -> Job | None:
        """Return the smallest file whose pages OCR has to read now, None if there is none; failed ones come last."""
        waiting = and_(IndexEntryRow.awaits_ocr.is_(True), IndexEntryRow.state.not_in(UNFINISHED))
        due = and_(waiting, self._is_due(OCR_PATIENCE), VersionRow.blob.is_not(None))
        return next(iter(await self._first(_next_files(due).limit(1))), None)

    async def _first(self, files: Select[IndexEntryRow, NodeRow, VersionRow]) -> list[Job]:
        async def read(session: AsyncSession) -> list[Job]:
            return _first_batch((await session.execute(files)).all())

        return await self._database.look(read)

    async def postpone_ocr(self, file_id: str, attempts: int) -> None:
        """Try a file, and others of its content, again later, after `attempts` that failed.

        After `MAX_ATTEMPTS` their pages count as not read, until the next `recover` has them read once more.
        """
        awaiting = and_(_has_content_of(file_id), IndexEntryRow.awaits_ocr.is_(True))
        async with self._database.write() as session:
            for entry in await session.scalars(select(IndexEntryRow).where(awaiting)):
                entry.attempts, entry.updated_at = attempts, utc_now()
                if attempts >= MAX_ATTEMPTS:
                    _end_ocr(entry)

    async def read_again(self, file_id: str) -> None:
        """Make a file, and others of its content, pending again after OCR, and delete the reading of the content."""
        condition = and_(_has_content_of(file_id), IndexEntryRow.state.not_in(UNFINISHED))
        async with self._database.write() as session:
            await delete_readings(session, select(IndexEntryRow.content).where(condition))
            again = _to_pending(condition).values(awaits_ocr=False, index_table=FROM_SCRATCH)
            await session.execute(again, execution_options=UNSYNCHRONISED)

    async def has_unfinished(self) -> bool:
        """Return whether a file is pending or being indexed."""
        return await self._has(IndexEntryRow.state.in_(UNFINISHED))

    async def needs_migration(self) -> bool:
        """Return whether a file's passages are in another table only."""
        return await self._has(self._is_in_other_table())

    async def _has(self, condition: ColumnElement[bool]) -> bool:
        first = select(IndexEntryRow.file_id).where(condition).limit(1)
        return await self._database.read_sync(lambda connection: connection.scalar(first)) is not None

    def _is_in_other_table(self) -> ColumnElement[bool]:
        return and_(IndexEntryRow.state == "ready", IndexEntryRow.index_table != self._table)

    def _is_due(self, patience: int = 1) -> ColumnElement[bool]:
        now, pause = utc_now(), self._retry_after * patience
        waits = [
            and_(IndexEntryRow.attempts == attempts, IndexEntryRow.updated_at <= now - pause * 4**attempts)
            for attempts in range(1, MAX_ATTEMPTS)
        ]
        return or_(IndexEntryRow.attempts == 0, *waits)

    def _indexed_values(self, job: Job) -> dict[str, Any]:
        return {"updated_at": utc_now(), "content": job.content, "index_table": self._table}

    def _finished_values(self, result: Result) -> dict[str, Any]:
        return {
            "state": result.state,
            "reason": result.reason,
            "omissions": dict(result.omissions),
            "is_partial": result.state == "ready" and is_partial(result.reason, result.omissions),
            "awaits_ocr": awaits_ocr(result.state, result.omissions),
            "properties": dict(result.properties),
            "attempts": 0,
            **self._indexed_values(result.job),
        }

    def _postponed_values(self, job: Job) -> dict[str, Any]:
        attempts = min(job.attempts + 1, MAX_ATTEMPTS - 1)
        if job.is_searchable:
            return {"attempts": attempts, "updated_at": utc_now()}
        return {"state": "pending", "reason": WITHOUT_VECTORS, "attempts": attempts, **self._indexed_values(job)}


def _reading(result: Result) -> Reading:
    return Reading(result.state, result.reason, result.passages, None, result.omissions, result.properties)


def _next_files(condition: ColumnElement[bool]) -> Select[IndexEntryRow, NodeRow, VersionRow]:
    content = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
    return (
        select(IndexEntryRow, NodeRow, VersionRow)
        .outerjoin(NodeRow, NodeRow.id == IndexEntryRow.file_id)
        .outerjoin(VersionRow, content)
        .where(condition)
        .order_by(IndexEntryRow.attempts, func.coalesce(NodeRow.size, 0), IndexEntryRow.updated_at)
        .limit(MAX_FILES)
    )


def _first_batch(rows: Sequence[Row[IndexEntryRow, NodeRow, VersionRow]]) -> list[Job]:
    """Return the first files up to `MAX_BYTES` in all, one at least."""
    jobs: list[Job] = []
    size = 0
    for entry, node, version in rows:
        size += node.size if node else 0
        if jobs and (size > MAX_BYTES or entry.attempts):
            break
        jobs.append(_job(entry, node, version))
    return jobs


def _job(entry: IndexEntryRow, node: NodeRow | None, version: VersionRow | None) -> Job:
    state = "indexing" if entry.state in UNFINISHED else entry.state
    from_scratch = entry.index_table == FROM_SCRATCH
    if node is None:  # deleted for good
        return Job(entry.file_id, entry.owner_id, entry.version, "", "", None, entry.attempts, state)
    blob = version.blob if version else None
    trashed = node.trash_id is not None
    owner = TRASH_OWNER if trashed else node.owner_id
    rest = (blob, entry.attempts, state, from_scratch, trashed, node.size)
    return Job(node.id, owner, node.version, node.name, node.media_type, *rest)


async def _set_state(session: AsyncSession, file_ids: Collection[str], state: str) -> None:
    statement = update(IndexEntryRow).where(IndexEntryRow.file_id.in_(file_ids)).values(state=state)
    await session.execute(statement, execution_options=UNSYNCHRONISED)


def _claimed(job: Job) -> Any:
    return update(IndexEntryRow).where(IndexEntryRow.file_id == job.file_id, IndexEntryRow.state == job.state)


def _set_columns(columns: Sequence[str]) -> Any:
    """Return the statement that sets columns of the entries of claimed files, for any number of files at once."""
    entries = cast("Table", IndexEntryRow.__table__)
    claimed = (entries.c.file_id == bindparam("claimed_file"), entries.c.state == bindparam("claimed_state"))
    # With the column's own type: JSON would reach the driver as a dictionary.
    values = {column: bindparam(column, type_=entries.c[column].type) for column in columns}
    return update(entries).where(*claimed).values(values)


def _has_content_of(file_id: str) -> ColumnElement[bool]:
    # By the entry, not by the job: a file may have been renamed since it was read.
    entry = aliased(IndexEntryRow)
    return IndexEntryRow.content == select(entry.content).where(entry.file_id == file_id).scalar_subquery()


def _end_ocr(entry: IndexEntryRow) -> None:
    """Count the pages that wait for OCR as not read."""
    counts = {kind: count for kind, count in entry.omissions.items() if kind != "scan"}
    pages = counts.get("page", 0) + entry.omissions.get("scan", 0)
    counts["page"] = pages
    entry.reason, entry.omissions = reason_with(entry.reason, entry.omissions, counts), counts
    entry.state, entry.awaits_ocr, entry.is_partial = "ready", False, True


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
    has_entry = select(IndexEntryRow.file_id).where(IndexEntryRow.file_id == NodeRow.id).exists()
    files = select(
        NodeRow.id, NodeRow.owner_id, NodeRow.version, literal("pending"), literal(""), literal(0), NodeRow.updated_at
    ).where(NodeRow.kind == "file", NodeRow.trash_id.is_(None), ~has_entry)
    return insert(IndexEntryRow).from_select(columns, files)
