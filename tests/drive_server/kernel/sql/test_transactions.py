from __future__ import annotations

import asyncio
import gc
import sqlite3
from contextlib import closing, suppress
from contextvars import ContextVar
from threading import Barrier, Event, get_ident
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
from sqlalchemy import make_url, text

from drive_server.kernel.errors import InvalidInputError, StorageFailureError
from drive_server.kernel.sql import engine
from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.engine import Transactions, beside, open_engine
from drive_server.storage.tables.drive_schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator
    from pathlib import Path

    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncSession

    from drive_server.kernel.sql.engine import SessionWork

WORDS = text("SELECT word FROM words ORDER BY word")
ADD = text("INSERT INTO words VALUES (:word)")
PATIENCE_SECONDS = 20


def words_in(connection: Connection) -> list[str]:
    return list(connection.scalars(WORDS))


async def words(database: Database) -> list[str]:
    return await database.read_sync(words_in)


async def open_words(folder: Path) -> Database:
    database = Database(open_engine(make_url(f"sqlite+aiosqlite:///{folder / 'words.db'}")), SCHEMA)
    await database.write_sync(lambda connection: connection.execute(text("CREATE TABLE words (word TEXT PRIMARY KEY)")))
    return database


@pytest.fixture(params=["in a thread", "on the event loop"])
async def either(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Database]:
    """A database as SQLite's transactions are run, and as those of every other one are."""
    if request.param == "on the event loop":
        monkeypatch.setattr(Transactions, "__init__", without_threads)
        monkeypatch.setattr(engine, "take_turns", take_none)
    database = await open_words(tmp_path)
    yield database
    await database.dispose()


def without_threads(self: Transactions, opened: object, *_: object) -> None:
    vars(self).update(_engine=opened, _sqlite=None, _sequence="")


async def take_none(*_: object) -> None:
    """Take no turns: SQLite has one writer."""


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_words(tmp_path)
    yield database
    await database.dispose()


async def test_a_write_is_kept_and_returns_what_its_work_does(either: Database) -> None:
    def add(connection: Connection) -> str:
        connection.execute(ADD, {"word": "你好"})
        return "added"

    assert await either.write_sync(add) == "added"
    assert await words(either) == ["你好"]


async def test_nothing_that_is_done_in_a_read_is_kept(either: Database) -> None:
    def add(connection: Connection) -> list[str]:
        connection.execute(ADD, {"word": "lost"})
        return words_in(connection)

    assert await either.read_sync(add) == ["lost"]
    assert await words(either) == []


async def test_work_that_raises_is_taken_back_whole_and_the_next_one_goes_on(either: Database) -> None:
    def fail(connection: Connection) -> None:
        connection.execute(ADD, {"word": "lost"})
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await either.write_sync(fail)
    with pytest.raises(KeyError, match="mine"):
        await either.read_sync(fail)
    await either.write_sync(lambda connection: connection.execute(ADD, {"word": "kept"}))

    assert await words(either) == ["kept"]


async def test_what_the_database_refuses_is_told_in_the_drives_words(either: Database) -> None:
    await either.write_sync(lambda connection: connection.execute(ADD, {"word": "once"}))

    with pytest.raises(StorageFailureError):
        await either.write_sync(lambda connection: connection.execute(ADD, {"word": "once"}))
    with pytest.raises(InvalidInputError):
        await either.read_sync(lambda connection: connection.execute(ADD, {"word": "\ud800"}))


async def test_a_read_sees_one_state_throughout(database: Database) -> None:
    begun, written = Event(), Event()

    def look_twice(connection: Connection) -> tuple[list[str], list[str]]:
        first = words_in(connection)
        begun.set()
        assert written.wait(PATIENCE_SECONDS)
        return first, words_in(connection)

    async def write() -> None:
        await anyio.to_thread.run_sync(begun.wait, PATIENCE_SECONDS)
        await database.write_sync(lambda connection: connection.execute(ADD, {"word": "new"}))
        written.set()

    seen: list[tuple[list[str], list[str]]] = []
    async with anyio.create_task_group() as group:
        group.start_soon(write)
        seen.append(await database.read_sync(look_twice))

    assert seen == [([], [])]
    assert await words(database) == ["new"]


