"""Quotas: how many bytes people store, and how many they may."""

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from sqlalchemy import Table, bindparam, delete, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from drive_server.kernel.access import Actor, require_admin
from drive_server.kernel.errors import InvalidInputError, NotFoundError, QuotaExceededError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.identity.service import named_user
from drive_server.storage.blobs import Blob
from drive_server.storage.tables.items import HoldingRow
from drive_server.storage.tables.people import UserRow

BATCH = 500
MAX_QUOTA_BYTES = 1 << 62
GROWN: Final = "drive_grown_bytes"
T = TypeVar("T")
# Counted in the database alone, as nobody holds these rows as objects; and built once, as each write asks for them.
_HOLDINGS, _USERS = cast("Table", HoldingRow.__table__), cast("Table", UserRow.__table__)
_NAMED = (_HOLDINGS.c.owner_id == bindparam("owner"), _HOLDINGS.c.blob.in_(bindparam("hashes", expanding=True)))
_HELD = select(_HOLDINGS.c.blob).where(*_NAMED)
_HOLD = insert(_HOLDINGS)
_COUNT = update(_HOLDINGS).where(*_NAMED).values(versions=_HOLDINGS.c.versions + bindparam("more"))
_FREE = delete(_HOLDINGS).where(*_NAMED, _HOLDINGS.c.versions <= 0).returning(_HOLDINGS.c.blob, _HOLDINGS.c.size)
_RELEASE = text("INSERT INTO released_contents (blob) VALUES (:blob) ON CONFLICT DO NOTHING")
_RELEASE_ALL = text(
    "INSERT INTO released_contents (blob) SELECT blob FROM holdings WHERE owner_id = :owner ON CONFLICT DO NOTHING"
)
_OWNER = _USERS.c.id == bindparam("owner")
_USAGE = select(_USERS.c.used_bytes, _USERS.c.quota_bytes).where(_OWNER)
_GROW = (
    update(_USERS)
    .where(_OWNER)
    .values(used_bytes=_USERS.c.used_bytes + bindparam("more"))
    .returning(_USERS.c.used_bytes, _USERS.c.quota_bytes)
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits: bytes that a person without an own quota may store (0: no limit), and versions of a file."""

    quota_bytes: int = 0
    max_versions: int = 100

    def quota_of(self, own: int | None) -> int:
        """Return how many bytes a person may keep whose own quota is this, None if they have none."""
        return self.quota_bytes if own is None else own


@dataclass(frozen=True, slots=True)
class Usage:
    """A person's stored bytes and quota; a quota of 0 is no limit."""

    used_bytes: int
    quota_bytes: int

    @property
    def left(self) -> int | None:
        """Return how many more bytes fit; None without a limit."""
        return max(self.quota_bytes - self.used_bytes, 0) if self.quota_bytes else None


@dataclass(frozen=True, slots=True)
class _Growth:
    """The bytes that a session added for a person, the sum, and their own quota."""

    added: int
    used_bytes: int
    quota_bytes: int | None


@dataclass(frozen=True, slots=True)
class Room:
    """The room for new content in a drive: the caller's own, or another person's."""

    usage: Usage
    is_own: bool

    def check(self, size: int) -> None:
        """Raise `QuotaExceededError` if `size` bytes are too many, without the usage of others."""
        left = self.usage.left
        if left is None or size <= left:
            return
        if not self.is_own:
            raise QuotaExceededError(Message.of("no_room_there"), details={"needed_bytes": size})
        used, quota = self.usage.used_bytes, self.usage.quota_bytes
        raise QuotaExceededError(
            Message.of("no_room", used=used, quota=quota, size=size),
            details={"quota_bytes": quota, "used_bytes": used, "needed_bytes": size},
        )

    async def limited(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the chunks on; raise `QuotaExceededError` with the first one that there is no room for."""
        size = 0
        async for chunk in chunks:
            size += len(chunk)
            self.check(size)
            yield chunk


class QuotaService:
    """Tells people's usage, and sets their quotas."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    async def usage(self, user_id: str) -> Usage:
        """Return the person's usage and quota."""

        async def work(session: AsyncSession) -> Usage:
            return await usage_of(session, user_id, self._limits)

        return await self._database.look(work)

    async def set_quota(self, actor: Actor, user: str, quota_bytes: int | None) -> tuple[str, str, Usage]:
        """Set how many bytes a person, named by id or email, may keep; 0: no limit, None: as the settings say.

        Stored bytes stay. Returns id, email and usage. Only for administrators: raises `ForbiddenError`,
        `MissingScopeError` for a key without all scopes, `NotFoundError` for an unknown person.
        """
        require_admin(actor.principal)
        if quota_bytes is not None and not 0 <= quota_bytes <= MAX_QUOTA_BYTES:
            raise InvalidInputError("A quota is a number of bytes.", hint=f"Give 0 to {MAX_QUOTA_BYTES}, or null.")

        async def work(session: AsyncSession) -> tuple[str, str, Usage]:
            row = await session.scalar(select(UserRow).where(named_user(user), UserRow.removed_at.is_(None)))
            if row is None:
                raise NotFoundError(Message.of("no_user"))
            row.quota_bytes = quota_bytes
            await session.flush()
            return row.id, row.email, await usage_of(session, row.id, self._limits)

        return await self._database.change(work)


async def hold_all(session: AsyncSession, owner_id: str, blobs: Iterable[Blob]) -> None:
    """Count a version for each of the blobs, in the transaction that adds them."""
    await session.run_sync(hold_sync, owner_id, blobs)


def hold_sync(session: Session, owner_id: str, blobs: Iterable[Blob]) -> None:
    """Do as `hold_all` does, where several statements run at once."""
    connection, counts = session.connection(), Counter(blobs)
    for part in _batches(list(counts)):
        held = set(connection.scalars(_HELD, {"owner": owner_id, "hashes": [blob.hash for blob in part]}))
        new = [blob for blob in part if blob.hash not in held]
        if new:
            rows = [
                {"owner_id": owner_id, "blob": blob.hash, "size": blob.size, "versions": counts[blob]} for blob in new
            ]
            connection.execute(_HOLD, rows)
        _count(session, owner_id, {blob.hash: counts[blob] for blob in part if blob.hash in held})
        _grow(session, owner_id, sum(blob.size for blob in new))


async def release_all(session: AsyncSession, owner_id: str, hashes: Iterable[str]) -> None:
    """Count one version less for each of the hashes, in the transaction that removes them."""
    await session.run_sync(release_sync, owner_id, hashes)


def release_sync(session: Session, owner_id: str, hashes: Iterable[str]) -> None:
    """Do as `release_all` does, where several statements run at once."""
    connection, counts = session.connection(), Counter(hashes)
    for part in _batches(list(counts)):
        _count(session, owner_id, {blob_hash: -counts[blob_hash] for blob_hash in part})
        freed = connection.execute(_FREE, {"owner": owner_id, "hashes": [*part]}).all()
        if freed:
            connection.execute(_RELEASE, [{"blob": blob} for blob, _ in freed])
        _grow(session, owner_id, -sum(size for _, size in freed))


async def release_everything(session: AsyncSession, owner_id: str) -> None:
    """Give up all contents of a person, in the transaction that deletes their files."""
    await session.execute(_RELEASE_ALL, {"owner": owner_id})
    await session.execute(delete(_HOLDINGS).where(_HOLDINGS.c.owner_id == owner_id))


async def usage_of(session: AsyncSession, owner_id: str, limits: Limits) -> Usage:
    """Return the person's usage and quota."""
    used, quota = (await session.execute(_USAGE, {"owner": owner_id})).one()
    return Usage(used, limits.quota_of(quota))


def require_room(session: AsyncSession, limits: Limits, caller_id: str) -> None:
    """Raise `QuotaExceededError` if this session's count takes somebody beyond their quota."""
    grown: dict[str, _Growth] = session.info.get(GROWN, {})
    for owner_id, growth in grown.items():
        if growth.added > 0:
            before = Usage(growth.used_bytes - growth.added, limits.quota_of(growth.quota_bytes))
            Room(before, owner_id == caller_id).check(growth.added)


@asynccontextmanager
async def savepoint(session: AsyncSession, limits: Limits, caller_id: str) -> AsyncGenerator[None]:
    """Undo the block, with all that it counted, if it raises; also if there is no room for its additions."""
    grown = dict(session.info.get(GROWN, {}))
    try:
        async with session.begin_nested():
            yield
            await session.flush()
            require_room(session, limits, caller_id)
    except BaseException:
        session.info[GROWN] = grown
        raise


async def require_room_for(
    session: AsyncSession, limits: Limits, owner_id: str, size: int, caller_id: str, blob_hash: str | None = None
) -> Room:
    """Return the room; raise `QuotaExceededError` if `size` more bytes do not fit: before they are sent, or stored."""
    room = await room_of(session, limits, owner_id, caller_id)
    if blob_hash is None or room.usage.left is None or not await _holds(session, owner_id, blob_hash):
        room.check(size)
    return room


async def room_of(session: AsyncSession, limits: Limits, owner_id: str, caller_id: str) -> Room:
    """Return the caller's room in the owner's drive."""
    return Room(await usage_of(session, owner_id, limits), owner_id == caller_id)


async def _holds(session: AsyncSession, owner_id: str, blob_hash: str) -> bool:
    return await session.scalar(_HELD, {"owner": owner_id, "hashes": [blob_hash]}) is not None


def _count(session: Session, owner_id: str, changes: dict[str, int]) -> None:
    """Change the numbers of versions; all that change by the same number in one statement."""
    by_number: defaultdict[int, list[str]] = defaultdict(list)
    for blob_hash, number in changes.items():
        by_number[number].append(blob_hash)
    for number, hashes in by_number.items():
        session.connection().execute(_COUNT, {"owner": owner_id, "hashes": hashes, "more": number})


def _grow(session: Session, owner_id: str, size: int) -> None:
    if size == 0:
        return
    used, quota = session.connection().execute(_GROW, {"owner": owner_id, "more": size}).one()
    grown: dict[str, _Growth] = session.info.setdefault(GROWN, {})
    added = grown[owner_id].added if owner_id in grown else 0
    grown[owner_id] = _Growth(added + size, used, quota)


def _batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]
