"""Calls of a database's server, which may be away for a while: a run tries its calls again until the server is back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar

from api.storage.replicas import CLAIM
from drive_server.kernel.errors import DatabaseAwayError
from drive_server.kernel.sql.server import translated

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS: Final = 0.1
MAX_PAUSE_SECONDS: Final = 5.0

T = TypeVar("T")


async def patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Return the result of a call of the threads' server, whose failures become ours.

    Within a run the call is made again until the server is back, as the run's events wait too: a call whose answer was
    lost may run twice, so it has to give the same then. Other callers get `DatabaseAwayError`.
    """
    waits = pauses()
    while True:
        try:
            with translated():
                return await call()
        except DatabaseAwayError:
            if CLAIM.get() is None:
                raise
            pause = next(waits)
            logger.warning("the threads' database can't be reached; trying again in %.1f s", pause)
        await asyncio.sleep(pause)


def pauses() -> Iterator[float]:
    """Yield the seconds to wait before each further try: longer and longer."""
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(2 * pause, MAX_PAUSE_SECONDS)
