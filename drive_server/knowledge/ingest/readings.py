"""The results of reading contents, and the files that have them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.sql.database import Database
from drive_server.storage.tables.index import IndexEntryRow, ReadingRow

UNSYNCHRONISED = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a content: state, reason, number of passages and so on, and an indexed file, if any."""

    state: str
    reason: str
    passages: int
    file_id: str | None
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])
    properties: Mapping[str, str] = field(default_factory=dict[str, str])


async def find_readings(database: Database, contents: Collection[str]) -> dict[str, Reading]:
    """Return the readings of contents, by their keys."""
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

    async def read(session: AsyncSession) -> dict[str, Reading]:
        return {
            row.content: Reading(row.state, row.reason, row.passages, file_id, row.omissions, row.properties)
            for row, file_id in await session.execute(query)
        }

    return await database.look(read)


async def save_readings(session: AsyncSession, readings: Mapping[str, Reading]) -> None:
    """Save readings by their contents, in place of earlier ones of the same contents."""
    if not readings:
        return
    earlier = delete(ReadingRow).where(ReadingRow.content.in_(readings))
    await session.execute(earlier, execution_options=UNSYNCHRONISED)
    rows: list[dict[str, Any]] = [
        {
            "content": content,
            "state": one.state,
            "reason": one.reason,
            "passages": one.passages,
            "omissions": dict(one.omissions),
            "properties": dict(one.properties),
        }
        for content, one in readings.items()
    ]
    await session.execute(insert(ReadingRow), rows)


async def delete_readings(session: AsyncSession, contents: Select[str]) -> None:
    """Delete the readings of these contents, so that they are read again."""
    await session.execute(delete(ReadingRow).where(ReadingRow.content.in_(contents)), execution_options=UNSYNCHRONISED)


def has_passages() -> ColumnElement[bool]:
    """Return the condition that an entry's content has passages, or was not read yet."""
    passages: Any = select(ReadingRow.passages).where(ReadingRow.content == IndexEntryRow.content).scalar_subquery()
    return or_(passages.is_(None), passages > 0)
