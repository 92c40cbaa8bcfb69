"""Services on several machines with one database and one index: one of them writes, all of them search."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import psycopg
import pytest
from sqlalchemy import select, update

from drive_server.kernel.sql.database import News
from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index.health import HealthNews, HealthRecord, IndexHealth
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest import shared_health
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.ingest.shared_health import SharedHealth
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.process_locks import DatabaseLock
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.work import ProcessLockRow
from tests.databases import new_url
from tests.drive_server.knowledge import samples
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from drive_server.knowledge.index.rows import IndexedFile

FILES = 10
RESTS = 5
PATIENCE_SECONDS = 30


class NotingIndex(KnowledgeIndex):
    """A real index that notes the files that were put into it, and waits in the middle of it on demand."""

    def __init__(self, url: str, health: IndexHealth) -> None:
        super().__init__(url, NoEmbedder(), health=health)
        self.replaced: list[str] = []
        self.cleared = 0
        self.stopped: anyio.Event | None = None

    async def replace(self, files: Sequence[IndexedFile]) -> None:
        if self.stopped is not None:
            self.stopped.set()
            await anyio.sleep_forever()
        self.replaced += [file.file_id for file in files]
        await super().replace(files)

    async def clear(self) -> None:
        self.cleared += 1
        await super().clear()


class Machine:
    """One service: a store of its own over the common database, and an ingester of the common index."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.health = IndexHealth()
        self.index = NotingIndex(str(folder / "index"), self.health)
        self.lock = DatabaseLock(store.database, "index", timedelta(seconds=1))
        self.ingester = Ingester(
            store.database,
            TextSource(store.blobs),
            NoEmbedder(),
            self.index,
            self.lock,
            retry_after=timedelta(0),
            shared_health=SharedHealth(store.database, self.health),
        )

    async def found(self, actor: Actor) -> int:
        return len(await self.index.search("parents", owner_ids=[actor.user_id], mode="text", limit=100))


@pytest.fixture(autouse=True)
def _news_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_health, "SECONDS", 0.0)


@pytest.fixture
async def machines(tmp_path: Path) -> AsyncIterator[tuple[Machine, Machine]]:
    url = new_url()
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(open_store(tmp_path / "store", url)) for _ in range(2)]
        first, second = (Machine(store, tmp_path) for store in stores)
        yield first, second
        first.index.close()
        second.index.close()


@pytest.fixture
async def ana(machines: tuple[Machine, Machine]) -> Actor:
    return await machines[0].store.person("ana@example.com")


async def test_each_file_is_written_by_one_of_them_and_found_at_both(
    machines: tuple[Machine, Machine], ana: Actor
) -> None:
    first, second = machines
    async with anyio.create_task_group() as group:
        for machine in machines:
            group.start_soon(machine.ingester.run)
        for number in range(FILES):
            await machines[number % 2].store.file(ana, f"/{number}.txt", f"{samples.LEAVE} {number}")
        with anyio.fail_after(120):
            for machine in machines:
                while await machine.found(ana) < FILES:
                    await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    written = [*first.index.replaced, *second.index.replaced]
    assert len(set(written)) == len(written) == FILES


async def test_when_the_writer_ends_another_takes_the_work_up(machines: tuple[Machine, Machine], ana: Actor) -> None:
    first, second = machines
    assert await first.lock.acquire()
    item = await first.store.file(ana, "/leave.txt", samples.LEAVE)
    with anyio.move_on_after(0.5):
        await second.ingester.drain()
    assert second.index.replaced == []
    await first.lock.release()
    with anyio.fail_after(60):
        await second.ingester.drain()
    assert second.index.replaced == [item.id]


async def test_a_writer_that_loses_the_lock_stops_in_the_middle_and_the_other_one_does_it(
    machines: tuple[Machine, Machine], ana: Actor
) -> None:
    first, second = machines
    stopped = first.index.stopped = anyio.Event()
    item = await first.store.file(ana, "/leave.txt", samples.LEAVE)
    async with anyio.create_task_group() as group:
        group.start_soon(first.ingester.run)
        with anyio.fail_after(60):
            await stopped.wait()
            async with first.store.database.write() as session:
                await session.execute(update(ProcessLockRow).values(holder="somebody else"))
            while first.lock.is_held:
                await anyio.lowlevel.checkpoint()
            first.index.stopped = None
            await second.ingester.drain()
        group.cancel_scope.cancel()
    assert (first.index.replaced, second.index.replaced) == ([], [item.id])
    assert await second.found(ana) == 1
    async with first.store.database.read() as session:
        assert list(await session.scalars(select(IndexEntryRow.state))) == ["ready"]


