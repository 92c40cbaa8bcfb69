"""Turns of the writers of a database that has several, and their notes of the newest number of a sequence.

Readers learn from the notes which numbers are settled: see `drive_server/storage/journal_numbers.py`.

A writer also knows its transaction by a mark: if the answer to its COMMIT is lost, the server is asked for the
outcome.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import anyio
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    case,
    cast,
    func,
    literal,
    null,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import REGCLASS
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession

from drive_server.kernel.errors import RETRY_SECONDS, AnswerLostError, DatabaseAwayError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.server import failure_of, may_be_kept

NOTES: Final = 0x64726976
"""The first key of the locks with the notes; turns are in the other space of advisory locks, that of one 64-bit key."""

IDLE_SECONDS: Final = 10
"""PostgreSQL ends a writer that is silent for so long within its transaction, and with it the locks that others wait
for: its process stands still, or its machine is gone, and no other sign of that may ever come."""
_LIMIT: Final = "idle_in_transaction_session_timeout"
ASKING_SECONDS: Final = 3.0
"""The longest that a writer asks what became of its transaction."""
ASKING_PAUSE_SECONDS: Final = 0.1
COMMITTED: Final = "committed"
UNDER_WAY: Final = "in progress"
# The log of a standby that was promoted has a new timeline: numbers of transactions after it are given out anew.
_TIMELINE: Final = case(
    (func.pg_is_in_recovery(), null()), else_=func.left(func.pg_walfile_name(func.pg_current_wal_lsn()), 8)
)
# A server that only reads gives no transaction a number.
_NUMBER: Final = case((func.pg_is_in_recovery(), null()), else_=func.txid_current())

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """A transaction: its number, on the timeline of the server that gave it out."""

    number: int
    timeline: str


async def take_turns(session: AsyncSession | AsyncConnection, turns: Iterable[str], sequence: str = "") -> Mark | None:
    """Wait until no other transaction of these turns is under way; for databases with several writers.

    All take theirs in one order: two that need the same ones don't wait for each other. Note the newest number of the
    `sequence` then, if one is named. From now on the transaction may be silent for `IDLE_SECONDS` at a time.

    Return its mark, for `commit`; None from a server that writes nothing.
    """
    columns: list[ColumnElement[Any]] = [func.set_config(_LIMIT, f"{IDLE_SECONDS}s", true())]
    columns += [func.pg_advisory_xact_lock(func.hashtextextended(turn, 0)) for turn in sorted(turns)]
    if sequence:
        newest = func.coalesce(func.pg_sequence_last_value(cast(literal(sequence), REGCLASS)), 0)
        columns.append(func.pg_advisory_xact_lock_shared(NOTES, cast(newest, Integer)))
    columns += [_NUMBER.label("number"), _TIMELINE.label("timeline")]
    row = (await session.execute(select(*columns))).one()
    return None if row.number is None else Mark(row.number, row.timeline)


async def commit(writer: AsyncSession | AsyncConnection, engine: AsyncEngine, mark: Mark | None) -> None:
    """Commit, whoever is cancelled meanwhile. If the answer is lost, find out by the mark whether it is kept.

    Raises the driver's error if nothing is kept, and `AnswerLostError` if that could not be found out.
    """
    with anyio.CancelScope(shield=True):
        if isinstance(writer, AsyncSession):
            await writer.flush()
        try:
            await writer.commit()
        except DBAPIError as error:
            if mark is None or not may_be_kept(error):
                raise
            logger.warning("The answer to a commit was lost; asking what became of it: %s", error.orig)
            status = await _status(engine, mark)
            if status is None:
                details = {"retry_after_seconds": RETRY_SECONDS}
                raise AnswerLostError(Message.of("answer_lost"), details=details) from error
            if status != COMMITTED:
                raise


async def _status(engine: AsyncEngine, mark: Mark) -> str | None:
    """Return the outcome of a transaction that has ended; None if nobody knows, or says so in time."""
    looking = engine.execution_options(isolation_level="AUTOCOMMIT")
    query = select(func.txid_status(cast(mark.number, BigInteger)), _TIMELINE)
    with anyio.move_on_after(ASKING_SECONDS):
        while True:
            try:
                async with looking.connect() as connection:
                    status, timeline = (await connection.execute(query)).one()
            except (DBAPIError, PoolTimeoutError) as error:
                if not isinstance(failure_of(error), DatabaseAwayError):
                    raise
            else:
                if timeline not in {None, mark.timeline}:
                    return None
                if timeline and status != UNDER_WAY:
                    return status
            await asyncio.sleep(ASKING_PAUSE_SECONDS)
    return None
