"""One run, from its message to its last event, across its approvals and restarts of the service."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

import orjson
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Command, Interrupt, StateSnapshot
from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import IntegrityError

from api.approvals.contents import without_contents
from api.approvals.service import Approvals, cancel_statement, needed_event, parked_event
from api.assistant import Assistant, messages_of_run
from api.branching import NOTHING
from api.clock import Clock
from api.drive import DriveForService, RunChange, changes_to_view
from api.events.filters import EventFilter
from api.events.frames import Event, newest_number, read_frames, read_open_calls, read_records, was_sent
from api.events.log import EventLog, OwnersOnly, Statement
from api.metrics.counters import FENCE_REFUSALS, FIRST_WORDS_SECONDS, RUNS, count_tokens
from api.plans import Plans
from api.runs.live_states import LiveState
from api.runs.shown_words import ShownWords
from api.runs.webhooks import Webhooks
from api.servers.assistants import PersonsChoices
from api.storage.patience import pauses
from api.storage.replicas import CLAIM, NotOwnerError, Replica, RunLostError
from api.storage.tables import CANCELLED, DECIDED, FAILED, SUCCESS, WAITING, ApprovalRow, RunRow, table_of
from api.thread_words import WHOLE_WORDS, whole_words
from api.threads import TOUCH
from drive_server.kernel.errors import DatabaseAwayError, DriveError, StorageFailureError
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.conventions import RUN, RUN_ID
from drive_server.kernel.telemetry.fields import begin_log_fields
from drive_server.kernel.telemetry.traces import span
from graph.drive.sentences import text
from graph.errors import AgentError, CrashedError
from graph.events.calls import named
from graph.events.definitions import GraphEvent
from graph.events.sending import Delta, listening
from graph.language import Language, language_of
from graph.messages.incomplete import Ending
from graph.messages.records import cancelled_text
from graph.planning.progress import PLAN_PAUSED, edited_event
from graph.state import Mode

if TYPE_CHECKING:
    from graph.state import Plan

logger = logging.getLogger(__name__)

# A run that crashes the process must not do so for ever. Stops that were asked for don't count.
MAX_STARTS = 5
UNATTENDED: Final = "unattended"
OPEN: Final = frozenset({"pending", "invoking"})
_RUNS: Final = table_of(RunRow)
ENDED: Final = (
    update(_RUNS)
    .where(_RUNS.c.id == bindparam("run"), _RUNS.c.finished_at.is_(None), _RUNS.c.starts == bindparam("taken"))
    .values(status=bindparam("status"), finished_at=bindparam("now"))
)
"""Only by the process that took the run up last: `starts` counts them."""


@dataclass(frozen=True, slots=True)
class RunServices:
    """The services that a run works with."""

    graph: Assistant
    drive: DriveForService
    database: Database
    log: EventLog
    approvals: Approvals
    clock: Clock
    plans: Plans
    webhooks: Webhooks
    replica: Replica
    choices: PersonsChoices | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The final status of a run, and for an error the fields of its event."""

    status: str
    code: str = ""
    message: str = ""
    retryable: bool = False


class RunParked(Exception):  # noqa: N818 - no error: the run goes on when the person has answered
    """The run waits for a person: until then it is a row."""


