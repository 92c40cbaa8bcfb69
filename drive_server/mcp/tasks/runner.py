"""Works on tasks in the background: new ones, and those that another process has abandoned."""

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import anyio

from drive_server.kernel.errors import NotFoundError, UnavailableError
from drive_server.services.tasks import CANCELLED, COMPLETED, FAILED, WORKING, Task, TaskService, already_over

logger = logging.getLogger(__name__)

MAX_AT_ONCE: Final = 4
TICK_SECONDS: Final = 1.0
RENEWALS_PER_LEASE: Final = 3
CANCEL_SECONDS: Final = 30
RELEASE_SECONDS: Final = 2
WAITS: Final = "Waiting for its turn."
AT_WORK: Final = "At work."
STOPPED: Final = "Cancelled; nothing was changed."


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a call: `result` is JSON, `message` one sentence."""

    is_error: bool
    message: str
    result: dict[str, Any]


@dataclass(eq=False, slots=True)
class Work:
    """A task in this process. `message` says how far it is; it is nowhere else, since the database is at work."""

    task: Task
    message: str = WAITS
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, done: int, total: int) -> None:
        """Take note of progress; fits `services.progress.Progress`."""
        await anyio.lowlevel.checkpoint()
        self.message = f"{done:,} of {total:,} done."


Perform = Callable[[Work], Awaitable[Ending]]
WasDone = Callable[[Task], Awaitable[bool]]
Notify = Callable[[Task], None]


class TaskRunner:
    """Does the work of tasks, a few at once, and ends it when it is cancelled.

    `perform` makes the call and never raises one of the drive's errors; it does nothing twice. `was_done` says whether
    it was recorded. `notify` is called with each task that has ended here.
    """

    def __init__(self, tasks: TaskService, perform: Perform, was_done: WasDone, notify: Notify) -> None:
        self._tasks = tasks
        self._perform = perform
        self._was_done = was_done
        self._notify = notify
        self._at_work: dict[str, Work] = {}
        self._limiter = anyio.Semaphore(MAX_AT_ONCE)
        self._new: deque[Work] = deque()
        self._woken = anyio.Event()

    def start(self, task: Task) -> None:
        """Work on the task from now on, which this process holds."""
        if task.id not in self._at_work:
            work = self._at_work[task.id] = Work(task)
            self._new.append(work)
            self._woken.set()

    def message_of(self, task: Task) -> str:
        """Return how far the task is, as far as this process knows."""
        work = self._at_work.get(task.id)
        return work.message if work is not None and not task.is_over else task.message

    async def ended(self, task: Task) -> Task:
        """Return the task once it is over. Raises `NotFoundError` if it has expired then."""
        while not task.is_over:
            work = self._at_work.get(task.id)
            if work is not None:
                await work.over.wait()
            else:
                await anyio.sleep(TICK_SECONDS)
            task = await self._tasks.get(task.order.user_id, task.id)
        return task

    async def cancel(self, task: Task) -> Task:
        """Stop the task and return it as it is then.

        Raises `StateConflictError` if it has ended, also if it ended before it could be stopped, and
        `UnavailableError` if the process that works on it does not stop in time.
        """
        if task.is_over:
            raise already_over()
        work = self._at_work.get(task.id)
        if work is not None:
            work.scope.cancel()
        else:
            await self._tasks.request_cancel(task)
            await self._take_abandoned()
        with anyio.move_on_after(CANCEL_SECONDS):
            task = await self.ended(task)
        if task.status == WORKING:
            raise UnavailableError("The task could not be stopped yet.", hint="It ends soon; look at it again.")
        if task.status != CANCELLED:
            raise already_over()
        return task

    async def run(self) -> None:
        """Work until cancelled; unfinished tasks are left to the next process."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._maintain)
                while True:
                    while self._new:
                        group.start_soon(self._work_on, self._new.popleft())
                    self._woken = anyio.Event()
                    await self._woken.wait()
        finally:
            # Without it their leases run out, a little later.
            with anyio.move_on_after(RELEASE_SECONDS, shield=True):
                await self._tasks.release(tuple(self._at_work))

    async def _work_on(self, work: Work) -> None:
        try:
            with work.scope:
                async with self._limiter:
                    work.message = AT_WORK
                    await self._end(work, await self._perform(work))
            if work.scope.cancelled_caught:
                with anyio.CancelScope(shield=True):
                    await self._stopped(work)
        except Exception:
            # Its lease runs out, and it is taken up again.
            logger.exception("A task could not be brought to its end.")
        self._at_work.pop(work.task.id, None)
        work.over.set()

    async def _end(self, work: Work, ending: Ending) -> None:
        with anyio.CancelScope(shield=True):
            status = FAILED if ending.is_error else COMPLETED
            if await self._tasks.end(work.task, status, ending.message, ending.result):
                await self._notify_ended(work.task)

    async def _stopped(self, work: Work) -> None:
        """Write down that the task was cancelled, unless all of it had been done by then."""
        if await self._was_done(work.task):
            await self._end(work, await self._perform(work))
        elif await self._tasks.end(work.task, CANCELLED, STOPPED, None):
            await self._notify_ended(work.task)

    async def _notify_ended(self, task: Task) -> None:
        try:
            self._notify(await self._tasks.get(task.order.user_id, task.id))
        except NotFoundError:
            return  # it was kept no longer than it took

    async def _maintain(self) -> None:
        """Keep the leases, take tasks that nobody works on, and stop those that another process was asked to cancel."""
        every, due = self._tasks.lease.total_seconds() / RENEWALS_PER_LEASE, 0.0
        while True:
            try:
                if self._at_work:
                    await self._stop_cancelled()
                if monotonic() >= due:
                    due = monotonic() + every
                    if self._at_work:
                        await self._tasks.renew(tuple(self._at_work))
                    await self._take_abandoned()
            except Exception:
                logger.exception("The tasks could not be looked after; it is tried again.")
            await anyio.sleep(TICK_SECONDS)

    async def _stop_cancelled(self) -> None:
        for task_id in await self._tasks.to_be_cancelled(tuple(self._at_work)):
            if (work := self._at_work.get(task_id)) is not None:
                work.scope.cancel()

    async def _take_abandoned(self) -> None:
        for task in await self._tasks.take_abandoned():
            self.start(task)
        if self._at_work:
            await self._stop_cancelled()
