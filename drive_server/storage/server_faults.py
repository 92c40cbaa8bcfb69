"""Failures of a database's server, told apart by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html)."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from drive_server.errors import RETRY_SECONDS, DatabaseAwayError, StorageFailureError
from drive_server.messages import Message

AWAY: Final = ("08", "57P", "25P03")
"""The connection failed or broke; an operator ended it, or the server starts or stops; it was silent in a transaction
for too long (see `turns.py`)."""
CROWDED: Final = "53300"
FULL: Final = "53100"
UNANSWERED: Final = frozenset({"OperationalError", "ConnectionTimeout", "PoolTimeout"})
"""Errors of the driver and of its pool."""


def failure_of(error: BaseException) -> StorageFailureError | None:
    """Return our error for one of a server, or of its driver; None for any other, such as an `OSError` of a disk."""
    if isinstance(error, PoolTimeoutError):
        return _away()
    failed: Any = error.orig if isinstance(error, DBAPIError) else error
    if failed is error and not hasattr(error, "sqlstate"):
        return None
    state: str | None = getattr(failed, "sqlstate", None)
    if state == FULL:
        return StorageFailureError(Message.of("database_server_full"))
    # Who could not connect at all got no answer, and so no SQLSTATE.
    has_no_answer = state is None and type(failed).__name__ in UNANSWERED
    is_broken = isinstance(error, DBAPIError) and error.connection_invalidated
    if is_broken or has_no_answer or state == CROWDED or (state or "").startswith(AWAY):
        return _away()
    return None


@contextmanager
def translated() -> Generator[None]:
    """Turn the failures of a server's driver within the block into ours; bugs pass."""
    try:
        yield
    except Exception as error:
        if (failure := failure_of(error)) is None:
            raise
        raise failure from error


def _away() -> DatabaseAwayError:
    return DatabaseAwayError(Message.of("database_away"), details={"retry_after_seconds": RETRY_SECONDS})
