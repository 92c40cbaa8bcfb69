"""Limits of wrong attempts and of unknown keys, by their sources."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256

import anyio

from drive_server.kernel.errors import DriveError, UnauthenticatedError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.throttles.windows import Window, window_of


class Attempts:
    """Limits wrong attempts by their sources. An attempt takes its place before it is checked.

    A right one gives its place back. Where only attempts that are not checked yet fill a window, the next one waits for
    them: many people who come at once with right passwords all get in, and many wrong ones are as many as the limit.
    """

    def __init__(self, window: Window, wrong: type[DriveError] = UnauthenticatedError) -> None:
        self._window = window
        self._wrong = wrong

    @asynccontextmanager
    async def attempt(self, source: str) -> AsyncGenerator[None]:
        """Count the block as a wrong attempt of the source if it raises the error for one, or is cancelled.

        Raises `RateLimitError`, and does not run the block, if the source has no wrong attempt left.
        """
        place = await self._window.take(source)
        counts = True
        try:
            yield
            counts = False
        except DriveError as error:
            counts = isinstance(error, self._wrong)  # else nothing was learned about the password
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._window.settle(source, place, counts=counts)


class WrongKeys:
    """Limits unknown keys: how often one of them comes from a network, and how many different ones.

    A key that is known is never refused for the wrong ones of others, so it is looked up before this is asked.
    """

    def __init__(
        self,
        limit: int,
        reason: str | Message,
        database: Database | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._networks = window_of(database, "wrong keys of a network", limit, reason, clock=clock)
        self._seen = window_of(database, "wrong key", 1, reason, clock=clock)
        self._keys = window_of(database, "repeated wrong key", limit, reason, clock=clock)

    async def take(self, network: str, key: str) -> None:
        """Count a key that was wrong. Raises `RateLimitError` after too many."""
        source = f"{network} {sha256(key.encode(errors='surrogatepass')).hexdigest()}"
        if not await self._seen.wait_seconds(source):
            await _count(self._networks, network)
            await _count(self._seen, source)
        await _count(self._keys, source)


async def _count(window: Window, key: str) -> None:
    await window.settle(key, await window.take(key), counts=True)
