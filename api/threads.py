"""Threads: a user's conversations. Their messages are in the graph's state; this module has owners and titles."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from langchain_core.messages import AnyMessage
from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, delete, insert, or_, select, update
from sqlalchemy.orm import Session

from api.clock import Clock
from api.drive import Principal
from api.errors import ApprovalPendingError, NotFoundError, PlanPausedError, ThreadBusyError
from api.servers.assistants import default_assistant, find_assistant
from api.storage.database import erase
from api.storage.tables import (
    BUILT_IN,
    PAUSED,
    WAITING,
    ApprovalRow,
    Base,
    PlanRow,
    RunRow,
    ThreadRow,
    WordsRow,
    new_id,
    table_of,
)
from api.thread_words import WHOLE_WORDS, has_words, made_of_others, renamed, terms_of, whole_words
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database

TITLE_CHARACTERS = 80
UNTITLED: Final = "…"
"""The title of a thread without a message: clients of LangGraph make a thread before its first message."""

_THREADS = table_of(ThreadRow)
_NEW = insert(_THREADS)
CHOOSE = (
    update(_THREADS)
    .where(_THREADS.c.id == bindparam("thread"))
    .values(model=bindparam("chosen"), assistant_id=bindparam("assistant"))
)
"""Gives a thread the model that was `chosen` for it, and its assistant."""
TOUCH = update(_THREADS).where(_THREADS.c.id == bindparam("thread")).values(updated_at=bindparam("now"))
"""Sets when the `thread` was last used to `now`."""
_TITLE = update(_THREADS).where(_THREADS.c.id == bindparam("thread")).values(title=bindparam("called"))
_EXISTS = select(_THREADS.c.id).where(_THREADS.c.id == bindparam("thread"))
HAS_WORDS: Final = or_(ThreadRow.title != UNTITLED, select(RunRow.id).where(RunRow.thread_id == ThreadRow.id).exists())
"""Not of an empty thread, which no person knows of."""


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """Some threads, and where the next ones begin (None at the end)."""

    threads: Sequence[ThreadRow]
    cursor: str | None


class Threads:
    """A user's threads."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def page(
        self,
        caller: Principal,
        limit: int,
        cursor: str | None = None,
        *,
        words: str | None = None,
        left_out: Collection[str] = (),
    ) -> ThreadPage:
        """Return the caller's threads that have messages, the one used last first: all, or those with all `words`.

        The rows of words that are `left_out` count for nothing. Raises `InvalidCursorError` for a bad cursor.
        """
        cursors = Cursors(self._database.signer, caller.user_id, "threads", words)
        query = select(ThreadRow).where(ThreadRow.user_id == caller.user_id, ThreadRow.deleted_at.is_(None), HAS_WORDS)
        if words is not None:
            if not (terms := terms_of(words)):
                return ThreadPage([], None)
            query = query.where(has_words(caller.user_id, terms, left_out))
        if cursor:
            moment, thread_id = cursors.decode(cursor, str, str)
            query = query.where(_before(datetime.fromisoformat(moment), thread_id))
        newest_first = query.order_by(ThreadRow.updated_at.desc(), ThreadRow.id.desc())
        async with self._database.read() as session:
            rows = list(await session.scalars(newest_first.limit(limit + 1)))
        shown = rows[:limit]
        more = cursors.encode(shown[-1].updated_at, shown[-1].id) if len(rows) > limit else None
        return ThreadPage(shown, more)

    async def get(self, caller: Principal, thread_id: str) -> ThreadRow:
        """Return a thread of the caller. Raises `NotFoundError`, also for somebody else's."""
        async with self._database.read() as session:
            return await session.run_sync(find_thread, caller, thread_id)

    async def made_of_others(self, caller: Principal) -> dict[str, list[str]]:
        """Return the rows of words of the caller that other people's items are in, with the ids of these."""
        async with self._database.read() as session:
            return await session.run_sync(made_of_others, caller.user_id)

    async def runs_without_words(self) -> list[RunRow]:
        """Return the runs that are over, but whose answers are not found by their words yet; by thread."""
        missing = select(WordsRow.id).where(WordsRow.is_whole.is_(False))
        query = select(RunRow).where(RunRow.id.in_(missing), RunRow.finished_at.is_not(None))
        async with self._database.read() as session:
            return list(await session.scalars(query.order_by(RunRow.thread_id, RunRow.head_checkpoint)))

    async def store_words(self, run: RunRow, messages: Sequence[AnyMessage]) -> None:
        """Store the words of a run's answer."""
        async with self._database.write() as session:
            await session.execute(WHOLE_WORDS, whole_words(run, messages))

    async def runs(self, thread_id: str) -> list[RunRow]:
        """Return all runs of a thread, in order."""
        query = select(RunRow).where(RunRow.thread_id == thread_id).order_by(RunRow.number)
        async with self._database.read() as session:
            return list(await session.scalars(query))

    async def newest_run(self, thread_id: str) -> RunRow | None:
        """Return the run that was started last."""
        query = select(RunRow).where(RunRow.thread_id == thread_id).order_by(RunRow.number.desc()).limit(1)
        async with self._database.read() as session:
            return await session.scalar(query)

    async def rename(self, caller: Principal, thread_id: str, title: str) -> ThreadRow:
        """Give a thread another title."""
        async with self._database.write() as session:
            row = await session.run_sync(find_thread, caller, thread_id)
            row.title = make_title(title)
            await session.execute(renamed(row.id, row.title))
        return row

    async def hide(self, caller: Principal, thread_id: str) -> None:
        """Hide a thread from everyone. Raises `NotFoundError`, and `ThreadBusyError` while a run works."""
        async with self._database.write() as session:
            row = await session.run_sync(find_thread, caller, thread_id)
            if run := await session.run_sync(active_run, thread_id):
                raise ThreadBusyError(run_id=run.id)
            row.deleted_at = self._clock.now()

    async def hidden(self) -> list[ThreadRow]:
        """Return the threads that are hidden and not removed yet."""
        async with self._database.read() as session:
            return list(await session.scalars(select(ThreadRow).where(ThreadRow.deleted_at.is_not(None))))

    async def hide_all(self, user_id: str) -> None:
        """Hide all threads of a person who was removed."""
        theirs = update(ThreadRow).where(ThreadRow.user_id == user_id, ThreadRow.deleted_at.is_(None))
        async with self._database.write() as session:
            await session.execute(theirs.values(deleted_at=self._clock.now()))

    async def hide_unused(self, since: datetime) -> int:
        """Hide the threads without a message since then; return their number. A thread with an active run stays."""
        busy = select(RunRow.thread_id).where(RunRow.finished_at.is_(None))
        unused = ThreadRow.updated_at < since, ThreadRow.deleted_at.is_(None), ThreadRow.id.not_in(busy)
        async with self._database.write() as session:
            rows = list(await session.scalars(select(ThreadRow).where(*unused)))
            for row in rows:
                row.deleted_at = self._clock.now()
        return len(rows)

    async def remove(self, thread_id: str) -> None:
        """Delete all rows of a hidden thread in every table, and overwrite them in the files."""
        async with self._database.write() as session:
            runs = [*await session.scalars(select(RunRow.id).where(RunRow.thread_id == thread_id))]
            for table in reversed(Base.metadata.sorted_tables):
                if (condition := _rows_of_thread(table, thread_id, runs)) is not None:
                    await session.execute(delete(table).where(condition))
        await erase(self._database)


