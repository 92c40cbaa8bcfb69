"""The last uses of keys: remembered at once, and written a moment later, so that no request waits for a writer."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import anyio
from sqlalchemy import Connection, Row, bindparam, or_, update

from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import DriveError
from drive_server.kernel.sql.database import Database
from drive_server.storage.tables.people import ApiKeyRow

NOTED_EVERY: Final = timedelta(minutes=1)
WRITE_PAUSE_SECONDS: Final = 5.0
_NOTE: Final = (
    update(ApiKeyRow.__table__)  # pyright: ignore[reportArgumentType] - SQLAlchemy types it too widely
    .where(
        ApiKeyRow.id == bindparam("key"),
        or_(ApiKeyRow.last_used_at.is_(None), ApiKeyRow.last_used_at < bindparam("at")),
    )
    .values(last_used_at=bindparam("at"))
)


class KeyUses:
    """Remembers uses of keys, one a minute of each, and writes them."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._uses: dict[str, datetime] = {}
        self._has_uses = anyio.Event()

    def note(self, key: Row[Any]) -> None:
        """Remember that the key was used now."""
        now, last = self._clock(), self.last(key.id, key.last_used_at)
        if last is None or now - last >= NOTED_EVERY:
            self._uses[key.id] = now
            self._has_uses.set()

    def last(self, key_id: str, written: datetime | None) -> datetime | None:
        """Return when the key was last used: as `written` in the database, or remembered since."""
        return self._uses.get(key_id, written)

    async def run(self) -> None:
        """Write the remembered uses, until cancelled."""
        while True:
            await self._has_uses.wait()
            await anyio.sleep(WRITE_PAUSE_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Write the remembered uses. If the database refuses, that is tried again after the next use."""
        uses = dict(self._uses)
        self._has_uses = anyio.Event()
        if not uses:
            return
        try:
            await self._database.write_sync(lambda connection: _write(connection, uses))
        except DriveError:
            return  # logged where it came from
        self._uses = {key: at for key, at in self._uses.items() if uses.get(key) != at}


def _write(connection: Connection, uses: Mapping[str, datetime]) -> None:
    connection.execute(_NOTE, [{"key": key, "at": at} for key, at in uses.items()])
