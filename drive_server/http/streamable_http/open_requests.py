"""The requests without a session that have no answer yet: limited for each key, and ended with the process."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from drive_server.kernel.errors import RateLimitError
from drive_server.kernel.messages import Message
from drive_server.mcp.protocol.guard import RETRY_SECONDS, UNCOUNTED, Guard, too_many_at_once


class OpenRequests:
    """Counts them. `most_listeners`: streams of notifications that one person may have open."""

    def __init__(self, guard: Guard, most_listeners: int) -> None:
        self._guard = guard
        self._most_listeners = most_listeners
        self._calls: Counter[str] = Counter()
        self._listeners: Counter[str] = Counter()
        self._scopes: set[anyio.CancelScope] = set()
        self._changed = anyio.Event()

    @contextmanager
    def called(self, method: str, key: str) -> Generator[anyio.CancelScope]:
        """Count a call of the key while this is open; yield the scope in which it has to run.

        Raises `RateLimitError` for too many at once, or in a minute.
        """
        counter = Counter[str]() if method in UNCOUNTED else self._calls
        if counter[key] >= self._guard.concurrent_calls:
            raise too_many_at_once(self._guard.concurrent_calls)
        self._guard.rates.take(key)
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        try:
            with _counted(counter, key):
                yield scope
        finally:
            self._scopes.discard(scope)
            self._changed.set()
            self._changed = anyio.Event()

    @contextmanager
    def listened(self, user_id: str, key: str) -> Generator[None]:
        """Count a stream of notifications while this is open. Raises `RateLimitError` for too many."""
        limit = self._most_listeners
        if self._listeners[user_id] >= limit:
            raise RateLimitError(
                Message.of("too_many_listens", limit=limit),
                details={"limit": limit, "unit": "streams", "retry_after_seconds": RETRY_SECONDS},
            )
        self._guard.rates.take(key)
        with _counted(self._listeners, user_id):
            yield

    async def wind_down(self, seconds: float) -> None:
        """Wait `seconds` for the calls that go on, then end them."""
        with anyio.move_on_after(seconds):
            while self._scopes:
                await self._changed.wait()
        for scope in self._scopes:
            scope.cancel()


@contextmanager
def _counted(counter: Counter[str], key: str) -> Generator[None]:
    counter[key] += 1
    try:
        yield
    finally:
        counter[key] -= 1
        if not counter[key]:
            del counter[key]
