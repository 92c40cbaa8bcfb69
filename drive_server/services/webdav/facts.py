"""The locks and the properties of many items, read in one transaction for a listing."""

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import Connection

from drive_server.kernel.sql.database import Database
from drive_server.services.webdav.locks import DavLock, DavLocks, LocksAround
from drive_server.services.webdav.properties import Properties, properties_sync


@dataclass(frozen=True, slots=True)
class Facts:
    """The locks on the items themselves and the dead properties, by item; the locks around the folder."""

    locks: dict[str, list[DavLock]] = field(default_factory=dict[str, list[DavLock]])
    around: LocksAround = field(default_factory=LocksAround)
    properties: dict[str, Properties] = field(default_factory=dict[str, Properties])


class DavFacts:
    """Reads them. It knows no rights: the caller has seen that the items are visible."""

    def __init__(self, database: Database, locks: DavLocks) -> None:
        self._database = database
        self._locks = locks

    async def of(self, folder_id: str | None, ids: Collection[str], *, with_locks: bool, with_dead: bool) -> Facts:
        """Return the facts of the items, and of the folder that they are in; without a part that is not wanted."""

        def read(connection: Connection) -> Facts:
            facts = Facts(properties=properties_sync(connection, ids) if with_dead else {})
            if not with_locks:
                return facts
            around = self._locks.around_sync(connection, folder_id) if folder_id else LocksAround()
            return Facts(self._locks.on_sync(connection, ids), around, facts.properties)

        return await self._database.read_sync(read)
