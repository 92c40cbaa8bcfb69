"""How far the numbers of the journal's changes are settled.

A sequence gives numbers out before the commits, so a change can be committed after one of a higher number.
Therefore each writer notes the newest number at its beginning in a lock (`drive_server/kernel/sql/turns.py`),
which PostgreSQL drops after the commit: its own numbers are higher. Numbers up to the lowest note are settled:
none of them that is missing now will ever be committed. Unlike ids of transactions in a column, notes end with
their transactions, and none is left in a restored database.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    func,
    null,
    select,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.server_state import lowest_note


@dataclass(frozen=True, slots=True)
class Numbers:
    """The `newest` number of a change, and the one up to which they are `settled`; 0 if there is none.

    No change up to a settled number is still to come. With one writer all are settled. Each commit changes at least one
    of the two.
    """

    newest: int
    settled: int

    @property
    def are_settled(self) -> bool:
        """Whether no change below the newest number is still to come."""
        return self.settled == self.newest


async def read_numbers(session: AsyncSession) -> Numbers:
    """Return the numbers; the next statement of the session finds all changes up to the settled one."""
    return _numbers((await session.execute(_query(session.get_bind().dialect.name))).one())


def read_numbers_sync(reader: Connection | Session) -> Numbers:
    """Return the numbers, as `read_numbers` does."""
    bind = reader if isinstance(reader, Connection) else reader.get_bind()
    return _numbers(reader.execute(_query(bind.dialect.name)).one())


@cache
def _query(dialect: str) -> Select[Any, Any]:
    # One statement: its snapshot, which has the newest number, is older than the list of locks that it reads.
    return select(func.max(ChangeRow.id), null() if dialect == "sqlite" else lowest_note())


def _numbers(row: Row[Any, Any]) -> Numbers:
    newest, note = row
    newest = newest or 0
    return Numbers(newest, newest if note is None else min(newest, note))
