"""Tell of keys and browser sessions that were revoked, by any process, so that their streams and runs end too."""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import anyio
from sqlalchemy import select

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database
from drive_server.storage.tables.people import ApiKeyRow

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
OVERLAP: Final = timedelta(minutes=5)
"""The most by which the clocks of two processes may differ without one missing a revocation of the other."""
Revoked = Callable[[str, str], Awaitable[None]]


class Revocations:
    """Calls each listener once for every key and session that was revoked, with the ids of its person and of itself."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._on_revoked: list[Revoked] = []
        self._told: dict[str, datetime] = {}
        self._since: datetime | None = None
        self._telling = anyio.Lock()
        self._has_new_listener = False

    def when_revoked(self, tell: Revoked) -> None:
        """Call `tell` for each key and session that is revoked, and for those that were before."""
        self._on_revoked.append(tell)
        self._told.clear()
        self._since = None
        self._has_new_listener = True

    async def watch(self) -> None:
        """Tell of those that other processes revoke, within a second, until cancelled."""
        while True:
            try:
                state, self._has_new_listener = await self._database.state(), False
                await self.tell_new()
                await self._database.until_changed(state, lambda: self._has_new_listener)
            except StorageFailureError:
                logger.warning("Keys can't be looked at; what ends with one is tried again.")
                await anyio.sleep(POLL_SECONDS)

    async def tell_new(self) -> None:
        """Tell of those that were revoked since the last time."""
        if not self._on_revoked:
            return
        async with self._telling:
            for key_id, user_id in await self._find_new():
                await self._tell(user_id, key_id)

    async def _find_new(self) -> list[tuple[str, str]]:
        query = select(ApiKeyRow.id, ApiKeyRow.user_id, ApiKeyRow.revoked_at).where(ApiKeyRow.revoked_at.is_not(None))
        if self._since is not None:
            query = query.where(ApiKeyRow.revoked_at >= self._since)
        found = await self._database.read_sync(lambda connection: connection.execute(query).all())
        new = [(row.id, row.user_id) for row in found if row.id not in self._told]
        self._told = {row.id: row.revoked_at for row in found}
        if found:
            self._since = max(row.revoked_at for row in found) - OVERLAP
        return new

    async def _tell(self, user_id: str, key_id: str) -> None:
        for tell in tuple(self._on_revoked):
            try:
                await tell(user_id, key_id)
            except Exception:
                logger.exception("Something that was begun with the key %s did not end.", key_id)
