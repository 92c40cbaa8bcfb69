"""The bytes of uploads that are not whole: one port, in files of this machine or in objects of all processes."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, Protocol

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.errors import LockedError
from drive_server.kernel.sql.database import Database
from drive_server.storage.blobs import Blob, BlobStore, in_thread
from drive_server.storage.partials.files import PartialFile, PartialFiles
from drive_server.storage.partials.objects import PartialObjects
from drive_server.storage.tables.items import UploadPartRow, UploadRow

PART_BYTES: Final = 8 << 20
"""The size of an object. A request that ends earlier makes a smaller one."""


class Partial(Protocol):
    """The bytes of one upload, for one request at work on it.

    Bytes that are appended between `distrust` and `trust` don't count: `discard_untrusted` takes them away.
    """

    async def size(self) -> int:
        """Return the number of bytes, those appended last among them."""
        ...

    async def append(self, data: bytes | bytearray) -> None:
        """Add bytes at the end. On an error none of them, or the first ones, are there."""
        ...

    async def sync(self) -> None:
        """Make the appended bytes outlive the process and its machine."""
        ...

    async def distrust(self) -> None:
        """Have the bytes from now on not count."""
        ...

    async def trust(self) -> None:
        """Have the bytes since `distrust` count, durably."""
        ...

    async def discard_untrusted(self) -> None:
        """Take away bytes that don't count, if there are any."""
        ...

    async def store(self, blobs: BlobStore) -> Blob:
        """Make the bytes a content of the drive."""
        ...

    async def remove(self) -> None:
        """Forget the bytes."""
        ...

    async def close(self) -> None:
        """End the work on the upload."""
        ...


class Partials(Protocol):
    """The bytes of all uploads, by the uploads' ids."""

    async def create(self, upload_id: str) -> None:
        """Begin an upload without bytes."""
        ...

    async def open(self, upload_id: str) -> Partial | None:
        """Open an upload, if there is one. Raise `LockedError` if another request is seen at work on it."""
        ...

    async def size(self, upload_id: str) -> int | None:
        """Return the number of bytes that count; None if there is no such upload."""
        ...

    async def untouched_since(self, before: float) -> list[str]:
        """Return the ids of uploads to which nothing was added since that time (POSIX seconds)."""
        ...


def partials_of(database: Database, blobs: BlobStore, folder: Path, *, is_embedded: bool) -> Partials:
    """Return where the bytes of uploads are: in a folder, or with the contents if these are shared objects."""
    if is_embedded or blobs.objects is None:
        return FilePartials(PartialFiles(folder))
    return ObjectPartials(database, PartialObjects(blobs.objects))


class FilePartials:
    """Files in a folder, each locked for its one writer."""

    def __init__(self, files: PartialFiles) -> None:
        self._files = files

    async def create(self, upload_id: str) -> None:
        """Make an empty file."""
        await in_thread(self._files.create, upload_id)

    async def open(self, upload_id: str) -> "_FilePartial | None":
        """Open the file."""
        file = await in_thread(self._files.open, upload_id)
        return _FilePartial(file) if file else None

    async def size(self, upload_id: str) -> int | None:
        """Return the number of bytes that count."""
        return await in_thread(self._files.size, upload_id)

    async def untouched_since(self, before: float) -> list[str]:
        """Return the ids of files without a write since that time."""
        return await in_thread(self._files.untouched_since, before)


class _FilePartial:
    def __init__(self, file: PartialFile) -> None:
        self._file = file

    async def size(self) -> int:
        return await in_thread(self._file.size)

    async def append(self, data: bytes | bytearray) -> None:
        await in_thread(self._file.append, data)

    async def sync(self) -> None:
        await in_thread(self._file.sync)

    async def distrust(self) -> None:
        await in_thread(self._file.distrust)

    async def trust(self) -> None:
        await in_thread(self._file.trust)

    async def discard_untrusted(self) -> None:
        await in_thread(self._file.discard_untrusted)

    async def store(self, blobs: BlobStore) -> Blob:
        return await blobs.put_file(self._file.path)

    async def remove(self) -> None:
        await in_thread(self._file.remove)

    async def close(self) -> None:
        await in_thread(self._file.close)


