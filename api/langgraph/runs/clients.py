"""Work that outlives a request: it goes on when a client is gone."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from sqlalchemy import func, select

from api.drive import Principal
from api.langgraph.runs.begin import Begun, RunStarter
from api.langgraph.runs.bodies import RunBody
from api.langgraph.runs.queue import Queue
from api.langgraph.runs.rows import PENDING
from api.langgraph.runs.temporary import delete_left
from api.langgraph.runs.webhooks import RunWebhooks
from api.langgraph.threads.rows import ClientThread, ClientThreads
from api.service import Service
from api.storage.tables import RunRow
from drive_server.kernel.sql.shared_poll import SharedPoll, Watch

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
"""Runs that begin elsewhere are seen so late by those who follow their threads: one query for all of these."""


class Clients:
    """The work for clients that no request waits for."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.queue = Queue(service)
        self.webhooks = RunWebhooks(service)
        self.newest_runs = SharedPoll[int](self._newest_runs, POLL_SECONDS, 0)
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(
        self, caller: Principal, thread_id: str | None, body: RunBody, *, is_temporary: bool = False
    ) -> Begun:
        """Begin a run on a thread, or put it behind the one that works. Raises as `RunStarter.begin` does."""
        begun = await RunStarter(self.service).begin(caller, thread_id, body, is_temporary=is_temporary)
        if begun.run:
            self.newest_runs.offer(begun.run.thread_id, begun.run.number)
        if begun.row.status == PENDING:
            self.webhooks.expect()
            self.queue.drain(begun.row.thread_id)
        elif body.webhook:
            self.spawn(self.webhooks.follow(begun.row), f"webhook of run {begun.row.id}")
        return begun

    async def watched(self, caller: Principal, thread_id: str) -> tuple[ClientThread, Watch[int]]:
        """Return a thread of the caller, and a watch of its newest run that tells of later ones.

        Raises `NotFoundError`.
        """
        watch = self.newest_runs.watch(thread_id, is_known=True)
        thread = await ClientThreads(self.service).get(caller, thread_id)
        watch.skip(thread.run.number if thread.run else 0)
        return thread, watch

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Do some work in a task of its own; a failure is logged."""
        task = asyncio.create_task(_logged(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _newest_runs(self, thread_ids: Collection[str]) -> Mapping[str, int]:
        """Return the number of the newest run of each of the threads."""
        newest = select(RunRow.thread_id, func.max(RunRow.number)).where(RunRow.thread_id.in_(thread_ids))
        query = newest.group_by(RunRow.thread_id)
        return await self.service.database.read_sync(
            lambda connection: {row[0]: row[1] for row in connection.execute(query)}
        )

    async def close(self) -> None:
        """Stop all of it."""
        self.newest_runs.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _logged(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception:
        logger.exception("%s failed", name)


@asynccontextmanager
async def open_clients(service: Service) -> AsyncGenerator[Clients]:
    """Open it for as long as the service works."""
    clients = Clients(service)
    service.drive.when_revoked(clients.queue.end_of_key)
    service.drive.when_ended(clients.queue.end_of_person)
    clients.spawn(clients.queue.run(), "queues")
    clients.spawn(clients.webhooks.run(), "webhooks of runs")
    clients.spawn(clients.newest_runs.run(), "new runs of threads")
    clients.spawn(delete_left(service), "threads of runs that are over")
    try:
        yield clients
    finally:
        await clients.close()


async def get_clients(request: Request) -> Clients:
    """Return the running one."""
    return request.app.state.clients


ClientsDep = Annotated[Clients, Depends(get_clients)]
