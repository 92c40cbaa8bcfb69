"""Notices between the processes that share a database: PostgreSQL's NOTIFY, which arrives after the commit.

A notice is a nudge: each thing that it tells of stands in a row, and is found without it too, only later.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from sqlalchemy import URL, Executable, func, select

from drive_server.kernel.sql.database import News
from drive_server.kernel.sql.server import server_url

logger = logging.getLogger(__name__)

CHANNEL: Final = "drive_agent_runs"
NEW_EVENTS: Final = "events"
"""A run has new events."""
WAKE: Final = "wake"
"""A run that waits has its answer, or its plan was changed."""
CANCEL: Final = "cancel"
"""A run is to be stopped."""
LEFT: Final = "left"
"""A process stopped, and left runs to the others."""
MISSED: Final = "missed"
"""Notices may have been missed: the connection was lost."""
IDS_PER_NOTICE: Final = 150
"""A notice has at most 8,000 bytes."""
PAUSE_SECONDS: Final = 1.0

OnNotice = Callable[[str, Sequence[str]], None]


def own_channel(own_id: str) -> str:
    """Return the channel on which a process tells itself that notices arrive."""
    return f"{CHANNEL}_{own_id}"


def notice_statement(kind: str, sender: str, run_ids: Sequence[str]) -> list[Executable]:
    """Return the statements that send a notice about the runs when their transaction is committed."""
    parts = [run_ids[start : start + IDS_PER_NOTICE] for start in range(0, len(run_ids), IDS_PER_NOTICE)]
    return [select(func.pg_notify(CHANNEL, " ".join((kind, sender, *part)))) for part in parts or [()]]


async def listen(url: URL, own_id: str, on_notice: OnNotice, news: News) -> None:
    """Call `on_notice` with the kind and the runs of each notice of others, and tell `news`, until cancelled.

    A lost connection is opened again, and notices missed meanwhile are told as `MISSED`.
    """
    # The extra `postgres`, which lint and types do without.
    psycopg: Any = import_module("psycopg")
    address = server_url(url).render_as_string(hide_password=False)
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(address, autocommit=True) as connection:
                for channel in (CHANNEL, News.CHANNEL, own_channel(own_id)):
                    await connection.execute(f'LISTEN "{channel}"')
                news.tell()
                on_notice(MISSED, ())
                async for notice in connection.notifies():
                    _hear(notice, own_id, on_notice, news)
        except psycopg.Error as error:
            logger.warning("notices of other processes are not heard: %s", error)
        finally:
            news.lose()
        await asyncio.sleep(PAUSE_SECONDS)


def _hear(notice: Any, own_id: str, on_notice: OnNotice, news: News) -> None:
    if notice.channel == News.CHANNEL:
        news.tell()
    elif notice.channel != CHANNEL:
        news.hear()
    else:
        kind, sender, *run_ids = notice.payload.split(" ")
        if sender != own_id:
            on_notice(kind, run_ids)
