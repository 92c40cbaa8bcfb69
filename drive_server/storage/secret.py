"""The drive's own secret: made once, kept in the database so that every process and replica has the same."""

from secrets import token_bytes
from typing import TYPE_CHECKING, Final

from drive_server.storage.tables import SecretRow

if TYPE_CHECKING:
    from drive_server.storage.database import Database

SIGNING_KEY: Final = "signing"
KEY_BYTES = 32


async def signing_key(database: "Database") -> bytes:
    """Return the key that the drive signs with; the first caller makes it."""
    async with database.read() as session:
        row = await session.get(SecretRow, SIGNING_KEY)
    if row is None:
        async with database.write() as session:
            row = await session.get(SecretRow, SIGNING_KEY)
            if row is None:
                row = SecretRow(name=SIGNING_KEY, value=token_bytes(KEY_BYTES).hex())
                session.add(row)
    return bytes.fromhex(row.value)
