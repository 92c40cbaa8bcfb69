"""Serve an application over HTTP until a signal ends the process in time."""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any, Final

import uvicorn

from drive_server.kernel.garbage_collector import freeze_objects
from drive_server.transports.connections import ConnectionLimits
from drive_server.transports.http_protocol import guarded_protocol
from drive_server.transports.listener import url_of
from drive_server.transports.process import Shutdown
from drive_server.transports.tls import ServerCertificate

logger = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS: Final = 75
GRACE_SECONDS: Final = 4
SWITCH_SECONDS: Final = 0.0005
"""Time that the event loop goes on while a thread wants the interpreter.

With Python's 5 ms, each statement of a thread's transaction waits that long for a busy loop, and the next transaction
waits for all of them.
"""


def prepare_process() -> None:
    """Tune a server's whole process. Call it on its event loop, before requests come."""
    freeze_objects()
    sys.setswitchinterval(SWITCH_SECONDS)


class Runner(uvicorn.Server):
    """Serves until SIGTERM or Ctrl-C: then it takes no more requests, and lets the running ones end.

    `wind_down` ends endless requests (event streams, questions that wait for a person). Requests that don't end within
    `GRACE_SECONDS` are cancelled. A second signal ends the process at once.
    """

    def __init__(
        self,
        app: Any,
        wind_down: Callable[[], Awaitable[None]],
        limits: ConnectionLimits | None = None,
        certificate: ServerCertificate | None = None,
        **options: Any,
    ) -> None:
        context = certificate.context if certificate else None
        super().__init__(
            uvicorn.Config(
                app,
                http=guarded_protocol(limits or ConnectionLimits()),
                ws="none",
                log_config=None,
                access_log=False,
                lifespan="on",
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=GRACE_SECONDS,
                ssl_context_factory=(lambda config, default: context) if context else None,  # noqa: ARG005 - uvicorn's form
                **options,
            )
        )
        self._wind_down = wind_down
        self._shutdown = Shutdown()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, and say where: of sockets that it is handed it says nothing."""
        await super().startup(sockets)
        prepare_process()
        scheme = "https" if self.config.is_ssl else "http"
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            logging.getLogger("uvicorn.error").info("running on %s", url_of(host, port, scheme))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let running requests end, then shut down as uvicorn does."""
        ending = asyncio.create_task(self._end_calls())
        await super().shutdown(sockets)
        await ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to shut down. Unlike uvicorn, don't raise SIGTERM anew at the end: the process ends with code 0."""
        self._shutdown.on_signal(sig)
        if sig == signal.SIGINT:
            super().handle_exit(sig, frame)
        self.should_exit = True

    async def _end_calls(self) -> None:
        try:
            await self._wind_down()
        except Exception:
            logger.exception("Calls could not be ended.")
