"""The processes that share the runs of one database: which of them has a run, and which are alive.

A row of `runs` names its owner, and `starts` counts the processes that took it up. Both together are the fence: each
write of a run checks them in its own transaction, so a process that was stopped, and wakes when another one has the
run, writes nothing. Times are the database's: the clocks of the machines don't matter. A file of SQLite has one
process, which owns all runs of it: there is nothing to check.

An engine of jobs in its place would add a second truth, and save little. pgqueuer 1.6 has no fence, so the owner and
all checks would stay, and its heartbeats come beside ours; a job of it took six transactions when it was tried alone.
This module, `notices.py` and `runs/sharing.py` would lose the statement that takes the runs of the dead, and `LISTEN`.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Select,
    and_,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from api.storage.notices import LEFT, notice_statement, own_channel
from api.storage.tables import RUNNING, ReplicaRow, RunRow, new_id, table_of
from drive_server.kernel.sql.database import Database

HEARTBEAT_SECONDS: Final = 1.5
DEAD_SECONDS: Final = 5.0
"""A process without a heartbeat for so long is dead: at most 6.5 s after it was killed, another one has its runs."""
CALM_BEATS: Final = 2
"""While no process has a run at work, a heartbeat comes after so many times that pause: nobody could be taken over."""
FORGOTTEN_SECONDS: Final = 86_400.0
CLAIMED_AT_ONCE: Final = 50
"""So that several processes share the runs of one that died."""

_RUNS: Final = table_of(RunRow)
_REPLICAS: Final = table_of(ReplicaRow)
_LIVES: Final = exists().where(
    _REPLICAS.c.id == _RUNS.c.owner, _REPLICAS.c.seen_at > func.now() - timedelta(seconds=DEAD_SECONDS)
)
_UNFINISHED: Final = _RUNS.c.finished_at.is_(None)
_AT_WORK: Final = or_(_RUNS.c.status == RUNNING, _RUNS.c.cancel_requested)
_IS_ANY_AT_WORK: Final = exists().where(_UNFINISHED, _AT_WORK)
_OWN: Final = select(
    _RUNS.c.id, _RUNS.c.email, _RUNS.c.status == RUNNING, _RUNS.c.cancel_requested, _RUNS.c.cancel_key
).where(_UNFINISHED)


class NotOwnerError(Exception):
    """Another process has taken the run up, or ended it: nothing of the entry was stored."""


class RunLostError(NotOwnerError):
    """The fence refused a write, and counted that."""


@dataclass(slots=True)
class Claim:
    """The right of this process to write for a run, as long as the run's row has this owner and this `starts`.

    `number` is the run's in its thread. `must_announce`: another process may still write checkpoints of the thread.
    """

    replica: "Replica"
    run_id: str
    thread_id: str
    number: int
    starts: int
    must_announce: bool

    def refuse(self) -> None:
        """Count a refusal. Raises `RunLostError`."""
        self.replica.on_refusal()
        raise RunLostError


CLAIM: Final = ContextVar[Claim | None]("claim", default=None)
"""The claim of the run that the task works for; None on SQLite, and for work of no run."""


async def require_claim(session: AsyncSession) -> None:
    """Hold the run of this task, if there is one, till the transaction's end. Raises `RunLostError`."""
    claim = CLAIM.get()
    if claim is None:
        return
    found = await session.execute(claim.replica.held_query([claim.run_id]))
    if [row.starts for row in found] != [claim.starts]:
        claim.refuse()


@dataclass(frozen=True, slots=True)
class OwnRun:
    """An unfinished run of this process, as far as its row may ask for something."""

    id: str
    email: str
    is_running: bool
    cancel_requested: bool
    cancel_key: str | None


@dataclass(frozen=True, slots=True)
class Look:
    """The runs of this process that are at work, or that it asked for, and those that this very look took over.

    It `is_calm` if no process had a run at work.
    """

    owned: Sequence[OwnRun]
    taken: Sequence[RunRow]
    is_calm: bool = False


async def _nothing(session: AsyncSession) -> None:
    del session


