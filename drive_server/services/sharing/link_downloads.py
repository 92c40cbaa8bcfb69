"""Counting of downloads by link: the bytes of a file once, in however many pieces they are fetched."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol

import anyio
from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.engine import SessionWork
from drive_server.services.throttles.windows import SERVER_NOW
from drive_server.storage.tables.sharing import LinkFetchRow

MAX_DOWNLOADS: Final = 10_000
KEPT_SECONDS: Final = 24 * 3600.0
# Of the bytes sent before a connection broke, a part never arrived, and is fetched again.
SPARE_SHARE: Final = 10
# A chunk handed over counts as sent, arrived or not: the less at a time, the less a broken connection costs.
PIECE_BYTES: Final = 64 * 1024
UNSYNCHRONISED: Final[dict[str, Any]] = {"synchronize_session": False}


class Fetch(NamedTuple):
    """A part of a content that an address asks for by a link. Sizes in bytes; `is_part`: the request has a range."""

    link_id: str
    blob: str
    address: str
    size: int
    wanted: int
    is_part: bool

    @property
    def key(self) -> tuple[str, str, str]:
        """The link, the file and the address that the download belongs to."""
        return (self.link_id, self.blob, self.address)


class LinkDownloads(Protocol):
    """Knows how much of each download that was counted is still to be fetched.

    A request for a whole file is a new download. One for a part belongs to the download of that content which the same
    address has begun, as long as all its parts together are no more than the file and a tenth of it; bytes that a
    broken connection left unsent are given back. After a day the next part counts as a new download.
    """

    async def has_begun(self, link_id: str, address: str) -> bool:
        """Return whether the address has begun a download and not fetched all of it."""
        ...

    async def count(self, database: Database, fetch: Fetch, count_link: SessionWork[None]) -> None:
        """Fetch the part within a download that has begun, or begin a new one if `count_link` allows it."""
        ...

    def metered(self, fetch: Fetch, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the chunks on in small pieces, each counted before it is sent; give back those never handed over."""
        ...


def link_downloads(database: Database) -> LinkDownloads:
    """Return the downloads of this process, or those in a table if other processes may write to the database."""
    return TableDownloads(database) if database.takes_turns else MemoryDownloads()


@dataclass(slots=True)
class _Begun:
    at: float
    left: int = 0
    lock: anyio.Lock = field(default_factory=anyio.Lock)


class MemoryDownloads:
    """The downloads of this process: a restart forgets them."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._begun: OrderedDict[tuple[str, str, str], _Begun] = OrderedDict()

    async def has_begun(self, link_id: str, address: str) -> bool:
        """Return whether the address has begun a download and not fetched all of it."""
        now = self._clock()
        return any(
            begun.left > 0 and now - begun.at < KEPT_SECONDS
            for (link, _, by), begun in self._begun.items()
            if (link, by) == (link_id, address)
        )

    @asynccontextmanager
    async def entered(self, fetch: Fetch) -> AsyncGenerator[bool]:
        """Yield whether the part belongs to a download that has begun; if not, begin one after the block."""
        begun = self._find(fetch)
        async with begun.lock:
            if fetch.is_part and fetch.wanted <= begun.left:
                begun.left -= fetch.wanted
                yield True
                return
            yield False
            begun.at = self._clock()
            begun.left += _rest(fetch)

    async def count(self, database: Database, fetch: Fetch, count_link: SessionWork[None]) -> None:
        """Fetch the part within a download that has begun, or begin a new one."""
        async with self.entered(fetch) as is_counted:
            if not is_counted:
                await database.change(count_link)

    async def metered(self, fetch: Fetch, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the chunks on in small pieces."""
        sent = _Sent()
        try:
            async for piece in _pieces(chunks, sent):
                yield piece
        finally:
            if sent.bytes < fetch.wanted and (begun := self._begun.get(fetch.key)):
                begun.left += fetch.wanted - sent.bytes

    def _find(self, fetch: Fetch) -> _Begun:
        now = self._clock()
        begun = self._begun.get(fetch.key)
        if begun is None or now - begun.at >= KEPT_SECONDS:
            begun = self._begun[fetch.key] = _Begun(now)
            if len(self._begun) > MAX_DOWNLOADS:
                self._begun.popitem(last=False)
        self._begun.move_to_end(fetch.key)
        return begun


