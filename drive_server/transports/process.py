"""The process of a server: its end within ten seconds after SIGTERM."""

import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import Final, Protocol

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


class Terminated(SystemExit):
    """SIGTERM came while the program started: it ends with exit code 0."""


class Stoppable(Protocol):
    """A server that ends soon after its flag is set."""

    should_exit: bool


class StopRequest:
    """Ctrl-C and SIGTERM while a program starts: remembered, since a library may swallow the exception they raise.

    Some libraries catch everything while they are imported (`except:`), and Python drops an exception of a finalizer:
    the server would come up and stay.
    """

    def __init__(self) -> None:
        self._error: BaseException | None = None
        self._server: Stoppable | None = None

    def listen(self) -> None:
        """Take both signals until the server has handlers of its own.

        They raise `KeyboardInterrupt` and `Terminated`.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def hand_over(self, server: Stoppable) -> None:
        """Set the flag of the server as well when a signal comes. Raises the exception of one that came before."""
        self._server = server
        if self._error:
            raise self._error

    def _on_signal(self, number: int, frame: object) -> None:
        del frame
        self._error = KeyboardInterrupt() if number == signal.SIGINT else Terminated(0)
        if self._server:
            self._server.should_exit = True
        raise self._error