class Replica:
    """This process among those that share a database, if it `is_shared`.

    `on_refusal` is called for each write that the fence refuses, `on_take_over` for each run of a dead process.
    """

    def __init__(self, database: Database, *, is_shared: bool = True) -> None:
        self.id = new_id()
        self.is_shared = is_shared and database.takes_turns
        self.on_refusal: Callable[[], None] = lambda: None
        self.on_take_over: Callable[[], None] = lambda: None
        self.read_beside: Callable[[AsyncSession], Awaitable[None]] = _nothing
        """The reads that share the transaction of each look, such as the one of the drive's state."""
        self._database = database
        self._held: dict[str, int] = {}
        self._seen_at = float("-inf")

    def hold(self, run: RunRow, *, is_new: bool) -> Claim | None:
        """Note that the run is worked on here, and return the claim of its task."""
        if not self.is_shared:
            return None
        self._held[run.id] = run.starts
        return Claim(self, run.id, run.thread_id, run.number, run.starts, not is_new)

    def let_go(self, run_id: str) -> None:
        """Forget a run that ended or waits. One that was lost stays noted: its calls may still be under way."""
        self._held.pop(run_id, None)

    async def still_holds(self, session: AsyncSession, run_id: str) -> bool:
        """Say whether a call of a run that is worked on here may change something; other runs are none of ours."""
        starts = self._held.get(run_id)
        if starts is None:
            return True
        query = select(_RUNS.c.starts).where(_RUNS.c.id == run_id, _RUNS.c.owner == self.id)
        if await session.scalar(query) == starts:
            return True
        self.on_refusal()
        return False

    def held_query(self, run_ids: Collection[str]) -> Select[Any, Any]:
        """Return the query for id and `starts` of those runs that this process owns; it locks them."""
        own = _RUNS.c.id.in_(run_ids), _RUNS.c.owner == self.id, _UNFINISHED
        query = select(_RUNS.c.id, _RUNS.c.starts).where(*own).order_by(_RUNS.c.id)
        return query.with_for_update(key_share=True)

    def lost(self, connection: Connection, taken: Mapping[str, int]) -> frozenset[str]:
        """Return those of the runs, by the `starts` they were taken up with, that are not this process's any more.

        The others stay its own until the transaction ends.
        """
        if not (self.is_shared and taken):
            return frozenset()
        held = {row.id: row.starts for row in connection.execute(self.held_query(taken))}
        lost = frozenset(run_id for run_id, starts in taken.items() if held.get(run_id) != starts)
        for _ in lost:
            self.on_refusal()
        return lost

    def tell_in(self, connection: Connection, kind: str, run_ids: Sequence[str]) -> None:
        """Tell the other processes of something about the runs, if the transaction is committed."""
        if self.is_shared:
            for statement in notice_statement(kind, self.id, run_ids):
                connection.execute(statement)

    async def tell(self, kind: str, *run_ids: str) -> None:
        """Tell the other processes of something about the runs."""
        await self._database.write_sync(lambda connection: self.tell_in(connection, kind, run_ids))

    async def look(self, here: Collection[str] = ()) -> Look:
        """Show that this process is alive, take over the runs of dead ones, and return its own ones.

        Of those that wait, and may be many, only such as it names with `here`.
        """
        # After a long pause of the database, or of this process, the others may not have been seen either.
        may_take = monotonic() - self._seen_at < DEAD_SECONDS
        async with self._database.write() as session:
            is_calm = await self._beat(session)
            taken, crashed = await self._take_left(session) if may_take else ([], 0)
            owned = await session.execute(_OWN.where(_RUNS.c.owner == self.id, or_(_AT_WORK, _RUNS.c.id.in_(here))))
            look = Look([OwnRun(*row) for row in owned], taken, is_calm)
            await self.read_beside(session)
        self._seen_at = monotonic()
        self._count(crashed)
        return look

    async def begin(self) -> None:
        """Show that this process is alive, before it has a run."""
        if self.is_shared:
            async with self._database.write() as session:
                await self._beat(session)
                forgotten = _REPLICAS.c.seen_at < func.now() - timedelta(seconds=FORGOTTEN_SECONDS)
                await session.execute(delete(_REPLICAS).where(forgotten))
            self._seen_at = monotonic()

    async def recover(self) -> Sequence[RunRow]:
        """Return the runs that are this process's from now on: no living process has them."""
        if self.is_shared:
            return (await self.look()).taken
        async with self._database.write() as session:
            taken, crashed = await self._take_left(session)
        self._count(crashed)
        return taken

    async def claim(self, run: RunRow) -> RunRow | None:
        """Return an unfinished run as this process's own; None if a living one has it, or it ended."""
        if not self.is_shared or run.owner == self.id:
            return run
        unfinished = select(RunRow).where(RunRow.id == run.id, _UNFINISHED)
        # Who waits for the lock of a row gets it as it is then, but beside the replicas as they were before.
        free = unfinished.where(RunRow.owner == run.owner, RunRow.starts == run.starts, ~_LIVES)
        async with self._database.write() as session:
            found = [*await session.scalars(free.with_for_update(key_share=True))]
            crashed = self._take(found)
            # A look of this process may just have taken it.
            found = found or [*await session.scalars(unfinished.where(RunRow.owner == self.id))]
        self._count(crashed)
        return next(iter(found), None)

    async def release(self, stopped: Sequence[str]) -> None:
        """Give up all runs, of which `stopped` were at work: a stop that was asked for is no crash."""
        given = update(_RUNS).values(owner="", stops=_RUNS.c.stops + 1)
        async with self._database.write() as session:
            if self.is_shared:
                await session.execute(given.where(_RUNS.c.owner == self.id, _UNFINISHED))
                await session.execute(delete(_REPLICAS).where(_REPLICAS.c.id == self.id))
                for statement in notice_statement(LEFT, self.id, ()):
                    await session.execute(statement)
            else:
                await session.execute(given.where(_RUNS.c.id.in_(stopped), _UNFINISHED, _RUNS.c.status == RUNNING))

    async def _beat(self, session: AsyncSession) -> bool:
        """Show that this process is alive. Return whether no process has a run at work."""
        # Who hears its own notice knows that those of others arrive.
        told = func.pg_notify(own_channel(self.id), "")
        mine = update(_REPLICAS).where(_REPLICAS.c.id == self.id).values(seen_at=func.now())
        beaten = (await session.execute(mine.returning(_IS_ANY_AT_WORK, told))).first()
        if beaten is None:
            await session.execute(insert(_REPLICAS).values(id=self.id, seen_at=func.now()))
        return beaten is not None and not beaten[0]

    async def _take_left(self, session: AsyncSession) -> tuple[Sequence[RunRow], int]:
        """Take the runs at work that nobody has, and return them, and how many of them their owners did not release.

        Those that another process is just taking, or writing, are left.
        """
        query = select(RunRow).where(_UNFINISHED, _AT_WORK)
        if self.is_shared:
            free = select(_RUNS.c.id, _RUNS.c.owner, _RUNS.c.starts).where(_UNFINISHED, _AT_WORK, ~_LIVES)
            # Apart, and compared: a row that another process took meanwhile is locked as it is then, but its owner is
            # looked for among the replicas as they were before.
            seen = free.order_by(_RUNS.c.created_at).limit(CLAIMED_AT_ONCE).cte().prefix_with("MATERIALIZED")
            same = RunRow.id == seen.c.id, RunRow.owner == seen.c.owner, RunRow.starts == seen.c.starts
            query = query.join(seen, and_(*same)).order_by(RunRow.created_at)
            query = query.with_for_update(skip_locked=True, key_share=True, of=RunRow)
        runs = [*await session.scalars(query)]
        return runs, self._take(runs)

    def _take(self, runs: Sequence[RunRow]) -> int:
        """Make this process the owner of locked runs, with the commit of their session.

        Return how many were not released by their owners.
        """
        crashed = 0
        for run in runs:
            crashed += bool(run.owner)
            # One that waited was not at work when its process was killed.
            is_no_crash = bool(run.owner) and run.status != RUNNING
            run.owner, run.starts, run.stops = self.id, run.starts + 1, run.stops + is_no_crash
        return crashed

    def _count(self, crashed: int) -> None:
        """Count runs that were taken over, when that is committed."""
        for _ in range(crashed):
            self.on_take_over()
