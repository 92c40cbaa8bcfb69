"""Checksums of contents, by which WebDAV clients compare them: stored with small ones, worked out once for others."""

from collections.abc import Collection
from contextlib import suppress
from typing import Final, cast

from sqlalchemy import Connection, Row, Table, and_, select, update

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.sql.database import Database
from drive_server.services.tree.nodes import BATCH
from drive_server.storage.blobs import BlobStore
from drive_server.storage.tables.items import NodeRow, VersionRow

_VERSIONS = cast("Table", VersionRow.__table__)
_IS_CURRENT = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
_CHECKSUMS = select(NodeRow.id, VersionRow.blob, VersionRow.checksums, VersionRow.size).join(VersionRow, _IS_CURRENT)
MAX_BYTES: Final = 4 << 30
"""Bytes that one page of a list has read: a client that waits for it gives up after some minutes."""


class DavChecksums:
    """Answers with checksums of files as they are now."""

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    async def of(self, node_ids: Collection[str]) -> dict[str, str]:
        """Return the checksums of each file's bytes by item, as in `SHA1:... MD5:...`.

        The caller has seen that these items are visible. A file whose bytes can't be read has none; nor have those,
        this time, that are left once 4 GiB were read.
        """
        found = await self._stored(node_ids)
        sizes = {row.blob: row.size for row in found if row.checksums is None}
        new, total = dict[str, str](), 0
        for blob, size in sorted(sizes.items(), key=lambda entry: entry[1]):
            total += size
            if (not new or total <= MAX_BYTES) and (checksums := await self._worked_out(blob)) is not None:
                new[blob] = checksums
        if new:
            await self._store(new)
        known = {row.id: row.checksums or new.get(row.blob) for row in found}
        return {node_id: checksums for node_id, checksums in known.items() if checksums is not None}

    async def _stored(self, node_ids: Collection[str]) -> list[Row[str, str, str | None, int]]:
        ids, found = list(node_ids), list[Row[str, str, str | None, int]]()

        def read(connection: Connection) -> None:
            for start in range(0, len(ids), BATCH):
                found.extend(connection.execute(_CHECKSUMS.where(NodeRow.id.in_(ids[start : start + BATCH]))))

        await self._database.read_sync(read)
        return found

    async def _worked_out(self, blob: str) -> str | None:
        with suppress(StorageFailureError):  # logged where it came from
            return await self._blobs.checksums(blob)
        return None

    async def _store(self, checksums: dict[str, str]) -> None:
        def write(connection: Connection) -> None:
            for blob, found in checksums.items():
                connection.execute(update(_VERSIONS).where(_VERSIONS.c.blob == blob).values(checksums=found))

        await self._database.write_sync(write)
