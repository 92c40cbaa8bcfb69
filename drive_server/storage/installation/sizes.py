"""The room that the parts of an installation take, in bytes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

LOGS: Final = ("", "-wal", "-shm")
"""The files of an embedded database: its own, and those of its write-ahead log."""


def database_bytes(connection: Connection) -> int:
    """Return the size of the connected database; it blocks."""
    url = connection.engine.url
    if url.get_backend_name() == "sqlite":
        return embedded_bytes([Path(url.database)] if url.database else [])
    return int(connection.scalar(select(func.pg_database_size(func.current_database()))) or 0)


def embedded_bytes(paths: Iterable[Path]) -> int:
    """Return the size of databases that are files, with their logs; it blocks."""
    return sum(_size(path.with_name(path.name + ending)) for path in paths for ending in LOGS)


def folder_bytes(folder: Path) -> int:
    """Return the size of all files below a folder; it blocks."""
    return sum(_size(path) for path in folder.rglob("*"))


def _size(path: Path) -> int:
    """Return the size of a file; 0 for a folder, and for one that went meanwhile."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
