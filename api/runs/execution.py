"""One run, from its message to its last event, over every approval in between and every restart of the service."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.messages import HumanMessage
from langgraph.types import Command, Interrupt, StateSnapshot
from sqlalchemy import bindparam, select, update

from api.approvals.service import Approvals, cancelling, needed_event, parked_event
from api.assistant import Assistant
from api.clock import Clock
from api.drive import DriveForService, RunChange
from api.errors import ApiError
from api.events.events import Event
from api.events.link_filter import Speech
from api.events.log import EventLog, Statement
from api.events.store import open_calls, read_all
from api.plans import Plans
from api.runs.changes import told_changes
from api.runs.webhooks import Webhooks
from api.storage.database import Database
from api.storage.tables import CANCELLED, DECIDED, FAILED, SUCCESS, WAITING, ApprovalRow, RunRow, table_of
from api.threads import USED
from graph.events import GraphEvent, Piece, listening
from graph.language import language_of
from graph.planning.views import PLAN_PAUSED, edited_event
from graph.state import Mode

if TYPE_CHECKING:
    from graph.state import Language, Plan

logger = logging.getLogger(__name__)

# A run that takes the process down with it must not do so for ever.
MOST_STARTS = 5
UNATTENDED: Final = "unattended"
_RUNS: Final = table_of(RunRow)
ENDED: Final = (
    update(_RUNS).where(_RUNS.c.id == bindparam("run")).values(status=bindparam("ending"), finished_at=bindparam("now"))
)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything that a run works with."""

    graph: Assistant
    drive: DriveForService
    database: Database
    log: EventLog
    approvals: Approvals
    clock: Clock
    plans: Plans
    webhooks: Webhooks


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: its status, and for an error what clients are told."""

    status: str
    code: str = ""
    message: str = ""
    retryable: bool = False


class Execution:
    """Runs one run. `recovered` says that another process began it."""

    def __init__(self, run: RunRow, shop: Workshop, *, recovered: bool = False) -> None:
        self.run = run
        self.cancelled_by = run.email if run.cancel_requested else ""
        self.is_finishing = False
        self._shop = shop
        self._recovered = recovered
        self._has_called = self._has_failed_calls = self._has_changed = False
        self._speech = Speech(shop.graph.outgoing(run.message))
        self._config = {"configurable": {"thread_id": run.thread_id}}
        self._context = shop.graph.context(run.user_id, run.email, run.scopes, mode_of(run))
        self._usage: dict[str, Any] = {}
        self._limit: dict[str, Any] | None = None
        self._language: Language = language_of(run.message)

    async def perform(self) -> None:
        """Run to the end. Cancelled from outside without `cancelled_by`, it stops and may be recovered later."""
        try:
            ending = await self._ending()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self.cancelled_by or task is None:
                raise
            task.uncancel()
            ending = Ending(CANCELLED)
        await self._finish(ending)

    async def _ending(self) -> Ending:
        if self.cancelled_by:
            return Ending(CANCELLED)
        if self.run.starts > MOST_STARTS:
            return Ending(FAILED, "crashed", "The service stopped too often while it worked on this.")
        try:
            await self._work()
        except Exception as error:
            logger.exception("run %s failed", self.run.id)
            return self._failed(error)
        return Ending(SUCCESS)

    def _failed(self, error: Exception) -> Ending:
        if isinstance(error, ApiError):
            return Ending(FAILED, error.code, error.message, retryable=True)
        return Ending(FAILED, *self._shop.graph.failure(error))

    async def _work(self) -> None:
        step = await self._take_up() if self._recovered else self._input()
        while interrupt := await self._go_on(step):
            step = await self._answer(interrupt)

    def _input(self) -> dict[str, Any]:
        return {"messages": [HumanMessage(self.run.message, id=self.run.id)], "place": self.run.place}

    async def _take_up(self) -> Any:
        """Return what the graph goes on with, by where its checkpoints say that it is."""
        snapshot = await self._state()
        frames = await read_all(self._shop.database, self.run.id)
        self._speech = Speech(self._shop.graph.outgoing(self.run.message), frames)
        if not any(message.id == self.run.id for message in snapshot.values.get("messages", ())):
            return self._input()
        interrupt = _interrupt(snapshot)
        return await self._answer(interrupt) if interrupt else None

    async def _go_on(self, step: Any) -> Interrupt | None:
        """Run the graph to its end, or to the next thing that it waits for, which is returned."""
        with listening(self._hear):
            # Calls are on disk before they are made: one that was made is then always one that is known.
            output = await self._shop.graph.graph.ainvoke(
                step, self._config, context=self._context, durability="sync", version="v2"
            )
        self._send(self._speech.end())
        if output.value is None:
            await self._state()
        else:
            self._note(output.value)
        return next(iter(output.interrupts), None)

    async def _state(self) -> StateSnapshot:
        snapshot = await self._shop.graph.graph.aget_state(self._config)
        self._note(snapshot.values)
        return snapshot

    def _note(self, state: Mapping[str, Any]) -> None:
        """Keep what the last event tells, unless the state is of the run before: this one made no step of its own."""
        turn: dict[str, Any] = state.get("turn") or {}
        if turn.get("run_id", self.run.id) == self.run.id:
            self._usage = dict(turn.get("usage") or {})
            self._language = turn.get("language") or self._language
            self._limit = state.get("limit")
            self._has_changed = bool(turn.get("changes"))

    def _hear(self, said: GraphEvent | Piece) -> None:
        self._send(self._speech.piece(said) if isinstance(said, Piece) else self._speech.event(dict(said)))

    def _send(self, events: Iterable[Event]) -> None:
        for event in events:
            self._has_called = self._has_called or event["type"] == "tool_call_start"
            ended_badly = event["type"] == "tool_call_end" and event["status"] in {"error", "cancelled"}
            self._has_failed_calls = self._has_failed_calls or ended_badly
            self._shop.log.append(self.run.id, event)

    async def _answer(self, interrupt: Interrupt) -> Command[Any]:
        """Wait for the person, or the clock, and return what the graph is resumed with."""
        payload: dict[str, Any] = interrupt.value
        if payload.get("type") == PLAN_PAUSED:
            return Command(resume={interrupt.id: await self._resumed(payload["version"])})
        if await self._shop.approvals.find(payload["approval_id"]) is None:
            await self._ask(payload)
        row = await self._shop.approvals.settled(payload["approval_id"])
        logger.info("approval %s: %s", row.id, row.status)
        return Command(resume={interrupt.id: self._answer_of(row)})

    async def _ask(self, payload: dict[str, Any]) -> None:
        """Make the question known. Where nobody is there to see it, somebody is told."""
        events, statements = [needed_event(payload)], self._shop.approvals.opening(self.run, payload)
        if self.run.mode == UNATTENDED:
            events.append(parked_event(self.run.id, payload))
            statements += self._shop.webhooks.parked(self.run, payload)
        await self._shop.log.commit(self.run.id, events, *statements)
        self._shop.webhooks.wake()
        logger.info("run %s waits for approval %s", self.run.id, payload["approval_id"])

    async def _resumed(self, version: int) -> dict[str, Any]:
        """Wait until the person lets the plan go on or stops it, and tell of what they change meanwhile."""
        plans, run_id = self._shop.plans, self.run.id
        await self._shop.log.commit(run_id, [], plans.pausing(run_id))
        while row := await plans.changed(run_id, version):
            version = row.version
            wanted = row.plan.get("wanted", "run")
            if wanted != "pause":
                await self._shop.log.commit(run_id, [], plans.resuming(run_id))
                return {"action": wanted, "version": version}
            self._send(self._speech.event(dict(edited_event(cast("Plan", row.plan)))))
        return {"action": "stop"}

    def _answer_of(self, row: ApprovalRow) -> Any:
        if row.status != DECIDED or row.decided_at is None:
            return self._shop.graph.expired(row.payload)
        return {"decisions": row.decisions, "decided_by": row.decided_by, "decided_at": row.decided_at.isoformat()}

    async def _finish(self, ending: Ending) -> None:
        """Write the last event together with the run's status, and let go of the run."""
        self.is_finishing = True
        log, run = self._shop.log, self.run
        if ending.status != SUCCESS or self._recovered:
            # Empty: what the run has said has to be stored before it can be asked for.
            await log.commit(run.id, [])
            await log.commit(run.id, await self._loose_ends())
        last, ending = await self._last_event(ending)
        await log.commit(run.id, [last], *self._closing(ending))
        log.close(run.id)
        logger.info("run %s: %s", run.id, ending.status)

    async def _last_event(self, ending: Ending) -> tuple[Event, Ending]:
        if ending.status != FAILED:
            try:
                return await self._done(ending), ending
            except Exception as error:
                logger.exception("what run %s did can't be read", self.run.id)
                ending = self._failed(error)
        told = {"code": ending.code, "message": ending.message, "retryable": ending.retryable}
        return {"type": "error", "run_id": self.run.id, **told, **await self._done_before_failing(ending)}, ending

    async def _done(self, ending: Ending) -> Event:
        if ending.status == CANCELLED:
            await self._state()
        told: Event = {"usage": self._usage, **told_changes(await self._changes(ending), self._language)}
        if self._limit:
            told["limit"] = self._limit
        return {"type": "done", "run_id": self.run.id, "status": ending.status, **told}

    async def _done_before_failing(self, ending: Ending) -> Event:
        try:
            return told_changes(await self._changes(ending), self._language)
        except Exception:
            # The run has an error of its own, which is what the person has to be told.
            logger.exception("what run %s did can't be read", self.run.id)
            return {}

    async def _changes(self, ending: Ending) -> tuple[RunChange, ...]:
        """Return what the run changed. Only calls change anything; what was called before a restart is not known.

        A turn that ended well knows of its changes, but for calls that failed: one of those may have been done.
        """
        ended_well = ending.status == SUCCESS
        may_have_changed = self._has_changed or self._has_failed_calls if ended_well else self._has_called
        if not (may_have_changed or self._recovered):
            return ()
        return await self._shop.drive.changes(self.run.user_id, self.run.id)

    async def _loose_ends(self) -> list[Event]:
        """Return the events that close what clients still show as open.

        Of a run that was taken up, that may be a call which the model did not want when it was asked again.
        """
        query = select(ApprovalRow).where(ApprovalRow.run_id == self.run.id, ApprovalRow.status == WAITING)
        async with self._shop.database.read() as session:
            waiting = list(await session.scalars(query))
        resolved = [_cancelled_approval(row) for row in waiting]
        calls = await open_calls(self._shop.database, self.run.id)
        return [*resolved, *(_cancelled_call(call) for call in calls)]

    def _closing(self, ending: Ending) -> list[Statement]:
        now, run = self._shop.clock.now(), self.run
        waited = [] if ending.status == SUCCESS else [cancelling(run.id, self.cancelled_by or run.email, now)]
        return [
            *waited,
            (ENDED, {"run": run.id, "ending": ending.status, "now": now}),
            (USED, {"thread": run.thread_id, "now": now}),
        ]


def mode_of(run: RunRow) -> Mode:
    """Return whether somebody is there while the run works."""
    return UNATTENDED if run.mode == UNATTENDED else "attended"


def _interrupt(snapshot: StateSnapshot) -> Interrupt | None:
    return next((interrupt for task in snapshot.tasks for interrupt in task.interrupts), None)


def _cancelled_approval(row: ApprovalRow) -> Event:
    decisions = [{"tool_call_id": action["tool_call_id"], "type": "reject"} for action in row.payload["actions"]]
    return {"type": "approval_resolved", "approval_id": row.id, "decisions": decisions, "status": "cancelled"}


def _cancelled_call(start: Event) -> Event:
    named = {"tool_call_id": start["tool_call_id"], "name": start["name"]}
    return {"type": "tool_call_end", **named, "status": "cancelled", "result": "", "duration_ms": 0}
