"""The same service as `drive-agent serve` runs, in this process: on a Unix socket, for as long as a command lasts."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from api.cli.failure import CommandError
from api.cli.service.last_backup import restoring_advice
from api.cli.texts import language, text
from drive_server.kernel.errors import DamagedDatabaseError, DriveError
from drive_server.kernel.garbage_collector import paused_collector
from drive_server.kernel.telemetry.setup import log_to
from drive_server.storage.installation.service_record import ServiceRecord
from drive_server.transports.connections import ConnectionLimits
from drive_server.transports.runner import Runner
from drive_server.transports.startup import StartupWatch
from graph.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from fastapi import FastAPI

    from drive_server.kernel.settings import DriveSettings
    from drive_server.transports.startup import AsgiApp
    from drive_server.transports.tls import ServerCertificate
    from graph.settings import AgentSettings

logger = logging.getLogger(__name__)

SOCKET_URL = "http://localhost"
LOOPBACK = "127.0.0.1"
MAX_SOCKET_PATH = 100
LOG_NAME = "drive-agent.log"
LOG_BYTES = 1_000_000


async def _nothing() -> None:
    """Do nothing."""


class ServiceRunner(Runner):
    """Serves an app on a listening socket, and reports when it is ready or why it could not start."""

    def __init__(
        self,
        app: AsgiApp,
        on_ready: Callable[[], Awaitable[None]],
        wind_down: Callable[[], Awaitable[None]] = _nothing,
        limits: ConnectionLimits | None = None,
        root: Path | None = None,
        certificate: ServerCertificate | None = None,
    ) -> None:
        self._root = root
        self._startup = StartupWatch(app, DriveError, AgentError)
        super().__init__(self._startup, wind_down, limits, certificate)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then report that the app is ready."""
        await super().startup(sockets)
        if self.started:
            await self._on_ready()

    def run_on(self, listener: socket.socket) -> None:
        """Serve until it is stopped. Raises `CommandError` if the app can't start."""
        try:
            self.run(sockets=[listener])
        except SystemExit as error:
            if self.started:
                raise
            raise _not_started(self._startup.failure, self._root) from error


def _not_started(failure: BaseException | None, root: Path | None) -> CommandError:
    if isinstance(failure, DamagedDatabaseError) and root is not None:
        reason, _ = failure.texts(language())
        return CommandError.of("not_started", reason=reason, hint=restoring_advice(root))
    if isinstance(failure, DriveError):
        reason, hint = failure.texts(language())
        return CommandError.of("not_started", reason=reason, hint=hint)
    if isinstance(failure, AgentError):
        return CommandError.of("not_started", reason=failure.in_language(language()).sentence)
    reason = f"{type(failure).__name__}: {failure}" if failure else text("no_reason")
    return CommandError.of("not_started", reason=reason)


@contextmanager
def serving_in_process(drive: DriveSettings, agent: AgentSettings) -> Generator[ServiceRecord]:
    """Serve the app from a thread; yields where it is once it is ready."""
    log_to_file(drive)
    with tempfile.TemporaryDirectory(prefix="drive-agent-", dir=_short_temporary_directory()) as private:
        listener, record = _listen(Path(private) / "socket")
        with listener:
            service = _ServiceThread(listener, drive, agent)
            try:
                _start(service, drive.root)
                yield record
            finally:
                service.stop()


def _listen(path: Path) -> tuple[socket.socket, ServiceRecord]:
    """Listen on a Unix socket, which nobody else reaches; on a port of this machine where there are none (Windows)."""
    if hasattr(socket, "AF_UNIX"):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(128)
        return listener, ServiceRecord(SOCKET_URL, os.getpid(), str(path))
    listener = socket.create_server((LOOPBACK, 0), backlog=128)
    return listener, ServiceRecord(f"http://{LOOPBACK}:{listener.getsockname()[1]}", os.getpid())


def _start(service: _ServiceThread, root: Path) -> None:
    try:
        service.start_and_wait()
    except CommandError as error:
        raise CommandError(error.message, hint=error.hint or text("log", path=root / LOG_NAME)) from error


class _ServiceThread:
    def __init__(self, listener: socket.socket, drive: DriveSettings, agent: AgentSettings) -> None:
        self._listener = listener
        self._settings = (drive, agent)
        self._settled = threading.Event()
        self._failure: BaseException | None = None
        self._runner: ServiceRunner | None = None
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="drive-agent service", daemon=True)

    def start_and_wait(self) -> None:
        self._thread.start()
        self._settled.wait()
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        self._stopped = True
        if self._runner:
            self._runner.should_exit = True
        self._thread.join()

    async def _settle(self, app: FastAPI) -> None:
        del app
        self._settled.set()

    def _run(self) -> None:
        try:
            with paused_collector():
                self._runner = service_runner(*self._settings, self._settle)
                self._runner.should_exit = self._stopped
                self._runner.run_on(self._listener)
        except BaseException as error:
            logger.debug("the service in this process ended", exc_info=error)
            self._failure = error
        finally:
            self._settled.set()


def service_runner(
    drive: DriveSettings,
    agent: AgentSettings,
    on_ready: Callable[[FastAPI], Awaitable[None]],
    certificate: ServerCertificate | None = None,
) -> ServiceRunner:
    """Return a runner of the service with these settings; over HTTPS with a certificate."""
    from api.app import create_app

    app = create_app(drive, agent)

    async def wind_down() -> None:
        app.state.service.end_streams()
        app.state.open_streams.end()
        await app.state.mcp.wind_down()

    limits = ConnectionLimits.of(drive)
    return ServiceRunner(app, partial(on_ready, app), wind_down, limits, drive.root, certificate)


def log_to_file(drive: DriveSettings) -> None:
    """Send the log of the service in this process to a file: the terminal is for the person."""
    path = drive.root / LOG_NAME
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    log_to(handler, drive.log_level, drive.log_format)


def _short_temporary_directory() -> str:
    """Return a directory for sockets: the path of one may have at most 107 bytes."""
    standard = tempfile.gettempdir()
    return standard if len(standard.encode()) < MAX_SOCKET_PATH - 40 else "/tmp"  # noqa: S108 - 0700 inside it
