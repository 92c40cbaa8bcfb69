"""From located rows to the plain values that services return, a page at a time; and opaque cursors."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any, cast

import orjson
from sqlalchemy import Select, bindparam, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from drive_server.errors import InvalidInputError
from drive_server.models import IndexState, Item, Kind
from drive_server.services.nodes import Located
from drive_server.storage.tables import IndexEntryRow, NodeRow, UserRow

MAX_LIMIT = 1000
MAX_CURSOR_CHARACTERS = 4096


def etag_of(row: NodeRow) -> str:
    """Return the etag: opaque to clients, different after every change of the item itself."""
    return f"{row.id[:8]}-{row.revision}"


async def describe(session: AsyncSession, located: Located) -> Item:
    """Return one item as its `Item`."""
    return (await describe_all(session, [located]))[0]


async def describe_all(session: AsyncSession, located: Sequence[Located]) -> list[Item]:
    """Return the items in their order, with owner, number of children and state of the index; three queries in all."""
    if not located:
        return []
    owners = await _owner_emails(session, located)
    counts = await _child_counts(session, [entry.id for entry in located if entry.row.kind == "folder"])
    states = await _index_states(session, [entry.id for entry in located if entry.row.kind == "file"])
    return [_item(entry, owners[entry.row.owner_id], counts, states) for entry in located]


def checked_limit(limit: int) -> int:
    """Return the page size, at most 1000. Raises `InvalidInputError` below 1."""
    if limit < 1:
        raise InvalidInputError("The limit must be at least 1.", hint=f"Use 1 to {MAX_LIMIT}.")
    return min(limit, MAX_LIMIT)


def encode_cursor(*key: str | int) -> str:
    """Return the opaque cursor for a list that goes on after the key."""
    return urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


def decode_cursor(cursor: str, *types: type[str] | type[int]) -> list[Any]:
    """Return the key in the cursor. Raises `InvalidInputError` unless its parts are of these types."""
    try:
        if len(cursor) > MAX_CURSOR_CHARACTERS:
            raise _bad_cursor()
        decoded: object = orjson.loads(urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error) as error:
        raise _bad_cursor() from error
    if not isinstance(decoded, list):
        raise _bad_cursor()
    key = cast("list[Any]", decoded)
    if [type(part) for part in key] != list(types) or any(_is_too_big(part) for part in key):
        raise _bad_cursor()
    return key


def _item(located: Located, owner_email: str, counts: dict[str, int], states: dict[str, str]) -> Item:
    row = located.row
    is_folder = row.kind == "folder"
    return Item(
        id=row.id,
        kind=cast("Kind", row.kind),
        name=row.name,
        path=located.path,
        parent_id=located.ancestors[0] if located.ancestors else None,
        owner_email=owner_email,
        role=located.role.label,
        etag=etag_of(row),
        size=row.size,
        media_type=row.media_type,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
        trashed_at=row.trashed_at,
        child_count=counts.get(row.id, 0) if is_folder else None,
        index_state=cast("IndexState | None", states.get(row.id)),
        shared=located.shared,
    )


async def _owner_emails(session: AsyncSession, located: Sequence[Located]) -> dict[str, str]:
    ids = {entry.row.owner_id for entry in located}
    return {user_id: email for user_id, email in await session.execute(_OWNERS, {"ids": list(ids)})}  # noqa: C416 - rows, not tuples


async def _child_counts(session: AsyncSession, ids: Sequence[str]) -> dict[str, int]:
    if not ids:
        return {}
    return {node_id: count for node_id, count in await session.execute(_CHILDREN, {"ids": ids})}  # noqa: C416 - rows, not tuples


async def _index_states(session: AsyncSession, ids: Sequence[str]) -> dict[str, str]:
    if not ids:
        return {}
    return {node_id: state for node_id, state in await session.execute(_STATES, {"ids": ids})}  # noqa: C416 - rows, not tuples


def _children() -> Select[str, int]:
    """Count children in the same state: the live ones of a live folder, those that went with a trashed one."""
    child = aliased(NodeRow)
    same_state = or_(child.trash_id == NodeRow.trash_id, child.trash_id.is_(None) & NodeRow.trash_id.is_(None))
    return (
        select(NodeRow.id, func.count(child.id))
        .join(child, child.parent_id == NodeRow.id)
        .where(NodeRow.id.in_(bindparam("ids", expanding=True)), same_state)
        .group_by(NodeRow.id)
    )


# Asked for every item that is returned: built once.
_OWNERS = select(UserRow.id, UserRow.email).where(UserRow.id.in_(bindparam("ids", expanding=True)))
_CHILDREN = _children()
_STATES = select(IndexEntryRow.file_id, IndexEntryRow.state).where(
    IndexEntryRow.file_id.in_(bindparam("ids", expanding=True))
)


def _is_too_big(part: str | int) -> bool:
    return isinstance(part, int) and not 0 <= part < 1 << 63


def _bad_cursor() -> InvalidInputError:
    return InvalidInputError("The cursor is not one that this list gave.", hint="Start again without a cursor.")
