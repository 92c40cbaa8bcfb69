"""One of two services as a process of its own, which ends itself with SIGKILL at the n-th place where it stores.

A line with a number on its standard input sets that n, from then on; `tests/e2e/killed.py` lists such places. SIGTERM
stops it as a supervisor does. Its model does what it is told, and holds what says so till the gate is open.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import MagicMock

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from api.events.log import EventLog
from api.runs import execution
from api.storage.postgres_threads import FencedSaver
from drive_server.kernel import clock
from drive_server.kernel.sql.engine import Transactions
from drive_server.mcp.server import build_server
from drive_server.services.journal.service import Journal
from drive_server.storage.blobs import BlobStore
from graph.settings import AgentSettings
from tests import once
from tests.api.real_service import RealService
from tests.e2e.killed import Countdown, say
from tests.e2e.pair.services import write_log
from tests.e2e.stopped import GATE, GatedModel

APPROVAL_SECONDS: Final = 4 * 3600
MAX_STARTS: Final = 100
"""On a busy machine, kills follow one another faster than runs end: none is given up for that here."""
PLACES: Final[tuple[tuple[Any, str], ...]] = (
    (EventLog, "_store"),
    (Journal, "change"),
    (AsyncSession, "commit"),
    (Transactions, "change"),
    (Transactions, "write"),
    (BlobStore, "put_stream"),
)

if not once.PLAIN:
    # The forks begin with the tools' schemas: to make them is more than half of the work of a start.
    once.describe_tools_once(pytest.MonkeyPatch())
    build_server(MagicMock())


def main(arguments: list[str]) -> None:
    """Serve, and print where. Systems that share processors among sessions give each service a share of its own."""
    os.setsid()
    options = json.loads(arguments[0])
    write_log(options["log"])
    folder, name, ahead = Path(options["folder"]), options["name"], timedelta(seconds=options["ahead"])

    def shifted() -> datetime:
        return clock.system_now() + ahead

    clock.PROCESS_CLOCK.__init__(shifted)
    countdown = Countdown(0)
    for owner, method in PLACES:
        setattr(owner, method, countdown.around_async(getattr(owner, method)))
    FencedSaver.put_all = countdown.around(FencedSaver.put_all)
    execution.MAX_STARTS = MAX_STARTS
    agent = AgentSettings(model="offline", approval_ttl_seconds=APPROVAL_SECONDS)
    shared: Any = {"database_url": options["database"], "blob_url": options["blobs"]}
    running = RealService(folder / name, GatedModel(gate=folder / GATE), agent=agent, **shared)
    running.config.port = options["port"]
    running.start()

    def stop(*_: object) -> None:
        running.should_exit = True

    signal.signal(signal.SIGTERM, stop)
    say(running.url)
    for line in sys.stdin:
        countdown.left = int(line)
        countdown.arm()
    running.wait()
