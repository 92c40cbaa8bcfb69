"""Locks between processes: of all that share a drive, only the holder does a kind of work, such as writing the index.

On one machine the lock is that of a file. Services on several machines have a row of their database with a lease:
a lock of the server's would end unseen behind a pooler of connections.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Final, Protocol

import anyio
from sqlalchemy import ColumnElement, Interval, cast, delete, func, literal, or_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.files.file_locks import try_lock
from drive_server.kernel.sql.database import Database, SessionWork
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.work import ProcessLockRow

logger = logging.getLogger(__name__)

LEASE: Final = timedelta(seconds=20)
RENEWALS: Final = 2
"""Renewals in the time of a lease."""
ATTEMPTS: Final = 4
"""Attempts in the time between two renewals if one fails."""
QUESTIONS: Final = 4
"""How often a refused process asks in the time of a lease."""
MARGIN: Final = timedelta(seconds=3)
"""The holder stops so long before another process may begin."""

RELEASE_SECONDS: Final = 5.0
"""The longest that a release waits for the database."""


class ProcessLock(Protocol):
    """A reentrant lock. `on_lost` is called if another process may have it although it was not released."""

    on_lost: Callable[[], None]

    @property
    def is_held(self) -> bool:
        """True if the lock is ours."""
        ...

    @property
    def tenure(self) -> int:
        """A number that is another one whenever somebody else may have had the lock in between."""
        ...

    async def acquire(self) -> bool:
        """Take the lock if nobody else holds it; return whether it is ours."""
        ...

    async def release(self) -> None:
        """Release it once."""
        ...


def process_lock(database: Database, path: Path) -> ProcessLock:
    """Return the lock with the name of a file: the file's if this machine has the whole drive, else the database's."""
    return DatabaseLock(database, path.stem) if database.takes_turns else FileLock(path)


class FileLock:
    """A lock on a file, which the system releases when the process ends, however it ends.

    Its methods take microseconds, and never wait: a cancelled wait would lose the lock.
    """

    def __init__(self, path: Path) -> None:
        self.on_lost: Callable[[], None] = lambda: None
        self.tenure = 0
        self._path = path
        self._descriptor: int | None = None
        self._holds = 0

    @property
    def is_held(self) -> bool:
        """True if the lock is ours."""
        return self._holds > 0

    async def acquire(self) -> bool:
        """Take the lock if no other process or object holds it; return whether it is ours."""
        if self._descriptor is None:
            descriptor = self._open()
            if not try_lock(descriptor):
                os.close(descriptor)
                return False
            self._descriptor = descriptor
            self.tenure += 1
        self._holds += 1
        return True

    def _open(self) -> int:
        flags, mode = os.O_RDWR | os.O_CREAT, 0o600
        try:
            return os.open(self._path, flags, mode)
        except FileNotFoundError:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self._path, flags, mode)

    async def release(self) -> None:
        """Release it once."""
        self._holds -= 1
        if self._holds == 0 and self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class DatabaseLock:
    """A lock on a row, held by a lease that a task renews until the release; all times are the database's.

    A process that is killed holds it until the lease ends. One that can't renew it counts it as lost before that. A
    refused process asks again after a quarter of the lease.
    """

    def __init__(self, database: Database, name: str, lease: timedelta = LEASE) -> None:
        self.on_lost: Callable[[], None] = lambda: None
        self.tenure = 0
        self._database = database
        self._name = name
        self._lease = lease
        self._turn = f"process lock {name}"
        self._holder = new_id()
        self._holds = 0
        self._ends_at = 0.0
        self._asks_at = 0.0
        self._renewal: asyncio.Task[None] | None = None

    @property
    def is_held(self) -> bool:
        """True if the lock is ours."""
        return self._holds > 0 and monotonic() < self._ends_at

    async def acquire(self) -> bool:
        """Take the lock if nobody else holds it; return whether it is ours."""
        if not self.is_held:
            if monotonic() < self._asks_at or not await self._set_lease(self._take):
                return False
            self.tenure += 1
            self._renewal = self._renewal or asyncio.create_task(self._renew(), name=f"lease of {self._name}")
        self._holds += 1
        return True

    async def release(self) -> None:
        """Release it once. Without the database, others get it when the lease ends."""
        self._holds -= 1
        if self._holds or self._renewal is None:
            return
        self._renewal.cancel()
        self._renewal, self._ends_at = None, 0.0
        try:
            with anyio.move_on_after(RELEASE_SECONDS, shield=True):
                await self._database.change(self._end, turns=(self._turn,))
        except StorageFailureError as error:
            logger.warning("The lock %s could not be released; it ends by itself: %s", self._name, error)

    async def _renew(self) -> None:
        pause = between = self._lease.total_seconds() / RENEWALS
        while True:
            await asyncio.sleep(pause)
            try:
                is_ours, pause = await self._set_lease(self._prolong), between
            except StorageFailureError as error:
                logger.warning("The lock %s could not be renewed: %s", self._name, error)
                is_ours, pause = monotonic() < self._ends_at, between / ATTEMPTS
            if not is_ours:
                self._ends_at = 0.0
                self._renewal = None
                logger.warning("The lock %s is lost.", self._name)
                self.on_lost()
                return

    async def _set_lease(self, change: SessionWork[bool]) -> bool:
        """Return whether the change gave a lease; it counts from before the question, so that it ends early."""
        asked_at = monotonic()
        has_it = await self._database.change(change, turns=(self._turn,))
        if has_it:
            self._ends_at = asked_at + (self._lease - min(MARGIN, self._lease / QUESTIONS)).total_seconds()
        else:
            self._asks_at = asked_at + self._lease.total_seconds() / QUESTIONS
        return has_it

    async def _take(self, session: AsyncSession) -> bool:
        row = ProcessLockRow
        new = insert(row).values(name=self._name, holder=self._holder, ends_at=self._next_end)
        is_free = or_(row.holder == self._holder, row.ends_at < func.clock_timestamp())
        values = {"holder": new.excluded.holder, "ends_at": new.excluded.ends_at}
        taken = new.on_conflict_do_update(index_elements=[row.name], set_=values, where=is_free)
        return await session.scalar(taken.returning(row.name)) is not None

    async def _prolong(self, session: AsyncSession) -> bool:
        prolonged = update(ProcessLockRow).where(*self._is_own).values(ends_at=self._next_end)
        return await session.scalar(prolonged.returning(ProcessLockRow.name)) is not None

    async def _end(self, session: AsyncSession) -> None:
        await session.execute(delete(ProcessLockRow).where(*self._is_own))

    @property
    def _is_own(self) -> tuple[ColumnElement[bool], ...]:
        return ProcessLockRow.name == self._name, ProcessLockRow.holder == self._holder

    @property
    def _next_end(self) -> ColumnElement[datetime]:
        return func.clock_timestamp() + cast(literal(self._lease), Interval)
