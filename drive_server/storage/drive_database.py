"""The drive's own database: its tables, the turn of its writers, and its signing key."""

from secrets import token_bytes
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.signing import Signer
from drive_server.kernel.sql.database import KEY_BYTES, Database
from drive_server.storage.tables.drive_schema import SCHEMA
from drive_server.storage.tables.people import SecretRow

SIGNING_KEY: Final = "signing"
DRIVE_TURN: Final = "drive"
"""The turn of writers that change no files, but accounts, keys or queues: one writes at a time."""


async def open_database(url: str) -> Database:
    """Open the drive's database, with the signing key that it holds."""
    database = await Database.open(url, SCHEMA)
    database.turns = (DRIVE_TURN,)
    database.signer = Signer(await signing_key(database))
    return database


async def signing_key(database: Database) -> bytes:
    """Return the key that every process of this drive signs with; the first caller makes and stores it."""
    async with database.read() as session:
        row = await session.get(SecretRow, SIGNING_KEY)
    if row is None:
        async with database.write() as session:
            row = await ensure_signing_key(session)
    return bytes.fromhex(row.value)


async def ensure_signing_key(session: AsyncSession) -> SecretRow:
    """Return the row of the key, made if absent; in a write transaction whose turn is `DRIVE_TURN`."""
    row = await session.get(SecretRow, SIGNING_KEY)
    if row is None:
        row = SecretRow(name=SIGNING_KEY, value=token_bytes(KEY_BYTES).hex())
        session.add(row)
    return row
