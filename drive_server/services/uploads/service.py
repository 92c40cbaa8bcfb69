"""Resumable uploads: begun, continued from where they stopped, and put into the drive exactly once when whole."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, cast

import anyio
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import (
    InvalidInputError,
    LockedError,
    NotFoundError,
    RateLimitError,
    StateConflictError,
    TooLargeError,
)
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.media_types import media_type_of
from drive_server.models.items import OnConflict
from drive_server.services.documents.service import DocumentService
from drive_server.services.files.operations import require_free_name, require_room_below
from drive_server.services.quota import Limits, Room, Usage, room_of
from drive_server.services.tree.names import clean_name
from drive_server.services.tree.nodes import locate_folder
from drive_server.services.uploads.body import UploadWriter, Verifier
from drive_server.services.uploads.partials import Partial, Partials
from drive_server.storage.blobs import BlobStore
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import UploadRow
from drive_server.storage.tables.journal import ChangeRow

UPLOAD_ID: Final = re.compile("[0-9a-f]{32}")
MAX_OPEN: Final = 100
MAX_QUOTAS: Final = 2
"""As many quotas may all unfinished uploads of a person want together: no quota counts their bytes yet. More than one,
so that who lost the address of a large upload can begin it once more."""


@dataclass(frozen=True, slots=True)
class NewUpload:
    """An upload to begin. `length` is in bytes, None if it comes later; `metadata` is stored as it is.

    `modified_at` is the content's own date, None: that of the upload.
    """

    parent: str
    name: str
    media_type: str | None = None
    on_conflict: OnConflict = "fail"
    length: int | None = None
    metadata: str = ""
    modified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """The state of an upload: `offset` bytes of `length` are here.

    `item_id` is the file that it became, by `change_id`.
    """

    id: str
    offset: int
    length: int | None
    metadata: str
    expires_at: datetime
    item_id: str | None
    change_id: int | None = None


class UploadService:
    """Uploads of the caller; somebody else's are not found. A finished upload stays until it expires.

    All methods need the scope write. They raise `NotFoundError` for an unknown or expired upload and `LockedError`
    while another request is at work on it.
    """

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        documents: DocumentService,
        partials: Partials,
        limits: Limits,
        *,
        max_bytes: int,
        kept_for: timedelta,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._documents = documents
        self._partials = partials
        self._limits = limits
        self._max_bytes = max_bytes
        self._kept_for = kept_for
        self._clock = clock

    async def create(self, actor: Actor, new: NewUpload) -> Upload:
        """Begin an upload. Raises as making the file there would, as far as that is known by now."""
        require_scope(actor.principal, Scope.WRITE)
        clean = clean_name(new.name)
        media_type_of(clean, new.media_type)
        self._require_fits(new.length or 0)
        parent_id, quota_bytes = await self._check_place(actor, new, clean)
        row = UploadRow(
            id=new_id(),
            user_id=actor.user_id,
            parent=parent_id,
            name=clean,
            media_type=new.media_type,
            on_conflict=new.on_conflict,
            length=new.length,
            metadata_header=new.metadata,
            modified_at=new.modified_at,
            created_at=self._clock(),
            expires_at=self._clock() + self._kept_for,
        )
        await self._partials.create(row.id)
        async with self._database.write() as session:
            # Asked again: of many that begin at once each would find that there are few.
            await self._require_few_open(session, actor, new.length, quota_bytes)
            session.add(row)
        return _upload(row, 0)

    async def resume(self, actor: Actor, upload_id: str) -> Upload:
        """Tell how far the upload is. One that is whole, but was interrupted before it became a file, becomes it."""
        row = await self._find(actor, upload_id)
        if row.item_id is not None:
            return _upload(row, row.length or 0, await self._change_of(row))
        offset = await self._partials.size(upload_id)
        if offset is None:
            raise _unknown()
        if offset != row.length:
            return _upload(row, offset)
        async with self._locked(actor, upload_id) as (row, file):
            return await self._finished(actor, row, file)

    async def receive(
        self,
        actor: Actor,
        upload_id: str,
        offset: int,
        chunks: AsyncIterator[bytes],
        *,
        length: int | None = None,
        announced: int = 0,
        verifier: Verifier | None = None,
    ) -> Upload:
        """Append the bytes, and make the file if they are the last ones.

        Bytes that arrived stay if the chunks break off, except with a `verifier`, which has to see all of them.
        `length` tells that of the whole, once; `announced` is how many bytes will come, as far as that is known. Raises
        `StateConflictError` for another offset than the upload has, `TooLargeError` for more bytes than it may have,
        `ChecksumMismatchError`, and as making the file does.
        """
        row = await self._find(actor, upload_id)
        if row.item_id is not None:
            _require_offset(offset, row.length or 0)
            return _upload(row, offset, await self._change_of(row))
        async with self._locked(actor, upload_id) as (found, file):
            _require_offset(offset, await file.size())
            row = await self._prolonged(found, length, offset)
            receiving = await self._writer(actor, row, file, offset)
            receiving.require_fits(announced)
            if verifier is None:
                await receiving.take(chunks)
            else:
                await receiving.take_verified(chunks, verifier)
            return await self._finished(actor, row, file)

    async def terminate(self, actor: Actor, upload_id: str) -> None:
        """End the upload and forget its bytes. The file that it became stays."""
        row = await self._find(actor, upload_id)
        if row.item_id is None:
            async with self._locked(actor, upload_id) as (_, file):
                await file.remove()
        await self._forget(upload_id)

    async def expire(self) -> int:
        """Forget uploads whose time is over, and bytes that belong to none; return how many there were."""
        now = self._clock()
        async with self._database.read() as session:
            over = set(await session.scalars(select(UploadRow.id).where(UploadRow.expires_at <= now)))
            upload_ids = set(await session.scalars(select(UploadRow.id)))
        old = await self._partials.untouched_since((now - self._kept_for).timestamp())
        removed = 0
        for upload_id in over | (set(old) - upload_ids):
            removed += await self._expire(upload_id)
        return removed

    async def _check_place(self, actor: Actor, new: NewUpload, name: str) -> tuple[str, int]:
        """Return the folder's id, and the quota in bytes of the drive that it belongs to."""
        async with self._database.read() as session:
            folder = await locate_folder(session, actor.principal, new.parent, Role.EDITOR)
            await require_room_below(session, folder)
            if new.on_conflict == "fail":
                await require_free_name(session, folder.id, name)
            room = await room_of(session, self._limits, folder.row.owner_id, actor.user_id)
            room.check(new.length or 0)
            await self._require_few_open(session, actor, new.length, room.usage.quota_bytes)
        return folder.id, room.usage.quota_bytes

    async def _require_few_open(
        self, session: AsyncSession, actor: Actor, length: int | None, quota_bytes: int
    ) -> None:
        """Raise `RateLimitError` for too many open uploads. An unknown length counts as the longest possible."""
        longest = min(self._max_bytes, quota_bytes or self._max_bytes)
        wanted = func.coalesce(func.sum(func.coalesce(UploadRow.length, longest)), 0)
        mine = select(func.count(), wanted).where(UploadRow.user_id == actor.user_id)
        unfinished = mine.where(UploadRow.item_id.is_(None), UploadRow.expires_at > self._clock())
        count, size = (await session.execute(unfinished)).one()
        size += longest if length is None else length
        if count >= MAX_OPEN or (count and quota_bytes and size > MAX_QUOTAS * quota_bytes):
            raise RateLimitError(
                "You have too many unfinished uploads.",
                hint="Finish or end some of them; they end by themselves after a while.",
                details={"limit": MAX_OPEN, "retry_after_seconds": int(self._kept_for.total_seconds())},
            )

    def _require_fits(self, size: int) -> None:
        if size > self._max_bytes:
            raise TooLargeError(
                "The file is too large.",
                hint=f"The limit is {self._max_bytes} bytes.",
                details={"limit": self._max_bytes},
            )

    async def _find(self, actor: Actor, upload_id: str) -> UploadRow:
        require_scope(actor.principal, Scope.WRITE)
        row = None
        if UPLOAD_ID.fullmatch(upload_id):
            async with self._database.read() as session:
                row = await session.get(UploadRow, upload_id)
        if row is None or row.user_id != actor.user_id or row.expires_at <= self._clock():
            raise _unknown()
        return row

    @asynccontextmanager
    async def _locked(self, actor: Actor, upload_id: str) -> AsyncGenerator[tuple[UploadRow, Partial]]:
        """Be the one request at work on an upload that is not a file yet."""
        file = await self._partials.open(upload_id)
        try:
            # Asked again: it may have been ended, or become a file, before the lock was ours.
            row = await self._find(actor, upload_id)
            if row.item_id is not None:
                raise LockedError("Another request has just finished this upload.", hint="Ask how far it is.")
            if file is None:
                raise _unknown()
            yield row, file
        finally:
            if file:
                with anyio.CancelScope(shield=True):
                    await file.close()

    async def _prolonged(self, row: UploadRow, length: int | None, offset: int) -> UploadRow:
        """Record that the upload goes on, and its length if the request has it."""
        if length is not None:
            if row.length not in (None, length):
                raise InvalidInputError("The length of an upload is told once.", hint="Leave it out from then on.")
            self._require_fits(length)
            if length < offset:
                raise InvalidInputError("The length is less than what was sent.", hint="Send the length of the whole.")
        expires_at = self._clock() + self._kept_for
        is_news = length is not None and row.length is None
        if not is_news and expires_at - row.expires_at < self._kept_for / 24:
            return row
        async with self._database.write() as session:
            row = await session.merge(row)
            row.expires_at = expires_at
            row.length = row.length if length is None else length
        return row

    async def _writer(self, actor: Actor, row: UploadRow, file: Partial, offset: int) -> UploadWriter:
        if offset == row.length:  # no more may come; the bytes here may be in the drive already, and counted there
            return UploadWriter(file, offset, offset, Room(Usage(0, 0), is_own=True))
        async with self._database.read() as session:
            folder = await locate_folder(session, actor.principal, row.parent, Role.EDITOR)
            room = await room_of(session, self._limits, folder.row.owner_id, actor.user_id)
        return UploadWriter(file, offset, self._max_bytes if row.length is None else row.length, room)

    async def _finished(self, actor: Actor, row: UploadRow, file: Partial) -> Upload:
        """Make the file of an upload that is whole. However often that is tried, there is one: the id is its key."""
        size = await file.size()
        if size != row.length:
            return _upload(row, size)
        blob = await file.store(self._blobs)
        acting = replace(actor, idempotency_key=_key_of(row))
        outcome = await self._documents.create_from_blob(
            acting,
            row.parent,
            row.name,
            blob,
            row.media_type,
            cast("OnConflict", row.on_conflict),
            modified_at=row.modified_at,
        )
        async with self._database.write() as session:
            row = await session.merge(row)
            row.item_id = outcome.value.id
        await file.remove()
        return _upload(row, size, outcome.change_id)

    async def _change_of(self, row: UploadRow) -> int | None:
        """Return the change that made the file of a finished upload."""
        mine = ChangeRow.user_id == row.user_id, ChangeRow.idempotency_key == _key_of(row)
        async with self._database.read() as session:
            return await session.scalar(select(ChangeRow.id).where(*mine))

    async def _expire(self, upload_id: str) -> bool:
        try:
            file = await self._partials.open(upload_id)
        except LockedError:  # somebody is sending to it
            return False
        if file:
            await file.remove()
            await file.close()
        await self._forget(upload_id)
        return True

    async def _forget(self, upload_id: str) -> None:
        async with self._database.write() as session:
            await session.execute(delete(UploadRow).where(UploadRow.id == upload_id))


def _upload(row: UploadRow, offset: int, change_id: int | None = None) -> Upload:
    return Upload(row.id, offset, row.length, row.metadata_header, row.expires_at, row.item_id, change_id)


def _key_of(row: UploadRow) -> str:
    """Return the idempotency key under which the upload becomes a file."""
    return f"upload:{row.id}"


def _require_offset(offset: int, size: int) -> None:
    if offset != size:
        raise StateConflictError(
            f"The upload has {size} bytes, not {offset}.",
            hint="Ask how far it is, and go on from there.",
            details={"offset": size},
        )


def _unknown() -> NotFoundError:
    return NotFoundError("There is no such upload, or its time is over.", hint="Begin a new one.")
