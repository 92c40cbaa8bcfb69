"""Copies of several SQLite databases as they are at one moment, while others read and write them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Final

from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

BUSY_SECONDS: Final = 60


def copy_databases(sources: Mapping[str, Path], folder: Path) -> None:
    """Copy the databases to files of these names. Raises `sqlite3.Error` if one can't be read.

    All writers wait for a moment, in which a snapshot of each database is opened; then SQLite's backup copies those.
    """
    with ExitStack() as stack:
        snapshots = {name: stack.enter_context(opened_database(path)) for name, path in sources.items()}
        with ExitStack() as writing:
            for path in sources.values():
                writing.enter_context(_held(path))
            for snapshot in snapshots.values():
                snapshot.execute("BEGIN")
                snapshot.execute("SELECT count(*) FROM sqlite_master").fetchone()
        for name, snapshot in snapshots.items():
            _copy(snapshot, folder / name)


def check_database(path: Path) -> str:
    """Return the problems that SQLite finds in a database; empty if there are none."""
    try:
        with opened_database(path, read_only=True) as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(10)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.Error as error:
        return str(error)
    if found != ["ok"]:
        return "; ".join(found)
    return text("foreign_key", table=broken[0]) if broken else ""


@contextmanager
def opened_database(path: Path, *, read_only: bool = False) -> Generator[sqlite3.Connection]:
    """Open a database that is there; `read_only` is for one that nobody writes to."""
    mode = "?mode=ro&immutable=1" if read_only else "?mode=rw"
    address = path.absolute().as_uri() + mode
    with closing(sqlite3.connect(address, timeout=BUSY_SECONDS, isolation_level=None, uri=True)) as connection:
        yield connection


@contextmanager
def _held(path: Path) -> Generator[None]:
    """Keep everybody from writing to the database."""
    with opened_database(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


def _copy(source: sqlite3.Connection, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        source.backup(connection)
        # One file, with nothing beside it.
        connection.execute("PRAGMA journal_mode = DELETE")
