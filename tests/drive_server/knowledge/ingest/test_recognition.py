"""OCR in the background: a file that needs it is searchable in the end, and holds up no other one."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.process import Reader
from drive_server.knowledge.readers.recognized import RecognizedTexts, delete_unused_recognized
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.knowledge.text.elements import Recognized
from drive_server.storage.tables.index import IndexEntryRow, RecognizedPageRow
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.access import Actor

SCAN = (Path(__file__).parents[1] / "readers" / "pages" / "scan.png").read_bytes()
pytestmark = pytest.mark.timeout(300)


@dataclass
class Desk:
    store: Store
    index: KnowledgeIndex
    texts: TextSource
    ingester: Ingester

    async def entry(self, file_id: str) -> IndexEntryRow:
        async with self.store.database.read() as session:
            return await session.get_one(IndexEntryRow, file_id)

    async def found(self, actor: Actor, query: str) -> list[str]:
        hits = await self.index.search(query, owner_ids=[actor.user_id], mode="text")
        return [hit.file_id for hit in hits]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_store(tmp_path / "store") as store:
        recognized = RecognizedTexts(store.database)
        index = KnowledgeIndex(str(tmp_path / "index"), NoEmbedder())
        texts = TextSource(store.blobs, recognized)
        lock = tmp_path / "index.lock"
        ingester = Ingester(store.database, texts, NoEmbedder(), index, lock, recognized=recognized)
        yield Desk(store, index, texts, ingester)
        texts.close()
        index.close()


@pytest.fixture
async def ana(desk: Desk) -> Actor:
    return await desk.store.person("ana@example.com")


async def test_a_scan_is_found_by_its_words_after_all_other_files(desk: Desk, ana: Actor) -> None:
    scan = await desk.store.file(ana, "/scan.png", SCAN)
    text = await desk.store.file(ana, "/rent.txt", b"The rent is due.")
    await desk.ingester.drain()
    assert (await desk.entry(scan.id)).state == "needs_ocr"
    assert await desk.found(ana, "rent") == [text.id]
    await desk.ingester.drain_ocr()
    entry = await desk.entry(scan.id)
    assert (entry.state, entry.reason, entry.awaits_ocr) == ("ready", "", False)
    assert await desk.found(ana, "带薪年假") == [scan.id]
    assert set(await desk.found(ana, "rent")) == {scan.id, text.id}


async def test_a_copy_of_a_scan_is_not_read_by_ocr_once_more(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.store.file(ana, "/scan.png", SCAN)
    await desk.ingester.drain_ocr()
    monkeypatch.setattr(Reader, "run", _no_process)
    copy = await desk.store.file(ana, "/copy.png", SCAN)
    await desk.ingester.drain_ocr()
    assert (await desk.entry(copy.id)).state == "ready"
    assert copy.id in await desk.found(ana, "人事部门")


def _no_process(*_: object) -> None:
    raise AssertionError


async def test_a_picture_that_is_cut_off_ends_with_a_reason(desk: Desk, ana: Actor) -> None:
    broken = await desk.store.file(ana, "/cut.png", SCAN[: len(SCAN) // 2])
    await desk.ingester.drain_ocr()
    entry = await desk.entry(broken.id)
    assert (entry.state, entry.reason, entry.awaits_ocr) == ("ready", "Not read: 1 page.", False)


async def test_pages_of_contents_that_no_file_has_are_deleted(desk: Desk, ana: Actor) -> None:
    scan = await desk.store.file(ana, "/scan.png", SCAN)
    await RecognizedTexts(desk.store.database).add("f" * 64, Recognized(is_complete=True))
    await RecognizedTexts(desk.store.database).add(sha256(SCAN).hexdigest(), Recognized(is_complete=True))
    async with desk.store.database.write() as session:
        await delete_unused_recognized(session)
    async with desk.store.database.read() as session:
        assert list(await session.scalars(select(RecognizedPageRow.blob))) == [sha256(SCAN).hexdigest()]
    assert scan.id
