"""Two processes on one PostgreSQL database: what one of them reads in a change holds until it commits."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from sqlalchemy import select, text, update

from drive_server.kernel.errors import DriveError, NotFoundError
from drive_server.kernel.messages import Message
from drive_server.services.journal.turns import change_in_turn
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow
from tests.databases import new_url
from tests.drive_server.store import Store, in_run, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable
    from pathlib import Path

    from sqlalchemy.ext.asyncio import AsyncSession

TRIES = 10


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    url = new_url()
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(open_store(tmp_path, url)) for _ in range(2)]
        yield first, second


async def at_once(*calls: Awaitable[Any]) -> list[Any]:
    """Return what each call gave: its value, or the code of its error."""
    given: list[Any] = [None] * len(calls)

    async def run(number: int, call: Awaitable[Any]) -> None:
        try:
            given[number] = await call
        except DriveError as error:
            given[number] = error.code

    async with anyio.create_task_group() as tasks:
        for number, call in enumerate(calls):
            tasks.start_soon(run, number, call)
    return given


async def test_of_two_renames_with_one_etag_one_holds(stores: tuple[Store, Store]) -> None:
    ana = await stores[0].person("ana@example.com")
    for number in range(TRIES):
        file = await stores[0].file(ana, f"/{number}.txt")
        renames = [
            store.files.rename(ana, file.id, f"{number} {n}.txt", if_match=file.etag) for n, store in enumerate(stores)
        ]
        given = await at_once(*renames)
        assert sum(isinstance(one, str) for one in given) == 1, given


async def test_two_folders_that_move_into_each_other_make_no_circle(stores: tuple[Store, Store]) -> None:
    ana = await stores[0].person("ana@example.com")
    for number in range(TRIES):
        a = await stores[0].folder(ana, f"/a{number}")
        b = await stores[0].folder(ana, f"/b{number}")
        given = await at_once(
            stores[0].files.move(ana, a.id, b.id),
            stores[1].files.move(ana, b.id, a.id),
        )
        assert sum(isinstance(one, str) for one in given) == 1, given
        assert len({a.name, b.name} & {*await stores[0].names(ana)}) == 1


async def test_who_appends_at_once_from_both_loses_nothing_and_a_key_is_done_once(stores: tuple[Store, Store]) -> None:
    ana = await stores[0].person("ana@example.com")
    file = await stores[0].file(ana, "/log.txt", "")
    calls = [
        stores[n % 2].documents.append(in_run(ana, "run", f"key {n // 2}"), file.id, f"line {n // 2}\n")
        for n in range(16)
    ]
    given = await at_once(*calls)
    assert sorted(one.replayed for one in given) == [False] * 8 + [True] * 8
    assert sorted((await stores[0].text(ana, file.id)).splitlines()) == [f"line {n}" for n in range(8)]


async def test_two_people_who_change_each_others_shared_folders_at_once_both_end(stores: tuple[Store, Store]) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    of_ana, of_ben = await stores[0].folder(ana, "/of ana"), await stores[0].folder(ben, "/of ben")
    await stores[0].sharing.share(ana, of_ana.id, "ben@example.com", "editor")
    await stores[0].sharing.share(ben, of_ben.id, "ana@example.com", "editor")

    calls = [stores[0].documents.create(ana, of_ben.id, f"a{n}", "text") for n in range(6)]
    calls += [stores[1].documents.create(ben, of_ana.id, f"b{n}", "text") for n in range(6)]
    given = await at_once(*calls)
    assert not [one for one in given if isinstance(one, str)], given
    assert sorted(await stores[0].names(ana, of_ana.id)) == [f"b{n}" for n in range(6)]
    assert sorted(await stores[0].names(ben, of_ben.id)) == [f"a{n}" for n in range(6)]


async def test_a_change_that_is_cancelled_after_it_used_anothers_drive_ends(stores: tuple[Store, Store]) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    of_ben = await stores[0].folder(ben, "/of ben")
    begun, runs = anyio.Event(), 0

    async def change(session: AsyncSession) -> None:
        nonlocal runs
        runs += 1
        (await session.get_one(NodeRow, of_ben.id)).name = "changed"
        await session.flush()
        begun.set()
        await anyio.sleep_forever()

    task = asyncio.create_task(change_in_turn(stores[0].database, change, ana.user_id))
    await begun.wait()
    task.cancel()
    with anyio.fail_after(5), pytest.raises(asyncio.CancelledError):
        await task
    assert runs == 1
    assert await stores[1].names(ben) == ["of ben"]


async def test_a_change_that_fails_on_anothers_drive_out_of_turn_is_run_again_in_turn(
    stores: tuple[Store, Store],
) -> None:
    ana, ben = await stores[0].person("ana@example.com"), await stores[0].person("ben@example.com")
    of_ben = await stores[0].folder(ben, "/of ben")
    runs = 0

    async def change(session: AsyncSession) -> str:
        nonlocal runs
        runs += 1
        name = (await session.get_one(NodeRow, of_ben.id)).name
        if runs == 1:
            raise NotFoundError(Message.of("no_item"))
        return name

    assert await change_in_turn(stores[0].database, change, ana.user_id) == "of ben"


async def set_attempts(session: AsyncSession, file_id: str, attempts: int) -> None:
    await session.execute(update(IndexEntryRow).where(IndexEntryRow.file_id == file_id).values(attempts=attempts))


async def until_somebody_waits(store: Store) -> None:
    """Wait until a transaction of this database waits for a row of another one."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'"
    )
    with anyio.fail_after(60):
        while not await store.database.look(lambda session: session.scalar(waiting)):
            pass


async def test_a_change_that_waits_for_a_transaction_that_waits_for_it_is_undone_and_run_again(
    stores: tuple[Store, Store],
) -> None:
    ana = await stores[0].person("ana@example.com")
    first, second = [(await stores[0].file(ana, f"/{name}.txt")).id for name in ("first", "second")]
    has_first, has_second = anyio.Event(), anyio.Event()
    runs = 0

    async def index() -> None:
        async with stores[1].database.write("the index") as session:
            await session.execute(text("SET LOCAL deadlock_timeout = '1h'"))  # so the other one is undone
            await set_attempts(session, second, 7)
            has_second.set()
            await has_first.wait()
            await set_attempts(session, first, 7)

    async def change(session: AsyncSession) -> None:
        nonlocal runs
        runs += 1
        await set_attempts(session, first, 8)
        has_first.set()
        await has_second.wait()
        if runs == 1:
            await until_somebody_waits(stores[0])
        await set_attempts(session, second, 8)

    async with anyio.create_task_group() as writers:
        writers.start_soon(index)
        await change_in_turn(stores[0].database, change, ana.user_id)
    assert runs == 2
    query = select(IndexEntryRow.attempts).where(IndexEntryRow.file_id.in_([first, second]))
    async with stores[1].database.read() as session:
        assert (await session.scalars(query)).all() == [8, 8]
