from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sqlalchemy import select, update

from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index import rows
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest import pending
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.collector import Collector
from drive_server.storage.process_locks import FileLock
from drive_server.storage.tables.index import IndexEntryRow, ReadingRow
from drive_server.storage.tables.items import NodeRow
from tests.drive_server.knowledge import samples
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from drive_server.knowledge.embedding.embedder import Embedder, Vectors
    from drive_server.knowledge.index.rows import IndexedFile
    from drive_server.knowledge.readers.extract import ChunkedText

DIMENSIONS = 8
PARAGRAPHS = [f"Paragraph {number} says {word * 60}." for number, word in enumerate(("noodles ", "rice ", "soup "))]


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs, and nothing catches it."""


class CountingEmbedder:
    """Vectors out of digests; notes which texts it embedded, and can be out of reach."""

    dimensions = DIMENSIONS
    weight = 0.5
    floor = 0.0

    def __init__(self, name: str = "counting") -> None:
        self.name = name
        self.embedded: list[str] = []
        self.is_down = False

    def nearness(self, query: str) -> None:
        """Return None: any distance will do."""
        del query

    def supports(self, text: str) -> bool:
        return bool(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.is_down:
            raise EmbedderUnavailableError("It is switched off.")
        self.embedded += texts
        return np.stack([self._vector(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        if self.is_down:
            raise EmbedderUnavailableError("It is switched off.")
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        digest = hashlib.sha256(f"{self.name} {text}".encode()).digest()[:DIMENSIONS]
        values = np.frombuffer(digest, np.uint8).astype(np.float32) - 127.5
        return values / np.float32(np.linalg.norm(values))


class CountingTexts(TextSource):
    """A real source of texts, without a memory, that notes what was read."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.blobs, cached_characters=0)
        self.read: list[str] = []

    async def chunks(self, blob_hash: str, name: str, media_type: str) -> ChunkedText:
        self.read.append(name)
        return await super().chunks(blob_hash, name, media_type)


class NotingIndex(KnowledgeIndex):
    """A real index that notes which files were written."""

    written: list[str]

    async def replace(self, files: Sequence[IndexedFile]) -> None:
        self.written += [file.file_id for file in files]
        await super().replace(files)


@dataclass
class Bench:
    """One process's ingester over a store, with everything counted; `restarted` is the next process."""

    store: Store
    folder: Path
    embedder: CountingEmbedder | NoEmbedder = field(default_factory=CountingEmbedder)
    models: dict[str, Embedder] = field(default_factory=dict[str, "Embedder"])

    def __post_init__(self) -> None:
        self.texts = CountingTexts(self.store)
        self.index = NotingIndex(str(self.folder / "index"), self.embedder, self.models.get)
        self.index.written = []
        self.ingester = Ingester(
            self.store.database,
            self.texts,
            self.embedder,
            self.index,
            FileLock(self.folder / "index.lock"),
            retry_after=timedelta(0),
        )

    def restarted(self, embedder: CountingEmbedder | NoEmbedder | None = None) -> Bench:
        self.index.close()
        return Bench(self.store, self.folder, embedder or self.embedder, self.models)

    async def work(self) -> tuple[list[str], list[str], list[str]]:
        """Do what is pending; return which files were read, which texts were embedded, which files were written."""
        embedded = self.embedder.embedded if isinstance(self.embedder, CountingEmbedder) else []
        for noted in (self.texts.read, embedded, self.index.written):
            noted.clear()
        await self.ingester.drain()
        return list(self.texts.read), list(embedded), list(self.index.written)

    async def hits(self, actor: Actor, query: str, mode: str = "text") -> dict[str, int]:
        """Return the versions that are found, by the ids of their files; each passage of one only once."""
        found = await self.index.search(query, owner_ids=[actor.user_id], mode=mode, limit=50)  # pyright: ignore[reportArgumentType] - a literal
        places = [(hit.file_id, hit.start) for hit in found]
        assert len(places) == len(set(places))
        return {hit.file_id: hit.version for hit in found}

    async def entry(self, file_id: str) -> IndexEntryRow:
        async with self.store.database.read() as session:
            return await session.get_one(IndexEntryRow, file_id)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_store(tmp_path / "store") as store:
        bench = Bench(store, tmp_path)
        yield bench
        bench.index.close()


@pytest.fixture
async def ana(bench: Bench) -> Actor:
    return await bench.store.person("ana@example.com")


