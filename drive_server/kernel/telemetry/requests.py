"""The lines of the log about requests: each one at the level `debug`, a slow one as a warning."""

import logging
from collections.abc import MutableMapping
from time import perf_counter
from typing import Any, Final

from drive_server.kernel.telemetry.metrics import REQUEST_SECONDS

logger = logging.getLogger(__name__)

UNKNOWN: Final = "no operation"


def operation_of(scope: MutableMapping[str, Any]) -> str:
    """Return the name of the route of an ASGI request."""
    return getattr(scope.get("route"), "name", UNKNOWN)


class RequestTimer:
    """Measures a request until its answer begins.

    The lines name the operation, never the path: names may stand in it.
    """

    def __init__(self, scope: MutableMapping[str, Any], slow_seconds: float) -> None:
        self._scope = scope
        self._slow_seconds = slow_seconds
        self._begun = perf_counter()

    def answered(self, status: int) -> None:
        """Count the request, and write the line that is due, now that its answer begins."""
        seconds = perf_counter() - self._begun
        operation = operation_of(self._scope)
        REQUEST_SECONDS.labels(self._scope["method"], operation, status).observe(seconds)
        is_slow = 0 < self._slow_seconds <= seconds
        if is_slow or logger.isEnabledFor(logging.DEBUG):
            level = logging.WARNING if is_slow else logging.DEBUG
            logger.log(level, "%s %s: %d after %.3f s", self._scope["method"], operation, status, seconds)
