"""Begin runs for clients: a message begins one of ours, an answer goes on with the one that waits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, select, update

from api.drive import ChatPlace, Principal
from api.errors import (
    ApprovalClosedError,
    ApprovalPendingError,
    InvalidRequestError,
    NotFoundError,
    NothingWaitsError,
    PlanPausedError,
    StaleCheckpointError,
    ThreadBusyError,
)
from api.events.frames import newest_number
from api.langgraph.assistants.views import GRAPH_ID, own_id, public_id
from api.langgraph.entrance import as_uuid
from api.langgraph.runs.answers import all_rejected, decisions_of
from api.langgraph.runs.bodies import RunBody
from api.langgraph.runs.forks import is_earlier, replaced_run
from api.langgraph.runs.orders import Answer, Say, read_order
from api.langgraph.runs.room import DEFAULT_STRATEGY, make_room
from api.langgraph.runs.rows import MODES_WANTED, PENDING, RUNNING, ClientRunRows
from api.langgraph.streams.modes import read_modes
from api.langgraph.threads.interrupts import interrupts_of, waiting_tasks
from api.langgraph.threads.message_ids import SAID, said_on
from api.langgraph.threads.rows import ClientThread, ClientThreads, add_extra, forget_drafts
from api.langgraph.threads.states import newest_state
from api.service import Service
from api.storage.tables import ApprovalRow, ClientRunRow, RunRow, new_id

GIVEN: Final = frozenset({"approve", "edit"})
"""The decisions after which a call is made."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A run of a client; with our `run` if that has just begun with it, so that nothing of it can be withheld."""

    row: ClientRunRow
    run: RunRow | None = None


