"""An installation: opened only if its parts belong together, marked now and then, so that older copies are known."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

import anyio
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import DriveSettings
from drive_server.kernel.signing import Signer
from drive_server.kernel.sql.database import Database, parsed_url
from drive_server.kernel.sql.engine import beside, open_engine
from drive_server.storage.drive_database import DRIVE_TURN, SIGNING_KEY, ensure_signing_key, signing_key
from drive_server.storage.installation.check import CONTENTS, Finding, Known, Range, examine
from drive_server.storage.installation.parts import (
    Contents,
    DatabasePart,
    Look,
    Mark,
    Part,
    contents_part,
    index_part,
)
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.drive_schema import SCHEMA
from drive_server.storage.tables.installation import InstallationRow, MarkRow
from drive_server.storage.tables.items import VersionRow
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.people import SecretRow, UserRow

logger = logging.getLogger(__name__)

TURN: Final = "installation"
SAMPLE: Final = 200
"""Contents that are looked for where a data directory has no identity yet."""
LOOKED_AT: Final = 5
"""Contents that are looked for each time somebody asks whether the service is ready."""
NOTE_SECONDS: Final = 1.0
"""The pause between two notes of the newest change."""


class Installation:
    """The database at a URL, and the parts that belong to it. `keep`: start with the present data, and keep it."""

    def __init__(self, database_url: str, parts: Sequence[Part], *, keep: bool = False) -> None:
        self._url = database_url
        self._itself = DatabasePart("database", database_url, SCHEMA.version_table)
        self._parts = parts
        self._keep = keep
        self._database: Database | None = None
        self._changed = anyio.Event()

    async def open(self) -> Database:
        """Return the database of this installation, with its signing key.

        Raises `StorageFailureError` if a part is missing, foreign or older and `keep` is not set; then nothing is made.
        A derived part that does not fit is emptied.
        """
        self._judge(await anyio.to_thread.run_sync(self._find_before))
        database = await Database.open(self._url, SCHEMA)
        try:
            self._judge(await self._adopt(database))
            database.turns = (DRIVE_TURN,)
            database.signer = Signer(await signing_key(database))
        except BaseException:
            await database.dispose()
            raise
        self._database = database
        return database

    async def findings(self) -> list[Finding]:
        """Return the parts that do not fit, and make, migrate or change nothing. Raises `StorageFailureError`.

        A database that the next start migrates first has no identity yet to compare with.
        """
        found = await anyio.to_thread.run_sync(self._find_before)
        if found or await anyio.to_thread.run_sync(self._is_new):
            return found
        database = Database(open_engine(parsed_url(self._url)), SCHEMA)
        try:
            if await database.schema_version() != SCHEMA.newest_version():
                return []
            async with database.write(TURN) as session:
                return examine(*await self._state(session))
        finally:
            await database.dispose()

    async def require_writable(self) -> None:
        """Raise `StorageFailureError`, with the name of the part, if one that can't be made anew may only be read."""
        parts = [part for part in (self._itself, *self._parts) if not part.derived]
        if (part := await anyio.to_thread.run_sync(_read_only, parts)) is not None:
            raise StorageFailureError(Message.of("part_read_only", part=Path(part.place).name))

    async def require_contents(self) -> None:
        """Raise `StorageFailureError`, with the name of the part, if most of a few needed contents are gone."""
        contents = next((part for part in self._parts if part.name == CONTENTS), None)
        if self._database is None or contents is None:
            return
        async with self._database.read() as session:
            blobs = list(await session.scalars(select(VersionRow.blob).distinct().limit(LOOKED_AT)))
        if await anyio.to_thread.run_sync(self._lacks_most, blobs):
            raise StorageFailureError(Message.of("part_emptied", part=Path(contents.place).name))

    @property
    def has_writable_index(self) -> bool:
        """False if a derived part may only be read: names are found, but no new words."""
        return _read_only([part for part in self._parts if part.derived]) is None

    async def mark(self) -> None:
        """Give the parts that are there a new number. A part that can't be written keeps the one that it has.

        So do all of them if the database can't be written, such as on a full disk, where people have to delete files.
        """
        if self._database is None:
            return
        try:
            await self._mark(self._database)
        except StorageFailureError as error:
            logger.warning("The parts of the installation were not marked: %s", error.message)

    async def _mark(self, database: Database) -> None:
        async with database.write(TURN) as session:
            there = [part for part, look in await self._looks() if look.state != "missing"]
            for part in there:
                row = await session.get(MarkRow, part.name)
                row = row or MarkRow(part=part.name, written=0, intended=0)
                row.intended += 1
                session.add(row)
        async with database.write(TURN) as session:
            # Nobody else is between the two: a part's number never goes back.
            installation, change = await _id_of(session), await _newest_change(session)
            for part in there:
                row = await session.get_one(MarkRow, part.name)
                if await _is_written(part, Mark(installation, row.intended, change)):
                    row.written = row.intended

    def wake(self) -> None:
        """Have the contents told of a change."""
        self._changed.set()

    async def run(self) -> None:
        """Tell the contents of the newest change, so that an older database is known by it; until cancelled."""
        contents = next((part for part in self._parts if part.name == CONTENTS), None)
        while contents is not None:
            await self._changed.wait()
            self._changed = anyio.Event()
            try:
                await self._note(cast("Contents", contents))
            except (StorageFailureError, OSError, SQLAlchemyError) as error:
                logger.warning("The contents were not told of the newest change: %s", error)
            await anyio.sleep(NOTE_SECONDS)

    async def _note(self, contents: Contents) -> None:
        if (database := self._database) is None:
            return
        # In the turn of those who mark: else a number that was read here would be written over their next one.
        if not await database.change(partial(_note_change, contents), turns=(TURN,)):
            await self.mark()

    def _find_before(self) -> list[Finding]:
        """Return the findings that can be made before the database is made or migrated."""
        if (part := _read_only([self._itself, *self._parts])) is not None:
            return [Finding(Message.of("part_read_only", part=part.place), part, is_final=True)]
        used = [(part, state) for part in self._parts if (state := part.look().state) != "missing"]
        itself = self._itself.look().state
        if itself == "swapped":
            return [Finding(Message.of("data_swapped", part=self._itself.place), is_final=True)]
        if itself != "missing":
            return []
        return [
            Finding(Message.of("data_no_database", part=part.place, database=self._itself.place), part)
            for part, state in used
            if not part.derived and state != "unreadable"
        ]

    def _is_new(self) -> bool:
        return self._itself.look().state == "missing"

    async def _adopt(self, database: Database) -> list[Finding]:
        """Return the findings; give the database an identity if it has none and all fits, or is to be kept."""
        async with database.write(TURN) as session:
            known, looks = await self._state(session)
            found = examine(known, looks)
            stale = [finding.part for finding in found if finding.part is not None and finding.part.derived]
            refused = [finding for finding in found if finding.part not in stale]
            if refused and not self._keep:
                return refused
            for part in stale:
                logger.warning("%s", next(finding.message.en for finding in found if finding.part is part))
                await anyio.to_thread.run_sync(_reset, part)
            await session.execute(delete(MarkRow).where(MarkRow.part.in_([part.name for part in stale])))
            await self._record(session, known, looks, keeps=self._keep)
            # With the identity: a database that has one and no key has lost it.
            await ensure_signing_key(session)
        return refused

    async def _record(
        self, session: AsyncSession, known: Known, looks: Sequence[tuple[Part, Look]], *, keeps: bool
    ) -> None:
        row = await session.scalar(select(InstallationRow))
        if row is None:
            row = InstallationRow(id=new_id())
            session.add(row)
        if keeps:
            row.keeps_before = utc_now()
        gone = [part.name for part, look in looks if look.state == "missing"]
        # Not deleted: contents that come into an empty folder stand beside the mark that it had before.
        await session.execute(update(MarkRow).where(MarkRow.part.in_(gone)).values(written=0))
        for part, look in looks:
            if keeps and look.mark is not None and not part.derived:
                # The next mark is higher than both.
                most = max(look.mark.number, known.marks[part.name].intended if part.name in known.marks else 0)
                await session.merge(MarkRow(part=part.name, written=0, intended=most))

    def _judge(self, found: Sequence[Finding]) -> None:
        for finding in found:
            logger.error("%s", finding.message.en)
        if found and (not self._keep or any(finding.is_final for finding in found)):
            raise StorageFailureError(found[0].message)

    async def _looks(self) -> list[tuple[Part, Look]]:
        return await anyio.to_thread.run_sync(lambda: [(part, part.look()) for part in self._parts])

    async def _state(self, session: AsyncSession) -> tuple[Known, list[tuple[Part, Look]]]:
        # The database first: in a write transaction, nobody marks a part meanwhile.
        installation = await _id_of(session)
        marks = {row.part: Range(row.written, row.intended) for row in await session.scalars(select(MarkRow))}
        blobs = list(await session.scalars(select(VersionRow.blob).distinct().limit(SAMPLE)))
        known = Known(
            self._itself.place,
            installation,
            marks,
            is_used=await session.scalar(select(UserRow.id).limit(1)) is not None,
            refers=bool(blobs),
            lost=not installation and await anyio.to_thread.run_sync(self._lacks_most, blobs),
            change=await _newest_change(session),
            has_signing_key=await session.get(SecretRow, SIGNING_KEY) is not None,
        )
        return known, await self._looks()

    def _lacks_most(self, blobs: Sequence[str]) -> bool:
        contents = next((part for part in self._parts if part.name == CONTENTS), None)
        if contents is None:
            return False
        lacks: Callable[[str], bool] = cast("Contents", contents).lacks
        try:
            return sum(map(lacks, blobs)) > len(blobs) / 2
        except OSError as error:
            raise StorageFailureError(Message.of("content_failure")) from error