class Execution:
    """Runs one run. `recovered`: it was begun in another task, or another process.

    `is_answered`: an answer or an edit of its plan came that the task may have missed. `is_lost`: another process has
    the run, and this one writes nothing more of it.
    """

    def __init__(self, run: RunRow, services: RunServices, *, recovered: bool = False) -> None:
        self.run = run
        self.cancelled_by = run.email if run.cancel_requested else ""
        self.cancel_key = run.cancel_key
        self.is_finishing = self.is_stopping = self.is_answered = self.is_lost = self._has_closed_calls = False
        self._services = services
        self._recovered = recovered
        self._claim = services.replica.hold(run, is_new=not recovered)
        self._begun = 0.0 if recovered else monotonic()
        self._has_called = self._has_failed_calls = self._has_changed = False
        self._filter = EventFilter(services.graph.link_filter(run.message))
        self._config = {"configurable": {"thread_id": run.thread_id}}
        self._context = services.graph.context(
            run.user_id,
            run.email,
            run.scopes,
            mode_of(run),
            run.id,
            time_zone=run.time_zone,
            model=run.model,
            assistant_id=run.assistant_id,
        )
        self._words = ShownWords()
        self._has_kept_words = False
        self._usage: dict[str, Any] = {}
        self._limit: dict[str, Any] | None = None
        self._messages: list[AnyMessage] = []
        self._language: Language = language_of(run.message)
        self.live = LiveState()

    async def perform(self) -> None:
        """Run to the end. A run that `is_stopping` stops where it is; another process recovers it.

        Raises `RunParked` when it waits for a person, and `RunLostError` once another process has it.
        """
        CLAIM.set(self._claim)
        begin_log_fields(run=self.run.id, thread=self.run.thread_id, user=self.run.user_id)
        try:
            outcome = await self._outcome()
        except RunParked:
            if not self.cancelled_by:
                raise
            outcome = Outcome(CANCELLED)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or self.is_lost or (self.is_stopping and not self.cancelled_by):
                raise
            task.uncancel()
            outcome = Outcome(CANCELLED) if self.cancelled_by else self._failed(RuntimeError(repr(error)))
        if self.is_stopping and outcome.status == FAILED:
            logger.info("run %s stops: what failed may have failed because of that", self.run.id)
            return
        await self._finish(outcome)

    async def _outcome(self) -> Outcome:
        if self.cancelled_by:
            return Outcome(CANCELLED)
        if self.run.starts - self.run.stops > MAX_STARTS:
            return self._failed(CrashedError())
        try:
            await self._work_through_absences()
        except (RunParked, RunLostError):
            raise
        except StorageFailureError as error:
            logger.error("run %s failed: %s", self.run.id, error)  # noqa: TRY400 - the sentence says all that is known
            return self._failed(error)
        except Exception as error:
            logger.exception("run %s failed", self.run.id)
            return self._failed(error)
        return Outcome(SUCCESS)

    def _failed(self, error: Exception) -> Outcome:
        if isinstance(error, DriveError):
            return Outcome(FAILED, error.code, text(error.to_dict(), "message", self._language), retryable=True)
        shown = error if isinstance(error, AgentError) else AgentError()
        return Outcome(FAILED, *self._services.graph.failure(shown.in_language(self._language)))

    async def _work_through_absences(self) -> None:
        """Do the work. After an absence of the database, resume it from the stored state, as another process would."""
        for _ in range(MAX_STARTS - 1):
            try:
                return await self._work()
            except DatabaseAwayError:
                logger.warning("run %s goes on as soon as the database is back", self.run.id)
            await self._until_back()
            await self._services.log.flush(self.run.id)
            self._recovered, self._words = True, ShownWords()
            if self._claim:
                self._claim.must_announce = True
        return await self._work()

    async def _until_back(self) -> None:
        """Return when the database can be reached."""
        for pause in pauses():
            await asyncio.sleep(pause)
            with suppress(DatabaseAwayError):
                await newest_number(self._services.database, self.run.id)
                return

    async def _work(self) -> None:
        step = await self._resume_point() if self._recovered else self._input()
        while interrupt := await self._advance(step):
            step = await self._resolve(interrupt)

    def _input(self) -> dict[str, Any]:
        return {"messages": [HumanMessage(self.run.message, id=self.run.id)], "place": self.run.place}

    async def _resume_point(self) -> Any:
        """Return the graph's next input, by the state of its checkpoints."""
        snapshot = await self._state()
        frames = await read_frames(self._services.database, self.run.id)
        events: list[Event] = [orjson.loads(frame.data) for frame in frames]
        self._has_failed_calls = any(event["type"] == "tool_call_end" and _ended_badly(event) for event in events)
        for event in events:
            self._words.take(event)
        messages = snapshot.values.get("messages", ())
        said = [message.text for message in messages_of_run(messages, self.run.id) if message.type == "ai"]
        self._filter = EventFilter(self._services.graph.link_filter(self.run.message), frames, said)
        if not any(message.id == self.run.id for message in messages):
            return self._input()
        interrupt: Interrupt | None = next((one for task in snapshot.tasks for one in task.interrupts), None)
        return await self._resolve(interrupt) if interrupt else None

    async def _advance(self, step: Any) -> Interrupt | None:
        """Run the graph to its end, or to the next interrupt, and return that."""
        config = await self._config_of(step)
        hearing = listening(self._receive, partial(self._services.log.flush, self.run.id))
        values: Mapping[str, Any] | None = None
        interrupts: list[Interrupt] = []
        with span(RUN, {RUN_ID: self.run.id}), hearing:
            # Synchronously, so that every call that is made is on disk before.
            parts = self._services.graph.graph.astream(
                step, config, context=self._context, durability="sync", stream_mode="values", version="v2"
            )
            async for part in parts:
                values = part["data"]
                interrupts += part["interrupts"]
                self._note_step(part["data"])
        self._send(self._filter.end())
        if values is None:
            await self._state()
        else:
            self._read_state(values)
        return next(iter(interrupts), None)

    def _note_step(self, values: Mapping[str, Any]) -> None:
        """Let those who follow the thread see its new state: it is stored, and so are all events before it."""
        checkpoint = self._services.graph.newest_checkpoint(self.run.thread_id)
        if self.live.note(values, checkpoint, self._services.log.newest_here(self.run.id)):
            self._services.log.note_step(self.run.id)

    async def _config_of(self, step: Any) -> Any:
        """Return the config of a step: the message of a later version goes to where its branch begins."""
        base = self.run.base_checkpoint
        if base is None or not isinstance(step, dict):
            return self._config
        if base == NOTHING:
            base = await self._services.graph.new_root(self.run.thread_id)
        return {"configurable": {"thread_id": self.run.thread_id, "checkpoint_id": base}}

    async def _state(self) -> StateSnapshot:
        snapshot = await self._services.graph.graph.aget_state(self._config)
        self._read_state(snapshot.values)
        if self._messages:
            self._note_step(snapshot.values)
        return snapshot

    def _read_state(self, state: Mapping[str, Any]) -> None:
        """Keep the state for the last event, unless it is the previous run's: then this run made no step yet."""
        turn: dict[str, Any] = state.get("turn") or {}
        if turn.get("run_id", self.run.id) == self.run.id:
            self._usage = dict(turn.get("usage") or {})
            self._language = turn.get("language") or self._language
            self._limit = state.get("limit")
            self._has_changed = bool(turn.get("changes"))
            self._messages = messages_of_run(state.get("messages", ()), self.run.id)

    async def _commit(self, events: Sequence[Event], *statements: Statement | OwnersOnly) -> None:
        """Store events that the graph did not send, filtered as those that it did, with the statements."""
        filtered = [self._filter.clean(event) for event in events]
        await self._services.log.commit(self.run.id, filtered, *statements)

    def _receive(self, part: GraphEvent | Delta) -> None:
        is_delta = isinstance(part, Delta)
        self._send(self._filter.delta(part) if is_delta else self._filter.event(dict(part)))

    def _send(self, events: Iterable[Event]) -> None:
        for event in events:
            self._words.take(event)
            if event["type"] == "content" and self._begun:
                FIRST_WORDS_SECONDS.observe(monotonic() - self._begun)
                self._begun = 0.0
            self._has_called = self._has_called or event["type"] == "tool_call_start"
            self._has_failed_calls = self._has_failed_calls or _ended_badly(event)
            self._services.log.append(self.run.id, event)

    async def _resolve(self, interrupt: Interrupt) -> Command[Any]:
        """Wait for the person, or the expiry, and return the command that resumes the graph."""
        payload: dict[str, Any] = interrupt.value
        if payload.get("type") == PLAN_PAUSED:
            return Command(resume={interrupt.id: await self._wait_for_plan(payload["version"])})
        if await self._services.approvals.find(payload["approval_id"]) is None:
            await self._request_approval(payload)
        row = await self._services.approvals.closed(payload["approval_id"])
        if row is None:
            raise RunParked
        logger.info("approval %s: %s", row.id, row.status)
        return Command(resume={interrupt.id: await self._resolution_of(row)})

    async def _request_approval(self, payload: dict[str, Any]) -> None:
        """Store the approval and send its event; in an unattended run, queue a webhook too."""
        events, statements = [needed_event(payload)], self._services.approvals.open_statements(self.run, payload)
        if self.run.mode == UNATTENDED:
            events.append(parked_event(self.run.id, payload))
            statements += self._services.webhooks.parked(self.run, payload)
        await self._commit(events, *statements)
        self._services.webhooks.wake()
        logger.info("run %s waits for approval %s", self.run.id, payload["approval_id"])

    async def _wait_for_plan(self, version: int) -> dict[str, Any]:
        """Return the person's command for a paused plan; send the edits that they make meanwhile."""
        row = await self._services.plans.find(self.run.id)
        wanted = row.plan.get("wanted", "run") if row else "stop"
        if row and wanted == "pause":
            if row.version != version:
                self._send(self._filter.event(dict(edited_event(cast("Plan", row.plan)))))
            await self._commit([])
            raise RunParked
        return {"action": wanted, **({"version": row.version} if row else {})}

    async def _resolution_of(self, row: ApprovalRow) -> Any:
        if row.status != DECIDED or row.decided_at is None:
            return self._services.graph.expired(row.payload)
        for tool_call_id, content in (await self._services.approvals.take_contents(row)).items():
            self._services.graph.hand_over(self.run.id, tool_call_id, row.id, content)
        by = {"decided_by": row.decided_by, "decided_key": row.decided_key}
        decisions = without_contents(row.payload, row.decisions)
        return {"decisions": decisions, **by, "decided_at": row.decided_at.isoformat()}

    async def _finish(self, outcome: Outcome) -> None:
        """Bring the run to its end, and close its log; try again while that fails, as its thread waits for it."""
        self.is_finishing = True
        self._services.graph.end_calls(self.run.id)
        for pause in pauses():
            if await self._has_ended(outcome):
                break
            await asyncio.sleep(pause)
        self._services.log.close(self.run.id)

    async def _has_ended(self, outcome: Outcome) -> bool:
        """End the run, unless another process has it now; return False if that failed and may be tried again."""
        try:
            await self._end(outcome)
        except RunLostError:
            raise
        except (NotOwnerError, IntegrityError):
            FENCE_REFUSALS.inc()
            logger.warning("run %s: another process has it, or has written its events", self.run.id)
        except Exception as error:
            logger.exception("run %s could not be brought to an end; trying again", self.run.id, exc_info=_trace(error))
            return False
        return True

    async def _end(self, outcome: Outcome) -> None:
        """Commit the last event together with the run's status."""
        if outcome.status != SUCCESS and not self._has_kept_words:
            await self._keep_words("stopped" if outcome.status == CANCELLED else "broken_off")
        if (outcome.status != SUCCESS or self._recovered) and not self._has_closed_calls:
            # Empty: stores the queued events, which `_closing_events` reads.
            await self._commit([])
            await self._commit(await self._closing_events())
            self._has_closed_calls = True
        last, outcome = await self._last_event(outcome)
        await self._commit([last], *self._closing_statements(outcome))
        RUNS.labels(outcome.status).inc()
        count_tokens(self._usage)
        logger.info("run %s: %s", self.run.id, outcome.status)

    async def _keep_words(self, ending: Ending) -> None:
        """Send the rest of the answer's text, and store a text that the run showed but did not finish in the thread."""
        self._has_kept_words = True
        self._send(self._filter.end())
        try:
            snapshot = await self._state()
            messages: Sequence[AnyMessage] = snapshot.values.get("messages", ())
            known = {str(message.id) for message in messages}
            shown = [*self._words.incomplete(known, ending)] if self.run.id in known else []
            if shown:
                await self._services.graph.keep_incomplete(self.run.thread_id, shown)
                await self._state()
        except Exception as error:
            # The run has to end in any case; its events have the words.
            logger.exception(
                "the last words of run %s can't be kept in its thread", self.run.id, exc_info=_trace(error)
            )

    async def _last_event(self, outcome: Outcome) -> tuple[Event, Outcome]:
        if outcome.status != FAILED:
            try:
                return await self._done(outcome), outcome
            except DatabaseAwayError:
                raise  # a run that ended well is told so as soon as the database is back
            except Exception as error:
                logger.exception("the changes of run %s can't be read", self.run.id, exc_info=_trace(error))
                outcome = self._failed(error)
        fields = {"code": outcome.code, "message": outcome.message, "retryable": outcome.retryable}
        changes = await self._changes_if_readable(outcome)
        return {"type": "error", "run_id": self.run.id, **fields, **changes}, outcome

    async def _done(self, outcome: Outcome) -> Event:
        if outcome.status == CANCELLED:
            await self._state()
        fields: Event = {"usage": self._usage, **changes_to_view(await self._changes(outcome), self._language)}
        if self._limit:
            fields["limit"] = self._limit
        return {"type": "done", "run_id": self.run.id, "status": outcome.status, **fields}

    async def _changes_if_readable(self, outcome: Outcome) -> Event:
        try:
            return changes_to_view(await self._changes(outcome), self._language)
        except DatabaseAwayError:
            raise
        except Exception as error:
            # The event carries the run's own error, not this one.
            logger.exception("the changes of run %s can't be read", self.run.id, exc_info=_trace(error))
            return {}

    async def _changes(self, outcome: Outcome) -> tuple[RunChange, ...]:
        """Return the drive's changes of the run; ask for them only if there may be some, as after a failed call."""
        ended_well = outcome.status == SUCCESS
        may_have_changed = self._has_changed or self._has_failed_calls if ended_well else self._has_called
        if not (may_have_changed or self._recovered):
            return ()
        drive, run = self._services.drive, self.run
        if not ended_well or self._has_failed_calls:
            # A call whose answer nobody waited for may be under way; later it would be a change that nobody reported.
            await drive.revoke(run.user_id, run.id)
        return await drive.changes(run.user_id, run.id)

    async def _closing_events(self) -> list[Event]:
        """Return the events that close the approvals and calls that clients show as open, also of a recovered run."""
        query = select(ApprovalRow).where(ApprovalRow.run_id == self.run.id, ApprovalRow.status == WAITING)
        async with self._services.database.read() as session:
            waiting = list(await session.scalars(query))
        resolved = [_cancelled_approval(row) for row in waiting]
        calls = await read_open_calls(self._services.database, self.run.id)
        records = await read_records(self._services.database, self.run.id)
        ended = [_cancelled_record(one, self._language) for one in records if one[-1]["toolCall"]["status"] in OPEN]
        return [*resolved, *(_cancelled_call(call) for call in calls), *ended]

    def _closing_statements(self, outcome: Outcome) -> list[Statement | OwnersOnly]:
        now, run = self._services.clock.now(), self.run
        by = self.cancelled_by or run.email
        approvals = [] if outcome.status == SUCCESS else [cancel_statement(run.id, by, self.cancel_key, now)]
        words: list[Statement] = [(WHOLE_WORDS, whole_words(run, self._messages))] if self._messages else []
        return [
            *approvals,
            *words,
            OwnersOnly(ENDED, {"run": run.id, "taken": run.starts, "status": outcome.status, "now": now}),
            (TOUCH, {"thread": run.thread_id, "now": now}),
        ]


def mode_of(run: RunRow) -> Mode:
    """Return the mode of a stored run."""
    return UNATTENDED if run.mode == UNATTENDED else "attended"


def _trace(error: Exception) -> Exception | None:
    """Return the error for the log's traceback; None for one of the storage, which logs its cause itself."""
    return None if isinstance(error, StorageFailureError) else error


def _ended_badly(event: Event) -> bool:
    return event["type"] == "tool_call_end" and event["status"] in {"error", "cancelled"}


def _cancelled_approval(row: ApprovalRow) -> Event:
    decisions = [{"tool_call_id": action["tool_call_id"], "type": "reject"} for action in row.payload["actions"]]
    return {"type": "approval_resolved", "approval_id": row.id, "decisions": decisions, "status": "cancelled"}


def _cancelled_record(updates: Sequence[Event], language: Language) -> Event:
    newest = updates[-1]
    response = cancelled_text(language, was_sent=was_sent(updates))
    return {**newest, "toolCall": {**newest["toolCall"], "status": "cancelled", "response": response}}


def _cancelled_call(start: Event) -> Event:
    call = {"tool_call_id": start["tool_call_id"], **named(start["name"])}
    return {"type": "tool_call_end", **call, "status": "cancelled", "result": "", "duration_ms": 0}
