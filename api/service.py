"""The service without HTTP: its parts, opened together and closed in the right order."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from api import migrations
from api.approvals import Approvals
from api.clock import Clock
from api.database import Database
from api.errors import ApiError
from api.event_log import EventLog
from api.execution import Workshop
from api.ports import Authenticator, Caller, DrivePort, GraphPort
from api.runs import Runs
from api.threads import Threads

logger = logging.getLogger(__name__)

OK = "ok"
PROBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes work with."""

    runs: Runs
    threads: Threads
    approvals: Approvals
    log: EventLog
    graph: GraphPort
    drive: DrivePort
    database: Database
    authenticate: Authenticator
    heartbeat_seconds: float

    async def delete_thread(self, caller: Caller, thread_id: str) -> None:
        """Delete a thread with all that was said in it. A run that waits on it is cancelled, its approval rejected.

        Raises `NotFoundError`, and `ThreadBusyError` while a run is at work.
        """
        await self.threads.get(caller, thread_id)
        for approval in await self.approvals.waiting(caller, thread_id):
            await self.runs.cancel(caller, approval.run_id)
        await self.threads.hide(caller, thread_id)
        await self._purge(thread_id)

    async def purge_hidden(self) -> None:
        """Finish deletions that a crash has interrupted."""
        for thread_id in await self.threads.hidden():
            await self._purge(thread_id)

    async def readiness(self) -> dict[str, str]:
        """Return what the service stands on, each `ok` or what is wrong with it."""
        return {
            "database": await _probe(self._check_database()),
            "drive": await _probe(self.drive.check()),
            "graph": await _probe(self.graph.check()),
        }

    def end_streams(self) -> None:
        """End all streams of clients, so that the server can shut down; runs go on."""
        self.log.end_follows()

    async def _purge(self, thread_id: str) -> None:
        await self.graph.forget(thread_id)
        await self.threads.remove(thread_id)

    async def _check_database(self) -> None:
        version, newest = await self.database.schema_version(), migrations.newest_version()
        if version != newest:
            raise ApiError(f"The schema is at {version}; this program needs {newest}.")


@asynccontextmanager
async def open_service(
    database: Database,
    graph: GraphPort,
    drive: DrivePort,
    authenticate: Authenticator,
    clock: Clock,
    heartbeat_seconds: float,
) -> AsyncGenerator[Service]:
    """Start the service on its parts and take up what was left unfinished. At the end, runs stop where they are."""
    log = EventLog(database)
    approvals = Approvals(database, clock, graph.check_edit)
    runs = Runs(Workshop(graph, drive, database, log, approvals, clock))
    threads = Threads(database, clock)
    service = Service(runs, threads, approvals, log, graph, drive, database, authenticate, heartbeat_seconds)
    writer = asyncio.create_task(log.write(), name="event log")
    try:
        await service.purge_hidden()
        if taken_up := await runs.recover():
            logger.info("took up %d runs", taken_up)
        yield service
    finally:
        service.end_streams()
        await runs.close()
        log.stop()
        await writer


async def _probe(check: Awaitable[None]) -> str:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            await check
    except TimeoutError:
        return f"no answer within {PROBE_SECONDS:.0f} s"
    except Exception as error:
        logger.exception("a part of the service is not ready")
        return getattr(error, "message", None) or f"not ready ({type(error).__name__})"
    return OK
