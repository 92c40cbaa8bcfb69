"""The last moment that is stored, from which the clock of a process goes on."""

from datetime import UTC, datetime

from sqlalchemy import func, select

from drive_server.kernel.sql.database import Database
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.people import ApiKeyRow

BEGINNING = datetime.min.replace(tzinfo=UTC)


async def last_moment(database: Database) -> datetime:
    """Return when the last change was made or the last key used, whichever is later; the earliest time if neither."""
    async with database.read() as session:
        changed = await session.scalar(select(ChangeRow.at).order_by(ChangeRow.id.desc()).limit(1))
        used = await session.scalar(select(func.max(ApiKeyRow.last_used_at)))
    return max(changed or BEGINNING, used or BEGINNING)
