"""Runs: only this module starts, stops and recovers them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from api.authority import key_of, require_scopes
from api.drive import Place, Principal, RunChange, RunUndo
from api.errors import NotFoundError, RunActiveError, RunFinishedError, ShuttingDownError
from api.events.frames import NEW_EVENT, Event, Frame, encode, frame_to_row
from api.runs.audit import RunAudit, read_audit
from api.runs.execution import Execution, RunServices
from api.storage.tables import RUNNING, RunRow, new_id, table_of, values_of
from api.threads import open_thread, refuse_if_busy
from drive_server.errors import StorageFailureError
from graph.state import Mode

logger = logging.getLogger(__name__)

CANCEL_SECONDS = 5.0
STOP_SECONDS = 2.0
NEW_RUN = insert(table_of(RunRow))


class Runs:
    """The runs of this process, each in a task of its own that no client's connection can end."""

    def __init__(self, services: RunServices) -> None:
        self._services = services
        self._tasks: dict[str, tuple[Execution, asyncio.Task[None]]] = {}
        self._closing = False
        self._taking_up = asyncio.Lock()

    async def start(
        self,
        caller: Principal,
        message: str,
        place: Place,
        *,
        thread_id: str | None,
        assistant_id: str,
        mode: Mode = "attended",
    ) -> RunRow:
        """Accept a message and begin its run. When this returns, both outlive a crash.

        Raises `NotFoundError` for a thread that is not the caller's, `ThreadBusyError`, `ApprovalPendingError`, and
        what the drive raises for a place that the caller can't see.
        """
        if self._closing:
            raise ShuttingDownError
        place = await self._services.drive.locate(caller, place)
        run = RunRow(
            id=new_id(),
            user_id=caller.user_id,
            email=caller.email,
            scopes=sorted(str(scope) for scope in caller.scopes),
            assistant_id=assistant_id,
            message=message,
            mode=mode,
            place={"file_id": place.file_id, "folder_id": place.folder_id},
            status=RUNNING,
            cancel_requested=False,
            starts=1,
        )
        first = await self._store(caller, run, thread_id)
        logger.info("run %s: begun on thread %s by user %s", run.id, run.thread_id, run.user_id)
        self._services.log.open(run.id, [first])
        self._launch(Execution(run, self._services))
        return run

    async def get(self, caller: Principal, run_id: str) -> RunRow:
        """Return a run of the caller. Raises `NotFoundError`, also for somebody else's."""
        async with self._services.database.read() as session:
            run = await session.get(RunRow, run_id)
        if run is None or run.user_id != caller.user_id:
            raise NotFoundError("There is no such run.")
        return run

    def follow(self, run_id: str, after: int, idle_seconds: float) -> AsyncGenerator[list[Frame]]:
        """Yield the run's events after a number, up to its last; an empty list after `idle_seconds` without one."""
        return self._services.log.follow(run_id, after, idle_seconds)

    async def cancel(self, caller: Principal, run_id: str) -> bool:
        """Stop a run; True once it has ended, else False. Raises `RunFinishedError` if it had ended before.

        A key may stop only what it could have done itself: `MissingScopeError` otherwise.
        """
        async with self._taking_up:
            active = self._tasks.get(run_id)
            run = await self.get(caller, run_id)
            require_scopes(caller, run.scopes)
            if run.finished_at is not None:
                raise RunFinishedError(run_id=run_id, status=run.status)
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

    async def changes(self, caller: Principal, run_id: str) -> tuple[RunChange, ...]:
        """Return the changes that a run of the caller has made."""
        run = await self.get(caller, run_id)
        return await self._services.drive.changes(run.user_id, run.id)

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
            raise NotFoundError("There is no such change in this run.")
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
            runs = list(await session.scalars(query.order_by(RunRow.created_at, RunRow.id)))
        first = next((number for number, run in enumerate(runs) if since_run in (None, run.id)), None)
        if first is None:
            raise NotFoundError("There is no such thread, or no such run in it.")
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
        """Continue the runs that an earlier process left unfinished; return their number."""
        unfinished = RunRow.finished_at.is_(None)
        counted = update(RunRow).where(unfinished, RunRow.status == RUNNING).values(starts=RunRow.starts + 1)
        async with self._services.database.write() as session:
            await session.execute(counted)
            runs = list(await session.scalars(select(RunRow).where(unfinished)))
        for run in runs:
            logger.info("recovering run %s (%s)", run.id, run.status)
            await self._recover_run(run)
        return len(runs)

    async def close(self) -> None:
        """Stop every run where it is; the next process recovers them."""
        self._closing = True
        stopped = list(self._tasks)
        tasks = [task for _, task in self._tasks.values()]
        for execution, task in self._tasks.values():
            execution.is_stopping = True
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
            await self._uncount(stopped)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _store(self, caller: Principal, run: RunRow, thread_id: str | None) -> Frame:
        run.created_at = self._services.clock.now()

        def begin(connection: Connection) -> Frame:
            run.thread_id = open_thread(connection, caller, thread_id, run.message, run.created_at)
            event: Event = {"type": "run", "run_id": run.id, "thread_id": run.thread_id}
            frame = Frame(1, "run", encode(event))
            connection.execute(NEW_RUN, values_of(run))
            connection.execute(NEW_EVENT, frame_to_row(run.id, frame))
            return frame

        try:
            return await self._services.database.write_sync(begin)
        except IntegrityError:
            # Another process began a run on the thread after this one looked; a thread has one active run at most.
            async with self._services.database.read() as session:
                await session.run_sync(refuse_if_busy, run.thread_id)
            raise

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

    async def _recover_run(self, run: RunRow) -> tuple[Execution, asyncio.Task[None]]:
        await self._services.log.reopen(run.id)
        return self._launch(Execution(run, self._services, recovered=True))

    def _launch(self, execution: Execution) -> tuple[Execution, asyncio.Task[None]]:
        run_id = execution.run.id
        task = asyncio.create_task(execution.perform(), name=f"run {run_id}")
        self._tasks[run_id] = (execution, task)
        task.add_done_callback(lambda done: self._forget(run_id, done))
        return self._tasks[run_id]

    def _forget(self, run_id: str, task: asyncio.Task[None]) -> None:
        del self._tasks[run_id]
        if not task.cancelled() and (error := task.exception()):
            logger.error("run %s could not be brought to an end", run_id, exc_info=error)
            self._services.log.close(run_id)
