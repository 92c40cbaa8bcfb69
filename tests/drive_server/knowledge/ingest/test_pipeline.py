from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import select

from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest import pipeline
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.process_locks import FileLock
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import NodeRow
from tests.drive_server.knowledge import samples
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from drive_server.knowledge.index.rows import IndexedFile
    from drive_server.knowledge.readers.extract import ChunkedText

SLOW = "slow.txt"


class GatedTexts(TextSource):
    """Real texts; a file called `slow.txt` is read when the gate is opened."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.blobs)
        self.gate = anyio.Event()
        self.read: list[str] = []

    async def chunks(self, blob_hash: str, name: str, media_type: str) -> ChunkedText:
        self.read.append(name)
        if name == SLOW:
            await self.gate.wait()
        return await super().chunks(blob_hash, name, media_type)


class Line:
    """A store, and an ingester whose slow file is read when it is told to."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.texts = GatedTexts(store)
        self.index = KnowledgeIndex(str(folder / "index"), NoEmbedder())
        self.ingester = Ingester(
            store.database,
            self.texts,
            NoEmbedder(),
            self.index,
            FileLock(folder / "index.lock"),
            retry_after=timedelta(0),
        )

    async def until(self, name: str, state: str) -> None:
        """Wait until a file is in a state."""
        query = (
            select(IndexEntryRow.state).join(NodeRow, NodeRow.id == IndexEntryRow.file_id).where(NodeRow.name == name)
        )
        with anyio.fail_after(20):
            while True:
                step = self.ingester.next_step
                async with self.store.database.read() as session:
                    if await session.scalar(query) == state:
                        return
                await step.wait()

    async def found(self, actor: Actor, query: str) -> list[str]:
        hits = await self.index.search(query, owner_ids=[actor.user_id], mode="text", limit=50)
        return [hit.file_id for hit in hits]


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[Line]:
    async with open_store(tmp_path / "store") as store:
        line = Line(store, tmp_path)
        yield line
        line.texts.close()
        line.index.close()


@pytest.fixture
async def ana(line: Line) -> Actor:
    return await line.store.person("ana@example.com")


async def test_small_files_are_found_while_a_large_one_is_still_read(line: Line, ana: Actor) -> None:
    await line.store.file(ana, f"/{SLOW}", "Soup takes its time.")
    small = await line.store.file(ana, "/请假 😀.txt", samples.LEAVE_ZH)
    async with anyio.create_task_group() as group:
        group.start_soon(line.ingester.drain)
        await line.until(small.name, "ready")
        assert await line.found(ana, "育儿假") == [small.id]
        line.texts.gate.set()
    assert len(await line.found(ana, "soup")) == 1


async def test_what_comes_while_a_large_file_is_read_does_not_wait_for_it(line: Line, ana: Actor) -> None:
    await line.store.file(ana, f"/{SLOW}", "Soup takes its time.")
    async with anyio.create_task_group() as group:
        group.start_soon(line.ingester.drain)
        await line.until(SLOW, "indexing")
        late = await line.store.file(ana, "/late.txt", samples.LEAVE)
        await line.until(late.name, "ready")
        assert line.texts.read == [SLOW, late.name]
        line.texts.gate.set()


async def test_a_file_that_changes_while_it_is_read_is_indexed_once_more_and_found_as_it_is_now(
    line: Line, ana: Actor
) -> None:
    slow = await line.store.file(ana, f"/{SLOW}", "Soup takes its time.")
    async with anyio.create_task_group() as group:
        group.start_soon(line.ingester.drain)
        await line.until(SLOW, "indexing")
        await line.store.documents.write_text(ana, slow.id, "Nothing but noodles.")
        other = await line.store.file(ana, "/other.txt", samples.LEAVE)
        await line.until(other.name, "ready")
        assert line.texts.read.count(SLOW) == 1
        line.texts.gate.set()
    assert line.texts.read.count(SLOW) == 2
    assert await line.found(ana, "noodles") == [slow.id]
    assert await line.found(ana, "soup") == []


async def test_a_copy_that_comes_while_its_content_is_read_waits_for_that(line: Line, ana: Actor) -> None:
    files = [await line.store.file(ana, f"/{SLOW}", samples.LEAVE)]
    async with anyio.create_task_group() as group:
        group.start_soon(line.ingester.drain)
        await line.until(SLOW, "indexing")
        files.append(await line.store.file(ana, "/copy.txt", samples.LEAVE))
        await line.until("copy.txt", "indexing")
        line.texts.gate.set()
    assert line.texts.read == [SLOW]
    assert sorted(await line.found(ana, "parents")) == sorted(file.id for file in files)


async def test_more_than_is_under_way_at_once_is_indexed_whole_and_each_file_once(
    line: Line, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "MAX_BYTES", 500)
    monkeypatch.setattr(pipeline, "ENOUGH_PASSAGES", 3)
    files = [await line.store.file(ana, f"/{number}.txt", f"{samples.LEAVE} {number}") for number in range(50)]
    line.texts.gate.set()
    await line.ingester.drain()
    assert sorted(await line.found(ana, "parents")) == sorted(file.id for file in files)
    assert len(line.texts.read) == len(set(line.texts.read)) == 50


async def test_a_cancelled_pass_leaves_what_was_not_stored_to_the_next(line: Line, ana: Actor) -> None:
    slow = await line.store.file(ana, f"/{SLOW}", "Soup takes its time.")
    async with anyio.create_task_group() as group:
        group.start_soon(line.ingester.drain)
        await line.until(SLOW, "indexing")
        group.cancel_scope.cancel()
    line.texts.gate.set()
    await line.ingester.drain()
    assert await line.found(ana, "soup") == [slow.id]


async def test_files_of_a_series_are_indexed_together(line: Line, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    series = iter("bcde")
    batches: list[int] = []
    real_sleep, real_replace, done = anyio.sleep, line.index.replace, anyio.Event()
    debounce = pipeline.DEBOUNCE_SECONDS

    async def noted(files: Sequence[IndexedFile]) -> None:
        batches.append(len(files))
        await real_replace(files)

    async def pause(seconds: float) -> None:
        if seconds != debounce:
            await real_sleep(seconds)
        elif name := next(series, None):
            await line.store.file(ana, f"/{name}.txt", samples.LEAVE + name)
            line.ingester.wake()
        elif sum(batches) == 5:
            done.set()

    monkeypatch.setattr(line.index, "replace", noted)
    monkeypatch.setattr(anyio, "sleep", pause)
    # The first file counts as one that came alone, however slow the machine is.
    monkeypatch.setattr(pipeline, "DEBOUNCE_SECONDS", 60)
    await line.store.file(ana, "/a.txt", samples.LEAVE)
    async with anyio.create_task_group() as group:
        group.start_soon(line.ingester.run)
        with anyio.fail_after(60):
            await done.wait()
        group.cancel_scope.cancel()

    assert batches == [1, 4]
