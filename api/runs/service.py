"""Runs: only this module starts, stops and recovers them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from api.authority import key_of, require_scopes
from api.drive import ChatPlace, Principal
from api.errors import ModelNotAllowedError, RunFinishedError, ShuttingDownError
from api.events.frames import NEW_EVENT, Event, Frame, encode, frame_to_row
from api.runs.execution import Execution, RunParked, RunServices
from api.runs.history import RunHistory
from api.runs.live_states import LiveState
from api.runs.versions import Replaced, leave_branch
from api.storage.notices import CANCEL, NEW_EVENTS, WAKE
from api.storage.patience import pauses
from api.storage.replicas import OwnRun, RunLostError
from api.storage.tables import RUNNING, WAITING, RunRow, new_id, table_of, values_of
from api.thread_words import NEW_WORDS, first_words
from api.threads import open_thread, refuse_if_busy
from drive_server.kernel.errors import StorageFailureError
from graph.events.definitions import EVENTS
from graph.state import Mode

logger = logging.getLogger(__name__)

Started = tuple[Execution, asyncio.Task[None]]
Beside = Callable[[Connection, RunRow], object]

ADMINISTRATOR = "administrator"
REVOCATION = "revoked key"
"""Stands for the key of who ends a run in somebody's place."""
CANCEL_SECONDS = 5.0
STOP_SECONDS = 2.0
STORE_ATTEMPTS = 3
EXPIRED_AT_ONCE = 16
EXPIRY_SECONDS = 10.0
MAX_SLEEP = timedelta(hours=1)
MAX_SHARED_SLEEP = timedelta(seconds=30)
"""Among several processes: one that died may have known of an approval whose time is up before."""
NEW_RUN = insert(table_of(RunRow))
NUMBER = select(func.max(RunRow.number)).where(RunRow.thread_id == bindparam("thread"))


