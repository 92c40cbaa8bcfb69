"""OCR in the background: a file that needs it is searchable in the end, and holds up no other one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from sqlalchemy import or_, select

from drive_server.kernel.errors import StorageFailureError
from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest.ingester import POLL_SECONDS, Ingester
from drive_server.knowledge.ingest.pending import MAX_ATTEMPTS, PendingFiles
from drive_server.knowledge.readers.process import Reader
from drive_server.knowledge.readers.recognized import RecognizedTexts
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.knowledge.text.elements import Part, Recognized, RecognizedPage
from drive_server.storage.collector import Collector
from drive_server.storage.process_locks import FileLock
from drive_server.storage.tables.index import IndexEntryRow, ReadingRow, RecognizedPageRow
from tests.drive_server.knowledge.documents import picture
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.kernel.access import Actor

SCAN = (Path(__file__).parents[1] / "readers" / "pages" / "scan.png").read_bytes()
pytestmark = pytest.mark.timeout(300)


@dataclass
class Desk:
    store: Store
    index: KnowledgeIndex
    texts: TextSource
    ingester: Ingester
    folder: Path

    async def entry(self, file_id: str) -> IndexEntryRow:
        async with self.store.database.read() as session:
            return await session.get_one(IndexEntryRow, file_id)

    def stored(self, data: bytes) -> Path:
        """Return the file with a content in the store of blobs."""
        name = sha256(data).hexdigest()
        return next(path for path in self.store.folder_of_blobs.rglob("*") if path.is_file() and name in str(path))

    async def recognize_all(self) -> None:
        """Run the background job until no file is pending and no page waits for OCR."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.ingester.run)
            while True:
                step = self.ingester.next_step
                if not await self._has_work():
                    break
                with anyio.move_on_after(POLL_SECONDS):
                    await step.wait()
            group.cancel_scope.cancel()

    async def _has_work(self) -> bool:
        unfinished = or_(IndexEntryRow.state.in_(("pending", "indexing")), IndexEntryRow.awaits_ocr)
        async with self.store.database.read() as session:
            return await session.scalar(select(IndexEntryRow.file_id).where(unfinished).limit(1)) is not None

    async def contents_with_results(self, contents: list[bytes]) -> set[bytes]:
        """Return the contents of which a word or a property is stored that was read in them."""
        async with self.store.database.read() as session:
            blobs = set(await session.scalars(select(RecognizedPageRow.blob)))
            blobs |= {key.partition("/")[0] for key in await session.scalars(select(ReadingRow.content))}
        return {data for data in contents if sha256(data).hexdigest() in blobs}

    async def found(self, actor: Actor, query: str) -> list[str]:
        hits = await self.index.search(query, owner_ids=[actor.user_id], mode="text")
        return [hit.file_id for hit in hits]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_store(tmp_path / "store") as store:
        recognized = RecognizedTexts(store.database)
        index = KnowledgeIndex(str(tmp_path / "index"), NoEmbedder())
        texts = TextSource(store.blobs, recognized)
        lock = FileLock(tmp_path / "index.lock")
        ingester = Ingester(
            store.database, texts, NoEmbedder(), index, lock, retry_after=timedelta(), recognized=recognized
        )
        yield Desk(store, index, texts, ingester, tmp_path)
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
    await desk.recognize_all()
    entry = await desk.entry(scan.id)
    assert (entry.state, entry.reason, entry.awaits_ocr) == ("ready", "", False)
    assert await desk.found(ana, "带薪年假") == [scan.id]
    assert set(await desk.found(ana, "rent")) == {scan.id, text.id}


