"""The SHA-1 of contents, by which WebDAV clients compare them: stored with new contents, worked out once for others."""

import hashlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import cast

from sqlalchemy import Connection, Table, and_, select, update

from drive_server.errors import StorageFailureError
from drive_server.services.tree.nodes import BATCH
from drive_server.storage.blobs import BlobStore, in_thread
from drive_server.storage.database import Database
from drive_server.storage.tables.items import NodeRow, VersionRow

_VERSIONS = cast("Table", VersionRow.__table__)
_IS_CURRENT = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
_SUMS = select(NodeRow.id, VersionRow.blob, VersionRow.sha1).join(VersionRow, _IS_CURRENT)


class DavChecksums:
    """Answers with checksums of files as they are now."""

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    async def sha1_of(self, node_ids: Collection[str]) -> dict[str, str]:
        """Return the SHA-1 of each file's bytes in hex, by item. Who calls has seen that these are visible.

        A file whose bytes can't be read has none.
        """
        found = await self._stored(node_ids)
        blobs = dict.fromkeys(blob for blob, sha1 in found.values() if sha1 is None)
        new = {blob: sha1 for blob in blobs if (sha1 := await self._digest(blob)) is not None}
        if new:
            await self._store(new)
        sums = {node_id: sha1 or new.get(blob) for node_id, (blob, sha1) in found.items()}
        return {node_id: sha1 for node_id, sha1 in sums.items() if sha1 is not None}

    async def _stored(self, node_ids: Collection[str]) -> dict[str, tuple[str, str | None]]:
        ids, found = list(node_ids), dict[str, tuple[str, str | None]]()

        def read(connection: Connection) -> None:
            for start in range(0, len(ids), BATCH):
                rows = connection.execute(_SUMS.where(NodeRow.id.in_(ids[start : start + BATCH])))
                found.update((row.id, (row.blob, row.sha1)) for row in rows)

        await self._database.read_sync(read)
        return found

    async def _digest(self, blob: str) -> str | None:
        with suppress(StorageFailureError):  # logged where it came from
            async with self._blobs.local_path(blob) as path:
                return await in_thread(_sha1_of, path)
        return None

    async def _store(self, sums: dict[str, str]) -> None:
        def write(connection: Connection) -> None:
            for blob, sha1 in sums.items():
                connection.execute(update(_VERSIONS).where(_VERSIONS.c.blob == blob).values(sha1=sha1))

        await self._database.write_sync(write)


def _sha1_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()
