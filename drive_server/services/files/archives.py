"""Archives: items, with all that is in folders, as the members of a zip file."""

import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from stat import S_IFDIR, S_IFREG
from typing import TYPE_CHECKING, Any, Final

import anyio
from sqlalchemy import Row, Select, and_, select
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from drive_server.kernel.access import Actor, Principal, Scope, require_scope
from drive_server.kernel.errors import InvalidInputError, TooLargeError
from drive_server.kernel.files.portable_names import portable_names
from drive_server.kernel.messages import Message
from drive_server.kernel.moments import zone_of
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.formats import format_of
from drive_server.services.tree.nodes import BATCH, NodeView, descendants, locate_live
from drive_server.storage.blobs import BlobStore
from drive_server.storage.tables.items import NodeRow, VersionRow

if TYPE_CHECKING:
    from stream_zip import AsyncMemberFile

FIRST_DATE: Final = datetime(1980, 1, 1)  # noqa: DTZ001 - a zip file has no zone
LAST_DATE: Final = datetime(2107, 12, 31, 23, 59, 58)  # noqa: DTZ001
FIRST_SECOND: Final = -(1 << 31)
LAST_SECOND: Final = (1 << 31) - 1
MAX_ITEMS: Final = 100_000
MAX_NAMED: Final = 500
CHUNK_BYTES: Final = 1 << 20
WHOLE_DRIVE: Final = "Drive"
SUFFIX: Final = ".zip"
FILE_MODE: Final = S_IFREG | 0o644
FOLDER_MODE: Final = S_IFDIR | 0o755
PACKED: Final = ("image/", "audio/", "video/")
"""Media types that are compressed already: trying once more takes time and saves nothing."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file or folder in an archive. `path` ends with a slash for a folder, which has no `blob`."""

    path: str
    modified_at: datetime
    blob: str | None = None
    size: int = 0
    is_packed: bool = False


@dataclass(frozen=True, slots=True)
class Archive:
    """The name and the members of an archive: the state of the items when it was asked for.

    `zone` is that of the person who gets it: old programs read dates as of their own.
    """

    name: str
    members: Sequence[Member]
    zone: tzinfo = UTC


class MemberDate(datetime):
    """A date for a zip file: its fields are a local time from 1980 to 2107, `timestamp` is the moment itself."""

    moment: float

    @classmethod
    def of(cls, at: datetime, zone: tzinfo) -> "MemberDate":
        """Return the date, by the clocks of that zone.

        A date that the fields can't hold becomes the nearest that they can.
        """
        local = min(max(at.astimezone(zone).replace(tzinfo=None), FIRST_DATE), LAST_DATE)
        date = cls(local.year, local.month, local.day, local.hour, local.minute, local.second)
        date.moment = min(max(at.timestamp(), FIRST_SECOND), LAST_SECOND)
        return date

    @override
    def timestamp(self) -> float:
        """Return the moment, in seconds since 1970, of 32 bits as in the format."""
        return math.floor(self.moment)