class TableDownloads:
    """The downloads of all processes on a PostgreSQL database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def has_begun(self, link_id: str, address: str) -> bool:
        """Return whether the address has begun a download and not fetched all of it."""
        mine = LinkFetchRow.visitor == _digest(link_id, address), LinkFetchRow.left > 0, _is_fresh()
        query = select(LinkFetchRow.key).where(*mine).limit(1)
        return await self._database.look(lambda session: session.scalar(query)) is not None

    async def count(self, database: Database, fetch: Fetch, count_link: SessionWork[None]) -> None:
        """Fetch the part within a download that has begun, or begin a new one, in one transaction."""

        async def work(session: AsyncSession) -> None:
            if not (fetch.is_part and await _took(session, fetch)):
                await count_link(session)
                await _begin(session, fetch)

        await database.change(work, turns=(_turn(fetch.link_id),))

    async def metered(self, fetch: Fetch, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the chunks on in small pieces."""
        sent = _Sent()
        try:
            async for piece in _pieces(chunks, sent):
                yield piece
        finally:
            if sent.bytes < fetch.wanted:
                with anyio.CancelScope(shield=True):
                    await self._give_back(fetch, fetch.wanted - sent.bytes)

    async def _give_back(self, fetch: Fetch, size: int) -> None:
        given = (
            update(LinkFetchRow).where(LinkFetchRow.key == _digest(*fetch.key)).values(left=LinkFetchRow.left + size)
        )

        async def work(session: AsyncSession) -> None:
            await session.execute(given, execution_options=UNSYNCHRONISED)

        await self._database.change(work, turns=(_turn(fetch.link_id),))


async def _took(session: AsyncSession, fetch: Fetch) -> bool:
    mine = LinkFetchRow.key == _digest(*fetch.key), LinkFetchRow.left >= fetch.wanted, _is_fresh()
    taken = update(LinkFetchRow).where(*mine).values(left=LinkFetchRow.left - fetch.wanted)
    return await session.scalar(taken.returning(LinkFetchRow.key), execution_options=UNSYNCHRONISED) is not None


async def _begin(session: AsyncSession, fetch: Fetch) -> None:
    """Store the bytes that the new download may still fetch, and add those left of an earlier one."""
    key = _digest(*fetch.key)
    before = await session.scalar(select(LinkFetchRow.left).where(LinkFetchRow.key == key, _is_fresh()))
    await session.execute(delete(LinkFetchRow).where(LinkFetchRow.key == key), execution_options=UNSYNCHRONISED)
    names = {"key": key, "visitor": _digest(fetch.link_id, fetch.address)}
    await session.execute(insert(LinkFetchRow).values(**names, begun_at=SERVER_NOW, left=(before or 0) + _rest(fetch)))


async def remove_old_fetches(database: Database) -> None:
    """Delete the downloads by links that began too long ago to be gone on with."""
    if database.takes_turns:
        async with database.write() as session:
            await session.execute(delete(LinkFetchRow).where(~_is_fresh()), execution_options=UNSYNCHRONISED)


@dataclass(slots=True)
class _Sent:
    bytes: int = 0


async def _pieces(chunks: AsyncIterator[bytes], sent: _Sent) -> AsyncIterator[bytes]:
    """Yield small pieces, each counted before it is handed over."""
    async for chunk in chunks:
        for start in range(0, len(chunk), PIECE_BYTES):
            piece = chunk[start : start + PIECE_BYTES]
            sent.bytes += len(piece)
            yield piece


def _rest(fetch: Fetch) -> int:
    """Return how many bytes of a new download may be fetched after its first part."""
    return fetch.size + fetch.size // SPARE_SHARE - fetch.wanted


def _is_fresh() -> ColumnElement[bool]:
    return LinkFetchRow.begun_at > SERVER_NOW - KEPT_SECONDS


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode(errors="replace")).hexdigest()


def _turn(link_id: str) -> str:
    return f"link {link_id}"
