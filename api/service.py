"""The service without HTTP: its parts, opened and closed in order."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from api.approvals.service import Approvals
from api.assistant import Assistant, messages_of_run
from api.clock import Clock
from api.drive import DriveForService, Principal
from api.errors import ApiError, RunFinishedError
from api.events.log import EventLog
from api.metrics.counters import FENCE_REFUSALS, TAKE_OVERS
from api.plans import Plans
from api.runs.execution import RunServices
from api.runs.service import ADMINISTRATOR, Runs
from api.runs.sharing import share_runs
from api.runs.webhook_hosts import WebhookHosts
from api.runs.webhook_target import WebhookTarget
from api.runs.webhooks import Webhooks
from api.servers.assistants import Assistants, PersonsChoices
from api.servers.prompts import Offers
from api.servers.service import Servers
from api.servers.sign_ins import SignIns
from api.storage.replicas import Replica
from api.storage.tables import BUILT_IN, RunRow
from api.thread_imports import ThreadImports
from api.threads import ThreadPage, Threads
from api.withholding import Withholding
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database

logger = logging.getLogger(__name__)

OK = "ok"
PROBE_SECONDS = 5.0
PRUNING_INTERVAL = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that the routes use."""

    runs: Runs
    threads: Threads
    approvals: Approvals
    plans: Plans
    servers: Servers
    sign_ins: SignIns
    offers: Offers
    assistants: Assistants
    log: EventLog
    graph: Assistant
    drive: DriveForService
    database: Database
    heartbeat_seconds: float
    clock: Clock
    webhooks: Webhooks

    @property
    def withholding(self) -> Withholding:
        """Return the reader that hides the texts of files which are no longer shared with the person."""
        return Withholding(self.graph, self.drive)

    async def find_threads(self, caller: Principal, words: str | None, limit: int, cursor: str | None) -> ThreadPage:
        """Return the caller's threads, or those with all of the words, the one used last first.

        An answer made of items that are not shared with the caller any more is found by no word.
        """
        if words is None:
            return await self.threads.page(caller, limit, cursor)
        made = await self.threads.made_of_others(caller)
        hidden = await self.drive.hidden(caller, {item for items in made.values() for item in items})
        left_out = [row for row, items in made.items() if not hidden.isdisjoint(items)]
        return await self.threads.page(caller, limit, cursor, words=words, left_out=left_out)

    async def values(self, thread_id: str, run: RunRow | None) -> Mapping[str, Any]:
        """Return the state of the graph in which a run is the last one, the newest or one on another branch."""
        values = await self.graph.state(thread_id, run.head_checkpoint if run else None)
        is_behind = run and run.head_checkpoint is None and run.base_checkpoint is not None
        if run and is_behind and all(message.id != run.id for message in values.get("messages", ())):
            return await self.graph.state(thread_id, run.base_checkpoint)
        return values

    async def complete_words(self) -> None:
        """Let threads be found by the answers of runs that a crash, or an earlier program, left out."""
        at, messages = ("", ""), []
        for run in await self.threads.runs_without_words():
            if at != (run.thread_id, run.head_checkpoint):
                at = (run.thread_id, run.head_checkpoint)
                messages = (await self.graph.state(*at)).get("messages", [])
            await self.threads.store_words(run, messages_of_run(messages, run.id))

    async def delete_thread(self, caller: Principal, thread_id: str) -> None:
        """Delete a thread; a run that waits in it is cancelled. Raises `NotFoundError` and `ThreadBusyError`."""
        await self.threads.get(caller, thread_id)
        waiting = [approval.run_id for approval in await self.approvals.waiting(caller, thread_id)]
        for run_id in [*waiting, await self.plans.paused_run(thread_id)]:
            # One that ends by itself meanwhile is in nobody's way.
            with suppress(RunFinishedError):
                if run_id:
                    await self.runs.cancel(caller, run_id)
        await self.threads.hide(caller, thread_id)
        await self._purge(caller.user_id, thread_id)

    async def purge_hidden(self) -> None:
        """Finish deletions that a crash interrupted."""
        for row in await self.threads.hidden():
            await self._purge(row.user_id, row.id)

    async def end_person(self, user_id: str) -> None:
        """End the runs of a person who was disabled or removed; delete all that a removed one has here."""
        await self.runs.end_all(user_id)
        if user_id in await self.drive.removed_people():
            await self._forget_person(user_id)

    async def forget_removed(self) -> None:
        """Finish removals of people that a crash interrupted."""
        for user_id in await self.drive.removed_people():
            await self._forget_person(user_id)

    async def expire_threads(self, days: float) -> int:
        """Delete inactive threads without a message for so many days (0: none); return their number."""
        if not days:
            return 0
        hidden = await self.threads.hide_unused(self.clock.now() - timedelta(days=days))
        await self.purge_hidden()
        return hidden

    async def expire_imports(self) -> int:
        """Delete the imports of threads that were not finished in time; return their number."""
        return await self._imports.expire()

    @property
    def _imports(self) -> ThreadImports:
        return ThreadImports(self.database, self.graph, self.clock)

    async def readiness(self) -> dict[str, str]:
        """Return the state of each part that the service depends on: `ok`, or its problem."""
        return {
            "database": await _probe(self._check_database()),
            "drive": await _probe(self.drive.check()),
            "threads": await _probe(self.graph.check()),
            "blobs": await _probe(self.drive.check_blobs()),
        }

    def end_streams(self) -> None:
        """End the streams of all clients, so that the server can shut down; runs go on."""
        self.log.end_follows()
        self.servers.end_watches()
        self.approvals.polls.end()

    async def _forget_person(self, user_id: str) -> None:
        person = Principal(user_id, "", frozenset(), ADMINISTRATOR)
        await self.graph.forget_person(user_id)
        await self._imports.forget(user_id)
        await self.threads.hide_all(user_id)
        await self.purge_hidden()
        for assistant in await self.assistants.of(person):
            if assistant.id != BUILT_IN:
                await self.assistants.delete(person, assistant.id)
        for server in await self.servers.of(person):
            await self.servers.delete(person, server.id)

    async def _purge(self, user_id: str, thread_id: str) -> None:
        await self.graph.forget(user_id, thread_id)
        await self.threads.remove(thread_id)

    async def _check_database(self) -> None:
        self.database.require_sound()
        schema = self.database.schema
        version, newest = await self.database.schema_version(), schema.newest_version()
        # A newer program beside this one has migrated it already: its migrations only add.
        if version is None or (version != newest and schema.knows(version)):
            raise ApiError("old_schema", version=str(version), newest=str(newest))


