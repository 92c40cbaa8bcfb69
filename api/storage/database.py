"""The service's own tables as a `Database`, from whose files deleted words go too."""

from pathlib import Path
from typing import Any, Final

from aiosqlite import connect

from api.storage.tables import Base
from drive_server.kernel.signing import Signer
from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.schema import Schema
from drive_server.kernel.sql.server import is_sqlite
from drive_server.kernel.sql.sqlite_faults import translated

# Not Alembic's default: at scale the drive's tables are in the same database, with a history of their own.
SCHEMA: Final = Schema(Base.metadata, Path(__file__).parent / "migrations", "api_alembic_version")


async def open_database(url: str, signer: Signer | None = None) -> Database:
    """Open the service's database; `signer` signs the cursors of its lists. Raises `StorageFailureError`."""
    return await Database.open(url, SCHEMA, signer, _overwrite_deleted)


async def erase(database: Database) -> None:
    """Take deleted rows out of SQLite's write-ahead log too, as far as nobody is reading."""
    url = database.engine.url
    if is_sqlite(url) and url.database:
        await truncate_log(Path(url.database))


def _overwrite_deleted(connection: Any, record: Any) -> None:
    del record
    cursor = connection.cursor()
    cursor.execute(ERASING)
    cursor.close()


ERASING: Final = "PRAGMA secure_delete = ON"
"""On each connection: deleted data is overwritten with zeros."""


async def truncate_log(path: Path) -> None:
    """Bring the write-ahead log into the file at the path, and empty it; if somebody reads, that is left for later."""
    with translated(path.name):
        async with connect(path) as connection:
            await connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