class ArchiveService:
    """Packs items that the caller may read.

    The members are chosen at once; their contents are read while they are sent.
    """

    def __init__(self, database: Database, blobs: BlobStore, time_zone: str = "") -> None:
        self._database = database
        self._blobs = blobs
        self._time_zone = time_zone

    async def choose(self, actor: Actor, refs: Sequence[str]) -> Archive:
        """Return the archive of the items. An item in a folder that is named too goes along with it, once.

        Names are as every system can have them (`portable_names`), and two of one name get numbers. Raises
        `NotFoundError` for items that the caller does not see, and `TooLargeError` over 100,000 items.
        """
        require_scope(actor.principal, Scope.READ)
        if not refs:
            raise InvalidInputError(Message.of("archive_of_none"))
        if len(refs) > MAX_NAMED:
            raise _too_many(MAX_NAMED)
        async with self._database.read() as session:
            tops = await _outermost(session, actor.principal, refs)
            members: list[Member] = []
            names = portable_names([top.row.name for top in tops])
            for top, name in zip(tops, names, strict=True):
                members += await _tree(session, top, "" if top.is_root else name)
                if len(members) > MAX_ITEMS:
                    raise _too_many(MAX_ITEMS)
        single = names[0] if len(tops) == 1 and not tops[0].is_root else WHOLE_DRIVE
        zone = await anyio.to_thread.run_sync(self._zone_of, actor)
        return Archive(f"{single}{SUFFIX}", members, zone)

    async def stream(self, archive: Archive) -> AsyncGenerator[bytes]:
        """Yield the bytes of the zip file, in chunks of 1 MiB. They are made in threads; close it to stop early."""
        from stream_zip import async_stream_zip

        async for chunk in async_stream_zip(self._files(archive), chunk_size=CHUNK_BYTES):
            yield chunk

    def _zone_of(self, actor: Actor) -> tzinfo:
        """Return the person's time zone, else the server's. Zones are read from files."""
        names = (actor.time_zone, actor.principal.time_zone, self._time_zone)
        return next((zone for name in names if (zone := zone_of(name or ""))), UTC)

    async def _files(self, archive: Archive) -> "AsyncIterator[AsyncMemberFile]":
        from stream_zip import ZIP_AUTO

        for member in archive.members:
            mode = FILE_MODE if member.blob else FOLDER_MODE
            method = ZIP_AUTO(member.size, level=0 if member.is_packed else 1)
            date = MemberDate.of(member.modified_at, archive.zone)
            yield member.path, date, mode, method, self._bytes_of(member)

    async def _bytes_of(self, member: Member) -> AsyncGenerator[bytes]:
        if member.blob is None:
            return
        async for chunk in self._blobs.stream(member.blob):
            yield chunk


async def _outermost(session: AsyncSession, principal: Principal, refs: Sequence[str]) -> list[NodeView]:
    found = {node.id: node for node in [await locate_live(session, principal, ref) for ref in refs]}
    return [node for node in found.values() if not found.keys() & set(node.ancestors)]


async def _tree(session: AsyncSession, top: NodeView, name: str) -> list[Member]:
    """Return the item and all items below it, folders first. Everyone who sees a folder sees all that is in it."""
    if top.row.kind == "file":
        content = await session.scalar(
            select(VersionRow).where(VersionRow.node_id == top.id, VersionRow.number == top.row.version)
        )
        blob = content.blob if content else None
        return [_member(name, top.row.modified_at, blob, top.row.size, top.row.name, top.row.media_type)]
    found: list[Row[Any]] = []
    async for rows in (await session.stream(_below(top.id))).partitions(BATCH):
        found += rows
        if len(found) > MAX_ITEMS:
            raise _too_many(MAX_ITEMS)
    members = [Member(f"{name}/", top.row.modified_at)] if name else []
    return members + await anyio.to_thread.run_sync(lambda: [*_members(top.id, f"{name}/" if name else "", found)])


def _members(top_id: str, path: str, rows: Sequence[Row[Any]]) -> Iterator[Member]:
    """Yield the items below, level by level: the rows of one folder follow each other, and come after the folder's."""
    paths = {top_id: path}
    for parent_id, inside in groupby(rows, lambda row: row.parent_id):
        found = [*inside]
        for row, name in zip(found, portable_names([row.name for row in found]), strict=True):
            member_path = paths[parent_id] + name
            if row.kind == "folder":
                paths[row.id] = f"{member_path}/"
                yield Member(paths[row.id], row.modified_at)
            else:
                yield _member(member_path, row.modified_at, row.blob, row.size, row.name, row.media_type)


def _below(folder_id: str) -> Select[*tuple[Any, ...]]:
    below = descendants(folder_id)
    content = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
    columns = (below.c.id, below.c.parent_id, below.c.kind, below.c.name, NodeRow.modified_at)
    return (
        select(*columns, VersionRow.blob, VersionRow.size, VersionRow.media_type)
        .join(NodeRow, NodeRow.id == below.c.id)
        .outerjoin(VersionRow, content)
        .order_by(below.c.depth, below.c.parent_id, below.c.name, below.c.id)
    )


def _member(path: str, modified_at: datetime, blob: str | None, size: int, name: str, media_type: str) -> Member:
    is_packed = media_type.startswith(PACKED) or format_of(name, media_type).is_packed
    return Member(path, modified_at, blob, size, is_packed)


def _too_many(limit: int) -> TooLargeError:
    return TooLargeError(Message.of("archive_items", limit=limit), details={"limit": limit})