class Runs(RunHistory):
    """The runs that are at work, each in a task of its own that no client's connection can end.

    A run that waits for a person is in no task: its answer, its cancel or its expiry takes it up. Among several
    processes a run is its owner's alone: the others pass requests on to that one.
    """

    def __init__(self, services: RunServices) -> None:
        super().__init__(services)
        self._tasks: dict[str, Started] = {}
        self._wakes: dict[str, asyncio.Task[None]] = {}
        self._starting: set[str] = set()
        self._replica = services.replica
        self._closing = False
        self.is_calm = False
        """Whether no process had a run at work at the last look."""

        self._taking_up = asyncio.Lock()
        self._parked = asyncio.Event()
        services.approvals.on_closed = services.plans.on_changed = self._on_answer

    @property
    def active(self) -> int:
        """The number of runs that are in a task of this process."""
        return len(self._tasks)

    async def start(
        self,
        caller: Principal,
        message: str,
        place: ChatPlace | None,
        *,
        thread_id: str | None,
        assistant_id: str | None = None,
        mode: Mode = "attended",
        time_zone: str = "",
        model: str | None = None,
        replaced: Replaced | None = None,
        instructions: str = "",
        beside: Beside | None = None,
        creates_thread: bool = False,
    ) -> RunRow:
        """Accept a message and begin its run. When this returns, both outlive a crash.

        A `model` and an assistant become the thread's. As another version of a message it begins a branch of the
        thread, and without a `place` it has that of the replaced run. The `instructions` are the assistant's in this
        run alone, beside its own. `beside` stores more in the transaction that begins the run; `creates_thread`, if
        there is no thread of that id yet.

        Raises `ModelNotAllowedError` for one that the operator does not allow, `NotFoundError` for a thread or an
        assistant that is not the caller's, `ThreadBusyError`, `ApprovalPendingError`, and the drive's errors for a
        place that the caller can't see.
        """
        if self._closing:
            raise ShuttingDownError
        if model and not self._services.graph.allows_model(model):
            raise ModelNotAllowedError(model=model)
        located = (await self._services.drive.locate(caller, place)).to_json() if place else None
        run = RunRow(
            id=new_id(),
            user_id=caller.user_id,
            email=caller.email,
            scopes=sorted(str(scope) for scope in caller.scopes),
            key_id=caller.key_id,
            assistant_id=assistant_id or "",
            message=message,
            instructions=instructions,
            mode=mode,
            time_zone=time_zone,
            model=model or "",
            place=located or (replaced.run.place if replaced else ChatPlace().to_json()),
            status=RUNNING,
            cancel_requested=False,
            owner=self._replica.id,
            starts=1,
            stops=0,
        )
        if replaced:
            before = replaced.run
            run.replaces, run.version_of = before.id, before.version_of or before.id
            run.base_checkpoint = replaced.branch.base
        self._starting.add(run.id)
        try:
            first = await self._store(caller, run, thread_id, replaced, beside, creates=creates_thread)
            logger.info("run %s: begun on thread %s by user %s", run.id, run.thread_id, run.user_id)
            self._services.log.open(run.id, [first], run.starts)
            self._launch(Execution(run, self._services))
        finally:
            self._starting.discard(run.id)
        return run

    def live_state(self, run_id: str) -> LiveState | None:
        """Return the state that a run which is in a task of this process has, and will have; None for any other."""
        active = self._tasks.get(run_id)
        return active[0].live if active else None

    async def follow(
        self, run_id: str, after: int, idle_seconds: float, *, with_steps: bool = False
    ) -> AsyncGenerator[list[Frame]]:
        """Yield the run's events after a number, up to its last; an empty list after `idle_seconds` without one.

        `with_steps`: an empty list too when its live state is another one.
        """
        is_alone = not self._replica.is_shared
        if is_alone and run_id not in self._tasks and (run_id in self._wakes or await self._is_parked(run_id)):
            await self._services.log.reopen(run_id)
        followed = self._services.log.follow(run_id, after, idle_seconds, with_steps=with_steps)
        async with aclosing(followed) as batches:
            async for frames in batches:
                yield frames

    async def _is_parked(self, run_id: str) -> bool:
        async with self._services.database.read() as session:
            return await session.scalar(select(RunRow.status).where(RunRow.id == run_id)) == WAITING

    async def cancel(self, caller: Principal, run_id: str) -> bool:
        """Stop a run; True once it has ended, else False. Raises `RunFinishedError` if it had ended before.

        A key may stop only runs whose scopes it has: `MissingScopeError` otherwise.
        """
        async with self._taking_up:
            run = await self.get(caller, run_id)
            require_scopes(caller, run.scopes)
            if run.finished_at is not None:
                raise RunFinishedError(run_id=run_id, status=run.status)
            active = self._tasks.get(run_id)
            if active is None:
                await self._note_cancel(run_id, key_of(caller))
                run.cancel_requested, run.cancel_key = True, key_of(caller)
                claimed = await self._replica.claim(run)
                active = await self._recover_run(claimed) if claimed else None
        if active is None:
            await self._replica.tell(CANCEL, run_id)
            await self._services.log.until_ended(run_id, CANCEL_SECONDS)
        else:
            await self._cancel(caller, *active)
        run = await self.get(caller, run_id)
        if run.finished_at is not None and run.status != "cancelled":
            raise RunFinishedError(run_id=run_id, status=run.status)
        return run.finished_at is not None

    async def _cancel(self, caller: Principal, execution: Execution, task: asyncio.Task[None]) -> None:
        """Stop a run that is at work here, and wait for its end."""
        if not execution.is_finishing and not execution.cancelled_by:
            execution.cancelled_by, execution.cancel_key = caller.email, key_of(caller)
            await self._note_cancel(execution.run.id, key_of(caller))
            if not execution.is_finishing:
                task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)

    async def end_all(self, user_id: str) -> None:
        """End all runs of a person whose account was disabled or removed."""
        await self._end(ADMINISTRATOR, RunRow.user_id == user_id)

    async def end_of_key(self, user_id: str, key_id: str) -> None:
        """End all runs that a key or a browser session began, which was revoked."""
        await self._end(REVOCATION, RunRow.user_id == user_id, RunRow.key_id == key_id)

    async def _end(self, by: str, *which: ColumnElement[bool]) -> None:
        query = select(RunRow).where(*which, RunRow.finished_at.is_(None))
        async with self._services.database.read() as session:
            runs = list(await session.scalars(query))
        for run in runs:
            caller = Principal(run.user_id, run.email, frozenset(run.scopes), by)
            with suppress(RunFinishedError):
                await self.cancel(caller, run.id)
        if runs or by == ADMINISTRATOR:
            await self._drop_ended()

    async def _drop_ended(self) -> None:
        """Stop the work here for runs that another process ended or removed; their followers read the end there."""
        held = {*self._tasks, *self._services.log.open_runs()}
        query = select(RunRow.id).where(RunRow.id.in_(held), RunRow.finished_at.is_(None))
        async with self._services.database.read() as session:
            ended = held - {*await session.scalars(query)}
        for run_id in ended:
            active = self._tasks.get(run_id)
            if active is None:
                self._services.log.close(run_id)
            elif not active[0].is_finishing:
                active[0].cancelled_by = active[0].run.email
                active[1].cancel()

    async def recover(self) -> int:
        """Continue the runs that were at work in an earlier process; return their number.

        One that waits for a person stays a row until it is answered, cancelled or its time is up.
        """
        runs = await self._replica.recover()
        for run in runs:
            logger.info("recovering run %s (%s)", run.id, run.status)
            await self._recover_run(run)
        return len(runs)

    async def look(self) -> bool:
        """Show the other processes that this one is alive, take over runs of dead ones, and carry out rows' requests.

        Return whether there may be more to take over.
        """
        here = {*self._tasks, *self._services.log.open_runs()}
        found = await self._replica.look(here)
        self.is_calm = found.is_calm and not here
        for run in found.taken:
            logger.info("taking over run %s (%s)", run.id, run.status)
            await self._take_up(run.id)
        for run in found.owned:
            if run.cancel_requested:
                await self._cancel_here(run)
            elif run.is_running and run.id not in self._tasks:
                self._wake(run.id)
        for run_id in here - {run.id for run in found.owned}:
            self.lose(run_id)
        await self._services.log.look_elsewhere()
        return bool(found.taken)

    def on_notice(self, kind: str, run_ids: Sequence[str]) -> bool:
        """Carry out the request of another process; return whether all rows should be looked at soon."""
        if kind == NEW_EVENTS:
            self._services.log.wake(run_ids)
            # Events of a run that this process believes to have: who has it stands in its row.
            return not self._services.log.open_runs().isdisjoint(run_ids)
        if kind == WAKE:
            for run_id in run_ids:
                self._on_answer(run_id, from_here=False)
            return False
        self._services.log.wake()
        return True

    def lose(self, run_id: str) -> None:
        """Stop the work for a run that another process has now; its followers here follow that one."""
        active = self._tasks.get(run_id)
        if active is None:
            self._services.log.close(run_id)
        elif not active[0].is_finishing:
            active[0].is_lost = True
            active[1].cancel()

    async def _cancel_here(self, run: OwnRun) -> None:
        """Stop a run of this process that was cancelled by way of another one."""
        active = self._tasks.get(run.id)
        if active is None:
            self._wake(run.id)
        elif not active[0].is_finishing and not active[0].cancelled_by:
            active[0].cancelled_by, active[0].cancel_key = run.email, run.cancel_key
            active[1].cancel()

    async def expire(self) -> None:
        """Take up each run whose approval expires, until cancelled."""
        clock = self._services.clock
        while True:
            # Before looking: a run that parks from now on is looked at in the next round.
            self._parked.clear()
            # One moment for both questions: a run that ends between them would be in neither answer.
            now = clock.now()
            moment = now + (MAX_SHARED_SLEEP if self._replica.is_shared else MAX_SLEEP)
            try:
                await self._expire_due(now)
                moment = min(await self._services.approvals.next_expiry(now) or moment, moment)
            except Exception:
                logger.exception("runs whose time is up could not be taken up; trying again")
                moment = now + timedelta(seconds=EXPIRY_SECONDS)
            await self._sleep_until(moment)

    async def _sleep_until(self, moment: datetime) -> None:
        """Return at the moment, or when another run waits: its time may be up before."""
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._parked.wait())]
        waits.append(asyncio.ensure_future(self._services.clock.sleep_until(moment)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _expire_due(self, now: datetime) -> None:
        waiting = await self._services.approvals.expired_runs(now)
        expired = [run_id for run_id in waiting if run_id not in self._tasks]
        for start in range(0, len(expired), EXPIRED_AT_ONCE):
            started = [await self._take_up(run_id) for run_id in expired[start : start + EXPIRED_AT_ONCE]]
            if tasks := [one[1] for one in started if one]:
                await asyncio.wait(tasks, timeout=EXPIRY_SECONDS)

    async def close(self) -> None:
        """Stop every run where it is; the next process recovers them."""
        self._closing = True
        stopped = list(self._tasks)
        tasks = [*self._wakes.values(), *(task for _, task in self._tasks.values())]
        for execution, _ in self._tasks.values():
            execution.is_stopping = True
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
        if tasks or self._replica.is_shared:
            await self._hand_over(stopped)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _store(
        self,
        caller: Principal,
        run: RunRow,
        thread_id: str | None,
        replaced: Replaced | None,
        beside: Beside | None,
        *,
        creates: bool,
    ) -> Frame:
        run.created_at = self._services.clock.now()

        def begin(connection: Connection) -> Frame:
            wanted = run.assistant_id or None
            opened = open_thread(
                connection, caller, thread_id, run.message, run.created_at, run.model, wanted, creates=creates
            )
            run.thread_id, run.model, run.assistant_id = opened.id, opened.model, opened.assistant_id
            is_new = opened.title is not None
            run.number = 1 if is_new else (connection.scalar(NUMBER, {"thread": run.thread_id}) or 0) + 1
            event: Event = {"type": "run", "run_id": run.id, "thread_id": run.thread_id}
            if replaced:
                leave_branch(connection, run.thread_id, replaced, run.message)
                clean = self._services.graph.link_filter(run.message).clean
                event = EVENTS["run"].filter_text({**event, "replaces": replaced.view}, clean)
            frame = Frame(1, "run", encode(event))
            connection.execute(NEW_RUN, values_of(run))
            connection.execute(NEW_WORDS, first_words(run, opened.title))
            connection.execute(NEW_EVENT, frame_to_row(run.id, frame))
            if beside:
                beside(connection, run)
            if self._services.choices:
                self._services.choices.read_ahead(connection, run)
            return frame

        for _ in range(STORE_ATTEMPTS - 1):
            with suppress(IntegrityError):
                return await self._services.database.write_sync(begin)
            # Another process began a run on the thread after this one looked; a thread has one active run at most.
            # If that run has ended since, the thread is free again.
            async with self._services.database.read() as session:
                await session.run_sync(refuse_if_busy, run.thread_id)
        return await self._services.database.write_sync(begin)

    async def _hand_over(self, run_ids: Sequence[str]) -> None:
        """Leave all runs to the next process, after the events of those that were at work."""
        try:
            if self._replica.is_shared:
                await self._flush(run_ids)
            await self._replica.release(run_ids)
        except StorageFailureError:
            logger.exception("a stop of %d runs counts as a crash", len(run_ids))

    async def _flush(self, run_ids: Sequence[str]) -> None:
        """Wait a moment until the events are stored; the next process makes those again that are not."""
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await asyncio.gather(*map(self._services.log.flush, run_ids), return_exceptions=True)
        except TimeoutError:
            logger.warning("%d runs are left to other processes before all of their events are stored", len(run_ids))

    async def _note_cancel(self, run_id: str, key: str) -> None:
        async with self._services.database.write() as session:
            await session.execute(
                update(RunRow).where(RunRow.id == run_id).values(cancel_requested=True, cancel_key=key)
            )

    def _on_answer(self, run_id: str, *, from_here: bool = True) -> None:
        """Take up a run whose answer came, at once or when its task has parked it; or tell its process."""
        if active := self._tasks.get(run_id):
            active[0].is_answered = True
        else:
            self._wake(run_id, tells=from_here)

    def _wake(self, run_id: str, *, tells: bool = False) -> None:
        if not self._closing and run_id not in self._wakes and run_id not in self._starting:
            wake = asyncio.create_task(self._take_up_at_last(run_id, tells=tells), name=f"wake {run_id}")
            self._wakes[run_id] = wake
            wake.add_done_callback(lambda _: self._wakes.pop(run_id))

    async def _take_up_at_last(self, run_id: str, *, tells: bool) -> None:
        """Take up a run; try again while the database fails, as nobody else takes it up."""
        for pause in pauses():
            try:
                if await self._take_up(run_id) is None and tells and self._replica.is_shared:
                    await self._replica.tell(WAKE, run_id)
                break
            except StorageFailureError:
                logger.warning("run %s can't be taken up; trying again in %.1f s", run_id, pause)
                await asyncio.sleep(pause)

    async def _take_up(self, run_id: str) -> Started | None:
        """Continue an unfinished run that is in no task; one caller at a time."""
        async with self._taking_up:
            if active := self._tasks.get(run_id):
                return active
            async with self._services.database.read() as session:
                run = await session.get(RunRow, run_id)
            if run is None or run.finished_at is not None or self._closing:
                return None
            claimed = await self._replica.claim(run)
            return await self._recover_run(claimed) if claimed else None

    async def _recover_run(self, run: RunRow) -> Started:
        await self._services.log.reopen(run.id, run.starts)
        return self._launch(Execution(run, self._services, recovered=True))

    def _launch(self, execution: Execution) -> Started:
        run_id = execution.run.id
        if self._services.choices:
            self._services.choices.begin(execution.run)
        task = asyncio.create_task(self._perform(execution), name=f"run {run_id}")
        self._tasks[run_id] = (execution, task)
        return self._tasks[run_id]

    async def _perform(self, execution: Execution) -> None:
        """Perform a run, or a part of it up to a question; from then on it is in no task."""
        run_id = execution.run.id
        try:
            await execution.perform()
        except RunParked:
            execution.live.drop()
            self._services.log.park(run_id)
            self._parked.set()
            if execution.is_answered:
                self._wake(run_id)
        except RunLostError:
            execution.is_lost = True
        except asyncio.CancelledError:
            if not execution.is_lost:
                raise
        except Exception:
            logger.exception("run %s could not be brought to an end", run_id)
            self._services.log.close(run_id)
        finally:
            if execution.is_lost:
                execution.live.drop()
                logger.warning("run %s: another process has it", run_id)
                self._services.graph.end_calls(run_id)
                self._services.log.close(run_id)
            else:
                self._replica.let_go(run_id)
            if self._services.choices:
                self._services.choices.end(run_id)
            # Here, not when the task is over: a cancel in between would reach nobody.
            del self._tasks[run_id]