@asynccontextmanager
async def open_service(
    database: Database,
    graph: Assistant,
    drive: DriveForService,
    clock: Clock,
    servers: Servers,
    heartbeat_seconds: float,
    plans: Plans | None = None,
    webhook: WebhookTarget | None = None,
    thread_days: float = 0,
    choices: PersonsChoices | None = None,
    webhook_hosts: WebhookHosts | None = None,
) -> AsyncGenerator[Service]:
    """Start the service and recover unfinished runs. At the end, runs stop where they are.

    `choices` are those that the graph reads; a run reads its own where it begins. `webhook` is the operator's target,
    `webhook_hosts` those of clients.
    """
    replica = Replica(database)
    replica.on_refusal, replica.on_take_over = FENCE_REFUSALS.inc, TAKE_OVERS.inc
    log = EventLog(database, replica)
    approvals = Approvals(database, clock, graph.check_edit, graph.check_grant, servers.secrets)
    plans = plans or Plans(database, clock)
    webhooks = Webhooks(database, clock, webhook, webhook_hosts)
    runs = Runs(RunServices(graph, drive, database, log, approvals, clock, plans, webhooks, replica, choices))
    log.on_lost = runs.lose
    if replica.is_shared:
        drive.fence_runs(replica.still_holds)
        replica.read_beside = drive.note_state
    threads = Threads(database, clock)
    assistants = Assistants(database, clock, graph.allows_model, graph.drive_tools)
    service = Service(
        runs,
        threads,
        approvals,
        plans,
        servers,
        SignIns(servers),
        Offers(servers),
        assistants,
        log,
        graph,
        drive,
        database,
        heartbeat_seconds,
        clock,
        webhooks,
    )
    log_task = asyncio.create_task(log.write(), name="event log")
    webhook_task = asyncio.create_task(webhooks.deliver(), name="webhooks")
    expiry_task: asyncio.Task[None] | None = None
    sharing_task: asyncio.Task[None] | None = None
    polling_task = asyncio.create_task(approvals.polls.run(), name="approvals")
    words_task = asyncio.create_task(complete_words(service), name="words")
    pruning_task = asyncio.create_task(prune_threads(service, thread_days), name="retention")
    try:
        drive.when_ended(service.end_person)
        drive.when_revoked(runs.end_of_key)
        drive.when_ended(webhooks.end_of_person)
        drive.when_revoked(webhooks.end_of_key)
        await service.purge_hidden()
        await service.forget_removed()
        await replica.begin()
        if recovered := await runs.recover():
            logger.info("recovered %d runs", recovered)
        expiry_task = asyncio.create_task(runs.expire(), name="expiry")
        if replica.is_shared:
            sharing_task = asyncio.create_task(share_runs(runs, replica, database, drive.news), name="sharing")
        yield service
    finally:
        service.end_streams()
        if sharing_task:
            sharing_task.cancel()
            await asyncio.gather(sharing_task, return_exceptions=True)
        if expiry_task:
            expiry_task.cancel()
            await asyncio.gather(expiry_task, return_exceptions=True)
        await runs.close()
        polling_task.cancel()
        webhook_task.cancel()
        pruning_task.cancel()
        words_task.cancel()
        log.stop()
        await log_task


async def complete_words(service: Service) -> None:
    """Complete the words of earlier threads once; a failure is tried again at the next start."""
    try:
        await service.complete_words()
    except Exception:
        logger.exception("some threads can't be found by their answers yet")


async def prune_threads(service: Service, days: float) -> None:
    """Delete the expired threads and imports at intervals, until cancelled."""
    while True:
        try:
            if deleted := await service.expire_threads(days) + await service.expire_imports():
                logger.info("%d threads or imports of threads were not used for too long and are deleted", deleted)
        except Exception:
            logger.exception("expired threads could not be deleted; the next attempt is in an hour")
        await service.clock.sleep_until(service.clock.now() + PRUNING_INTERVAL)


async def _probe(check: Awaitable[None]) -> str:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            await check
    except TimeoutError:
        return f"no answer within {PROBE_SECONDS:.0f} s"
    except StorageFailureError as error:
        logger.error("a part of the service is not ready: %s", error)  # noqa: TRY400 - asked again and again
        return error.message
    except Exception as error:
        logger.exception("a part of the service is not ready")
        return getattr(error, "message", None) or f"not ready ({type(error).__name__})"
    return OK
