"""The queue of a thread: runs that wait for the one before, each a row; they begin in the order in which they came."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

from sqlalchemy import select, update

from api.errors import ApprovalPendingError, PlanPausedError, ShuttingDownError, ThreadBusyError
from api.events.frames import newest_number
from api.langgraph.runs.begin import RunStarter, stored_caller
from api.langgraph.runs.rows import ERROR, INTERRUPTED, PENDING, RUNNING
from api.service import Service
from api.storage.tables import ClientRunRow, RunRow
from drive_server.kernel.errors import DriveError, StorageFailureError

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0
"""Between two looks at a run that says nothing."""
OTHERS_SECONDS: Final = 10.0
"""Between two looks at rows that other processes may have left: each is a transaction of an idle service."""
BUSY: Final = (ThreadBusyError, ApprovalPendingError, PlanPausedError)


class Queue:
    """Begins pending runs. Of several processes one begins each: whose update of the row finds it pending."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._database = service.database
        self._starter = RunStarter(service)
        self._draining: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Begin runs that earlier or other processes left pending, again and again, until cancelled."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(OTHERS_SECONDS)
        finally:
            for task in self._draining.values():
                task.cancel()
            await asyncio.gather(*self._draining.values(), return_exceptions=True)

    def drain(self, thread_id: str) -> None:
        """Begin the pending runs of a thread, as soon as each can."""
        if thread_id not in self._draining:
            task = asyncio.create_task(self._drain(thread_id), name=f"queue of {thread_id}")
            self._draining[thread_id] = task
            task.add_done_callback(lambda _: self._draining.pop(thread_id))

    async def begun(self, run_id: str, idle_seconds: float) -> AsyncGenerator[ClientRunRow | None]:
        """Yield None after each so many seconds while a run is pending, then its row."""
        while True:
            changed = self._changed
            async with self._database.read() as session:
                row = await session.get(ClientRunRow, run_id)
            is_waiting = row is not None and (row.status == PENDING or (row.status == RUNNING and row.run_id is None))
            if not is_waiting:
                if row is not None:
                    yield row
                return
            try:
                async with asyncio.timeout(idle_seconds):
                    await changed.wait()
            except TimeoutError:
                yield None

    async def end_of_key(self, user_id: str, key_id: str) -> None:
        """End the pending runs that a key or a session asked for, which was revoked."""
        for row in await self._pending(ClientRunRow.user_id == user_id):
            if row.wanted["caller"]["key_id"] == key_id:
                await self._settle(row, INTERRUPTED)

    async def end_of_person(self, user_id: str) -> None:
        """End the pending runs of a person who was disabled or removed."""
        for row in await self._pending(ClientRunRow.user_id == user_id):
            await self._settle(row, INTERRUPTED)

    def tell(self) -> None:
        """Have those look who wait for a run to begin."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _look(self) -> None:
        try:
            for row in await self._pending():
                self.drain(row.thread_id)
        except StorageFailureError:
            logger.warning("the queues can't be read; trying again")

    async def _drain(self, thread_id: str) -> None:
        try:
            while rows := await self._pending(ClientRunRow.thread_id == thread_id):
                if active := await self._active_run(thread_id):
                    await self._until_ended(active)
                else:
                    await self._begin(rows[0])
        except ShuttingDownError:
            return
        except StorageFailureError:
            logger.warning("the queue of thread %s can't be read; trying again", thread_id)
        except Exception:
            logger.exception("the queue of thread %s stands", thread_id)

    async def _begin(self, row: ClientRunRow) -> None:
        """Begin a run, unless another process does; a run that can't begin ends with its error."""
        if not await self._settle(row, RUNNING):
            return
        try:
            await self._starter.begin_pending(stored_caller(row), row)
        except (*BUSY, ShuttingDownError) as error:
            await self._settle(row, PENDING, before=RUNNING)
            if isinstance(error, ShuttingDownError):
                raise
        except DriveError as error:
            sentence = self._service.graph.link_filter().clean(error.message)
            about = {**row.about, "error": {"error": error.code, "message": sentence}}
            await self._settle(row, ERROR, before=RUNNING, about=about)
        self.tell()

    async def _settle(
        self, row: ClientRunRow, status: str, *, before: str = PENDING, about: Mapping[str, Any] | None = None
    ) -> bool:
        """Give a row another status; False if it has not the one before any more."""
        change = update(ClientRunRow).where(ClientRunRow.id == row.id, ClientRunRow.status == before)
        more = {"about": dict(about)} if about is not None else {}
        values = {"status": status, "updated_at": self._service.clock.now(), **more}
        async with self._database.write() as session:
            found = await session.scalar(change.values(**values).returning(ClientRunRow.id))
        self.tell()
        return found is not None

    async def _pending(self, *which: Any) -> list[ClientRunRow]:
        query = select(ClientRunRow).where(ClientRunRow.status == PENDING, *which)
        async with self._database.read() as session:
            return list(await session.scalars(query.order_by(ClientRunRow.number)))

    async def _active_run(self, thread_id: str) -> str | None:
        active = select(RunRow.id).where(RunRow.thread_id == thread_id, RunRow.finished_at.is_(None))
        async with self._database.read() as session:
            return await session.scalar(active)

    async def _until_ended(self, run_id: str) -> None:
        after = await newest_number(self._database, run_id)
        async with aclosing(self._service.runs.follow(run_id, after, LOOK_SECONDS)) as batches:
            async for frames in batches:
                if not frames or frames[-1].is_final:
                    return