def installation_of(settings: DriveSettings, others: Sequence[Part] = ()) -> Installation:
    """Return the installation that the settings name; `others` are parts that other packages have in it.

    Raises `InvalidInputError` for malformed addresses.
    """
    own = (contents_part(settings.resolved_blob_url), index_part(settings.resolved_index_url))
    # In this order, in which backups lock the databases too.
    parts = [*(part for part in own if part is not None), *others]
    return Installation(settings.resolved_database_url, parts, keep=settings.keep_everything)


def _reset(part: Part) -> None:
    try:
        part.reset()
    except OSError as error:
        raise StorageFailureError(Message.of("part_read_only", part=Path(part.place).name)) from error


def _read_only(parts: Sequence[Part]) -> Part | None:
    return next((part for part in parts if not part.is_writable()), None)


async def _id_of(session: AsyncSession) -> str:
    return await session.scalar(select(InstallationRow.id)) or ""


async def _newest_change(session: AsyncSession) -> int:
    return await session.scalar(select(func.max(ChangeRow.id))) or 0


async def _note_change(contents: Contents, session: AsyncSession) -> bool:
    """Tell the contents of the newest change; return whether they are marked at all."""
    row = await session.get(MarkRow, CONTENTS)
    if row is None or row.written == 0:
        return False
    mark = Mark(await _id_of(session), row.intended, await _newest_change(session))
    await beside(session, lambda: contents.note(mark))
    return True


async def _is_written(part: Part, mark: Mark) -> bool:
    try:
        await anyio.to_thread.run_sync(part.write, mark)
    except (OSError, SQLAlchemyError, StorageFailureError) as error:
        logger.warning("The mark of %s was not written: %s", part.place, error)
        return False
    return True
