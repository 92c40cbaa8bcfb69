"""Overwrite deleted rows in the files of SQLite, also in the write-ahead log."""

from pathlib import Path
from typing import Final

from aiosqlite import connect

ERASING: Final = "PRAGMA secure_delete = ON"
"""On each connection: what is deleted is overwritten with zeros."""


async def truncate_log(path: Path) -> None:
    """Bring the write-ahead log into the file at the path, and empty it; if somebody reads, that is left for later."""
    async with connect(path) as connection:
        await connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