class RunStarter:
    """Begins the runs of clients."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._threads = ClientThreads(service)
        self._rows = ClientRunRows(service)

    async def begin(
        self, caller: Principal, thread_id: str | None, body: RunBody, *, is_temporary: bool = False
    ) -> Begun:
        """Begin a run on a thread, without an id on a new one: made with the run, and gone with it if `is_temporary`.

        Raises the errors of `Runs.start` and `Approvals.decide`, and `NotFoundError`.
        """
        if read_modes(body.stream_mode) is None:
            raise InvalidRequestError("unknown_stream_mode", known="values, updates, messages, messages-tuple, custom")
        if body.webhook:
            self._service.webhooks.require_allowed(body.webhook)
        thread = await self._thread(caller, thread_id, body) if thread_id else None
        if thread is None:
            key = as_uuid(thread_id) if thread_id else None
            return await self._say_first(caller, key, body, read_order(body), is_temporary=is_temporary)
        order = read_order(body, thread.drafts, await said_on(self._service, thread))
        if isinstance(order, Answer):
            return Begun(await self._answer(caller, thread, body, order))
        return await self._say(caller, thread, body, order)

    async def _thread(self, caller: Principal, thread_id: str, body: RunBody) -> ClientThread | None:
        if body.if_not_exists == "create":
            return await self._threads.find(caller, as_uuid(thread_id))
        return await self._threads.get(caller, thread_id)

    async def begin_pending(self, caller: Principal, row: ClientRunRow) -> None:
        """Begin the run of a pending row, for who asked for it. Raises as `begin` does."""
        body = RunBody.model_validate(row.wanted["body"])
        this = update(ClientRunRow).where(ClientRunRow.id == row.id)

        def store(connection: Connection, run: RunRow) -> None:
            values = {"run_id": run.id, "first_seq": 1, "assistant_id": run.assistant_id}
            connection.execute(this.values(**values))

        await self._start(caller, row.thread_id, body, row.wanted["message"], store)

    async def _say_first(
        self, caller: Principal, thread_id: str | None, body: RunBody, order: Say | Answer, *, is_temporary: bool
    ) -> Begun:
        """Say something on a thread that is made in the transaction that begins the run."""
        if isinstance(order, Answer):
            raise NothingWaitsError
        if body.checkpoint_wanted() is not None:
            raise NotFoundError("no_checkpoint")
        if not order.message.strip():
            raise InvalidRequestError("no_message_to_run")
        row = self._row_of(caller, body, order)

        def store(connection: Connection, run: RunRow) -> None:
            add_extra(connection, run.thread_id, is_temporary=is_temporary)
            self._insert(connection, row, run, caller, body)

        try:
            return Begun(row, await self._start(caller, thread_id, body, order.message, store, creates=True))
        except (ThreadBusyError, ApprovalPendingError, PlanPausedError):
            if thread_id is None:
                raise
            # Another message of this moment made the thread.
            return await self._say(caller, await self._threads.get(caller, thread_id), body, order)

    async def _say(self, caller: Principal, thread: ClientThread, body: RunBody, order: Say) -> Begun:
        """Say something: at the end of the thread, or as another version of a message."""
        if order.repeats:
            return Begun(await self._rows.newest_of(caller, thread.row.id, order.repeats))
        replaces = await replaced_run(self._service, thread, body.checkpoint_wanted())
        message = order.message or (replaces.message if replaces else "")
        if not message.strip():
            raise InvalidRequestError("no_message_to_run")
        has_place = await is_earlier(self._service, thread, body.checkpoint_wanted())
        room = await make_room(self._service, caller, thread, body.multitask_strategy, has_place=has_place)
        if room.is_pending:
            return Begun(await self._pending(caller, thread, body, replace(order, message=message)))
        replaced = replaces.id if replaces else room.rolled_back
        row = self._row_of(caller, body, order, room.stays)

        def store(connection: Connection, run: RunRow) -> None:
            if thread.drafts:
                forget_drafts(connection, run.thread_id)
            self._insert(connection, row, run, caller, body)

        try:
            return Begun(row, await self._start(caller, thread.row.id, body, message, store, replaced))
        except ThreadBusyError:
            # Another message of this moment was first.
            if replaced is not None or has_place or (body.multitask_strategy or DEFAULT_STRATEGY) != "enqueue":
                raise
            return Begun(await self._pending(caller, thread, body, replace(order, message=message)))

    async def _start(
        self,
        caller: Principal,
        thread_id: str | None,
        body: RunBody,
        message: str,
        store: Callable[[Connection, RunRow], None],
        replaces: str | None = None,
        *,
        creates: bool = False,
    ) -> RunRow:
        """Begin our run, and `store` more in its transaction."""
        where, runs = body.place(), self._service.runs
        has_place = where.file_id is not None or where.folder_id is not None
        replaced = await runs.find_earlier(caller, thread_id, replaces) if replaces and thread_id else None
        return await runs.start(
            caller,
            message,
            ChatPlace(where.file_id, where.folder_id) if has_place else None,
            thread_id=thread_id,
            assistant_id=own_id(body.assistant_id),
            time_zone=where.time_zone or caller.time_zone,
            model=where.model,
            replaced=replaced,
            beside=store,
            creates_thread=creates,
        )

    def _insert(self, connection: Connection, row: ClientRunRow, run: RunRow, caller: Principal, body: RunBody) -> None:
        """Store the row of a run that begins in the same transaction."""
        row.thread_id, row.run_id, row.first_seq, row.status = run.thread_id, run.id, 1, RUNNING
        self._rows.insert(connection, row, caller, body.webhook)

    async def _pending(self, caller: Principal, thread: ClientThread, body: RunBody, order: Say) -> ClientRunRow:
        """Store a run that begins when those before it are over; its drafts are taken now."""
        kept = body.model_dump(include={"assistant_id", "context", "config"}, mode="json")
        wanted = {"body": kept, "message": order.message, SAID: [*order.ids], "caller": _kept_caller(caller)}
        if thread.drafts:
            await self._threads.drop_drafts(thread.row.id)
        row = self._row(body, thread.row.id, caller.user_id, own_id(body.assistant_id), wanted)
        row.first_seq, row.status = 1, PENDING
        return await self._rows.add(row, caller, body.webhook)

    async def _stored(
        self, caller: Principal, body: RunBody, run: RunRow, first: int, wanted: Mapping[str, Any]
    ) -> ClientRunRow:
        row = self._row(body, run.thread_id, run.user_id, run.assistant_id, wanted)
        row.run_id, row.first_seq, row.status = run.id, first, RUNNING
        return await self._rows.add(row, caller, body.webhook)

    def _row_of(self, caller: Principal, body: RunBody, order: Say, stays: Sequence[Any] = ()) -> ClientRunRow:
        """Return the row of a message; its transaction says of which run and thread it is."""
        row = self._row(body, "", caller.user_id, own_id(body.assistant_id), {SAID: [*order.ids]})
        if stays:
            row.about = {**row.about, "not_undone": [*stays]}
        return row

    def _row(
        self, body: RunBody, thread_id: str, user_id: str, assistant_id: str, wanted: Mapping[str, Any]
    ) -> ClientRunRow:
        return ClientRunRow(
            id=new_id(),
            thread_id=thread_id,
            user_id=user_id,
            assistant_id=assistant_id,
            wanted={**_stream_of(body), **wanted},
            about={"graph_id": GRAPH_ID, "assistant_id": public_id(assistant_id), **(body.metadata or {})},
            strategy=body.multitask_strategy or DEFAULT_STRATEGY,
        )

    async def _answer(self, caller: Principal, thread: ClientThread, body: RunBody, order: Answer) -> ClientRunRow:
        """Decide the waiting approval. Raises `ApprovalClosedError` if it is decided, and `StaleCheckpointError`."""
        waiting = await self._service.approvals.waiting(caller, thread.row.id)
        if not waiting:
            raise await self._nothing_waits(caller, thread.row.id)
        await self._require_newest(caller, thread, body)
        row = waiting[0]
        tasks = await waiting_tasks(self._service, caller, thread.run)
        names = [row.id, *(interrupt["id"] for interrupt in interrupts_of(tasks))]
        decisions = all_rejected(row.payload) if order.ends else decisions_of(order.answer, row.payload, names)
        first = await newest_number(self._service.database, row.run_id) + 1
        await self._service.approvals.decide(caller, row.id, decisions)
        run = await self._service.runs.get(caller, row.run_id)
        given = [one["tool_call_id"] for one in decisions if one["type"] in GIVEN]
        asked = [one["tool_call_id"] for one in decisions]
        return await self._stored(caller, body, run, first, {"given": given, "asked": asked})

    async def _require_newest(self, caller: Principal, thread: ClientThread, body: RunBody) -> None:
        """Raise `StaleCheckpointError` for an answer to a question that a client saw at an earlier checkpoint."""
        wanted = body.checkpoint_wanted()
        if wanted is None:
            return
        newest = (await newest_state(self._service, caller, thread))["checkpoint"]["checkpoint_id"]
        if wanted != newest:
            raise StaleCheckpointError(checkpoint_id=str(newest))

    async def _nothing_waits(self, caller: Principal, thread_id: str) -> Exception:
        """Return the error for an answer that comes when nothing waits: by the outcome of the last question."""
        mine = ApprovalRow.thread_id == thread_id, ApprovalRow.user_id == caller.user_id
        newest = select(ApprovalRow).where(*mine).order_by(ApprovalRow.created_at.desc()).limit(1)
        async with self._service.database.read() as session:
            row = await session.scalar(newest)
        if row is None:
            return NothingWaitsError()
        closed = await self._service.approvals.closed(row.id) or row
        return ApprovalClosedError(closed.id, closed.status, closed.decided_at and closed.decided_at.isoformat())


def _stream_of(body: RunBody) -> dict[str, Any]:
    """Return a client's wishes for the stream of a run."""
    modes = sorted(read_modes(body.stream_mode) or ())
    return {"stream_resumable": bool(body.stream_resumable), MODES_WANTED: modes}


def _kept_caller(caller: Principal) -> dict[str, Any]:
    """Return the caller of a run that begins later."""
    return {
        "user_id": caller.user_id,
        "email": caller.email,
        "scopes": sorted(str(scope) for scope in caller.scopes),
        "method": caller.method,
        "key_name": caller.key_name,
        "key_id": caller.key_id,
        "expires_at": caller.expires_at.isoformat() if caller.expires_at else None,
        "time_zone": caller.time_zone,
    }


def stored_caller(row: ClientRunRow) -> Principal:
    """Return the caller of a pending run, with their scopes of that time."""
    kept = dict(row.wanted["caller"])
    expires_at = kept.pop("expires_at")
    scopes = frozenset(kept.pop("scopes"))
    return Principal(**kept, scopes=scopes, expires_at=datetime.fromisoformat(expires_at) if expires_at else None)
