"""The data that clients store with threads, beside our own rows of these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Select, and_, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from api.drive import Principal
from api.errors import NotFoundError, ThreadExistsError
from api.service import Service
from api.storage.tables import (
    BUILT_IN,
    FAILED,
    WAITING,
    ClientThreadRow,
    RunRow,
    ThreadRow,
    WordsRow,
    new_id,
    table_of,
)
from api.thread_words import words_of
from api.threads import UNTITLED

ThreadStatus = Literal["idle", "busy", "interrupted", "error"]
_EXTRAS = table_of(ClientThreadRow)
_NEW_EXTRA = insert(_EXTRAS)
_EXTRA_OF = select(_EXTRAS.c.thread_id).where(_EXTRAS.c.thread_id == bindparam("thread"))
_DROP_DRAFTS = update(_EXTRAS).where(_EXTRAS.c.thread_id == bindparam("thread")).values(drafts=[])


@dataclass(frozen=True, slots=True)
class ClientThread:
    """A thread with a client's data about it, if there is any, and its newest run."""

    row: ThreadRow
    extra: ClientThreadRow | None
    run: RunRow | None

    @property
    def status(self) -> ThreadStatus:
        """The status in LangGraph's words."""
        if self.run is None:
            return "idle"
        if self.run.finished_at is None:
            return "interrupted" if self.run.status == WAITING else "busy"
        return "error" if self.run.status == FAILED else "idle"

    @property
    def drafts(self) -> Sequence[Mapping[str, Any]]:
        """The messages that were added for the next run."""
        return self.extra.drafts if self.extra else ()


class ClientThreads:
    """The threads of a person, with their clients' data."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._database = service.database

    async def get(self, caller: Principal, thread_id: str) -> ClientThread:
        """Return a thread of the caller. Raises `NotFoundError`, also for somebody else's."""
        found = await self.find(caller, thread_id)
        if found is None:
            raise NotFoundError("no_thread")
        return found

    async def find(self, caller: Principal, thread_id: str) -> ClientThread | None:
        """Return a thread of the caller; None also for somebody else's."""
        query = _threads_of(caller).where(ThreadRow.id == thread_id)

        def read(connection: Connection) -> ClientThread | None:
            with Session(connection) as session:
                found = session.execute(query).one_or_none()
            return ClientThread(*found) if found else None

        return await self._database.read_sync(read)

    async def all(self, caller: Principal) -> list[ClientThread]:
        """Return the caller's threads, the one used last first."""
        query = _threads_of(caller).order_by(ThreadRow.updated_at.desc(), ThreadRow.id.desc())
        async with self._database.read() as session:
            found = [ClientThread(*row) for row in await session.execute(query)]
        return [thread for thread in found if not (thread.extra and thread.extra.is_temporary)]

    async def create(
        self,
        caller: Principal,
        thread_id: str | None,
        about: Mapping[str, Any],
        *,
        may_exist: bool = False,
        is_temporary: bool = False,
    ) -> ClientThread:
        """Make an empty thread. Raises `ThreadExistsError`, and `NotFoundError` for an id that is somebody else's."""
        wanted = thread_id or new_id()
        async with self._database.write() as session:
            before = await session.get(ThreadRow, wanted)
            if before is None:
                return await _add_empty(session, caller, wanted, about, self._service, is_temporary=is_temporary)
        found = await self.get(caller, wanted)
        if not may_exist:
            raise ThreadExistsError
        return found

    async def change(
        self, caller: Principal, thread_id: str, about: Mapping[str, Any], *, config: Mapping[str, Any] | None = None
    ) -> ClientThread:
        """Merge metadata into a thread's, and store its config. Raises `NotFoundError`."""
        await self.get(caller, thread_id)
        async with self._database.write() as session:
            extra = await _extra(session, thread_id)
            extra.about = {**extra.about, **about}
            if config is not None:
                extra.config = dict(config)
        return await self.get(caller, thread_id)

    async def add_drafts(self, caller: Principal, thread_id: str, drafts: Sequence[Mapping[str, Any]]) -> ClientThread:
        """Add messages for the next run. Raises `NotFoundError`."""
        await self.get(caller, thread_id)
        async with self._database.write() as session:
            extra = await _extra(session, thread_id)
            known = {one["id"] for one in extra.drafts}
            extra.drafts = [*extra.drafts, *(dict(one) for one in drafts if one["id"] not in known)]
        return await self.get(caller, thread_id)

    async def drop_drafts(self, thread_id: str) -> None:
        """Forget the messages that a run has taken."""
        await self._database.write_sync(lambda connection: forget_drafts(connection, thread_id))

    async def temporary(self) -> list[ThreadRow]:
        """Return the threads that should have gone with their runs, of any person."""
        query = select(ThreadRow).join(ClientThreadRow, ClientThreadRow.thread_id == ThreadRow.id)
        query = query.where(ClientThreadRow.is_temporary, ThreadRow.deleted_at.is_(None))
        async with self._database.read() as session:
            return list(await session.scalars(query))


def _threads_of(caller: Principal) -> Select[ThreadRow, ClientThreadRow, RunRow]:
    newest = select(func.max(RunRow.number)).where(RunRow.thread_id == ThreadRow.id).correlate(ThreadRow)
    is_newest = and_(RunRow.thread_id == ThreadRow.id, RunRow.number == newest.scalar_subquery())
    query = select(ThreadRow, ClientThreadRow, RunRow).outerjoin(
        ClientThreadRow, ClientThreadRow.thread_id == ThreadRow.id
    )
    own = ThreadRow.user_id == caller.user_id, ThreadRow.deleted_at.is_(None)
    return query.outerjoin(RunRow, is_newest).where(*own)


def add_extra(connection: Connection, thread_id: str, *, is_temporary: bool) -> None:
    """Store that a client made a thread, unless that is stored already."""
    if connection.scalar(_EXTRA_OF, {"thread": thread_id}) is None:
        row = {"thread_id": thread_id, "about": {}, "config": {}, "drafts": [], "is_temporary": is_temporary}
        connection.execute(_NEW_EXTRA, row)


def forget_drafts(connection: Connection, thread_id: str) -> None:
    """Forget the messages that a run has taken."""
    connection.execute(_DROP_DRAFTS, {"thread": thread_id})


async def _extra(session: AsyncSession, thread_id: str) -> ClientThreadRow:
    """Return the row of clients' data about a thread, a new one if there is none."""
    found = await session.get(ClientThreadRow, thread_id, with_for_update=True)
    if found is None:
        found = ClientThreadRow(thread_id=thread_id, about={}, config={}, drafts=[], is_temporary=False)
        session.add(found)
    return found


async def _add_empty(
    session: AsyncSession,
    caller: Principal,
    thread_id: str,
    about: Mapping[str, Any],
    service: Service,
    *,
    is_temporary: bool,
) -> ClientThread:
    now = service.clock.now()
    row = ThreadRow(id=thread_id, user_id=caller.user_id, title=UNTITLED, assistant_id=BUILT_IN)
    row.created_at = row.updated_at = now
    words = WordsRow(
        id=thread_id, thread_id=thread_id, user_id=caller.user_id, words=words_of(""), others="", is_whole=True
    )
    extra = ClientThreadRow(thread_id=thread_id, about=dict(about), config={}, drafts=[], is_temporary=is_temporary)
    session.add_all([row, words])
    # Without relations between the classes, the session would choose the order.
    await session.flush()
    session.add(extra)
    return ClientThread(row, extra, None)