def _rows_of_thread(table: Table, thread_id: str, runs: Sequence[str]) -> ColumnElement[bool] | None:
    """Return the condition for a thread's rows in a table, by its columns; None if it can have none."""
    if table is ThreadRow.__table__:
        return table.c.id == thread_id
    if "thread_id" in table.c:
        return table.c.thread_id == thread_id
    return table.c.run_id.in_(runs) if "run_id" in table.c else None


def find_thread(session: Session, caller: Principal, thread_id: str) -> ThreadRow:
    """Return a thread of the caller. Raises `NotFoundError`, also for somebody else's."""
    row = session.get(ThreadRow, thread_id)
    if row is None or row.user_id != caller.user_id or row.deleted_at is not None:
        raise NotFoundError("no_thread")
    return row


def active_run(session: Session, thread_id: str) -> RunRow | None:
    """Return the run that works or waits in a thread."""
    return session.scalar(select(RunRow).where(RunRow.thread_id == thread_id, RunRow.finished_at.is_(None)))


def refuse_if_busy(session: Session, thread_id: str) -> None:
    """Raise `ApprovalPendingError`, `PlanPausedError` or `ThreadBusyError` if a run is active in the thread."""
    run = active_run(session, thread_id)
    if run is None:
        return
    waiting = select(ApprovalRow.id).where(ApprovalRow.run_id == run.id, ApprovalRow.status == WAITING)
    if approval_id := session.scalar(waiting):
        raise ApprovalPendingError(approval_id=approval_id, run_id=run.id)
    paused = select(PlanRow.run_id).where(PlanRow.run_id == run.id, PlanRow.status == PAUSED)
    if session.scalar(paused):
        raise PlanPausedError(thread_id=thread_id, run_id=run.id)
    raise ThreadBusyError(run_id=run.id)


