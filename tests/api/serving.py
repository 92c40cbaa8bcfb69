"""The real application over real HTTP: uvicorn in a thread with a loop of its own, on a free port."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
import traceback
from contextlib import asynccontextmanager, closing, suppress
from typing import TYPE_CHECKING, Any, Self, cast

import psycopg
import uvicorn

from api.app import build_api
from api.clock import SystemClock
from api.servers.secrets import Secrets
from api.servers.service import Servers
from api.service import open_service
from api.storage.database import open_database
from api.storage.threads import open_threads
from drive_server.http.limits import PlainAddress
from drive_server.kernel.http.event_streams import OpenStreams
from drive_server.transports.runner import KEEP_ALIVE_SECONDS
from graph.servers.pool import ServerPool
from graph.settings import AgentSettings
from tests.api.fakes import MemoryDrive
from tests.api.small_graph import SmallGraph
from tests.databases import IS_POSTGRES, drive_url
from tests.e2e.person import Event, Person, Turn
from tests.prompt_server import PromptServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from fastapi import FastAPI

    from api.assistant import Assistant
    from api.drive import DriveForService
    from api.runs.webhook_target import WebhookTarget
    from api.service import Service
    from tests.api.fakes import ManualClock

START_SECONDS = 30


def rest_of(turn: Turn) -> list[Event]:
    """Read to the end of the stream; return what came, whatever it is."""
    before = len(turn.seen)
    with suppress(AssertionError):
        turn.until("nothing of this kind")
    return turn.seen[before:]


def service_database(data_dir: Path) -> str:
    """Return the URL of the service's own tables."""
    return drive_url(data_dir) if IS_POSTGRES else f"sqlite+aiosqlite:///{data_dir / 'api.db'}"


def threads_database(data_dir: Path) -> str:
    """Return the URL of the threads."""
    return drive_url(data_dir).replace("+psycopg", "") if IS_POSTGRES else f"sqlite:///{data_dir / 'graph.db'}"


def execute(data_dir: Path, statement: str, *values: Any) -> list[Any]:
    """Run a statement on the service's database, past the service; return the rows."""
    if IS_POSTGRES:
        with psycopg.connect(threads_database(data_dir)) as connection:
            done = connection.execute(statement.replace("?", "%s").encode(), values)
            return done.fetchall() if done.description else []
    with closing(sqlite3.connect(data_dir / "api.db")) as connection, connection:
        return connection.execute(statement, values).fetchall()


def forget_checkpoints(data_dir: Path, after: str = "") -> None:
    """Remove the checkpoints of all threads, or those after one, with what was written at them."""
    writes = "checkpoint_writes" if IS_POSTGRES else "writes"
    for table in ("checkpoints", writes):
        statement = f"DELETE FROM {table} WHERE checkpoint_id > ?"  # noqa: S608 - names above
        if IS_POSTGRES:
            execute(data_dir, statement, after)
        else:
            with closing(sqlite3.connect(data_dir / "graph.db")) as connection, connection:
                connection.execute(statement, (after,))


class SmallService:
    """The service on the small graph and the drive that only remembers, over a data directory."""

    def __init__(
        self,
        data_dir: Path,
        clock: ManualClock | None = None,
        heartbeat_seconds: float = 5.0,
        webhook: WebhookTarget | None = None,
        *,
        database: str = "",
    ) -> None:
        self.data_dir = data_dir
        self._database = database or service_database(data_dir)
        self._threads = database.replace("+psycopg", "") or threads_database(data_dir)
        self.webhook = webhook
        self.clock = clock
        self.heartbeat_seconds = heartbeat_seconds
        self.drive = MemoryDrive(data_dir / "effects.jsonl")
        self.gate_open = False
        self.graph: SmallGraph
        self.service: Service
        self.app = build_api(self._lifespan)
        self.app.add_middleware(PlainAddress)  # as the whole application has it

    @asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncGenerator[None]:
        database = await open_database(self._database)
        async with open_threads(self._threads) as storage:
            self.graph = SmallGraph(self.drive, storage.saver, self.clock)
            if self.gate_open:
                self.graph.gate.open()
            clock = self.clock or SystemClock()
            opened = open_service(
                database,
                cast("Assistant", self.graph),
                cast("DriveForService", self.drive),
                clock,
                Servers(database, Secrets.of(self.data_dir, ""), ServerPool(AgentSettings(model="offline")), clock, 3),
                self.heartbeat_seconds,
                webhook=self.webhook,
            )
            async with opened as self.service:
                app.state.service = self.service
                app.state.open_streams = OpenStreams(self.drive.holders)
                yield
        await database.dispose()


class RunningApp(PromptServer):
    """Serves an application from a thread until stopped."""

    def __init__(self, app: FastAPI) -> None:
        config = uvicorn.Config(
            app, port=0, log_config=None, access_log=False, lifespan="on", timeout_keep_alive=KEEP_ALIVE_SECONDS
        )
        super().__init__(config)
        self._app = app
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self.run, name="service")

    async def startup(self, sockets: Any = None) -> None:
        """Note the loop, for what is said of a service that hangs."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    async def shutdown(self, sockets: object = None) -> None:
        """End the streams first: uvicorn waits for them."""
        del sockets
        self._app.state.service.end_streams()
        await super().shutdown()

    def start(self) -> Self:
        """Start, and return once it answers."""
        self._thread.start()
        deadline = threading.Event()
        while not self.started and self._thread.is_alive():
            deadline.wait(0.01)
        assert self.started, "the service did not start"
        return self

    def stop(self) -> None:
        """Ask it to end, and wait for that."""
        self.should_exit = True
        self.wait(START_SECONDS)
        assert not self._thread.is_alive(), f"the service does not end: {self._unfinished()}"

    def _unfinished(self) -> str:
        """Describe the tasks, and where the threads are, of a service that hangs."""
        threads = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
        frames = ["".join(traceback.format_stack(frame)[-4:]) for frame in threads.values()]
        return "\n".join([*map(repr, asyncio.all_tasks(self._loop)), *frames])

    def wait(self, seconds: float | None = None) -> None:
        """Return when it has ended, or after some seconds."""
        self._thread.join(seconds)

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}"


class RunningService(RunningApp):
    """The small service, and someone who talks to it."""

    def __init__(self, parts: SmallService) -> None:
        super().__init__(parts.app)
        self.parts = parts

    def person(self, key: str = "alice-key") -> Person:
        """Return who has the key."""
        return Person(self.url, key, key)
