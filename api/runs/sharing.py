"""The part of a process among those that share their runs: it shows that it is alive, and hears the others."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from api.runs.service import Runs
from api.storage.notices import listen
from api.storage.replicas import CALM_BEATS, HEARTBEAT_SECONDS, Replica
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database, News

logger = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 0.1
"""Between two looks, however many notices come."""


async def share_runs(runs: Runs, replica: Replica, database: Database, news: News) -> None:
    """Take part until cancelled: look at each heartbeat, and at once when another process asks for it.

    While no process has a run at work, heartbeats are rarer. One that dies in such a pause is as dead as soon, and the
    others see a run that it began in their next look: so both together take no longer than without the pause.

    `news` are told of the drive's.
    """
    asked = asyncio.Event()

    def on_notice(kind: str, run_ids: Sequence[str]) -> None:
        if runs.on_notice(kind, run_ids):
            asked.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(listen(database.engine.url, replica.id, on_notice, news), name="notices")
        group.create_task(_look(runs, asked, news), name="heartbeat")


async def _look(runs: Runs, asked: asyncio.Event, news: News) -> None:
    while True:
        asked.clear()
        beats = 1
        try:
            if await runs.look():
                asked.set()
            # Who hears no notices finds what others did by looking.
            beats = CALM_BEATS if runs.is_calm and news.arrives else 1
        except StorageFailureError:
            logger.warning("the database does not answer; other processes may take over the runs of this one")
        except Exception:
            logger.exception("the runs of other processes could not be looked at; trying again")
        await asyncio.sleep(PAUSE_SECONDS)
        try:
            async with asyncio.timeout(beats * HEARTBEAT_SECONDS - PAUSE_SECONDS):
                await asked.wait()
        except TimeoutError:
            continue
