"""Locks of WebDAV (RFC 4918, sections 6 and 7): in the database, so that every process sees them; they end by time."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast
from uuid import uuid4

from sqlalchemy import Connection, Row, Table, bindparam, delete, func, insert, select, update
from sqlalchemy.orm import aliased

from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import StateConflictError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.tree.nodes import BATCH
from drive_server.storage.tables.dav import DavLockRow
from drive_server.storage.tables.items import NodeRow

DEFAULT_SECONDS: Final = 3600
MAX_SECONDS: Final = 24 * 3600
MAX_LOCKS: Final = 1000
"""Locks of one person at a time."""
SCHEME: Final = "urn:uuid:"

_LOCKS = cast("Table", DavLockRow.__table__)
_LIVE = _LOCKS.c.expires_at > bindparam("now")


@dataclass(frozen=True, slots=True)
class DavLock:
    """A lock. `owner` is XML that the client gave; `seconds` is how long the lock holds from its last refresh on."""

    token: str
    node_id: str
    user_id: str
    is_shared: bool
    is_deep: bool
    owner: str
    seconds: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LocksAround:
    """The locks that concern an item: `covering` it, on itself or deep ones above; `inside`, on items below it."""

    covering: tuple[DavLock, ...] = ()
    inside: tuple[DavLock, ...] = ()


class DavLockConflictError(Exception):
    """Other locks stand against a new one."""

    def __init__(self, locks: Iterable[DavLock]) -> None:
        super().__init__("locked")
        self.locks = tuple(locks)


class DavLocks:
    """Takes, finds and ends locks. It knows no rights: the caller has checked them."""

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def around(self, node_id: str) -> LocksAround:
        """Return the locks that concern the item."""
        return await self._database.read_sync(lambda connection: self.around_sync(connection, node_id))

    def around_sync(self, connection: Connection, node_id: str) -> LocksAround:
        """Return the locks as `around` does, in a transaction that is under way."""
        return _around(connection, node_id, self._clock())

    def on_sync(self, connection: Connection, node_ids: Collection[str]) -> dict[str, list[DavLock]]:
        """Return the locks on the items themselves, by item."""
        now, found = self._clock(), dict[str, list[DavLock]]()
        ids = list(node_ids)
        for start in range(0, len(ids), BATCH):
            query = select(_LOCKS).where(_LIVE, _LOCKS.c.node_id.in_(ids[start : start + BATCH]))
            for row in connection.execute(query, {"now": now}):
                found.setdefault(row.node_id, []).append(_lock_of(row))
        return found

    async def find(self, token: str) -> DavLock | None:
        """Return the lock of this token while it holds."""
        now = self._clock()
        return await self._database.read_sync(lambda connection: _find(connection, token, now))

    async def create(
        self, user_id: str, node_id: str, *, is_shared: bool, is_deep: bool, owner: str, seconds: int | None
    ) -> DavLock:
        """Lock the item. Raises `DavLockConflictError`, and `StateConflictError` for somebody with too many locks."""
        now = self._clock()
        holds = _bounded(seconds)
        lock = DavLock(
            f"{SCHEME}{uuid4()}", node_id, user_id, is_shared, is_deep, owner, holds, now + timedelta(seconds=holds)
        )
        await self._database.write_sync(lambda connection: _create(connection, lock, now))
        return lock

    async def refresh(self, token: str, seconds: int | None) -> DavLock | None:
        """Let the lock hold anew, for so many seconds; None if it holds no more."""
        now = self._clock()
        values = {"seconds": _bounded(seconds), "expires_at": now + timedelta(seconds=_bounded(seconds))}
        renewal = update(_LOCKS).where(_LOCKS.c.token == token, _LOCKS.c.expires_at > now).values(values)

        def write(connection: Connection) -> DavLock | None:
            connection.execute(renewal)
            return _find(connection, token, now)

        return await self._database.write_sync(write)

    async def release(self, token: str) -> None:
        """End the lock."""
        await self._database.write_sync(lambda connection: _drop(connection, [token]))

    async def release_tree(self, node_id: str) -> None:
        """End the locks on the item and below it: it is not where it was any more."""
        around = await self.around(node_id)
        tokens = [lock.token for lock in (*around.covering, *around.inside)]
        own = {lock.token for lock in around.covering if lock.node_id != node_id}
        ended = [token for token in tokens if token not in own]
        if ended:
            await self._database.write_sync(lambda connection: _drop(connection, ended))

    async def expire(self) -> int:
        """Remove the locks whose time is over; return how many."""
        over = delete(_LOCKS).where(_LOCKS.c.expires_at <= self._clock())
        return await self._database.write_sync(lambda connection: connection.execute(over).rowcount)


def _bounded(seconds: int | None) -> int:
    if seconds is None:
        return DEFAULT_SECONDS
    return MAX_SECONDS if seconds < 0 else max(1, min(seconds, MAX_SECONDS))


def _create(connection: Connection, lock: DavLock, now: datetime) -> None:
    own = select(func.count()).where(_LOCKS.c.user_id == lock.user_id, _LOCKS.c.expires_at > now)
    if (connection.scalar(own) or 0) >= MAX_LOCKS:
        raise StateConflictError(Message.of("too_many_locks", limit=MAX_LOCKS), details={"limit": MAX_LOCKS})
    around = _around(connection, lock.node_id, now)
    against = [one for one in around.covering if not (one.is_shared and lock.is_shared)]
    if lock.is_deep:
        against += [one for one in around.inside if not (one.is_shared and lock.is_shared)]
    if against:
        raise DavLockConflictError(against)
    tree_owner = select(NodeRow.owner_id).where(NodeRow.id == lock.node_id).scalar_subquery()
    values = {column: getattr(lock, column) for column in DavLock.__slots__}
    connection.execute(insert(_LOCKS).values({**values, "tree_owner_id": tree_owner}))


def _around(connection: Connection, node_id: str, now: datetime) -> LocksAround:
    tree_owner = select(NodeRow.owner_id).where(NodeRow.id == node_id).scalar_subquery()
    query = select(_LOCKS).where(_LOCKS.c.tree_owner_id == tree_owner, _LIVE)
    locks = [_lock_of(row) for row in connection.execute(query, {"now": now})]
    if not locks:
        return LocksAround()
    above = _ancestors(connection, {node_id, *(lock.node_id for lock in locks)})
    covering = [one for one in locks if one.node_id == node_id or (one.is_deep and one.node_id in above[node_id])]
    inside = [one for one in locks if node_id in above[one.node_id]]
    return LocksAround(tuple(covering), tuple(inside))


def _ancestors(connection: Connection, ids: Collection[str]) -> dict[str, set[str]]:
    """Return for each item the ids of all folders above it, also of hidden ones."""
    start = select(NodeRow.id.label("start"), NodeRow.parent_id).where(NodeRow.id.in_(ids))
    chain = start.cte("chain", recursive=True)
    parent = aliased(NodeRow)
    chain = chain.union(select(chain.c.start, parent.parent_id).join(parent, parent.id == chain.c.parent_id))
    above: dict[str, set[str]] = {node_id: set() for node_id in ids}
    for link in connection.execute(select(chain.c.start, chain.c.parent_id)):
        above[link.start].add(link.parent_id)
    return above


def _find(connection: Connection, token: str, now: datetime) -> DavLock | None:
    row = connection.execute(select(_LOCKS).where(_LOCKS.c.token == token, _LIVE), {"now": now}).first()
    return _lock_of(row) if row else None


def _drop(connection: Connection, tokens: Collection[str]) -> None:
    connection.execute(delete(_LOCKS).where(_LOCKS.c.token.in_(tokens)))


def _lock_of(row: Row[Any]) -> DavLock:
    return DavLock(**{column: getattr(row, column) for column in DavLock.__slots__})