async def test_reads_go_on_at_once_and_not_in_the_event_loops_thread(database: Database) -> None:
    both, threads = Barrier(2), set[int]()

    def meet(connection: Connection) -> None:
        words_in(connection)
        threads.add(get_ident())
        both.wait(PATIENCE_SECONDS)

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(database.read_sync, meet)

    assert len(threads - {get_ident()}) == 2


async def test_more_readers_than_there_are_connections_all_get_their_answer(database: Database) -> None:
    answers: list[list[str]] = []

    async def look() -> None:
        answers.append(await words(database))

    async with anyio.create_task_group() as group:
        for _ in range(4 * engine.POOL_SIZE):
            group.start_soon(look)

    assert answers == [[]] * 4 * engine.POOL_SIZE


async def test_writers_of_both_kinds_follow_one_another(database: Database) -> None:
    await database.write_sync(lambda connection: connection.execute(ADD, {"word": "0"}))
    more = text("UPDATE words SET word = :word")

    def count(connection: Connection) -> None:
        connection.execute(more, {"word": str(int(words_in(connection)[0]) + 1)})

    async def count_in_a_block() -> None:
        async with database.write() as session:
            await (await session.connection()).run_sync(count)

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(database.write_sync, count)
            group.start_soon(count_in_a_block)

    assert await words(database) == ["20"]


async def test_who_is_cancelled_during_a_write_is_told_so_when_it_is_over_and_whole(database: Database) -> None:
    begun, go_on = Event(), Event()

    def add_two(connection: Connection) -> None:
        connection.execute(ADD, {"word": "first"})
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)
        connection.execute(ADD, {"word": "second"})

    writing = asyncio.create_task(database.write_sync(add_two))
    await anyio.to_thread.run_sync(begun.wait, PATIENCE_SECONDS)
    for _ in range(3):
        writing.cancel()
        await asyncio.wait({writing}, timeout=0)
        assert not writing.done()
    go_on.set()

    with suppress(asyncio.CancelledError):
        await writing
    assert writing.cancelled()
    assert await words(database) == ["first", "second"]


async def test_work_that_raises_after_its_caller_was_cancelled_is_taken_back_without_a_complaint(
    database: Database,
) -> None:
    begun, go_on = Event(), Event()
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    def fail(connection: Connection) -> None:
        connection.execute(ADD, {"word": "lost"})
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)
        raise KeyError

    writing = asyncio.create_task(database.write_sync(fail))
    await anyio.to_thread.run_sync(begun.wait, PATIENCE_SECONDS)
    writing.cancel()
    await asyncio.wait({writing}, timeout=0)
    go_on.set()
    await asyncio.wait({writing})
    assert writing.cancelled()
    del writing  # a future complains of what nobody asked it for when it goes
    gc.collect()

    assert complaints == []
    assert await words(database) == []


async def test_a_cancel_scope_that_ends_waits_for_the_work_too(database: Database) -> None:
    begun, ended = Event(), Event()

    def look(connection: Connection) -> None:
        begun.set()
        words_in(connection)
        ended.set()

    async def cancel(scope: anyio.CancelScope) -> None:
        await anyio.to_thread.run_sync(begun.wait, PATIENCE_SECONDS)
        scope.cancel()

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(cancel, scope)
            await database.read_sync(look)
            await anyio.sleep_forever()

    assert ended.is_set()
    assert await words(database) == []