async def test_a_copy_of_a_scan_is_not_read_by_ocr_once_more(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.store.file(ana, "/scan.png", SCAN)
    await desk.recognize_all()
    monkeypatch.setattr(Reader, "run", _no_process)
    copy = await desk.store.file(ana, "/copy.png", SCAN)
    await desk.recognize_all()
    assert (await desk.entry(copy.id)).state == "ready"
    assert copy.id in await desk.found(ana, "人事部门")


def _no_process(*_: object) -> None:
    raise AssertionError


async def test_a_picture_that_is_cut_off_ends_with_a_reason(desk: Desk, ana: Actor) -> None:
    broken = await desk.store.file(ana, "/cut.png", SCAN[: len(SCAN) // 2])
    await desk.recognize_all()
    entry = await desk.entry(broken.id)
    assert (entry.state, entry.reason, entry.awaits_ocr) == ("ready", "Not read: 1 page.", False)


async def test_a_file_whose_content_is_lost_holds_up_no_other(desk: Desk, ana: Actor) -> None:
    lost = await desk.store.file(ana, "/lost.png", picture(60, 30))
    scan = await desk.store.file(ana, "/scan.png", SCAN)
    await desk.ingester.drain()
    stored = desk.stored(picture(60, 30))
    stored.rename(desk.folder / "moved away")
    await desk.recognize_all()
    assert await desk.found(ana, "带薪年假") == [scan.id]
    entry = await desk.entry(lost.id)
    assert (entry.state, entry.reason, entry.is_partial) == ("ready", "Not read: 1 page.", True)
    assert entry.attempts == MAX_ATTEMPTS

    (desk.folder / "moved away").rename(stored)
    await PendingFiles(desk.store.database, timedelta(), desk.index.table_name).recover(set())
    await desk.recognize_all()
    assert ((await desk.entry(lost.id)).state, (await desk.entry(lost.id)).reason) == ("ready", "")


@pytest.mark.parametrize("error", [OSError("disk"), ValueError("OCR"), StorageFailureError("gone")])
async def test_a_passing_failure_costs_no_words(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    scan = await desk.store.file(ana, "/scan.png", SCAN)
    await desk.ingester.drain()
    run, errors = Reader.run, [error] * (MAX_ATTEMPTS - 1)

    def fail_first(*arguments: Any) -> Any:
        if errors:
            raise errors.pop()
        return run(*arguments)

    monkeypatch.setattr(Reader, "run", fail_first)
    await desk.recognize_all()
    assert await desk.found(ana, "带薪年假") == [scan.id]
    assert (await desk.entry(scan.id)).attempts == 0


async def test_a_failed_file_waits_before_it_is_tried_again(desk: Desk, ana: Actor) -> None:
    scan = await desk.store.file(ana, "/scan.png", SCAN)
    await desk.ingester.drain()
    patient = PendingFiles(desk.store.database, timedelta(seconds=1), desk.index.table_name)
    assert await patient.next_for_ocr()
    await patient.postpone_ocr(scan.id, 1)
    assert await patient.next_for_ocr() is None
    assert (await desk.entry(scan.id)).reason == "Not read: 1 page waiting for OCR."
    at_once = PendingFiles(desk.store.database, timedelta(), desk.index.table_name)
    assert await at_once.next_for_ocr()


async def test_a_file_that_is_renamed_before_ocr_is_read_once(desk: Desk, ana: Actor) -> None:
    scan = await desk.store.file(ana, "/scan.png", SCAN)
    await desk.ingester.drain()
    await desk.store.files.rename(ana, scan.id, "scan.pdf")
    await desk.recognize_all()
    assert await desk.found(ana, "带薪年假") == [scan.id]


async def test_what_was_read_in_a_file_goes_with_the_file(desk: Desk, ana: Actor) -> None:
    scan = await desk.store.file(ana, "/scan.png", SCAN)
    kept = await desk.store.file(ana, "/other.png", picture(60, 30))
    await desk.recognize_all()
    collector = Collector(desk.store.database, desk.store.blobs)
    await collector.run_once()
    assert {SCAN, picture(60, 30)} == await desk.contents_with_results([SCAN, picture(60, 30)])
    await desk.store.files.trash(ana, scan.id)
    await desk.ingester.drain()
    await collector.run_once()
    assert {SCAN, picture(60, 30)} == await desk.contents_with_results([SCAN, picture(60, 30)])
    await desk.store.files.delete_for_good(ana, scan.id)
    await desk.ingester.drain()
    await collector.run_once()
    assert {picture(60, 30)} == await desk.contents_with_results([SCAN, picture(60, 30)])
    assert (await desk.entry(kept.id)).state == "ready"


async def test_words_of_a_file_that_is_deleted_while_it_is_read_are_not_stored(desk: Desk) -> None:
    texts = RecognizedTexts(desk.store.database)
    await texts.add("f" * 64, Recognized((RecognizedPage(1, (Part("text", "secret", 1),)),), is_complete=True))
    assert await texts.complete("f" * 64) is None
    assert await texts.last("f" * 64) == 0
