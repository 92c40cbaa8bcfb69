"""Runs: only this module starts, stops and recovers them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from api.authority import key_of, require_scopes
from api.drive import Place, Principal, RunChange, RunUndo
from api.errors import ModelNotAllowedError, NotFoundError, RunActiveError, RunFinishedError, ShuttingDownError
from api.events.frames import NEW_EVENT, Event, Frame, encode, frame_to_row, read_records, was_sent
from api.events.log import pauses
from api.metrics.counters import TAKE_OVERS
from api.runs.audit import RunAudit, read_audit
from api.runs.execution import Execution, RunParked, RunServices
from api.runs.pages import RunPage, read_page
from api.runs.versions import Replaced, find_replaced, leave_branch, read_versions, version_ids
from api.storage.tables import RUNNING, WAITING, RunRow, new_id, table_of, values_of
from api.thread_words import NEW_WORDS, first_words
from api.threads import open_thread, refuse_if_busy
from drive_server.errors import StorageFailureError
from graph.events.definitions import EVENTS
from graph.state import Mode

logger = logging.getLogger(__name__)

Started = tuple[Execution, asyncio.Task[None]]

ADMINISTRATOR = "administrator"
REVOCATION = "revoked key"
"""Stands for the key of who ends a run in somebody's place."""
CANCEL_SECONDS = 5.0
STOP_SECONDS = 2.0
STORE_ATTEMPTS = 3
EXPIRED_AT_ONCE = 16
EXPIRY_SECONDS = 10.0
LONGEST_SLEEP = timedelta(hours=1)
NEW_RUN = insert(table_of(RunRow))
NUMBER = select(func.max(RunRow.number)).where(RunRow.thread_id == bindparam("thread"))


