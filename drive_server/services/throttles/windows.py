"""Sliding windows of attempts: one port, counted in this process or by all that share a database."""

import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from math import ceil
from typing import Final, Protocol

import anyio
from sqlalchemy import Double, cast, delete, extract, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.messages import Message
from drive_server.kernel.rate_limiter import MINUTE_SECONDS, RateLimiter, refusal
from drive_server.kernel.sql.database import Database
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import AttemptRow

UNCHECKED_SECONDS: Final = 30.0
"""An attempt that is not checked so long counts as wrong: its process is gone."""
PAUSE_SECONDS: Final = 0.05
SERVER_NOW: Final = cast(extract("epoch", func.clock_timestamp()), Double)
"""POSIX seconds of PostgreSQL's clock: several processes on different machines need one."""


class Window(Protocol):
    """Lets `limit` attempts of a key begin in any period. Each takes its place before it is checked."""

    async def take(self, key: str) -> str:
        """Take a place, and return its name. Raise `RateLimitError` if all have attempts that were wrong.

        Wait for attempts that are not checked yet: they may have been right.
        """
        ...

    async def settle(self, key: str, place: str, *, counts: bool) -> None:
        """Have the attempt count until its period is over, or give its place back."""
        ...

    async def wait_seconds(self, key: str) -> int:
        """Return the seconds until the key has room; 0 if it has."""
        ...


def window_of(
    database: Database | None,
    name: str,
    limit: int,
    reason: str | Message,
    period_seconds: float = MINUTE_SECONDS,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Window:
    """Return a window, in a table if other processes may write to the database. `name` tells windows apart there."""
    if database is not None and database.takes_turns:
        return TableWindow(database, name, limit, reason, period_seconds)
    return MemoryWindow(limit, reason, period_seconds, clock=clock)


class MemoryWindow:
    """Counts in this process."""

    def __init__(
        self,
        limit: int,
        reason: str | Message,
        period_seconds: float = MINUTE_SECONDS,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limiter = RateLimiter(limit, reason, clock=clock, period_seconds=period_seconds)
        self._unchecked: Counter[str] = Counter()
        self._checked = anyio.Event()

    async def take(self, key: str) -> str:
        """Take a place."""
        while self._limiter.wait_seconds(key) and self._unchecked[key]:
            await self._checked.wait()
        self._limiter.take(key)
        self._unchecked[key] += 1
        return ""

    async def settle(self, key: str, place: str, *, counts: bool) -> None:
        """Have the attempt count, or give its place back."""
        del place
        if not counts:
            self._limiter.give_back(key)
        self._unchecked[key] -= 1
        if not self._unchecked[key]:
            del self._unchecked[key]
        self._checked.set()
        self._checked = anyio.Event()

    async def wait_seconds(self, key: str) -> int:
        """Return the seconds until the key has room."""
        return self._limiter.wait_seconds(key)


class TableWindow:
    """Counts in a table of PostgreSQL, by its clock."""

    def __init__(
        self,
        database: Database,
        name: str,
        limit: int,
        reason: str | Message,
        period_seconds: float = MINUTE_SECONDS,
    ) -> None:
        self._database = database
        self._name = name
        self._limit = limit
        self._reason = reason
        self._period = period_seconds

    async def take(self, key: str) -> str:
        """Take a place."""
        digest = self._digest(key)
        while True:
            place, wait, has_unchecked = await self._database.change(
                lambda session: self._taken(session, digest), turns=(f"attempts {digest}",)
            )
            if place:
                return place
            if not has_unchecked:
                raise refusal(self._limit, self._reason, wait)
            await anyio.sleep(PAUSE_SECONDS)

    async def settle(self, key: str, place: str, *, counts: bool) -> None:
        """Have the attempt count, or give its place back."""
        row = AttemptRow.id == place
        statement = update(AttemptRow).where(row).values(is_checked=True) if counts else delete(AttemptRow).where(row)

        async def work(session: AsyncSession) -> None:
            await session.execute(statement)

        await self._database.change(work, turns=(f"attempts {self._digest(key)}",))

    async def wait_seconds(self, key: str) -> int:
        """Return the seconds until the key has room."""
        return await self._database.look(lambda session: self._wait(session, self._digest(key)))

    async def _taken(self, session: AsyncSession, digest: str) -> tuple[str, int, bool]:
        """Return the place that was taken; or else the seconds to wait, and whether an attempt is not checked yet."""
        now = await _now(session)
        mine = AttemptRow.key == digest, AttemptRow.ends_at > now
        query = select(AttemptRow.at, AttemptRow.ends_at, AttemptRow.is_checked).where(*mine)
        rows = (await session.execute(query.order_by(AttemptRow.ends_at))).all()
        if len(rows) < self._limit:
            row = AttemptRow(id=new_id(), key=digest, is_checked=False, at=now, ends_at=now + self._period)
            session.add(row)
            return row.id, 0, False
        has_unchecked = any(not row.is_checked and row.at > now - UNCHECKED_SECONDS for row in rows)
        return "", _seconds(rows[0].ends_at, now), has_unchecked

    async def _wait(self, session: AsyncSession, digest: str) -> int:
        now = await _now(session)
        mine = AttemptRow.key == digest, AttemptRow.ends_at > now
        count, first = (await session.execute(select(func.count(), func.min(AttemptRow.ends_at)).where(*mine))).one()
        return _seconds(first, now) if count >= self._limit else 0

    def _digest(self, key: str) -> str:
        """Return a digest of the key: the table holds no address and no secret."""
        return sha256(f"{self._name} {key}".encode(errors="surrogatepass")).hexdigest()


async def remove_old_attempts(database: Database) -> int:
    """Delete the attempts that count no more; return their number."""
    if not database.takes_turns:
        return 0
    async with database.write() as session:
        return len(
            (
                await session.scalars(
                    delete(AttemptRow).where(AttemptRow.ends_at <= SERVER_NOW).returning(AttemptRow.id)
                )
            ).all()
        )


async def _now(session: AsyncSession) -> float:
    return (await session.execute(select(SERVER_NOW))).scalar_one()


def _seconds(ends_at: float, now: float) -> int:
    return max(1, ceil(ends_at - now))
