"""The process of a server: its end within ten seconds after SIGTERM."""

import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import Final

logger = logging.getLogger(__name__)

SHUTDOWN_SECONDS: Final = 8.0
FORCED: Final = 128


class Shutdown:
    """Ends the process in time: `leave` ends it at once, with an exit code."""

    def __init__(self, leave: Callable[[int], None] = os._exit, seconds: float = SHUTDOWN_SECONDS) -> None:
        self._leave = leave
        self._seconds = seconds
        self._has_begun = False

    def begin(self) -> None:
        """Leave with exit code 0 after `seconds`, if the process is still there then."""
        if not self._has_begun:
            self._has_begun = True
            last_resort = threading.Timer(self._seconds, self._give_up)
            last_resort.daemon = True
            last_resort.start()

    def on_signal(self, number: int) -> None:
        """Begin the shutdown at the first signal, leave at the second."""
        if self._has_begun:
            self._leave(FORCED + number)
            return
        self.begin()

    def _give_up(self) -> None:
        logger.warning("Something would not end in time and was left alone.")
        self._leave(0)


def exit_on_sigterm() -> None:
    """Let SIGTERM end the program cleanly also while it is still starting, before anything is served."""
    signal.signal(signal.SIGTERM, _leave)


def _leave(number: int, frame: object) -> None:
    del number, frame
    raise SystemExit(0)
