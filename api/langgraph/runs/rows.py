"""The rows of client runs. The status of a running one stands in the events of its run: nothing has to keep it up."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from api.drive import Principal
from api.errors import NotFoundError, RunActiveError
from api.langgraph.assistants.views import public_id
from api.langgraph.entrance import Json
from api.langgraph.streams.state_frames import ASKS, ENDS
from api.service import Service
from api.storage.tables import (
    CANCELLED,
    FAILED,
    SUCCESS,
    ClientRunRow,
    EventRow,
    RunRow,
    ThreadRow,
    WebhookRow,
    table_of,
    values_of,
)

PENDING: Final = "pending"
RUNNING: Final = "running"
INTERRUPTED: Final = "interrupted"
ERROR: Final = "error"
ACTIVE: Final = frozenset({PENDING, RUNNING})
MODES_WANTED: Final = "modes"
"""Key in the stored request of a client run: the modes of its stream."""
_ROWS: Final = table_of(ClientRunRow)
_NEW: Final = insert(_ROWS)
_NEW_WEBHOOK: Final = insert(table_of(WebhookRow))
_NEWEST: Final = select(func.max(_ROWS.c.number)).where(_ROWS.c.thread_id == bindparam("thread"))
STATUS: Final[Mapping[str, str]] = {SUCCESS: SUCCESS, CANCELLED: INTERRUPTED, FAILED: ERROR}


class ClientRunRows:
    """Reads and writes the rows of client runs."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._database = service.database

    async def add(self, row: ClientRunRow, caller: Principal, webhook: str | None) -> ClientRunRow:
        """Store a new row of a caller, with the webhook that tells of its end."""
        async with self._database.write(row.user_id) as session:
            await session.run_sync(lambda inner: self.insert(inner.connection(), row, caller, webhook))
        return row

    def insert(self, connection: Connection, row: ClientRunRow, caller: Principal, webhook: str | None) -> None:
        """Store a new row, with its webhook, in a transaction that does more."""
        row.created_at = row.updated_at = self._service.clock.now()
        row.number = (connection.scalar(_NEWEST, {"thread": row.thread_id}) or 0) + 1
        connection.execute(_NEW, values_of(row))
        if webhook:
            whose = {"user_id": caller.user_id, "key_id": caller.key_id or ""}
            kept = self._service.webhooks.of_run(row.id, row.thread_id, webhook, **whose)
            connection.execute(_NEW_WEBHOOK, values_of(kept))

    async def of_id(self, run_id: str) -> ClientRunRow | None:
        """Return a client run of anybody with its status now, None if it is gone."""
        async with self._database.read() as session:
            row = await session.get(ClientRunRow, run_id)
        return row and await self.settle(row)

    async def get(self, caller: Principal, thread_id: str, run_id: str) -> ClientRunRow:
        """Return a client run of the caller with its status now. Raises `NotFoundError`, also for somebody else's."""
        async with self._database.read() as session:
            row = await session.get(ClientRunRow, run_id)
            thread = await session.get(ThreadRow, thread_id)
        is_own = row and row.user_id == caller.user_id and row.thread_id == thread_id
        if row is None or not is_own or thread is None or thread.deleted_at is not None:
            raise NotFoundError("no_run")
        return await self.settle(row)

    async def of_thread(self, caller: Principal, thread_id: str) -> Sequence[ClientRunRow]:
        """Return the client runs of a thread, the newest first, each with its status now."""
        mine = ClientRunRow.thread_id == thread_id, ClientRunRow.user_id == caller.user_id
        query = select(ClientRunRow).where(*mine).order_by(ClientRunRow.number.desc())
        return [await self.settle(row) for row in await self._all(query)]

    async def newest_of(self, caller: Principal, thread_id: str, client_run: str) -> ClientRunRow:
        """Return the newest client run of the run that a client run began: itself, or the last answer in it."""
        row = await self.get(caller, thread_id, client_run)
        if row.run_id is None:
            return row
        query = select(ClientRunRow).where(ClientRunRow.run_id == row.run_id, ClientRunRow.user_id == caller.user_id)
        return await self.settle((await self._all(query.order_by(ClientRunRow.number.desc()).limit(1)))[0])

    async def of_run(self, run_id: str) -> Sequence[ClientRunRow]:
        """Return the client runs of one of our runs, in order."""
        return await self._all(select(ClientRunRow).where(ClientRunRow.run_id == run_id).order_by(ClientRunRow.number))

    async def has_pending(self, thread_id: str) -> bool:
        """Say whether runs wait for their turn on a thread."""
        query = select(ClientRunRow.id).where(ClientRunRow.thread_id == thread_id, ClientRunRow.status == PENDING)
        async with self._database.read() as session:
            return await session.scalar(query.limit(1)) is not None

    async def active(self, caller: Principal) -> Sequence[ClientRunRow]:
        """Return the client runs of a person that are not over."""
        mine = ClientRunRow.user_id == caller.user_id, ClientRunRow.status.in_(ACTIVE)
        query = select(ClientRunRow).where(*mine).order_by(ClientRunRow.created_at)
        return [row for row in [await self.settle(row) for row in await self._all(query)] if row.status in ACTIVE]

    async def _all(self, query: Any) -> list[ClientRunRow]:
        async with self._database.read() as session:
            return list(await session.scalars(query))

    async def settle(self, row: ClientRunRow) -> ClientRunRow:
        """Return the row with its status by the events, and store it once it is final."""
        if row.status != RUNNING or row.run_id is None:
            return row
        ended = await self._ended(row)
        if ended is None:
            return row
        row.status, row.last_seq = ended
        row.updated_at = self._service.clock.now()
        values = {"status": row.status, "last_seq": row.last_seq, "updated_at": row.updated_at}
        async with self._database.write() as session:
            await session.execute(update(ClientRunRow).where(ClientRunRow.id == row.id).values(**values))
        return row

    async def _ended(self, row: ClientRunRow) -> tuple[str, int] | None:
        """Return how a client run ended, and with which event; None if it has not."""
        events = select(EventRow.type, EventRow.seq, EventRow.data).order_by(EventRow.seq).limit(1)
        of_run = EventRow.run_id == row.run_id, EventRow.seq >= row.first_seq, EventRow.type.in_(ENDS)
        async with self._database.read() as session:
            found = (await session.execute(events.where(*of_run))).one_or_none()
            run = await session.get(RunRow, row.run_id)
        if found is not None:
            return _status(found.type, found.data), found.seq
        if run is None or run.finished_at is not None:
            return STATUS.get(run.status if run else FAILED, ERROR), row.first_seq
        return None

    async def error(self, row: ClientRunRow) -> Json | None:
        """Return the error of a client run that failed."""
        if row.status != ERROR or row.run_id is None:
            return row.about.get("error")
        event = EventRow.run_id == row.run_id, EventRow.seq == row.last_seq, EventRow.type == "error"
        async with self._database.read() as session:
            data = await session.scalar(select(EventRow.data).where(*event))
        return error_view(orjson.loads(data)) if data else None

    async def stop_pending(self, row: ClientRunRow) -> bool:
        """End a run that has not begun; False if it has."""
        waits = update(ClientRunRow).where(ClientRunRow.id == row.id, ClientRunRow.status == PENDING)
        ended = waits.values(status=INTERRUPTED, updated_at=self._service.clock.now()).returning(ClientRunRow.id)
        async with self._database.write() as session:
            return await session.scalar(ended) is not None

    async def remove(self, row: ClientRunRow) -> None:
        """Remove the row of a run that is over. Raises `RunActiveError`."""
        if row.status in ACTIVE:
            raise RunActiveError(run_id=row.id)
        await self.forget(row.id)

    async def forget(self, run_id: str) -> None:
        """Remove a row."""
        async with self._database.write() as session:
            await session.execute(delete(ClientRunRow).where(ClientRunRow.id == run_id))

    async def forget_run(self, run_id: str) -> None:
        """Remove the rows of one of our runs, which was rolled back."""
        async with self._database.write() as session:
            await session.execute(delete(ClientRunRow).where(ClientRunRow.run_id == run_id))


def _status(kind: str, data: str) -> str:
    if kind in ASKS:
        return SUCCESS
    return ERROR if kind == "error" else STATUS[orjson.loads(data)["status"]]


def error_view(event: Mapping[str, Any]) -> Json:
    """Return an error as clients of LangGraph read it."""
    return {"error": event["code"], "message": event["message"]}


def run_view(row: ClientRunRow) -> Json:
    """Return a client run in LangGraph's shape."""
    return {
        "run_id": row.id,
        "thread_id": row.thread_id,
        "assistant_id": public_id(row.assistant_id),
        "status": row.status,
        "metadata": row.about,
        "kwargs": {},
        "multitask_strategy": row.strategy,
        "created_at": row.created_at.isoformat(),
        "updated_at": row.updated_at.isoformat(),
    }
