"""The pool's record of one person's server beside its session."""

from asyncio import Task
from dataclasses import dataclass
from typing import Final

from graph.servers.reasons import Reason

MAX_BACKOFF_SECONDS: Final = 300.0
DOUBLINGS: Final = 16


@dataclass(slots=True, eq=False)
class ServerSlot:
    """The version of the definition that is used, the attempt to connect that is under way, the connection that opened
    last, and earlier failures.

    Times are in seconds since the epoch.
    """

    version: int = 0
    host: str = ""
    opening: Task[Reason | None] | None = None
    newest: object | None = None
    last: Reason | None = None
    _failures: int = 0
    _retry_at: float = 0.0

    def failed(self, reason: Reason, now: float) -> None:
        """Note a failure: after each one the next attempt has to wait twice as long, from a second to 5 minutes."""
        self.last = reason
        self._retry_at = now + min(MAX_BACKOFF_SECONDS, 2.0 ** min(self._failures, DOUBLINGS))
        self._failures += 1

    def broke(self, reason: Reason, now: float) -> None:
        """Note that a session broke: the first time it is replaced at once."""
        if self._failures:
            self.failed(reason, now)
        else:
            self._failures = 1

    def succeeded(self) -> None:
        """Forget the failures: the server has answered."""
        self.last, self._failures, self._retry_at = None, 0, 0.0

    def backoff(self, now: float) -> Reason | None:
        """Return the reason why no attempt is made now; None if one may be."""
        seconds = self._retry_at - now
        if seconds <= 0 or self.last is None:
            return None
        return Reason("backoff", {"last": self.last, "seconds": max(1, round(seconds))}, self.last.detail)
