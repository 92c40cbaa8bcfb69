"""Turns of the writers of a database that has several, and how far the numbers of the journal's changes are settled.

A sequence gives numbers out before the commits, so a change can be committed after one of a higher number. Therefore
each writer notes the newest number at its beginning in a lock, which PostgreSQL drops after the commit: its own numbers
are higher. Numbers up to the lowest note are settled: none of them that is missing now will ever be committed. Unlike
ids of transactions in a column, notes end with their transactions, and none is left in a restored database.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    cast,
    func,
    literal,
    null,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import REGCLASS
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import Session

from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.server_state import NOTES, lowest_note

IDLE_SECONDS: Final = 10
"""PostgreSQL ends a writer that is silent for so long within its transaction, and with it the locks that others wait
for: its process stands still, or its machine is gone, and no other sign of that may ever come."""
_LIMIT: Final = "idle_in_transaction_session_timeout"


async def take_turns(session: AsyncSession | AsyncConnection, turns: Iterable[str], sequence: str = "") -> None:
    """Wait until no other transaction of these turns is under way; for databases with several writers.

    All take theirs in one order: two that need the same ones don't wait for each other. Note the newest number of the
    `sequence` then, if one is named. From now on the transaction may be silent for `IDLE_SECONDS` at a time.
    """
    columns: list[ColumnElement[Any]] = [func.set_config(_LIMIT, f"{IDLE_SECONDS}s", true())]
    columns += [func.pg_advisory_xact_lock(func.hashtextextended(turn, 0)) for turn in sorted(turns)]
    if sequence:
        newest = func.coalesce(func.pg_sequence_last_value(cast(literal(sequence), REGCLASS)), 0)
        columns.append(func.pg_advisory_xact_lock_shared(NOTES, cast(newest, Integer)))
    await session.execute(select(*columns))


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
