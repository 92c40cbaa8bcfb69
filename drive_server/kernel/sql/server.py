"""A database's server: its URL, and its failures, told apart by SQLSTATE.

https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from drive_server.kernel.errors import RETRY_SECONDS, DatabaseAwayError, StorageFailureError
from drive_server.kernel.messages import Message

READ_ONLY: Final = "25006"
AWAY: Final = ("08", "57P", "25P03", READ_ONLY, "53000", "53200", "53300", "40")
"""The connection failed or broke; an operator ended it, or the server starts or stops; it was silent in a transaction
for too long (see `turns.py`); another server is the primary one now; the server has too few files, memory or
connections left; it undid the transaction for the sake of others. Who tries again later may succeed."""
UNDONE: Final = frozenset({"40001", "40P01"})
"""A serialization failure, or a deadlock: of two transactions that wait for each other one is undone."""
FULL: Final = frozenset({"53100", "53400"})
"""The disk is full, or the part of it that temporary files may take."""
UNANSWERED: Final = frozenset({"OperationalError", "InterfaceError", "InternalError"})
"""Classes of the driver's errors. Without a SQLSTATE no server sent them: a connection is closed, or not understood any
more, a pipeline was aborted, or the pool waited for too long."""
DEFAULTS: Final = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
"""Parameters of libpq, unless the URL has them: without, a machine that is gone is waited for some minutes. In seconds,
the last one in milliseconds. https://www.postgresql.org/docs/current/libpq-connect.html"""


def is_sqlite(url: URL) -> bool:
    """Say whether the URL is that of an embedded database."""
    return url.get_backend_name() == "sqlite"


def is_embedded(bind: Engine | Connection) -> bool:
    """Say whether it is that of an embedded database, which has one writer, and an index of names."""
    return bind.dialect.name == "sqlite"


def server_url(url: str | URL, drivername: str = "postgresql") -> URL:
    """Return a server's URL as libpq reads it: several hosts and ports as lists with commas, and our defaults.

    SQLAlchemy reads `?host=a:1&host=b:2` too, libpq does not.
    """
    parsed = make_url(url).set(drivername=drivername)
    if "host" in parsed.query:
        _, options = parsed.get_dialect()().create_connect_args(parsed)
        places = {name: str(options[name]) for name in ("host", "port") if name in options}
        parsed = parsed.set(port=None).update_query_dict(places)
    return parsed.set(query={**DEFAULTS, **parsed.query})


def failure_of(error: BaseException) -> StorageFailureError | None:
    """Return our error for one of a server, or of its driver; None for any other, such as an `OSError` of a disk."""
    if isinstance(error, PoolTimeoutError):
        return _away()
    failed: Any = error.orig if isinstance(error, DBAPIError) else error
    if failed is error and not hasattr(error, "sqlstate"):
        return None
    state: str | None = getattr(failed, "sqlstate", None)
    if state in FULL:
        return StorageFailureError(Message.of("database_server_full"))
    # Who could not connect at all got no answer, and so no SQLSTATE.
    has_no_answer = state is None and any(kind.__name__ in UNANSWERED for kind in type(failed).__mro__)
    is_broken = isinstance(error, DBAPIError) and error.connection_invalidated
    if is_broken or has_no_answer or (state or "").startswith(AWAY):
        return _away()
    return None


def may_be_kept(error: DBAPIError) -> bool:
    """Say whether the failure of a COMMIT leaves its outcome open: no server said that it undid anything."""
    state: str | None = getattr(error.orig, "sqlstate", None)
    return isinstance(failure_of(error), DatabaseAwayError) and (state or "08").startswith(("08", "57P"))


def is_undone(error: DatabaseAwayError) -> bool:
    """Say whether the server undid the transaction for the sake of others: the same one may be tried at once."""
    failed = error.__cause__
    return isinstance(failed, DBAPIError) and getattr(failed.orig, "sqlstate", None) in UNDONE


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
