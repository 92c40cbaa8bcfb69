"""Bounds on the data that one connection may send."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from graph.servers.reasons import FaultError, Reason

WINDOW_SECONDS: Final = 60.0
MAX_MESSAGES: Final = 2_000
"""Messages a minute; a server that reports progress 20 times a second stays below."""
MAX_REQUESTS: Final = 600
"""Requests to a server a minute; its calls are a tenth of that. The SDK asks as often as an event stream ends."""
MAX_LINES: Final = 100_000
"""Lines of event streams, and pieces of answers, a minute; each takes time to read, also with nothing in it."""
MAX_HEAD_BYTES: Final = 200_000
"""The head of one answer, with interim ones before it, and the part of the body read with it, at most 64 kB."""
MAX_ANSWERS: Final = 80
"""Longest messages a minute, in bytes together."""


class Intake:
    """Counts the data that a server sends. `message_bytes` is the longest message; the totals are per minute.

    `faults` is called with the first thing that is too much: the SDK's clients swallow errors raised in a stream.
    """

    def __init__(
        self, message_bytes: int, faults: Callable[[FaultError], None], *, clock: Callable[[], float] = monotonic
    ) -> None:
        self.message_bytes = message_bytes
        self._faults = faults
        self._clock = clock
        self._since = clock()
        self._bytes = self._messages = self._lines = self._requests = 0

    def take(self, size: int, unfinished: int = 0, lines: int = 0) -> None:
        """Count bytes that arrived; `unfinished` is the length of the message that they belong to until now."""
        self._turn_over()
        self._bytes += size
        self._lines += lines
        if unfinished > self.message_bytes:
            self._fail(Reason("too_large", {"limit": self.message_bytes}))
        if self._bytes > MAX_ANSWERS * self.message_bytes or self._lines > MAX_LINES:
            self._fail(Reason("flood"))

    def take_head(self, size: int) -> None:
        """Note the bytes that came until now where the head of an answer has not ended."""
        if size > MAX_HEAD_BYTES:
            self._fail(Reason("flood"))

    def take_message(self) -> None:
        """Count a message."""
        self._turn_over()
        self._messages += 1
        if self._messages > MAX_MESSAGES:
            self._fail(Reason("flood"))

    def take_request(self) -> None:
        """Count a request to the server."""
        self._turn_over()
        self._requests += 1
        if self._requests > MAX_REQUESTS:
            self._fail(Reason("flood"))

    def fail(self, fault: FaultError) -> None:
        """End the connection."""
        self._faults(fault)

    def _turn_over(self) -> None:
        now = self._clock()
        if now - self._since >= WINDOW_SECONDS:
            self._since = now
            self._bytes = self._messages = self._lines = self._requests = 0

    def _fail(self, reason: Reason) -> None:
        fault = FaultError(reason)
        self._faults(fault)
        raise fault
