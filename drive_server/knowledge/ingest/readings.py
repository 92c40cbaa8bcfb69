"""What is known of contents that were read before, and which files have them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.storage.database import Database
from drive_server.storage.tables import IndexEntryRow, ReadingRow

UNSYNCHRONISED = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a content gave: the state, its reason, and how many passages.

    `file_id` is a file whose passages the index has, if there are any; None if no file has them any more.
    """

    state: str
    reason: str
    passages: int
    file_id: str | None


async def known_readings(database: Database, contents: Collection[str]) -> dict[str, Reading]:
    """Return what is known of the contents, by their keys."""
    holder = (
        select(IndexEntryRow.content, func.min(IndexEntryRow.file_id).label("file_id"))
        .where(IndexEntryRow.content.in_(contents))
        .group_by(IndexEntryRow.content)
        .subquery()
    )
    query = (
        select(ReadingRow, holder.c.file_id)
        .outerjoin(holder, holder.c.content == ReadingRow.content)
        .where(ReadingRow.content.in_(contents))
    )
    async with database.read() as session:
        rows = (await session.execute(query)).all()
    return {row.content: Reading(row.state, row.reason, row.passages, file_id) for row, file_id in rows}


async def keep_readings(session: AsyncSession, readings: Mapping[str, tuple[str, str, int]]) -> None:
    """Keep what reading contents gave (state, reason, number of passages), in the place of what is known of them."""
    if not readings:
        return
    known = delete(ReadingRow).where(ReadingRow.content.in_(readings))
    await session.execute(known, execution_options=UNSYNCHRONISED)
    rows: list[dict[str, Any]] = [
        {"content": content, "state": state, "reason": reason, "passages": passages}
        for content, (state, reason, passages) in readings.items()
    ]
    await session.execute(insert(ReadingRow), rows)


async def forget_readings(session: AsyncSession, contents: Select[str]) -> None:
    """Forget what reading these contents gave: they will be read again."""
    await session.execute(delete(ReadingRow).where(ReadingRow.content.in_(contents)), execution_options=UNSYNCHRONISED)


async def forget_unused_readings(session: AsyncSession) -> None:
    """Forget contents that no file has any more."""
    used = select(IndexEntryRow.content).where(IndexEntryRow.content == ReadingRow.content).exists()
    await session.execute(delete(ReadingRow).where(~used), execution_options=UNSYNCHRONISED)


def has_passages() -> ColumnElement[bool]:
    """Whether the content of an entry of the index has passages, as far as is known."""
    passages: Any = select(ReadingRow.passages).where(ReadingRow.content == IndexEntryRow.content).scalar_subquery()
    return or_(passages.is_(None), passages > 0)
