"""Archives: items, with all that is in folders, as the members of a zip file."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from stat import S_IFDIR, S_IFREG
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Select, and_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.access import Actor, Principal, Scope, require_scope
from drive_server.errors import InvalidInputError, TooLargeError
from drive_server.knowledge.formats import format_of
from drive_server.messages import Message
from drive_server.services.tree.names import numbered_name
from drive_server.services.tree.nodes import BATCH, NodeView, descendants, locate_live
from drive_server.storage.blobs import BlobStore
from drive_server.storage.database import Database
from drive_server.storage.tables.items import NodeRow, VersionRow

if TYPE_CHECKING:
    from stream_zip import AsyncMemberFile

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
    changed_at: datetime
    blob: str | None = None
    size: int = 0
    is_packed: bool = False


@dataclass(frozen=True, slots=True)
class Archive:
    """The name and the members of an archive: what the items were when it was asked for."""

    name: str
    members: Sequence[Member]


class ArchiveService:
    """Packs what the caller may read. The members are chosen at once; their contents are read while they are sent."""

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    async def choose(self, actor: Actor, refs: Sequence[str]) -> Archive:
        """Return the archive of the items. What is in a folder that is named too goes along with it, once.

        Two items of one name get numbers. Raises `NotFoundError` for what the caller does not see, and
        `TooLargeError` over 100,000 items.
        """
        require_scope(actor.principal, Scope.READ)
        if not refs:
            raise InvalidInputError(Message.of("archive_of_none"))
        if len(refs) > MAX_NAMED:
            raise _too_many(MAX_NAMED)
        async with self._database.read() as session:
            tops = await _outermost(session, actor.principal, refs)
            members: list[Member] = []
            taken: set[str] = set()
            for top in tops:
                name = "" if top.is_root else _free(top.row.name, taken)
                members += await _tree(session, top, name)
                if len(members) > MAX_ITEMS:
                    raise _too_many(MAX_ITEMS)
        single = tops[0].row.name if len(tops) == 1 and not tops[0].is_root else WHOLE_DRIVE
        return Archive(f"{single}{SUFFIX}", members)

    async def stream(self, archive: Archive) -> AsyncGenerator[bytes]:
        """Yield the bytes of the zip file, in chunks of 1 MiB. They are made in threads; close it to stop early."""
        from stream_zip import async_stream_zip

        async for chunk in async_stream_zip(self._files(archive), chunk_size=CHUNK_BYTES):
            yield chunk

    async def _files(self, archive: Archive) -> "AsyncIterator[AsyncMemberFile]":
        from stream_zip import ZIP_AUTO

        for member in archive.members:
            mode = FILE_MODE if member.blob else FOLDER_MODE
            method = ZIP_AUTO(member.size, level=0 if member.is_packed else 1)
            yield member.path, member.changed_at, mode, method, self._bytes_of(member)

    async def _bytes_of(self, member: Member) -> AsyncGenerator[bytes]:
        if member.blob is None:
            return
        async for chunk in self._blobs.stream(member.blob):
            yield chunk


async def _outermost(session: AsyncSession, principal: Principal, refs: Sequence[str]) -> list[NodeView]:
    found = {node.id: node for node in [await locate_live(session, principal, ref) for ref in refs]}
    return [node for node in found.values() if not found.keys() & set(node.ancestors)]


async def _tree(session: AsyncSession, top: NodeView, name: str) -> list[Member]:
    """Return the item and what is below it, folders first. Whoever sees a folder sees all that is in it."""
    if top.row.kind == "file":
        content = await session.scalar(
            select(VersionRow).where(VersionRow.node_id == top.id, VersionRow.number == top.row.version)
        )
        blob = content.blob if content else None
        return [_member(name, top.row.updated_at, blob, top.row.size, top.row.name, top.row.media_type)]
    paths = {top.id: f"{name}/" if name else ""}
    members = [Member(paths[top.id], top.row.updated_at)] if name else []
    async for rows in (await session.stream(_below(top.id))).partitions(BATCH):
        for row in rows:
            path = paths[row.parent_id] + row.name
            if row.kind == "folder":
                paths[row.id] = f"{path}/"
                members.append(Member(paths[row.id], row.updated_at))
            else:
                members.append(_member(path, row.updated_at, row.blob, row.size, row.name, row.media_type))
        if len(members) > MAX_ITEMS:
            raise _too_many(MAX_ITEMS)
    return members


def _below(folder_id: str) -> Select[*tuple[Any, ...]]:
    below = descendants(folder_id)
    content = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
    columns = (below.c.id, below.c.parent_id, below.c.kind, below.c.name, NodeRow.updated_at)
    return (
        select(*columns, VersionRow.blob, VersionRow.size, VersionRow.media_type)
        .join(NodeRow, NodeRow.id == below.c.id)
        .outerjoin(VersionRow, content)
        .order_by(below.c.depth, below.c.name, below.c.id)
    )


def _member(path: str, changed_at: datetime, blob: str | None, size: int, name: str, media_type: str) -> Member:
    is_packed = media_type.startswith(PACKED) or format_of(name, media_type).is_packed
    return Member(path, changed_at, blob, size, is_packed)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = numbered_name(name, number)
    taken.add(free)
    return free


def _too_many(limit: int) -> TooLargeError:
    return TooLargeError(Message.of("archive_items", limit=limit), details={"limit": limit})