@dataclass(frozen=True, slots=True)
class OpenedThread:
    """The thread of a message, and the model and assistant of the run in it. The model may be the assistant's.

    `title` is that of a new thread, whose words are still to be stored; None: the thread was there before.
    """

    id: str
    model: str
    assistant_id: str
    title: str | None = None


def open_thread(
    connection: Connection,
    caller: Principal,
    thread_id: str | None,
    message: str,
    now: datetime,
    model: str = "",
    assistant_id: str | None = None,
    *,
    creates: bool = False,
) -> OpenedThread:
    """Return the thread of a message: the named one, which must have no active run, or a new one.

    `creates`: there may be no thread of this id yet. An empty thread takes its title from its first message.

    A `model` and an assistant become those of the thread; a new one has the person's default assistant without that.
    Raises `NotFoundError` for a thread or an assistant that is not the caller's.
    """
    if thread_id is None or (creates and connection.scalar(_EXISTS, {"thread": thread_id}) is None):
        assistant, own_model = _find_assistant(connection, caller.user_id, assistant_id)
        new = OpenedThread(thread_id or new_id(), model, assistant)
        return _new_thread(connection, caller.user_id, message, now, new, own_model)
    with Session(connection) as session:
        before = find_thread(session, caller, thread_id)
        refuse_if_busy(session, thread_id)
    assistant, own_model = _find_assistant(connection, caller.user_id, assistant_id or before.assistant_id)
    chosen = model or before.model
    connection.execute(TOUCH, {"thread": before.id, "now": now})
    if before.title == UNTITLED:
        connection.execute(_TITLE, {"thread": before.id, "called": make_title(message)})
        connection.execute(renamed(before.id, make_title(message)))
    if (chosen, assistant) != (before.model, before.assistant_id):
        connection.execute(CHOOSE, {"thread": before.id, "chosen": chosen, "assistant": assistant})
    return OpenedThread(before.id, chosen or own_model, assistant)


def _new_thread(
    connection: Connection, user_id: str, message: str, now: datetime, chosen: OpenedThread, own_model: str
) -> OpenedThread:
    title, times = make_title(message), {"created_at": now, "updated_at": now}
    row = {"id": chosen.id, "user_id": user_id, "title": title, "model": chosen.model, **times}
    connection.execute(_NEW, {**row, "assistant_id": chosen.assistant_id})
    return replace(chosen, model=chosen.model or own_model, title=title)


def _find_assistant(connection: Connection, user_id: str, assistant_id: str | None) -> tuple[str, str]:
    """Return the id and the model of an assistant of a person; None: their default one. Raises `NotFoundError`."""
    if assistant_id is None:
        return default_assistant(connection, user_id)
    if assistant_id == BUILT_IN:
        return BUILT_IN, ""
    with Session(connection) as session:
        row = find_assistant(session, user_id, assistant_id)
        return row.id, row.model


def _before(moment: datetime, thread_id: str) -> ColumnElement[bool]:
    same_moment = and_(ThreadRow.updated_at == moment, ThreadRow.id < thread_id)
    return or_(ThreadRow.updated_at < moment, same_moment)


def make_title(text: str) -> str:
    """Return the first line with text, cut to a title's length, between words if possible."""
    line = " ".join(next((line for line in text.splitlines() if line.strip()), text).split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    words = line[:TITLE_CHARACTERS].rpartition(" ")[0]
    return (words if len(words) > TITLE_CHARACTERS // 2 else line[: TITLE_CHARACTERS - 1]) + "…"