async def test_a_rebuild_that_is_asked_of_another_than_the_writer_is_done_by_the_writer_and_all_know_when_it_is_over(
    machines: tuple[Machine, Machine], ana: Actor
) -> None:
    first, second = machines
    await first.store.file(ana, "/leave.txt", samples.LEAVE)
    await first.ingester.drain()
    async with anyio.create_task_group() as group:
        group.start_soon(first.ingester.run)
        with anyio.fail_after(60):
            while not first.lock.is_held:
                await anyio.lowlevel.checkpoint()
            await second.ingester.rebuild()
            assert second.health.requested == "rebuild"
            group.start_soon(second.ingester.run)
            while not first.index.cleared or second.health.state != "ok" or await second.found(ana) != 1:
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert (first.index.cleared, second.index.cleared) == (1, 0)
    assert not second.health.requested


def test_a_request_that_comes_while_an_equal_one_is_taken_counts_as_that_and_a_stronger_one_stays() -> None:
    stored, taken = HealthRecord(), HealthNews(taken="inspect")
    assert taken.merged(stored, "inspect", is_writer=True) == (stored, "")
    assert taken.merged(stored, "rebuild", is_writer=True) == (stored, "rebuild")
    assert HealthNews(request="inspect").merged(stored, "rebuild", is_writer=False) == (stored, "rebuild")


def test_only_the_writer_sets_the_state() -> None:
    degraded = HealthRecord("degraded")
    news = HealthNews(record=degraded)
    assert news.merged(HealthRecord(), "", is_writer=True) == (degraded, "")
    assert news.merged(HealthRecord(), "", is_writer=False) == (HealthRecord(), "")


def test_news_that_could_not_be_told_are_told_with_later_ones() -> None:
    health = IndexHealth()
    health.request("inspect")
    news = health.take_news()
    health.request("rebuild")
    health.put_back(news)
    assert health.take_news() == HealthNews(request="rebuild")
    assert not health.has_news


async def test_a_writer_is_told_that_another_process_wants_files_read_again(
    machines: tuple[Machine, Machine], ana: Actor
) -> None:
    _, second = machines
    await second.store.file(ana, "/leave.txt", samples.LEAVE)
    url = second.ingester._database.engine.url.set(drivername="postgresql")  # pyright: ignore[reportPrivateUsage] - where
    async with await psycopg.AsyncConnection.connect(
        url.render_as_string(hide_password=False), autocommit=True
    ) as connection:
        await connection.execute(f"LISTEN {News.CHANNEL}")
        for again in (
            second.ingester.rebuild(ana.principal.user_id),
            second.ingester.rebuild_files(select(NodeRow.id)),
        ):
            await again
            notices = [one async for one in connection.notifies(timeout=PATIENCE_SECONDS, stop_after=1)]
            assert [notice.channel for notice in notices] == [News.CHANNEL]


async def test_a_writer_with_nothing_to_do_looks_for_files_only_after_something_has_changed(
    machines: tuple[Machine, Machine], ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = machines
    rests, have_rested = list[bool](), anyio.Event()
    monkeypatch.setattr("drive_server.knowledge.ingest.ingester.POLL_SECONDS", 0.01)
    monkeypatch.setattr("drive_server.kernel.sql.database.STATE_SECONDS", 0)
    is_idle = Ingester._is_idle  # pyright: ignore[reportPrivateUsage] - nothing else tells of a look left out

    async def noted(ingester: Ingester) -> bool:
        rests.append(await is_idle(ingester))
        if rests[-RESTS:] == [True] * RESTS:
            have_rested.set()
        return rests[-1]

    monkeypatch.setattr(Ingester, "_is_idle", noted)
    async with anyio.create_task_group() as group:
        group.start_soon(first.ingester.run)
        with anyio.fail_after(PATIENCE_SECONDS):
            await have_rested.wait()
            await second.store.file(ana, "/leave.txt", samples.LEAVE)
            while not await second.found(ana):
                await first.ingester.next_step.wait()
        group.cancel_scope.cancel()
