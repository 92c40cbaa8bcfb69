"""Passages of the late model: text first, vectors after, with honest progress."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.rows import MODEL
from drive_server.knowledge.ingest import ingester
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.process_locks import FileLock
from tests.drive_server.knowledge.index.test_late_vectors import SubjectEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from drive_server.knowledge.embedding.embedder import Vectors
    from tests.drive_server.store import Store


class Desk:
    """A store's index and ingester with two models; notes what the late one embeds, and can ask in between."""

    def __init__(self, store: Store, folder: Path) -> None:
        western = SubjectEmbedder("western", is_for_cjk=False)
        self.late = LateEmbedder("late", is_for_cjk=True)
        self.index = KnowledgeIndex(str(folder / "index"), western, late=self.late)
        self.late.index = self.index
        self.ingester = Ingester(
            store.database,
            TextSource(store.blobs),
            western,
            self.index,
            FileLock(folder / "index.lock"),
            retry_after=timedelta(0),
        )

    async def found(self, actor: Actor, query: str, mode: str) -> list[str]:
        hits = await self.index.search(query, owner_ids=[actor.user_id], mode="vector" if mode == "vector" else "text")
        return [hit.file_id for hit in hits]


class LateEmbedder(SubjectEmbedder):
    index: KnowledgeIndex
    owner = ""

    def __init__(self, name: str, *, is_for_cjk: bool) -> None:
        super().__init__(name, is_for_cjk)
        self.embedded: list[str] = []
        self.found_meanwhile: list[int] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        hits = await self.index.search("员工", owner_ids=[self.owner], mode="text") if self.owner else []
        self.found_meanwhile.append(len(hits))
        self.embedded += [text.strip() for text in texts]
        return await super().embed_documents(texts)


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(store, tmp_path)
    yield desk
    desk.index.close()


async def test_text_is_searchable_first_and_vectors_come_after(desk: Desk, store: Store, ana: Actor) -> None:
    desk.late.owner = ana.user_id
    leave = await store.file(ana, "/休假.txt", "员工有育儿的日子。")
    await store.file(ana, "/leave.txt", "Parents may take leave.")
    await desk.ingester.drain()
    assert desk.late.found_meanwhile == [1]
    assert await desk.found(ana, "休假几天", "vector") == [leave.id]
    status = await desk.ingester.status(ana.user_id)
    assert (status.counts, status.awaiting_vectors) == ({"ready": 2}, 0)


async def test_the_status_counts_passages_that_wait_for_their_vectors(
    desk: Desk, store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.file(ana, "/休假.txt", "员工有育儿的日子。")
    seen: list[tuple[int, int]] = []
    embed = desk.late.embed_documents

    async def noting(texts: Sequence[str]) -> Vectors:
        status = await desk.ingester.status(ana.user_id)
        seen.append((status.unfinished, status.awaiting_vectors))
        return await embed(texts)

    monkeypatch.setattr(desk.late, "embed_documents", noting)
    await desk.ingester.drain()
    assert seen == [(0, 1)]


async def test_a_new_file_is_read_before_more_vectors_are_made(
    desk: Desk, store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        await store.file(ana, f"/{number}.txt", f"员工有育儿的日子{number}。")
    embed = desk.late.embed_documents

    async def interrupted(texts: Sequence[str]) -> Vectors:
        monkeypatch.setattr(desk.late, "embed_documents", embed)
        await store.file(ana, "/new.txt", "员工食堂。")
        desk.ingester.wake()
        return await embed(texts)

    desk.late.owner = ana.user_id
    monkeypatch.setattr(desk.late, "embed_documents", interrupted)
    await desk.ingester.drain()
    assert len(desk.late.embedded) == len(set(desk.late.embedded)) == 21
    assert (await desk.ingester.status(ana.user_id)).awaiting_vectors == 0


async def test_a_drive_of_an_earlier_version_gets_its_vectors_and_nothing_is_read_again(
    desk: Desk, store: Store, ana: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave = await store.file(ana, "/休假.txt", "员工有育儿的日子。")
    await desk.ingester.drain()
    table = await desk.index._tables.current.readable()  # pyright: ignore[reportPrivateUsage] - the rows' own form
    assert table is not None
    await table.update({"vector": None}, where="model = 'late'")
    await table.drop_columns([MODEL])
    desk.index.close()
    later = Desk(store, tmp_path)
    monkeypatch.setattr(TextSource, "chunks", None)
    await later.ingester.drain()
    assert later.late.embedded == ["员工有育儿的日子。"]
    assert await later.found(ana, "休假几天", "vector") == [leave.id]
    later.index.close()


async def test_a_copy_and_an_unchanged_passage_keep_their_vectors(desk: Desk, store: Store, ana: Actor) -> None:
    await store.file(ana, "/休假.txt", "员工有育儿的日子。")
    await desk.ingester.drain()
    copy = await store.file(ana, "/copy.txt", "员工有育儿的日子。")
    await desk.ingester.drain()
    assert desk.late.embedded == ["员工有育儿的日子。"]
    assert copy.id in await desk.found(ana, "休假几天", "vector")


async def test_vectors_that_were_lost_with_a_killed_writer_are_made_again(
    desk: Desk, store: Store, ana: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave = await store.file(ana, "/休假.txt", "员工有育儿的日子。")

    async def killed(texts: Sequence[str]) -> Vectors:
        raise KeyboardInterrupt(texts)

    monkeypatch.setattr(desk.late, "embed_documents", killed)
    with pytest.raises(KeyboardInterrupt):
        await desk.ingester.drain()
    desk.index.close()
    later = Desk(store, tmp_path)
    await later.ingester.drain()
    assert await later.found(ana, "休假几天", "vector") == [leave.id]
    later.index.close()


@pytest.mark.parametrize(("pause", "attempts"), [(60.0, [1]), (0.0, [1, 1])])
async def test_without_the_late_model_words_are_found_and_it_is_tried_again_after_a_pause(
    desk: Desk, store: Store, ana: Actor, monkeypatch: pytest.MonkeyPatch, pause: float, attempts: list[int]
) -> None:
    monkeypatch.setattr(ingester, "LATE_BACKOFF_SECONDS", pause)
    leave = await store.file(ana, "/休假.txt", "员工有育儿的日子。")
    tries: list[int] = []

    async def missing(texts: Sequence[str]) -> Vectors:
        tries.append(len(texts))
        raise EmbedderUnavailableError

    with monkeypatch.context() as patch:
        patch.setattr(desk.late, "embed_documents", missing)
        await desk.ingester.drain()
        await desk.ingester.drain()
    assert (tries, await desk.found(ana, "员工", "text")) == (attempts, [leave.id])
    assert (await desk.ingester.status(ana.user_id)).awaiting_vectors == 1
    await desk.ingester.drain()
    assert (await desk.ingester.status(ana.user_id)).awaiting_vectors == (1 if pause else 0)
