"""How a process that serves comes to its end: within ten seconds after SIGTERM, at once at the second one.

Whoever serves lets calls end, and gives up what does not within a few seconds. This is for what can't be given up, such
as a thread inside a library: nothing in the drive is half done when a process ends at any moment, so it may.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import Final

logger = logging.getLogger(__name__)

LONGEST_END_SECONDS: Final = 8.0
FORCED: Final = 128


class Ending:
    """Counts how often the process was told to end. `leave` ends it at once, with an exit code."""

    def __init__(self, leave: Callable[[int], None] = os._exit, seconds: float = LONGEST_END_SECONDS) -> None:
        self._leave = leave
        self._seconds = seconds
        self._has_begun = False

    def begin(self) -> None:
        """Leave with exit code 0 in some seconds, if the process is still there then."""
        if not self._has_begun:
            self._has_begun = True
            last_resort = threading.Timer(self._seconds, self._give_up)
            last_resort.daemon = True
            last_resort.start()

    def told(self, number: int) -> None:
        """Take note of a signal: the first begins the end, the second is the end."""
        if self._has_begun:
            self._leave(FORCED + number)
            return
        self.begin()

    def _give_up(self) -> None:
        logger.warning("Something would not end in time and was left alone.")
        self._leave(0)


def leave_when_told() -> None:
    """Let SIGTERM end the program cleanly also while it is still starting, before anything is served."""
    signal.signal(signal.SIGTERM, _leave)


def _leave(number: int, frame: object) -> None:
    del number, frame
    raise SystemExit(0)