class ObjectPartials:
    """Objects whose rows say which bytes they have. No lock: of two requests, the first to record its bytes goes on."""

    def __init__(self, database: Database, objects: PartialObjects) -> None:
        self._database = database
        self._objects = objects

    async def create(self, upload_id: str) -> None:
        """Do nothing: the first bytes make the first object."""

    async def open(self, upload_id: str) -> "_ObjectPartial":
        """Return the bytes as they are now."""
        return _ObjectPartial(self._database, self._objects, upload_id, await self.size(upload_id))

    async def size(self, upload_id: str) -> int:
        """Return the number of recorded bytes."""
        return await self._database.look(lambda session: _recorded(session, upload_id))

    async def untouched_since(self, before: float) -> list[str]:
        """Return the ids of uploads without a new object since that time."""
        return await in_thread(self._objects.untouched_since, before)


class _ObjectPartial:
    def __init__(self, database: Database, objects: PartialObjects, upload_id: str, size: int) -> None:
        self._database = database
        self._objects = objects
        self._id = upload_id
        self._stored = size
        self._buffer = bytearray()
        self._is_trusted = True
        self._unrecorded: list[UploadPartRow] = []

    async def size(self) -> int:
        return self._stored + len(self._buffer)

    async def append(self, data: bytes | bytearray) -> None:
        self._buffer += data
        while len(self._buffer) >= PART_BYTES:
            await self._store_part(PART_BYTES)

    async def sync(self) -> None:
        if self._buffer:
            await self._store_part(len(self._buffer))

    async def distrust(self) -> None:
        self._is_trusted = False

    async def trust(self) -> None:
        await self.sync()
        self._is_trusted = True
        await self._record()

    async def discard_untrusted(self) -> None:
        if self._is_trusted:
            return
        self._buffer.clear()
        await self._drop_unrecorded()
        self._is_trusted = True

    async def store(self, blobs: BlobStore) -> Blob:
        return await blobs.put_stream(self._parts(), limit=self._stored)

    async def remove(self) -> None:
        async def work(session: AsyncSession) -> None:
            await session.execute(delete(UploadPartRow).where(UploadPartRow.upload_id == self._id))

        await self._database.change(work, turns=(_turn(self._id),))
        await in_thread(self._objects.remove_all, self._id)

    async def close(self) -> None:
        pass

    async def _store_part(self, size: int) -> None:
        # Out of the buffer first: a part that fails is sent again by the client, not by the next flush.
        part, start = bytes(self._buffer[:size]), self._stored
        del self._buffer[:size]
        place = await in_thread(self._objects.put, self._id, start, part)
        self._unrecorded.append(UploadPartRow(upload_id=self._id, start=start, size=size, place=place))
        self._stored += size
        if self._is_trusted:
            await self._record()

    async def _record(self) -> None:
        """Have the stored parts count. Raise `LockedError` if another request went on, or ended the upload."""
        rows = self._unrecorded

        async def work(session: AsyncSession) -> bool:
            row = await session.get(UploadRow, self._id)
            has_place = row is not None and row.item_id is None
            if not has_place or (rows and await _recorded(session, self._id) != rows[0].start):
                return False
            session.add_all(rows)
            return True

        if not await self._database.change(work, turns=(_turn(self._id),)):
            self._buffer.clear()
            await self._drop_unrecorded()
            raise LockedError("Another request is sending to this upload.", hint="Ask how far it is, and go on there.")
        self._unrecorded = []

    async def _drop_unrecorded(self) -> None:
        dropped, self._unrecorded = self._unrecorded, []
        self._stored -= sum(row.size for row in dropped)
        await in_thread(self._objects.remove, [row.place for row in dropped])

    async def _parts(self) -> AsyncIterator[bytes]:
        for place in await self._database.look(lambda session: _places(session, self._id)):
            yield await in_thread(self._objects.read, place)


async def _recorded(session: AsyncSession, upload_id: str) -> int:
    mine = select(func.coalesce(func.sum(UploadPartRow.size), 0)).where(UploadPartRow.upload_id == upload_id)
    return int((await session.execute(mine)).scalar_one())


async def _places(session: AsyncSession, upload_id: str) -> list[str]:
    mine = select(UploadPartRow.place).where(UploadPartRow.upload_id == upload_id)
    return list((await session.scalars(mine.order_by(UploadPartRow.start))).all())


def _turn(upload_id: str) -> str:
    return f"upload {upload_id}"