async def test_a_copy_and_a_second_upload_are_neither_read_nor_embedded(bench: Bench, ana: Actor) -> None:
    ben = await bench.store.person("ben@example.com")
    first = await bench.store.file(ana, "/leave.txt", samples.LEAVE)
    assert await bench.work() == (["leave.txt"], [samples.LEAVE], [first.id])
    second = await bench.store.file(ana, "/other name.txt", samples.LEAVE)
    third = await bench.store.file(ben, "/leave.txt", samples.LEAVE)
    read, embedded, written = await bench.work()
    assert (read, embedded, sorted(written)) == ([], [], sorted([second.id, third.id]))
    assert await bench.hits(ana, "parents") == {first.id: 1, second.id: 1}
    assert await bench.hits(ben, "parents") == {third.id: 1}
    assert set(await bench.hits(ben, samples.LEAVE, "vector")) == {third.id}


async def test_the_same_bytes_in_one_batch_are_read_and_embedded_once(bench: Bench, ana: Actor) -> None:
    files = [await bench.store.file(ana, f"/{number} 😀.txt", samples.LEAVE_ZH) for number in range(3)]
    other = await bench.store.file(ana, "/other.txt", samples.LEAVE)
    read, embedded, written = await bench.work()
    assert (len(read), sorted(embedded)) == (2, sorted([samples.LEAVE, samples.LEAVE_ZH]))
    assert sorted(written) == sorted([*(file.id for file in files), other.id])
    assert set(await bench.hits(ana, "育儿假")) == {file.id for file in files}


async def test_what_has_no_text_is_not_read_twice_either_and_keeps_its_reason(bench: Bench, ana: Actor) -> None:
    data = samples.pdf(password="x")
    first = await bench.store.file(ana, "/secret.pdf", data)
    await bench.work()
    copy = await bench.store.file(ana, "/copy.pdf", data)
    empty = await bench.store.file(ana, "/empty.pdf", b"")
    assert (await bench.work())[0] == ["empty.pdf"]
    expected = await bench.entry(first.id)
    found = await bench.entry(copy.id)
    assert (found.state, found.reason) == (expected.state, expected.reason)
    assert found.state == "needs_password"
    assert (await bench.entry(empty.id)).state == "ready"


