"""Failures of SQLite files, told apart by SQLite's result codes (sqlite.org/rescode.html): one sentence for each.

The sentences name the file without its folder, as clients see them too.
"""

import logging
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from drive_server.kernel.errors import DamagedDatabaseError, StorageFailureError
from drive_server.kernel.messages import Message

logger = logging.getLogger(__name__)

PRIMARY: Final = 0xFF
"""The bits of an extended result code that have the primary one."""
DAMAGED: Final[dict[int, str]] = {sqlite3.SQLITE_CORRUPT: "database_damaged", sqlite3.SQLITE_NOTADB: "database_foreign"}
FAILED: Final[dict[int, str]] = {
    sqlite3.SQLITE_FULL: "database_full",
    sqlite3.SQLITE_READONLY: "database_read_only",
    sqlite3.SQLITE_PERM: "database_read_only",
    sqlite3.SQLITE_IOERR: "database_unreadable",
    sqlite3.SQLITE_CANTOPEN: "database_unopened",
    sqlite3.SQLITE_BUSY: "database_busy",
    sqlite3.SQLITE_LOCKED: "database_busy",
}
CHECKED_BYTES: Final = 32 << 20
"""Files up to this size are checked as a whole when they are opened, which takes 0.1 s of CPU; larger ones as they are
read."""


def failure_of(error: BaseException, file: str) -> StorageFailureError | None:
    """Return our error for one of SQLite's, also for one that is wrapped; None for any other error, and for bugs."""
    code = _code_of(error)
    if code in DAMAGED:
        return DamagedDatabaseError(Message.of(DAMAGED[code], file=file), details={"file": file})
    if code in FAILED:
        return StorageFailureError(Message.of(FAILED[code], file=file), details={"file": file})
    return None


@contextmanager
def translated(file: str) -> Generator[None]:
    """Turn SQLite's failures within the block into ours; bugs pass."""
    try:
        yield
    except sqlite3.Error as error:
        if (failure := failure_of(error, file)) is None:
            raise
        logger.error("The database %s failed: %s", file, error)  # noqa: TRY400 - who catches ours logs the trace
        raise failure from error


def require_sound(path: Path) -> None:
    """Check a file that is there and not large. Raises `DamagedDatabaseError`, or why it can't be read."""
    if not path.is_file() or not 0 < path.stat().st_size <= CHECKED_BYTES:
        return
    with translated(path.name), closing(sqlite3.connect(path, timeout=0)) as connection:
        found = _found_wrong(connection)
    if found:
        logger.error("The database %s is damaged: %s", path.name, found)
        raise DamagedDatabaseError(Message.of("database_damaged", file=path.name), details={"file": path.name})


def _found_wrong(connection: sqlite3.Connection) -> str:
    """Return the first fault. A database that another process holds counts as sound: that process has checked it."""
    try:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if _code_of(error) not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise
        return ""
    return "" if found == "ok" else str(found)


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection was in the way."""
    return _code_of(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _code_of(error: BaseException) -> int | None:
    original = getattr(error, "orig", None) or error
    code = getattr(original, "sqlite_errorcode", None)
    return code & PRIMARY if isinstance(code, int) else None
