"""Set contents aside that no version refers to, and remove them some days later; words read in them go at once."""

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, exists, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.clock import Clock, system_now
from drive_server.kernel.sql.database import Database
from drive_server.storage.aside import KINDS, Kind, Listed
from drive_server.storage.blobs import Blob, BlobStore, Placed
from drive_server.storage.tables.base import Base
from drive_server.storage.tables.index import IndexEntryRow, ReadingRow, RecognizedPageRow
from drive_server.storage.tables.installation import InstallationRow, ReleasedRow
from drive_server.storage.tables.items import VersionRow

logger = logging.getLogger(__name__)

COLLECTING: Final = "collecting"
GRACE: Final = timedelta(hours=1)
UNFINISHED_AFTER: Final = timedelta(days=1)
NIGHT: Final = timedelta(days=1)
UNKNOWN_DAYS: Final = 7
"""The least days for which contents are set aside that the database never knew."""
MAX_UNKNOWN: Final = 10
"""One content in so many may be unknown to the database. If more are, it may be another one, and they all stay."""
BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Rules:
    """How the collector treats contents without a version.

    `days` are those that a content is set aside which a file gave up (0: it is removed at once). `keeps_unknown`: the
    others stay where they are. `takes_all_unknown`: they are set aside, however many they are.
    """

    days: int = 7
    keeps_unknown: bool = False
    takes_all_unknown: bool = False


@dataclass(slots=True)
class Collected:
    """The outcome of a round, in contents: `blobs` of `size` bytes were set aside, or removed at once.

    `removed` went for good after their days, `restored` came back to their places, `kept` are unknown to the database
    and stay. `unfinished` are removed files of contents that never arrived whole.
    """

    blobs: int = 0
    size: int = 0
    removed: int = 0
    restored: int = 0
    kept: int = 0
    unfinished: int = 0


@dataclass(slots=True)
class _Candidates:
    """Contents without a version: given up by a file, put while this process ran, or never known to the database.

    `protected` are unknown too, and were there when the service was told to keep everything (before `keeps_before`).
    """

    total: int = 0
    keeps_before: float = 0
    released: list[str] = field(default_factory=list[str])
    recent: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    protected: list[str] = field(default_factory=list[str])