async def test_while_another_program_writes_reads_go_on_and_writes_fail_with_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_SECONDS", 0)
    database = await open_words(tmp_path)
    with closing(sqlite3.connect(tmp_path / "words.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO words VALUES ('theirs')")
        with pytest.raises(StorageFailureError):
            await database.write_sync(words_in)
        assert await words(database) == []
        other.execute("COMMIT")
    await database.write_sync(lambda connection: connection.execute(ADD, {"word": "ours"}))

    assert await words(database) == ["ours", "theirs"]
    await database.dispose()


@pytest.mark.usefixtures("disk")
async def test_each_connection_is_set_up_as_its_owner_wants(tmp_path: Path) -> None:
    opened = open_engine(make_url(f"sqlite+aiosqlite:///{tmp_path / 'words.db'}"))
    transactions = Transactions(opened, lambda connection, _: connection.execute("PRAGMA secure_delete = ON"))

    def settings(connection: Connection) -> list[object]:
        names = ("secure_delete", "foreign_keys", "synchronous", "journal_mode")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert await transactions.read(settings) == [1, 1, 2, "wal"]
    assert await transactions.write(settings) == [1, 1, 2, "wal"]
    await transactions.close()
    await opened.dispose()


async def add(session: AsyncSession, word: str) -> str:
    await session.execute(ADD, {"word": word})
    return f"added {word}"


async def test_a_change_of_asynchronous_code_is_kept_and_a_look_is_not(either: Database) -> None:
    assert await either.change(lambda session: add(session, "你好")) == "added 你好"
    assert await either.look(lambda session: add(session, "lost")) == "added lost"
    assert await words(either) == ["你好"]


async def test_a_change_that_raises_or_rolls_back_keeps_nothing(either: Database) -> None:
    async def fail(session: AsyncSession) -> None:
        await add(session, "lost")
        raise KeyError("mine")

    async def rehearse(session: AsyncSession) -> str:
        added = await add(session, "rehearsed")
        await session.rollback()
        return added

    with pytest.raises(KeyError, match="mine"):
        await either.change(fail)
    assert await either.change(rehearse) == "added rehearsed"
    assert await words(either) == []


async def test_a_change_has_the_context_of_its_caller_and_may_block_beside_its_session(either: Database) -> None:
    name = ContextVar[str]("name")
    name.set("ana")

    async def named(session: AsyncSession) -> tuple[str, int]:
        await add(session, name.get())
        return name.get(), await beside(session, get_ident)

    caller, thread = await either.change(named)
    assert (caller, thread != get_ident(), await words(either)) == ("ana", True, ["ana"])


async def test_a_cancelled_change_ends_at_its_next_pause_and_keeps_nothing(either: Database) -> None:
    begun, go_on = Event(), Event()

    async def slow(session: AsyncSession) -> None:
        await add(session, "lost")
        begun.set()
        await beside(session, lambda: go_on.wait(PATIENCE_SECONDS))
        await asyncio.sleep(0)
        await add(session, "never")

    changing = asyncio.create_task(either.change(slow))
    await anyio.to_thread.run_sync(begun.wait, PATIENCE_SECONDS)
    changing.cancel()
    await asyncio.sleep(0)  # the change hears of it before its thread goes on
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await changing
    assert await words(either) == []


async def test_a_change_in_a_thread_that_waits_for_something_else_fails_and_keeps_nothing(database: Database) -> None:
    async def wait(session: AsyncSession) -> None:
        await add(session, "lost")
        await Waiting()

    with pytest.raises(RuntimeError, match="something else than its session"):
        await database.change(wait)
    await database.change(lambda session: add(session, "next"))
    assert await words(database) == ["next"]


async def test_a_change_that_says_that_it_waits_may_wait_for_anything(either: Database) -> None:
    async def wait(session: AsyncSession) -> None:
        await anyio.sleep(0.001)
        await add(session, "waited")

    await either.change(wait, waits=True)
    assert await words(either) == ["waited"]


async def test_the_state_is_another_one_after_each_write_of_any_process_and_after_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drive_server.kernel.sql.database.STATE_SECONDS", 0)
    ours = await open_words(tmp_path)
    states = [await ours.state()]
    await words(ours)
    with pytest.raises(KeyError):
        await ours.change(fail_after("lost"))
    assert await ours.state() == states[0]

    await ours.change(lambda session: add(session, "ours"))
    states.append(await ours.state())
    with closing(sqlite3.connect(tmp_path / "words.db")) as others, others:
        others.execute("INSERT INTO words VALUES ('theirs')")
    states.append(await ours.state())
    await ours.dispose()

    assert len(set(states)) == 3


async def test_who_waits_for_a_change_is_told_of_that_of_another_process_and_all_share_one_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drive_server.kernel.sql.database.CHANGED_SECONDS", 0.01)
    monkeypatch.setattr("drive_server.kernel.sql.database.STATE_SECONDS", 0.005)
    database = await open_words(tmp_path)
    state = await database.state()
    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(database.until_changed, state)
            await anyio.wait_all_tasks_blocked()
            with closing(sqlite3.connect(tmp_path / "words.db")) as others, others:
                others.execute("INSERT INTO words VALUES ('theirs')")
    assert await words(database) == ["theirs"]
    await database.dispose()


def fail_after(word: str) -> SessionWork[None]:
    async def work(session: AsyncSession) -> None:
        await add(session, word)
        raise KeyError(word)

    return work


class Waiting:
    """Waits for something that only an event loop could bring about."""

    def __await__(self) -> Generator[object]:
        yield self
