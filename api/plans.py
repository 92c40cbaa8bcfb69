"""The plans of runs, for the people who read, edit, pause and stop them.

The graph has its plan in its own state. Between two steps it exchanges it with the copy here, in one transaction, so
that nobody edits a step that has begun, and an edited step begins as edited.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from sqlalchemy import Executable, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from api.authority import require_scopes
from api.clock import Clock
from api.drive import Principal
from api.errors import InvalidPlanError, NotFoundError, PlanChangedError, PlanOverError
from api.storage.replicas import require_claim
from api.storage.tables import PAUSED, RUNNING, WAITING, PlanRow, RunRow, ThreadRow
from drive_server.kernel.sql.database import Database
from graph.planning.abilities import problems_of_abilities
from graph.planning.commands import PlanCommand
from graph.planning.editing import PlanEditError, StepEdit, apply_edits, planned_step_of
from graph.planning.progress import is_editable
from graph.state import Plan

OVER = frozenset({"done", "waiting", "stopped"})
REVISING = "revising"


class Plans:
    """Stores the copies of plans that people see and edit. `on_changed` is called with the id of a plan's run."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.on_changed: Callable[[str], None] = lambda _: None
        self._database = database
        self._clock = clock

    async def exchange(self, thread_id: str, run_id: str, change: Callable[[Plan | None], Plan]) -> Plan:
        """Store the plan that `change` makes of the copy, and return it. Runs of other clients have no copy."""
        del thread_id
        async with self._database.write() as session:
            row = await session.get(PlanRow, run_id, with_for_update=True)
            await require_claim(session)
            plan = change(cast("Plan", row.plan) if row else None)
            run = None if row else await session.get(RunRow, run_id)
            if run is not None:
                row = PlanRow(run_id=run_id, thread_id=run.thread_id, user_id=run.user_id)
                session.add(row)
            if row is not None:
                self._update_row(row, plan)
                if row.status == PAUSED:
                    await session.execute(self.pause_statement(run_id))
        return plan

    async def get(self, caller: Principal, thread_id: str) -> PlanRow:
        """Return the newest plan of a thread of the caller. Raises `NotFoundError`."""
        async with self._database.read() as session:
            return await self._newest(session, caller, thread_id)

    async def paused_run(self, thread_id: str) -> str | None:
        """Return the id of the run whose plan is paused in a thread, if there is one."""
        paused = select(PlanRow.run_id).join(RunRow, RunRow.id == PlanRow.run_id)
        paused = paused.where(PlanRow.thread_id == thread_id, PlanRow.status == PAUSED, RunRow.finished_at.is_(None))
        async with self._database.read() as session:
            return await session.scalar(paused)

    async def try_command(self, caller: Principal, thread_id: str, command: PlanCommand) -> PlanRow | None:
        """Give the thread's plan a command from the chat, and return the plan; None if there is no active one."""
        try:
            return await self.command(caller, thread_id, command)
        except (NotFoundError, PlanOverError):
            return None

    async def edit(self, caller: Principal, thread_id: str, version: int, steps: Sequence[StepEdit]) -> PlanRow:
        """Replace the steps that have not begun, all or nothing; if two people edit at once, one succeeds.

        Raises `NotFoundError`, `PlanOverError`, `PlanChangedError` and `InvalidPlanError`.
        """
        async with self._database.write() as session:
            row = await self._open(session, caller, thread_id)
            if row.version != version or row.status == REVISING:
                raise PlanChangedError(row.version)
            run = await session.get_one(RunRow, row.run_id)
            try:
                plan = apply_edits(cast("Plan", row.plan), steps)
            except PlanEditError as error:
                raise _edit_error(error, row.version) from error
            _refuse_impossible(plan, in_document=bool(run.place.get("file_id")))
            self._update_row(row, {**plan, "version": row.version + 1})
        self.on_changed(row.run_id)
        return row

    async def command(self, caller: Principal, thread_id: str, command: PlanCommand) -> PlanRow:
        """Pause, resume or stop a plan between two steps. Raises `NotFoundError` and `PlanOverError`."""
        async with self._database.write() as session:
            row = await self._open(session, caller, thread_id)
            if row.plan.get("wanted", "run") != command:
                self._update_row(row, cast("Plan", {**row.plan, "wanted": command, "version": row.version + 1}))
                if row.status == PAUSED:
                    # With the command: a run that waits is not taken up when the service starts again.
                    pauses = command == "pause"
                    mark = self.pause_statement if pauses else self.resume_statement
                    await session.execute(mark(row.run_id))
        self.on_changed(row.run_id)
        return row

    def pause_statement(self, run_id: str) -> Executable:
        """Return the statement that marks a run as waiting."""
        return update(RunRow).where(RunRow.id == run_id, RunRow.status == RUNNING).values(status=WAITING)

    def resume_statement(self, run_id: str) -> Executable:
        """Return the statement that marks a run as running."""
        return update(RunRow).where(RunRow.id == run_id, RunRow.status == WAITING).values(status=RUNNING)

    async def find(self, run_id: str) -> PlanRow | None:
        """Return the plan of a run, whoever owns it."""
        async with self._database.read() as session:
            return await session.get(PlanRow, run_id)

    def _update_row(self, row: PlanRow, plan: Plan) -> None:
        row.plan = cast("dict[str, Any]", plan)
        row.version = plan.get("version", 1)
        row.status = plan.get("status", RUNNING)
        row.updated_at = self._clock.now()

    async def _open(self, session: AsyncSession, caller: Principal, thread_id: str) -> PlanRow:
        row = await self._newest(session, caller, thread_id)
        run = await _unfinished_run(session, row)
        require_scopes(caller, run.scopes)
        return row

    async def _newest(self, session: AsyncSession, caller: Principal, thread_id: str) -> PlanRow:
        own = select(PlanRow).join(ThreadRow, ThreadRow.id == PlanRow.thread_id)
        own = own.where(PlanRow.thread_id == thread_id, PlanRow.user_id == caller.user_id)
        # The plan of an earlier version of a message is not the thread's.
        left = select(RunRow.id).where(RunRow.thread_id == thread_id, RunRow.head_checkpoint.is_not(None))
        own = own.where(PlanRow.run_id.not_in(left))
        newest = own.where(ThreadRow.deleted_at.is_(None)).order_by(PlanRow.updated_at.desc()).limit(1)
        row = await session.scalar(newest.with_for_update(of=PlanRow))
        if row is None:
            raise NotFoundError("no_plan")
        return row


async def _unfinished_run(session: AsyncSession, row: PlanRow) -> RunRow:
    if row.status in OVER:
        raise PlanOverError(status=row.status)
    run = await session.get_one(RunRow, row.run_id)
    if run.finished_at is not None:
        raise PlanOverError(status=run.status)
    return run


def _refuse_impossible(plan: Plan, *, in_document: bool) -> None:
    steps = [planned_step_of(step) for step in plan["steps"] if is_editable(step)]
    if problems := problems_of_abilities(steps, in_document=in_document):
        raise InvalidPlanError(problems)


def _edit_error(error: PlanEditError, version: int) -> InvalidPlanError | PlanChangedError:
    return PlanChangedError(version, begun=error.begun) if error.begun else InvalidPlanError(error.problems)
