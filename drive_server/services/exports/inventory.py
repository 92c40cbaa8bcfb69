"""Everything that is in a person's own drive, a page at a time, and the bytes of any content in it."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role, Scope, require_person, require_scope
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database
from drive_server.models.base import Page
from drive_server.services.documents.service import Content
from drive_server.services.exports.records import ExportedItem, ExportedLink, ExportedShare, ExportedVersion
from drive_server.services.tree.grantees import shown_grantees
from drive_server.services.tree.items import describe
from drive_server.services.tree.nodes import locate
from drive_server.storage.blobs import BlobStore
from drive_server.storage.tables.items import HoldingRow, NodeRow, StarRow, VersionRow
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import LinkRow, ShareRow

MAX_ITEMS: Final = 500


class Inventory:
    """Lists the caller's own drive as it is, the trash too, for a copy of it elsewhere."""

    def __init__(self, database: Database, blobs: BlobStore) -> None:
        self._database = database
        self._blobs = blobs

    async def page(self, actor: Actor, limit: int = 200, cursor: str | None = None) -> Page[ExportedItem]:
        """Return some items by their ids, with all that belongs to them. Items that change now may be on any page.

        Raises `ForbiddenError` for a caller by a link.
        """
        _require_reader(actor)
        size = min(limit, MAX_ITEMS)
        cursors = Cursors(self._database.signer, actor.user_id, "export")
        after: str = cursors.decode(cursor, str)[0] if cursor is not None else ""
        own = (NodeRow.owner_id == actor.user_id, NodeRow.parent_id.is_not(None))
        query = select(NodeRow.__table__).where(*own, NodeRow.id > after).order_by(NodeRow.id).limit(size + 1)
        async with self._database.read() as session:
            rows = (await session.execute(query)).all()
            total = await session.scalar(select(func.count()).select_from(NodeRow).where(*own))
            root_id = await session.scalar(select(UserRow.root_id).where(UserRow.id == actor.user_id))
            items = await _exported(session, actor.user_id, str(root_id), rows[:size])
        more = cursors.encode(items[-1].id) if len(rows) > size else None
        return Page(tuple(items), more, total)

    async def content(self, actor: Actor, sha256: str) -> Content:
        """Return a content that some file of the caller's own drive has or had, also one in the trash.

        Raises `NotFoundError` for any other, whether it exists or not.
        """
        _require_reader(actor)
        query = (
            select(VersionRow, NodeRow.id)
            .join(NodeRow, NodeRow.id == VersionRow.node_id)
            .where(VersionRow.blob == sha256, NodeRow.owner_id == actor.user_id)
            .limit(1)
        )
        async with self._database.read() as session:
            found = (await session.execute(query)).one_or_none()
            if found is None:
                raise NotFoundError(Message.of("no_content"))
            version: VersionRow = found[0]
            item = await describe(session, await locate(session, actor.principal, found[1], Role.OWNER))

        def stream(start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
            return self._blobs.stream(version.blob, start, end)

        return Content(item, version.blob, version.size, version.media_type, version.modified_at, stream)


async def held_contents(session: AsyncSession, user_id: str, hashes: Iterable[str]) -> dict[str, int]:
    """Return the sizes in bytes of those of the contents that some file in the person's own drive has."""
    wanted, found = list(dict.fromkeys(hashes)), dict[str, int]()
    for start in range(0, len(wanted), MAX_ITEMS):
        some = HoldingRow.blob.in_(wanted[start : start + MAX_ITEMS])
        held = await session.execute(
            select(HoldingRow.blob, HoldingRow.size).where(HoldingRow.owner_id == user_id, some)
        )
        found.update((row.blob, row.size) for row in held)
    return found


def _require_reader(actor: Actor) -> None:
    require_person(actor.principal)
    require_scope(actor.principal, Scope.READ)


async def _exported(session: AsyncSession, user_id: str, root_id: str, rows: Sequence[Row[Any]]) -> list[ExportedItem]:
    ids = [row.id for row in rows]
    versions = _by_item(
        await session.execute(
            select(VersionRow.__table__, UserRow.email)
            .join(UserRow, UserRow.id == VersionRow.author_id)
            .where(VersionRow.node_id.in_(ids))
            .order_by(VersionRow.number)
        )
    )
    shares = _by_item(await session.execute(select(ShareRow.__table__).where(ShareRow.node_id.in_(ids))))
    names = await shown_grantees(session, {share.email for some in shares.values() for share in some})
    links = _by_item(
        await session.execute(
            select(LinkRow.__table__).where(LinkRow.node_id.in_(ids)).order_by(LinkRow.created_at, LinkRow.id)
        )
    )
    starred = select(StarRow.__table__).where(StarRow.user_id == user_id, StarRow.node_id.in_(ids))
    stars = {row.node_id: row.at for row in await session.execute(starred)}
    return [
        ExportedItem(
            id=row.id,
            parent_id=row.parent_id if row.parent_id != root_id else None,
            kind=row.kind,
            name=row.name,
            created_at=row.created_at,
            updated_at=row.updated_at,
            modified_at=row.modified_at,
            trash_id=row.trash_id,
            trashed_at=row.trashed_at,
            starred_at=stars.get(row.id),
            versions=tuple(map(_version, versions[row.id])),
            shares=_shares(shares[row.id], names),
            links=tuple(map(_link, links[row.id])),
        )
        for row in rows
    ]


def _by_item(rows: Iterable[Row[Any]]) -> defaultdict[str, list[Row[Any]]]:
    found: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        found[row.node_id].append(row)
    return found


def _version(row: Row[Any]) -> ExportedVersion:
    return ExportedVersion(
        number=row.number,
        sha256=row.blob,
        size=row.size,
        media_type=row.media_type,
        created_at=row.created_at,
        modified_at=row.modified_at,
        author=row.email,
    )


def _shares(rows: Iterable[Row[Any]], names: Mapping[str, str]) -> tuple[ExportedShare, ...]:
    found = [
        ExportedShare(email=names[row.email], role=Role(row.role).label, created_at=row.created_at)
        for row in rows
        if row.email in names
    ]
    return tuple(sorted(found, key=lambda share: share.email))


def _link(row: Row[Any]) -> ExportedLink:
    return ExportedLink(
        id=row.id,
        role=Role(row.role).label,
        has_password=row.password_hash is not None,
        expires_at=row.expires_at,
        max_downloads=row.max_downloads,
        downloads=row.downloads,
        created_at=row.created_at,
    )
