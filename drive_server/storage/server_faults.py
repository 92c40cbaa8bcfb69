"""Failures of a database's server, told apart by SQLSTATE (postgresql.org/docs/current/errcodes-appendix.html)."""

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


def failure_of(error: BaseException) -> StorageFailureError | None:
    """Return our error for one of a server, None for any other, such as an `OSError` of a disk."""
    if isinstance(error, PoolTimeoutError):
        return _away()
    if not isinstance(error, DBAPIError):
        return None
    failed: Any = error.orig
    state: str | None = getattr(failed, "sqlstate", None)
    if state == FULL:
        return StorageFailureError(Message.of("database_server_full"))
    # Who could not connect at all got no answer, and so no SQLSTATE.
    has_no_answer = state is None and type(failed).__name__ in {"OperationalError", "ConnectionTimeout"}
    if error.connection_invalidated or has_no_answer or state == CROWDED or (state or "").startswith(AWAY):
        return _away()
    return None


def _away() -> DatabaseAwayError:
    return DatabaseAwayError(Message.of("database_away"), details={"retry_after_seconds": RETRY_SECONDS})
