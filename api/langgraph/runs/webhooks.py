"""Tell the address that a client named of the end of its run, with the values, as LangGraph's server does.

The webhook stands in the outbox from the beginning of the run on, without a body: a crash at the end loses none.
"""

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from api.drive import Principal
from api.errors import NotFoundError
from api.langgraph.entrance import Json
from api.langgraph.runs.rows import ACTIVE, ClientRunRows, run_view
from api.langgraph.streams.state_frames import ENDS, RunStates
from api.langgraph.threads.rows import ClientThreads
from api.runs.service import ADMINISTRATOR
from api.runs.webhooks import run_of
from api.service import Service
from api.storage.tables import ClientRunRow, RunRow, WebhookRow
from drive_server.kernel.errors import StorageFailureError

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0
"""Between two looks at runs that have a webhook: of earlier and other processes, and pending ones."""
CALM_SECONDS: Final = 30.0
"""The same while there was none."""


class RunWebhooks:
    """Completes the webhooks of client runs that are over."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._rows = ClientRunRows(service)
        self._expected = asyncio.Event()

    def expect(self) -> None:
        """Look soon, for a run with a webhook is pending."""
        self._expected.set()

    async def run(self) -> None:
        """Complete webhooks, again and again, until cancelled."""
        while True:
            try:
                webhooks = await self._service.webhooks.incomplete()
                for webhook in webhooks:
                    await self._look(webhook)
                if not webhooks:
                    await self._until_expected()
            except StorageFailureError:
                logger.warning("the webhooks of runs can't be read or stored; trying again")
            await asyncio.sleep(LOOK_SECONDS)

    async def _until_expected(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(CALM_SECONDS - LOOK_SECONDS):
                await self._expected.wait()
        self._expected.clear()

    async def follow(self, row: ClientRunRow) -> None:
        """Complete the webhook of a run that works here, as soon as it is over."""
        if row.run_id is not None:
            frames = self._service.runs.follow(row.run_id, row.first_seq - 1, LOOK_SECONDS)
            async with aclosing(frames) as batches:
                async for batch in batches:
                    if any(frame.type in ENDS for frame in batch):
                        break
        await self.complete(row.thread_id)

    async def complete(self, thread_id: str) -> None:
        """Complete the webhooks of the runs of a thread that are over."""
        for webhook in await self._service.webhooks.incomplete(thread_id):
            await self._look(webhook)

    async def _look(self, webhook: WebhookRow) -> None:
        row = await self._rows.of_id(run_of(webhook))
        if row is None:
            await self._service.webhooks.drop(webhook)
        elif row.status not in ACTIVE:
            try:
                body, is_temporary = await self._body(row)
            except NotFoundError:
                return  # the thread goes, and the webhook with it
            await self._service.webhooks.complete(webhook, body, outlives_thread=is_temporary)

    async def _body(self, row: ClientRunRow) -> tuple[Json, bool]:
        """Return the body for a run that is over, and whether its thread goes with it. Raises `NotFoundError`."""
        async with self._service.database.read() as session:
            run = await _run_of(session, row)
        scopes: Any = frozenset(run.scopes) if run else frozenset()
        owner = Principal(row.user_id, run.email if run else "", scopes, ADMINISTRATOR)
        thread = await ClientThreads(self._service).get(owner, row.thread_id)
        begun_at = run.created_at if run and row.first_seq == 1 else row.created_at
        body = {
            **run_view(row),
            "run_started_at": begun_at.isoformat(),
            "run_ended_at": row.updated_at.isoformat(),
            "values": await RunStates(self._service, owner, row.thread_id, row.run_id).final(),
        }
        error = await self._rows.error(row)
        return body | ({"error": error} if error else {}), bool(thread.extra and thread.extra.is_temporary)


async def _run_of(session: AsyncSession, row: ClientRunRow) -> RunRow | None:
    return await session.get(RunRow, row.run_id) if row.run_id else None
