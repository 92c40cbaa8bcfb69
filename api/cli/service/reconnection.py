"""How patiently a service is looked for that was there a moment ago: it may be starting again."""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from api.cli.failure import CommandError, LostConnectionError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from api.cli.client import Json, ServiceClient

T = TypeVar("T")

TRIES = 12
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0
UNAVAILABLE = frozenset({502, 503, 504})


def may_pass(error: LostConnectionError | ServiceError) -> bool:
    """Whether the service may answer if it is asked again."""
    return isinstance(error, LostConnectionError) or error.status in UNAVAILABLE


def until_answered(request: Callable[[], T], wait: Callable[[int, CommandError], None]) -> T:
    """Send what may be sent twice until it is answered. `wait` gets the number of failures and the last one.

    It waits before the next try, or raises to give up.
    """
    for failures in count(1):
        try:
            return request()
        except (LostConnectionError, ServiceError) as error:
            if not may_pass(error):
                raise
            wait(failures, error)
    raise AssertionError  # the loop has no end of its own


class Reconnection:
    """Connects a client again. `pause` waits for a number of seconds."""

    def __init__(self, client: ServiceClient, pause: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._pause = pause

    def wait(self, failures: int, error: CommandError | None = None) -> None:
        """Wait, longer with every failure, and connect. Raises `LostConnectionError` after the last of them."""
        if failures >= TRIES:
            raise LostConnectionError(
                "The connection to the service is lost. What it was doing may go on there.",
                hint="`drive-agent chat --thread ID` looks at a conversation again.",
            ) from error
        self._pause(min(FIRST_PAUSE_SECONDS * 2 ** (failures - 1), LONGEST_PAUSE_SECONDS))
        try:
            self._client.reconnect()
        except CommandError:
            # It is not there yet: the next try fails as well, and that counts.
            return

    def post(self, path: str, body: Json) -> Any:
        """Post what may be posted twice, until the service answers."""
        return until_answered(lambda: self._client.post(path, body), self.wait)