async def test_an_edit_embeds_only_the_passages_that_changed(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/menu.txt", "\n\n".join(PARAGRAPHS))
    assert sorted((await bench.work())[1]) == sorted(PARAGRAPHS)
    await bench.store.documents.write_text(ana, item.id, "\n\n".join([PARAGRAPHS[0], "Pizza! " * 40, PARAGRAPHS[2]]))
    read, embedded, _ = await bench.work()
    assert read == ["menu.txt"]
    assert [text.strip() for text in embedded] == [("Pizza! " * 40).strip()]
    assert await bench.hits(ana, "pizza soup noodles") == {item.id: 2}
    assert await bench.hits(ana, "rice") == {}


async def test_an_old_version_that_comes_back_embeds_nothing_that_the_index_has(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/menu.txt", "\n\n".join(PARAGRAPHS[:2]))
    await bench.store.file(ana, "/kept.txt", "\n\n".join(PARAGRAPHS[:2]))
    await bench.work()
    await bench.store.documents.write_text(ana, item.id, "Nothing.")
    await bench.work()
    await bench.store.documents.write_text(ana, item.id, "\n\n".join(PARAGRAPHS[:2]))
    assert await bench.work() == ([], [], [item.id])
    assert (await bench.hits(ana, "rice"))[item.id] == 3


async def test_a_rename_and_a_move_touch_nothing_and_a_new_format_reads_again(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/leave.txt", f"# Title\n\n{samples.LEAVE}")
    folder = await bench.store.folder(ana, "/Folder")
    await bench.work()
    await bench.store.files.rename(ana, item.id, "假期 2024.txt")
    await bench.store.files.move(ana, item.id, folder.id)
    assert (await bench.entry(item.id)).state == "ready"
    assert await bench.work() == ([], [], [])
    assert await bench.hits(ana, "parents") == {item.id: 1}
    await bench.store.files.rename(ana, item.id, "leave.md")
    read, _, written = await bench.work()
    assert (read, written) == (["leave.md"], [item.id])


async def test_what_comes_back_from_the_trash_is_neither_read_nor_embedded(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/菜单 😀.txt", PARAGRAPHS[0])
    empty = await bench.store.file(ana, "/empty.pdf", b"")
    await bench.work()
    for file in (item, empty):
        await bench.store.files.trash(ana, file.id)
    assert (await bench.work())[:2] == ([], [])
    for mode in ("text", "vector", "hybrid"):
        assert await bench.hits(ana, PARAGRAPHS[0], mode) == {}
    later = bench.restarted()
    await later.work()
    for file in (item, empty):
        await later.store.files.restore(ana, file.id)
    read, embedded, written = await later.work()
    assert (read, embedded, item.id in written) == ([], [], True)
    assert await later.hits(ana, "noodles") == {item.id: 1}
    assert await later.hits(ana, PARAGRAPHS[0], "vector") == {item.id: 1}


async def test_what_is_in_the_trash_spares_another_file_of_the_same_content_its_reading(
    bench: Bench, ana: Actor
) -> None:
    item = await bench.store.file(ana, "/menu.txt", PARAGRAPHS[0])
    await bench.work()
    await bench.store.files.trash(ana, item.id)
    await bench.work()
    other = await bench.store.file(ana, "/again.txt", PARAGRAPHS[0])
    assert await bench.work() == ([], [], [other.id])
    assert await bench.hits(ana, "noodles") == {other.id: 1}


async def test_what_was_never_indexed_is_not_read_in_the_trash_either(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/menu.txt", PARAGRAPHS[0])
    await bench.store.files.trash(ana, item.id)
    assert (await bench.work())[:2] == ([], [])
    await bench.store.files.restore(ana, item.id)
    assert (await bench.work())[:2] == (["menu.txt"], [PARAGRAPHS[0]])


async def test_what_is_deleted_for_good_leaves_the_index_also_from_the_trash(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/menu.txt", PARAGRAPHS[0])
    await bench.work()
    await bench.store.files.trash(ana, item.id)
    await bench.work()
    assert item.id in await bench.index.stored([item.id])
    await bench.store.files.delete_for_good(ana, item.id)
    await bench.work()
    assert await bench.index.stored([item.id]) == {}


async def test_another_owner_is_all_that_changes_in_the_rows(bench: Bench, ana: Actor) -> None:
    ben = await bench.store.person("ben@example.com")
    item = await bench.store.file(ana, "/leave.txt", samples.LEAVE)
    await bench.work()
    before = (await bench.index.stored([item.id]))[item.id]
    async with bench.store.database.write() as session:
        await session.execute(update(NodeRow).where(NodeRow.id == item.id).values(owner_id=ben.user_id))
        await session.execute(update(IndexEntryRow).values(state="pending"))
    assert await bench.work() == ([], [], [item.id])
    after = (await bench.index.stored([item.id]))[item.id]
    assert (after.chunks, after.version, after.owner_id) == (before.chunks, before.version, ben.user_id)
    assert await bench.hits(ben, "parents") == {item.id: 1}
    assert await bench.hits(ana, "parents") == {}


async def test_a_rebuild_reads_and_embeds_everything_again(bench: Bench, ana: Actor) -> None:
    items = [await bench.store.file(ana, f"/{number}.txt", samples.LEAVE) for number in range(2)]
    await bench.work()
    await bench.ingester.rebuild(ana.user_id)
    assert await bench.hits(ana, "parents") == {item.id: 1 for item in items}
    read, embedded, written = await bench.work()
    assert (len(read), embedded, len(written)) == (1, [samples.LEAVE], 2)
    assert await bench.work() == ([], [], [])
    assert await bench.hits(ana, "parents") == {item.id: 1 for item in items}


async def test_what_older_readers_read_is_read_again(bench: Bench, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.store.file(ana, "/leave.txt", samples.LEAVE)
    await bench.work()
    for module in (rows, pending):
        monkeypatch.setattr(module, "READING", rows.READING + 1)
    later = bench.restarted()
    assert (await later.work())[:2] == (["leave.txt"], [])
    assert await later.restarted().work() == ([], [], [])


async def test_contents_that_nobody_has_any_more_are_forgotten(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/leave.txt", samples.LEAVE)
    await bench.work()
    await bench.store.documents.write_text(ana, item.id, "Nothing.")
    await bench.work()
    await Collector(bench.store.database, bench.store.blobs).run_once()
    async with bench.store.database.read() as session:
        assert len((await session.scalars(select(ReadingRow))).all()) == 1


async def test_while_the_model_is_out_of_reach_words_are_found_and_files_wait_for_it(bench: Bench, ana: Actor) -> None:
    assert isinstance(bench.embedder, CountingEmbedder)
    known = await bench.store.file(ana, "/known.txt", samples.LEAVE)
    await bench.work()
    bench.embedder.is_down = True
    item = await bench.store.file(ana, "/soup.txt", PARAGRAPHS[2])
    copy = await bench.store.file(ana, "/copy.txt", samples.LEAVE)
    for _ in range(5):
        await bench.work()
    entry = await bench.entry(item.id)
    assert entry.state == "pending"
    assert "embedding model" in entry.reason
    assert (await bench.entry(copy.id)).state == "ready"
    assert await bench.hits(ana, "soup") == {item.id: 1}
    assert await bench.hits(ana, "soup", "hybrid") == {item.id: 1}
    status = await bench.ingester.status(ana.user_id)
    assert status.counts == {"ready": 2, "pending": 1}
    bench.embedder.is_down = False
    assert await bench.work() == ([], [PARAGRAPHS[2]], [item.id])
    entry = await bench.entry(item.id)
    assert (entry.state, entry.reason, entry.attempts) == ("ready", "", 0)
    assert next(iter(await bench.hits(ana, PARAGRAPHS[2], "vector"))) == item.id
    assert (await bench.entry(known.id)).state == "ready"


async def test_another_model_embeds_in_the_background_while_the_old_table_serves(bench: Bench, ana: Actor) -> None:
    items = [await bench.store.file(ana, f"/{number}.txt", text) for number, text in enumerate(PARAGRAPHS)]
    trashed = await bench.store.file(ana, "/old.txt", samples.LEAVE)
    await bench.store.files.trash(ana, trashed.id)
    await bench.work()
    old_model = bench.embedder
    bench.models[old_model.name] = old_model
    newer = CountingEmbedder("newer")
    newer.is_down = True
    later = bench.restarted(newer)
    await later.work()
    assert {(await later.entry(item.id)).state for item in items} == {"ready"}
    assert await later.hits(ana, "soup") == {items[2].id: 1}
    assert next(iter(await later.hits(ana, PARAGRAPHS[1], "vector"))) == items[1].id
    await later.store.documents.write_text(ana, items[0].id, "Pizza now.")
    await later.work()
    assert await later.hits(ana, "pizza") == {items[0].id: 2}
    assert await later.hits(ana, "rice") == {items[1].id: 1}
    newer.is_down = False
    last = later.restarted()
    read, embedded, _ = await last.work()
    assert read == []
    assert sorted(embedded) == sorted(["Pizza now.", *PARAGRAPHS[1:]])
    assert await last.index.table_names() == {last.index.table_name}
    assert [path.stem for path in (last.folder / "index").glob("*.lance")] == [last.index.table_name]
    assert next(iter(await last.hits(ana, PARAGRAPHS[1], "vector"))) == items[1].id
    assert await last.hits(ana, "pizza") == {items[0].id: 2}
    assert await last.restarted().work() == ([], [], [])


async def test_a_switch_of_models_that_is_cut_off_goes_on_where_it_was(
    bench: Bench, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "MAX_FILES", 1)
    items = [await bench.store.file(ana, f"/{number}.txt", text) for number, text in enumerate(PARAGRAPHS)]
    await bench.work()
    newer = CountingEmbedder("newer")
    half = bench.restarted(newer)
    replace = half.index.replace

    async def once(files: Sequence[IndexedFile]) -> None:
        if half.index.written:
            raise Killed
        await replace(files)

    monkeypatch.setattr(half.index, "replace", once)
    with pytest.raises(Killed):
        await half.work()
    assert len(newer.embedded) == 2
    rest = half.restarted()
    assert await rest.hits(ana, "paragraph") == {item.id: 1 for item in items}
    assert len((await rest.work())[1]) == 2
    assert await rest.index.table_names() == {rest.index.table_name}
    assert await rest.hits(ana, "paragraph") == {item.id: 1 for item in items}


async def test_going_without_a_model_and_back_loses_nothing(bench: Bench, ana: Actor) -> None:
    item = await bench.store.file(ana, "/leave.txt", samples.LEAVE)
    await bench.work()
    without = bench.restarted(NoEmbedder())
    await without.work()
    assert await without.hits(ana, "parents", "hybrid") == {item.id: 1}
    again = without.restarted(CountingEmbedder())
    assert (await again.work())[:2] == ([], [samples.LEAVE])
    assert await again.hits(ana, samples.LEAVE, "vector") == {item.id: 1}
