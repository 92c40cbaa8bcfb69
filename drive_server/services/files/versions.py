"""The contents that a file had."""

from typing import Any, cast

from sqlalchemy import Connection, Row, Table, and_, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Principal
from drive_server.kernel.errors import NotFoundError, StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.kernel.pagination import Cursors
from drive_server.models.base import Page
from drive_server.models.contents import Version
from drive_server.models.items import Item
from drive_server.services.files.operations import current_version, get_version, stored_sync
from drive_server.services.quota import Limits, Usage
from drive_server.services.tree.ancestors import Reader
from drive_server.services.tree.items import DETAILS, describe_with
from drive_server.services.tree.nodes import NodeView
from drive_server.storage.tables.items import NodeRow, VersionRow
from drive_server.storage.tables.people import UserRow

MAX_NUMBER = (1 << 31) - 1
_IS_CURRENT = and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version)
_CONTENT = tuple(column for column in cast("Table", VersionRow.__table__).c if column.name != "id")
_DETAILS_AND_CONTENT = DETAILS.add_columns(*_CONTENT).join(VersionRow, _IS_CURRENT)
_NUMBERED = select(*_CONTENT).where(
    VersionRow.node_id == bindparam("node_id"), VersionRow.number == bindparam("number")
)
_CONTENT_AND_USAGE = (
    select(VersionRow, UserRow.used_bytes, UserRow.quota_bytes)
    .select_from(NodeRow)
    .join(VersionRow, _IS_CURRENT)
    .join(UserRow, UserRow.id == NodeRow.owner_id)
    .where(NodeRow.id == bindparam("node_id"))
)


async def current_of(session: AsyncSession, row: NodeRow) -> VersionRow:
    """Return the file's content as it is now. Every file has one."""
    version = await current_version(session, row)
    if version is None:
        raise _missing()
    return version


async def content_and_usage(session: AsyncSession, row: NodeRow, limits: Limits) -> tuple[VersionRow, Usage]:
    """Return the file's newest content, and its owner's usage and quota, by one query."""
    found = (await session.execute(_CONTENT_AND_USAGE, {"node_id": row.id})).one_or_none()
    if found is None:
        raise _missing()
    return found.VersionRow, Usage(found.used_bytes, limits.quota_of(found.quota_bytes))


def describe_with_content_sync(connection: Connection, node: NodeView) -> tuple[Item, VersionRow]:
    """Return the file with its content as it is now, by one query; the content's row belongs to no session."""
    details = connection.execute(_DETAILS_AND_CONTENT, {"ids": [node.id]}).one_or_none()
    if details is None:
        raise _missing()
    return describe_with(node, details), _unbound(details)


def require_version_sync(connection: Connection, row: NodeRow, number: int) -> VersionRow:
    """Return the version of that number, whose row belongs to no session. Raises `NotFoundError` if there is none."""
    found = None
    if 0 < number <= MAX_NUMBER:
        found = connection.execute(_NUMBERED, {"node_id": row.id, "number": number}).one_or_none()
    if found is None:
        raise _no_version(row)
    return _unbound(found)


async def require_version(session: AsyncSession, row: NodeRow, number: int) -> VersionRow:
    """Return the version of that number. Raises `NotFoundError` if there is none."""
    version = await get_version(session, row.id, number) if 0 < number <= MAX_NUMBER else None
    if version is None:
        raise _no_version(row)
    return version


def require_stored_sync(reader: Reader, row: NodeRow, number: int) -> Row[Any]:
    """Return the stored version of that number, see `stored_sync`. Raises `NotFoundError` without one."""
    stored = stored_sync(reader, row.id, number) if 0 < number <= MAX_NUMBER else None
    if stored is None:
        raise _no_version(row)
    return stored


async def versions_page(
    session: AsyncSession, principal: Principal, row: NodeRow, size: int, cursors: Cursors, cursor: str | None
) -> Page[Version]:
    """Return versions, newest first. Only its author sees the run that wrote one."""
    query = (
        select(VersionRow, UserRow.email)
        .join(UserRow, UserRow.id == VersionRow.author_id)
        .where(VersionRow.node_id == row.id)
        .order_by(VersionRow.number.desc())
        .limit(size + 1)
    )
    if cursor is not None:
        query = query.where(VersionRow.number < cursors.decode(cursor, int)[0])
    found = (await session.execute(query)).all()
    versions = [
        Version(
            number=version.number,
            size=version.size,
            media_type=version.media_type,
            created_at=version.created_at,
            modified_at=version.modified_at,
            author=email,
            run_id=version.run_id if version.author_id == principal.user_id else None,
            current=version.number == row.version,
        )
        for version, email in found[:size]
    ]
    return Page(tuple(versions), cursors.encode(versions[-1].number) if len(found) > size else None, row.version)


def _unbound(found: Row[Any]) -> VersionRow:
    return VersionRow(**{column.name: getattr(found, column.name) for column in _CONTENT})


def _no_version(row: NodeRow) -> NotFoundError:
    return NotFoundError(Message.of("no_version", newest=row.version), details={"newest": row.version})


def _missing() -> StorageFailureError:
    return StorageFailureError(Message.of("version_missing"))