class Collector:
    """Sets unreferenced contents aside beside writers, in any number of processes at once.

    A writer stores a content first and refers to it afterwards. Two rules protect the content in between: one that was
    put within `grace` stays; and contents leave their places only in a write transaction of the database, in which
    writers check that theirs are there (`BlobStore.require_all`). So no reference to a missing content is committed.
    Words that OCR read and properties of photos go without that grace: they can be read again.

    `began` is when this process opened the database, by default now. A content that was put before, and that no file of
    this database gave up, is unknown. If more than a share of all are, the database may be another one, and they stay.
    """

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        *,
        grace: timedelta = GRACE,
        clock: Clock = system_now,
        rules: Rules | None = None,
        began: datetime | None = None,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._grace = grace
        self._clock = clock
        self._rules = rules or Rules()
        self._began = (began or system_now()).timestamp()

    async def run_once(self) -> Collected:
        """Check all contents once, unless another process does, or a backup copies them.

        Raises `StorageFailureError`; contents that were removed by then are gone.
        """
        async with self._database.alone(COLLECTING) as is_alone:
            return await self._run_once() if is_alone else Collected()

    async def _run_once(self) -> Collected:
        done = Collected()
        await self._look_aside(done)
        before = self._clock() - self._grace
        found = await self._candidates(before)
        unknown = await self._allowed(found, done)
        taking: list[tuple[Kind, list[str]]] = [("released", found.released), ("unknown", found.recent + unknown)]
        for kind, hashes in taking:
            for batch in _batches(hashes):
                taken = await self._set_aside(batch, kind, before)
                done.blobs += len(taken)
                done.size += sum(blob.size for blob in taken)
        await self._forget()
        done.unfinished = await self._blobs.remove_unfinished(self._clock() - max(self._grace, UNFINISHED_AFTER))
        _report(done)
        return done

    async def _candidates(self, before: datetime) -> _Candidates:
        """Return the contents without a version. Nearly always all have one, and then nobody waits for a writer."""
        found = _Candidates()
        async with self._database.read() as session:
            keeps_before = await session.scalar(select(InstallationRow.keeps_before))
        found.keeps_before = keeps_before.timestamp() if keeps_before else 0
        async for placed in self._blobs.last_put_before(before):
            found.total += len(placed)
            for start in range(0, len(placed), BATCH):
                await self._sort(placed[start : start + BATCH], found)
        return found

    async def _sort(self, batch: Sequence[Placed], found: _Candidates) -> None:
        async with self._database.read() as session:
            unused = set(await _without_version(session, [placed.hash for placed in batch]))
            query = select(ReleasedRow.blob).where(ReleasedRow.blob.in_(unused))
            released = set(await session.scalars(query)) if unused else set[str]()
        found.released += released
        unknown = unused - released
        for placed in batch:
            if placed.hash in unknown:
                self._kind_of_unknown(placed.put_at, found).append(placed.hash)

    def _kind_of_unknown(self, put_at: float, found: _Candidates) -> list[str]:
        if put_at >= self._began:
            return found.recent
        return found.protected if put_at < found.keeps_before else found.unknown

    async def _allowed(self, found: _Candidates, done: Collected) -> list[str]:
        """Return the unknown contents to set aside: all, or none if they are more than a share."""
        if self._rules.takes_all_unknown:
            return found.unknown + found.protected
        tonight = [listed for listed in await self._blobs.aside("unknown") if self._is_of_tonight(listed)]
        most = (found.total + len(tonight)) // MAX_UNKNOWN
        is_allowed = not self._rules.keeps_unknown and len(found.unknown) + len(tonight) <= most
        done.kept = len(found.protected) + (0 if is_allowed else len(found.unknown))
        return found.unknown if is_allowed else []

    def _is_of_tonight(self, listed: Listed) -> bool:
        return listed[2] > (self._clock() - NIGHT).timestamp()

    async def _set_aside(self, hashes: Sequence[str], kind: Kind, before: datetime) -> list[Blob]:
        async with self._database.write() as session:
            taken = await self._blobs.set_aside(await _without_version(session, hashes), kind, before)
            if kind == "released" and not self._rules.days:
                await self._remove(session, [blob.hash for blob in taken], kind)
        return taken

    async def _look_aside(self, done: Collected) -> None:
        """Bring back blobs that something refers to again; remove those for good that were set aside long enough."""
        for kind in KINDS:
            days = self._rules.days if kind == "released" else max(self._rules.days, UNKNOWN_DAYS)
            ended = (self._clock() - timedelta(days=days)).timestamp()
            listed = await self._blobs.aside(kind)
            late = {name for name, _, at in listed if at <= ended}
            async for wanted, batch in self._asked([name for name, _, _ in listed]):
                for name in wanted:
                    done.restored += await self._blobs.bring_back(name)
                done.removed += await self._end(sorted(late.intersection(batch) - wanted), kind)

    async def _asked(self, hashes: Sequence[str]) -> AsyncIterator[tuple[set[str], Sequence[str]]]:
        """Yield the hashes in batches, with those of each that a version refers to."""
        for batch in _batches(hashes):
            async with self._database.read() as session:
                unused = await _without_version(session, batch)
            yield set(batch).difference(unused), batch

    async def _end(self, hashes: Sequence[str], kind: Kind) -> int:
        if not hashes:
            return 0
        async with self._database.write() as session:
            unused = await _without_version(session, hashes)
            await self._remove(session, unused, kind)
        return len(unused)

    async def _remove(self, session: AsyncSession, hashes: Sequence[str], kind: Kind) -> None:
        await self._blobs.remove_aside(hashes, kind)
        await session.execute(delete(ReleasedRow).where(ReleasedRow.blob.in_(hashes)))

    async def _forget(self) -> None:
        """Delete the results of reading contents that no file has any more."""
        async with self._database.read() as session:
            unused = [table for table, is_unused in _UNUSED.items() if await _has_any(session, table, is_unused)]
        if unused:
            async with self._database.write() as session:
                for table in unused:
                    statement = delete(table).where(_UNUSED[table])
                    await session.execute(statement, execution_options={"synchronize_session": False})


def _batches(hashes: Sequence[str]) -> list[Sequence[str]]:
    return [hashes[start : start + BATCH] for start in range(0, len(hashes), BATCH)]


def _report(done: Collected) -> None:
    if done.blobs or done.removed or done.restored:
        logger.warning(
            "Contents that no file has: %d (%d bytes) set aside, %d removed for good, %d brought back.",
            done.blobs,
            done.size,
            done.removed,
            done.restored,
        )
    if done.kept:
        logger.warning(
            "%d contents are unknown to the database and stay where they are. If it is the right database, remove them "
            "with `python -m drive_server collect --unknown`.",
            done.kept,
        )


_UNUSED: Final[dict[type[Base], ColumnElement[bool]]] = {
    RecognizedPageRow: ~exists().where(VersionRow.blob == RecognizedPageRow.blob),
    ReadingRow: ~exists().where(IndexEntryRow.content == ReadingRow.content),
}
"""The tables with results of reading contents, each with the condition that no file has the content."""


async def _has_any(session: AsyncSession, table: type[Base], condition: ColumnElement[bool]) -> bool:
    return await session.scalar(select(literal(value=True)).select_from(table).where(condition).limit(1)) is not None


async def _without_version(session: AsyncSession, hashes: Sequence[str]) -> list[str]:
    query = select(VersionRow.blob).where(VersionRow.blob.in_(hashes)).distinct()
    referred_to = set(await session.scalars(query))
    return [blob_hash for blob_hash in hashes if blob_hash not in referred_to]