class Runs:
    """The runs that are at work, each in a task of its own that no client's connection can end.

    A run that waits for a person is in no task: its answer, its cancel or its expiry takes it up.
    """

    def __init__(self, services: RunServices) -> None:
        self._services = services
        self._tasks: dict[str, Started] = {}
        self._wakes: dict[str, asyncio.Task[None]] = {}
        self._closing = False
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
        place: Place | None,
        *,
        thread_id: str | None,
        assistant_id: str | None = None,
        mode: Mode = "attended",
        time_zone: str = "",
        model: str | None = None,
        replaced: Replaced | None = None,
    ) -> RunRow:
        """Accept a message and begin its run. When this returns, both outlive a crash.

        A `model` and an assistant become the thread's. As another version of a message it begins a branch of the
        thread, and without a `place` it has that of the replaced run. Raises `ModelNotAllowedError` for one that the
        operator does not allow, `NotFoundError` for a thread or an assistant that is not the caller's,
        `ThreadBusyError`, `ApprovalPendingError`, and what the drive raises for a place that the caller can't see.
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
            mode=mode,
            time_zone=time_zone,
            model=model or "",
            place=located or (replaced.run.place if replaced else Place().to_json()),
            status=RUNNING,
            cancel_requested=False,
            starts=1,
        )
        if replaced:
            before = replaced.run
            run.replaces, run.version_of = before.id, before.version_of or before.id
            run.base_checkpoint = replaced.branch.base
        first = await self._store(caller, run, thread_id, replaced)
        logger.info("run %s: begun on thread %s by user %s", run.id, run.thread_id, run.user_id)
        self._services.log.open(run.id, [first])
        self._launch(Execution(run, self._services))
        return run

    async def find_replaced(self, caller: Principal, thread_id: str, message_id: str) -> Replaced:
        """Return the run of the last message of the caller's thread, for which `start` begins another version.

        Raises `NotFoundError`, `NotLastMessageError`, and `ThreadBusyError` and its like while a run works or waits.
        """
        return await find_replaced(self._services, caller, thread_id, message_id)

    async def versions(self, caller: Principal, thread_id: str, message_id: str) -> Sequence[RunRow]:
        """Return the runs of all versions of a message of the caller's thread, the first one first."""
        run = await self.get(caller, message_id)
        if run.thread_id != thread_id:
            raise NotFoundError("no_message")
        return await read_versions(self._services.database, run)

    async def version_ids(self, thread_id: str) -> dict[str, list[str]]:
        """Return the ids of all versions of each message of a thread that has several, by each of these ids."""
        return await version_ids(self._services.database, thread_id)

    async def page(
        self,
        caller: Principal,
        limit: int,
        cursor: str | None = None,
        *,
        thread_id: str | None = None,
        status: Sequence[str] = (),
    ) -> RunPage:
        """Return the caller's runs, newest first: of a thread, with one of these states, or all.

        Raises `InvalidCursorError` for a cursor of another list.
        """
        return await read_page(self._services.database, caller.user_id, limit, cursor, thread_id, status)

    async def get(self, caller: Principal, run_id: str) -> RunRow:
        """Return a run of the caller. Raises `NotFoundError`, also for somebody else's."""
        async with self._services.database.read() as session:
            run = await session.get(RunRow, run_id)
        if run is None or run.user_id != caller.user_id:
            raise NotFoundError("no_run")
        return run

    async def follow(self, run_id: str, after: int, idle_seconds: float) -> AsyncGenerator[list[Frame]]:
        """Yield the run's events after a number, up to its last; an empty list after `idle_seconds` without one."""
        if run_id not in self._tasks and (run_id in self._wakes or await self._is_parked(run_id)):
            await self._services.log.reopen(run_id)
        async with aclosing(self._services.log.follow(run_id, after, idle_seconds)) as batches:
            async for frames in batches:
                yield frames

    async def _is_parked(self, run_id: str) -> bool:
        async with self._services.database.read() as session:
            return await session.scalar(select(RunRow.status).where(RunRow.id == run_id)) == WAITING

    async def cancel(self, caller: Principal, run_id: str) -> bool:
        """Stop a run; True once it has ended, else False. Raises `RunFinishedError` if it had ended before.

        A key may stop only what it could have done itself: `MissingScopeError` otherwise.
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
            execution, task = active or await self._recover_run(run)
        if not execution.is_finishing and not execution.cancelled_by:
            execution.cancelled_by, execution.cancel_key = caller.email, key_of(caller)
            await self._note_cancel(run_id, key_of(caller))
            if not execution.is_finishing:
                task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)
        run = await self.get(caller, run_id)
        if run.finished_at is not None and run.status != "cancelled":
            raise RunFinishedError(run_id=run_id, status=run.status)
        return run.finished_at is not None

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

    async def changes(self, caller: Principal, run_id: str) -> tuple[RunChange, ...]:
        """Return the changes that a run of the caller has made."""
        run = await self.get(caller, run_id)
        return await self._services.drive.changes(run.user_id, run.id)

    async def outside_calls(self, caller: Principal, run_id: str) -> list[dict[str, Any]]:
        """Return the records of a run's calls of the person's own servers that were sent."""
        run = await self.get(caller, run_id)
        calls = await read_records(self._services.database, run.id)
        return [updates[-1]["toolCall"] for updates in calls if was_sent(updates)]

    async def audit(self, caller: Principal, run_id: str) -> RunAudit:
        """Return the audit of a run of the caller."""
        run = await self.get(caller, run_id)
        return await read_audit(self._services.database, self._services.drive, run)

    async def undo(
        self, caller: Principal, run_id: str, *, preview: bool, change_id: int | None = None
    ) -> tuple[RunRow, RunUndo]:
        """Undo the changes of a run, or one of them. Raises `RunActiveError`, and `NotFoundError` for another's."""
        run = await self._finished(caller, run_id)
        if change_id is not None and all(change.id != change_id for change in await self.changes(caller, run_id)):
            raise NotFoundError("no_change")
        return run, await self._services.drive.undo(caller, [run.id], change_id, preview=preview)

    async def redo(self, caller: Principal, run_id: str, *, preview: bool) -> tuple[RunRow, RunUndo]:
        """Redo the undone changes of a run. Raises `RunActiveError` while it works or waits."""
        run = await self._finished(caller, run_id)
        return run, await self._services.drive.redo(caller, run.id, preview=preview)

    async def undo_thread(
        self, caller: Principal, thread_id: str, *, since_run: str | None, preview: bool
    ) -> tuple[RunRow, RunUndo]:
        """Undo, as one change, the changes of all runs of a thread, or of those from one on.

        Raises `RunActiveError`, and `NotFoundError` for a thread that is not the caller's or a run that is not its own.
        """
        query = select(RunRow).where(RunRow.thread_id == thread_id, RunRow.user_id == caller.user_id)
        async with self._services.database.read() as session:
            runs = list(await session.scalars(query.order_by(RunRow.number)))
        first = next((number for number, run in enumerate(runs) if since_run in (None, run.id)), None)
        if first is None:
            raise NotFoundError("no_thread_or_run")
        active = next((run.id for run in runs if run.finished_at is None), None)
        if active is not None:
            raise RunActiveError(run_id=active)
        wanted = [run.id for run in runs[first:]]
        return runs[-1], await self._services.drive.undo(caller, wanted, preview=preview)

    async def _finished(self, caller: Principal, run_id: str) -> RunRow:
        run = await self.get(caller, run_id)
        if run.finished_at is None:
            raise RunActiveError(run_id=run_id)
        return run

    async def recover(self) -> int:
        """Continue the runs that were at work in an earlier process; return their number.

        One that waits for a person stays a row until it is answered, cancelled or its time is up.
        """
        unfinished = RunRow.finished_at.is_(None)
        working = unfinished, or_(RunRow.status == RUNNING, RunRow.cancel_requested)
        counted = update(RunRow).where(unfinished, RunRow.status == RUNNING).values(starts=RunRow.starts + 1)
        async with self._services.database.write() as session:
            await session.execute(counted)
            runs = list(await session.scalars(select(RunRow).where(*working)))
        for run in runs:
            logger.info("recovering run %s (%s)", run.id, run.status)
            TAKE_OVERS.inc()
            await self._recover_run(run)
        return len(runs)

    async def expire(self) -> None:
        """Take up each run whose approval expires, until cancelled."""
        clock = self._services.clock
        while True:
            # Before looking: a run that parks from now on is looked at in the next round.
            self._parked.clear()
            # One moment for both questions: what ends between them would be in neither answer.
            now = clock.now()
            moment = now + LONGEST_SLEEP
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
            await self._uncount(stopped)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _store(
        self, caller: Principal, run: RunRow, thread_id: str | None, replaced: Replaced | None = None
    ) -> Frame:
        run.created_at = self._services.clock.now()

        def begin(connection: Connection) -> Frame:
            wanted = run.assistant_id or None
            opened = open_thread(connection, caller, thread_id, run.message, run.created_at, run.model, wanted)
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

    async def _uncount(self, run_ids: Sequence[str]) -> None:
        """Count the start of these runs no more: a stop that was asked for is no crash."""
        unfinished = RunRow.id.in_(run_ids), RunRow.finished_at.is_(None), RunRow.status == RUNNING
        try:
            async with self._services.database.write() as session:
                await session.execute(update(RunRow).where(*unfinished).values(starts=RunRow.starts - 1))
        except StorageFailureError:
            logger.exception("a stop of %d runs counts as a crash", len(run_ids))

    async def _note_cancel(self, run_id: str, key: str) -> None:
        async with self._services.database.write() as session:
            await session.execute(
                update(RunRow).where(RunRow.id == run_id).values(cancel_requested=True, cancel_key=key)
            )

    def _on_answer(self, run_id: str) -> None:
        """Take up a run that waited for what came, at once or when its task has parked it."""
        if active := self._tasks.get(run_id):
            active[0].is_answered = True
        else:
            self._wake(run_id)

    def _wake(self, run_id: str) -> None:
        if not self._closing and run_id not in self._wakes:
            wake = self._wakes[run_id] = asyncio.create_task(self._take_up_at_last(run_id), name=f"wake {run_id}")
            wake.add_done_callback(lambda _: self._wakes.pop(run_id))

    async def _take_up_at_last(self, run_id: str) -> None:
        """Take up a run; try again while the database fails, as nobody else takes it up."""
        for pause in pauses():
            try:
                await self._take_up(run_id)
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
            return await self._recover_run(run) if run and run.finished_at is None and not self._closing else None

    async def _recover_run(self, run: RunRow) -> Started:
        await self._services.log.reopen(run.id)
        return self._launch(Execution(run, self._services, recovered=True))

    def _launch(self, execution: Execution) -> Started:
        run_id = execution.run.id
        task = asyncio.create_task(self._perform(execution), name=f"run {run_id}")
        self._tasks[run_id] = (execution, task)
        return self._tasks[run_id]

    async def _perform(self, execution: Execution) -> None:
        """Perform a run, or a part of it up to a question; from then on it is in no task."""
        run_id = execution.run.id
        try:
            await execution.perform()
        except RunParked:
            self._services.log.park(run_id)
            self._parked.set()
            if execution.is_answered:
                self._wake(run_id)
        except Exception:
            logger.exception("run %s could not be brought to an end", run_id)
            self._services.log.close(run_id)
        finally:
            # Here, not when the task is over: a cancel in between would reach nobody.
            del self._tasks[run_id]
