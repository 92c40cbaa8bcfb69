"""Remove contents that no version refers to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.clock import Clock, system_now
from drive_server.storage.blobs import Blob, BlobStore
from drive_server.storage.database import Database
from drive_server.storage.tables.items import VersionRow

GRACE: Final = timedelta(hours=1)
UNFINISHED_AFTER: Final = timedelta(days=1)
BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Collected:
    """The number of removed contents, their size in bytes, and the number of removed unfinished files."""

    blobs: int
    size: int
    unfinished: int


class Collector:
    """Removes unreferenced contents beside writers, in any number of processes at once.

    A writer stores a content first and refers to it afterwards. Two rules protect the content in between: one that was
    put within `grace` stays; and contents are removed only in a write transaction of the database, in which writers
    check that theirs are there (`BlobStore.require_all`). So a writer who is slower than `grace` is refused, and no
    reference to a missing content is committed.
    """

    def __init__(
        self, database: Database, blobs: BlobStore, *, grace: timedelta = GRACE, clock: Clock = system_now
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._grace = grace
        self._clock = clock

    async def run_once(self) -> Collected:
        """Check all contents once. Raises `StorageFailureError`; contents that were removed by then are gone."""
        before = self._clock() - self._grace
        removed: list[Blob] = []
        async for hashes in self._blobs.last_put_before(before):
            for start in range(0, len(hashes), BATCH):
                removed += await self._remove(hashes[start : start + BATCH], before)
        unfinished = await self._blobs.remove_unfinished(self._clock() - max(self._grace, UNFINISHED_AFTER))
        return Collected(len(removed), sum(blob.size for blob in removed), unfinished)

    async def _remove(self, hashes: Sequence[str], before: datetime) -> list[Blob]:
        # Ask twice: nearly always all contents have a reference, and then nobody waits for the write transaction.
        async with self._database.read() as session:
            candidates = await _without_version(session, hashes)
        if not candidates:
            return []
        async with self._database.write() as session:
            return await self._blobs.remove(await _without_version(session, candidates), before)


async def _without_version(session: AsyncSession, hashes: Sequence[str]) -> list[str]:
    query = select(VersionRow.blob).where(VersionRow.blob.in_(hashes)).distinct()
    referred_to = set(await session.scalars(query))
    return [blob_hash for blob_hash in hashes if blob_hash not in referred_to]
