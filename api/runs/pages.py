"""The list of a person's runs, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, tuple_

from api.storage.tables import RunRow, ThreadRow
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, and where the next ones begin (None at the end)."""

    runs: Sequence[RunRow]
    cursor: str | None


async def read_page(
    database: Database, user_id: str, limit: int, cursor: str | None, thread_id: str | None, status: Sequence[str]
) -> RunPage:
    """Return a person's runs, newest first; those of deleted threads are gone."""
    wanted = sorted({*status})
    cursors = Cursors(database.signer, user_id, "runs", thread_id, *wanted)
    query = select(RunRow).join(ThreadRow, ThreadRow.id == RunRow.thread_id)
    query = query.where(RunRow.user_id == user_id, ThreadRow.deleted_at.is_(None))
    if thread_id is not None:
        query = query.where(RunRow.thread_id == thread_id)
    if wanted:
        query = query.where(RunRow.status.in_(wanted))
    if cursor:
        moment, run_id = cursors.decode(cursor, str, str)
        query = query.where(tuple_(RunRow.created_at, RunRow.id) < (datetime.fromisoformat(moment), run_id))
    async with database.read() as session:
        rows = list(await session.scalars(query.order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(limit + 1)))
    shown = rows[:limit]
    more = cursors.encode(shown[-1].created_at, shown[-1].id) if len(rows) > limit else None
    return RunPage(shown, more)
