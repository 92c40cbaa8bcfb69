"""Tasks: calls that go on after their answer, stored in the database, run once by the process with the lease."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import IdempotencyConflictError, NotFoundError, RateLimitError, StateConflictError
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.signing import Signer
from drive_server.kernel.sql.database import Database
from drive_server.models.base import Page
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.work import TaskRow

WORKING: Final = "working"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"
LEASE: Final = timedelta(minutes=1)
KEPT_FOR: Final = timedelta(days=1)
SHORTEST: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(days=7)
MAX_UNFINISHED: Final = 100
RETRY_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a task: a tool with its arguments, in the name of `caller`, with the `meta` of the call.

    `caller` and `meta` are JSON and mean nothing here. The work is done once for each user and `key`, empty: a new one.
    `kept_for` is how long the caller wants the task kept, from now on; None: as long as is usual.
    """

    user_id: str
    tool: str
    arguments: dict[str, Any]
    caller: dict[str, Any]
    meta: dict[str, Any]
    key: str = ""
    kept_for: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it is now. `result` is JSON, None before the end; `expires_at` is when an ended one is forgotten."""

    id: str
    order: Order
    status: str
    message: str
    result: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime

    @property
    def is_over(self) -> bool:
        """Return whether it has ended, also by failure or cancellation."""
        return self.status != WORKING


class TaskService:
    """The tasks of all users. A user sees their own: any other's is as if it did not exist."""

    def __init__(self, database: Database, signer: Signer, clock: Clock = utc_now, lease: timedelta = LEASE) -> None:
        self._database = database
        self._signer = signer
        self._clock = clock
        self.lease = lease
        self.worker = new_id()

    async def create(self, order: Order) -> tuple[Task, bool]:
        """Write the task down, for this process to work on; return it, and whether it is new.

        The task that was made with the same key is returned again. Raises `IdempotencyConflictError` if that is another
        one, and `RateLimitError` if the user has too many that are not over.
        """
        now = self._clock()
        task_id = new_id()
        kept_for = KEPT_FOR if order.kept_for is None else min(max(order.kept_for, SHORTEST), LONGEST)
        async with self._database.write() as session:
            existing = await _with_key(session, order)
            if existing is not None and not self._is_gone(existing):
                return _same(existing, order), False
            if existing is not None:
                await session.delete(existing)
                await session.flush()
            await self._require_room(session, order.user_id)
            row = TaskRow(
                id=task_id,
                user_id=order.user_id,
                caller=order.caller,
                tool=order.tool,
                arguments=order.arguments,
                meta=order.meta,
                idempotency_key=order.key or f"task-{task_id}",
                status=WORKING,
                status_message="",
                cancel_requested=False,
                worker=self.worker,
                lease_until=now + self.lease,
                created_at=now,
                updated_at=now,
                expires_at=now + kept_for,
            )
            session.add(row)
        return _task(row), True

    async def find(self, order: Order) -> Task | None:
        """Return the task that was made with this key. Raises `IdempotencyConflictError` if that is another one."""
        if not order.key:
            return None
        existing = await self._database.look(lambda session: _with_key(session, order))
        return None if existing is None or self._is_gone(existing) else _same(existing, order)

    async def get(self, user_id: str, task_id: str) -> Task:
        """Return a task of the user. Raises `NotFoundError` for any other, and for one that has expired."""
        row = await self._database.look(lambda session: session.get(TaskRow, task_id))
        if row is None or row.user_id != user_id or self._is_gone(row):
            raise NotFoundError("There is no such task.", hint="List your tasks; those that are over expire.")
        return _task(row)

    async def list_tasks(self, user_id: str, limit: int, cursor: str | None = None) -> Page[Task]:
        """Return the user's tasks, newest first. Raises `InvalidCursorError` for a cursor that is not of this list."""
        cursors = Cursors(self._signer, user_id, "tasks")
        query = select(TaskRow).where(TaskRow.user_id == user_id, self._is_here())
        if cursor is not None:
            at, task_id = cursors.decode(cursor, str, str)
            created = datetime.fromisoformat(at)
            query = query.where(
                or_(TaskRow.created_at < created, and_(TaskRow.created_at == created, TaskRow.id < task_id))
            )

        async def work(session: AsyncSession) -> Sequence[TaskRow]:
            newest = query.order_by(TaskRow.created_at.desc(), TaskRow.id.desc()).limit(limit + 1)
            return (await session.scalars(newest)).all()

        rows = await self._database.look(work)
        shown = rows[:limit]
        more = cursors.encode(shown[-1].created_at.isoformat(), shown[-1].id) if len(rows) > limit else None
        return Page(tuple(_task(row) for row in shown), more)

    async def request_cancel(self, task: Task) -> None:
        """Have the process that works on the task stop. Raises `StateConflictError` if it is over already."""

        async def work(session: AsyncSession) -> None:
            asked = (
                update(TaskRow).where(TaskRow.id == task.id, TaskRow.status == WORKING).values(cancel_requested=True)
            )
            if not _count(await session.execute(asked)):
                raise already_over()

        await self._database.change(work)

    async def to_be_cancelled(self, ids: Collection[str]) -> list[str]:
        """Return which of the tasks are to be stopped: those that were asked to, and those whose person was removed."""

        async def work(session: AsyncSession) -> list[str]:
            going_on = select(TaskRow.id).where(TaskRow.id.in_(ids), TaskRow.cancel_requested.is_(False))
            return sorted(set(ids) - set(await session.scalars(going_on)))

        return await self._database.look(work)

    async def end(self, task: Task, status: str, message: str, result: dict[str, Any] | None) -> bool:
        """Record how the task ended; return False if it ended before."""
        conditions = [TaskRow.id == task.id, TaskRow.status == WORKING]
        if status != COMPLETED:
            conditions.append(TaskRow.worker == self.worker)
        ended = {"status": status, "status_message": message, "result": result, "updated_at": self._clock()}

        async def work(session: AsyncSession) -> bool:
            done = update(TaskRow).where(*conditions).values(**ended, worker=None, lease_until=None)
            return _count(await session.execute(done)) > 0

        return await self._database.change(work)

    async def renew(self, ids: Collection[str]) -> None:
        """Keep the tasks for this process for another lease."""
        mine = update(TaskRow).where(TaskRow.id.in_(ids), TaskRow.worker == self.worker, TaskRow.status == WORKING)

        async def work(session: AsyncSession) -> None:
            await session.execute(mine.values(lease_until=self._clock() + self.lease))

        await self._database.change(work)

    async def release(self, ids: Collection[str]) -> None:
        """Let any process take the tasks: this one stops."""
        mine = update(TaskRow).where(TaskRow.id.in_(ids), TaskRow.worker == self.worker, TaskRow.status == WORKING)

        async def work(session: AsyncSession) -> None:
            await session.execute(mine.values(worker=None, lease_until=None))

        await self._database.change(work)

    async def take_abandoned(self) -> Sequence[Task]:
        """Take the tasks that no process works on, oldest first, and return them."""

        async def work(session: AsyncSession) -> Sequence[str]:
            abandoned = (
                select(TaskRow.id).where(*self._is_abandoned()).order_by(TaskRow.created_at).limit(MAX_UNFINISHED)
            )
            return (await session.scalars(abandoned)).all()

        ids = await self._database.look(work)
        return [task for task_id in ids if (task := await self._take(task_id)) is not None]

    async def expire(self) -> int:
        """Remove expired tasks; return how many."""
        over = delete(TaskRow).where(TaskRow.status != WORKING, TaskRow.expires_at <= self._clock())

        async def work(session: AsyncSession) -> int:
            return _count(await session.execute(over))

        return await self._database.change(work)

    async def _take(self, task_id: str) -> Task | None:
        lease = {"worker": self.worker, "lease_until": self._clock() + self.lease}
        async with self._database.write() as session:
            # Asked again: another process may have been faster.
            taken = update(TaskRow).where(TaskRow.id == task_id, *self._is_abandoned()).values(**lease)
            if not _count(await session.execute(taken)):
                return None
            row = await session.get_one(TaskRow, task_id)
        return _task(row)

    def _is_abandoned(self) -> tuple[ColumnElement[bool], ...]:
        free: ColumnElement[bool] = or_(TaskRow.lease_until.is_(None), TaskRow.lease_until <= self._clock())
        return TaskRow.status == WORKING, free

    def _is_here(self) -> ColumnElement[bool]:
        return or_(TaskRow.status == WORKING, TaskRow.expires_at > self._clock())

    def _is_gone(self, row: TaskRow) -> bool:
        return row.status != WORKING and row.expires_at is not None and row.expires_at <= self._clock()

    async def _require_room(self, session: AsyncSession, user_id: str) -> None:
        unfinished = select(func.count()).where(TaskRow.user_id == user_id, TaskRow.status == WORKING)
        if (await session.scalar(unfinished) or 0) >= MAX_UNFINISHED:
            raise RateLimitError(
                f"{MAX_UNFINISHED} tasks of yours are not done yet, and you can have no more at once.",
                hint="Wait until some are done, or cancel some.",
                details={"limit": MAX_UNFINISHED, "retry_after_seconds": RETRY_SECONDS},
            )


def already_over() -> StateConflictError:
    """Return the error for a task that can't be cancelled any more."""
    return StateConflictError("The task is over already.", hint="Ask for its result.")


async def _with_key(session: AsyncSession, order: Order) -> TaskRow | None:
    query = select(TaskRow).where(TaskRow.user_id == order.user_id, TaskRow.idempotency_key == order.key)
    return await session.scalar(query) if order.key else None


def _same(row: TaskRow, order: Order) -> Task:
    if (row.tool, row.arguments) != (order.tool, order.arguments):
        raise IdempotencyConflictError(
            "This idempotency key was used for another task.", hint="Use a new key for a new call."
        )
    return _task(row)


def _task(row: TaskRow) -> Task:
    assert row.expires_at is not None  # noqa: S101 - given to every task when it is made
    order = Order(
        user_id=row.user_id,
        tool=row.tool,
        arguments=row.arguments,
        caller=row.caller,
        meta=row.meta,
        key=row.idempotency_key,
        kept_for=row.expires_at - row.created_at,
    )
    return Task(
        row.id, order, row.status, row.status_message, row.result, row.created_at, row.updated_at, row.expires_at
    )


def _count(found: Any) -> int:
    return found.rowcount
