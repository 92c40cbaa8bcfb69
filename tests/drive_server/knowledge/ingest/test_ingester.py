from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
from sqlalchemy import delete, select, update

from drive_server.kernel.errors import StorageFailureError
from drive_server.knowledge.embedding.embedder import LocalEmbedder, NoEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest import ingester as ingester_module
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.process_locks import FileLock
from drive_server.storage.tables.index import IndexEntryRow
from tests.drive_server.knowledge import samples
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from drive_server.knowledge.embedding.embedder import Embedder
    from drive_server.knowledge.index.rows import IndexedFile
    from drive_server.models.items import Item


class Killed(BaseException):
    """Stands for a kill -9: no code runs after it."""


class NotingIndex(KnowledgeIndex):
    """A real index that notes which versions were put into it, and fails on demand."""

    def __init__(self, url: str, embedder: Embedder) -> None:
        super().__init__(url, embedder)
        self.replaced: list[tuple[str, int]] = []
        self.failing: Exception | None = None
        self.failures = 0

    async def replace(self, files: Sequence[IndexedFile]) -> None:
        if self.failing:
            self.failures += 1
            raise self.failing
        self.replaced += [(file.file_id, file.version) for file in files]
        await super().replace(files)


@dataclass
class Desk:
    """A store, an index and an ingester for them; more of the same can be opened beside."""

    store: Store
    folder: Path
    embedder: Embedder
    indices: list[NotingIndex] = field(default_factory=list[NotingIndex])

    def open(self) -> tuple[Ingester, NotingIndex]:
        """Return an ingester with an index handle of its own, as another process would have."""
        index = NotingIndex(str(self.folder / "index"), self.embedder)
        self.indices.append(index)
        texts = TextSource(self.store.blobs)
        ingester = Ingester(
            self.store.database, texts, self.embedder, index, FileLock(self.lock_path), retry_after=timedelta(0)
        )
        return ingester, index

    @property
    def lock_path(self) -> Path:
        return self.folder / "index.lock"

    async def states(self) -> dict[str, tuple[str, str]]:
        """Return state and reason of each file by its id."""
        async with self.store.database.read() as session:
            rows = (await session.execute(select(IndexEntryRow))).scalars()
            return {row.file_id: (row.state, row.reason) for row in rows}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_store(tmp_path / "store") as store:
        desk = Desk(store, tmp_path, NoEmbedder())
        yield desk
        for index in desk.indices:
            index.close()


@pytest.fixture
async def ana(desk: Desk) -> Actor:
    return await desk.store.person("ana@example.com")


async def found(index: KnowledgeIndex, actor: Actor, query: str, mode: Any = "text") -> list[str]:
    hits = await index.search(query, owner_ids=[actor.user_id], mode=mode)
    return [hit.file_id for hit in hits]


async def test_files_of_every_kind_get_their_state_and_what_has_text_is_found(desk: Desk, ana: Actor) -> None:
    expected = {
        "leave.txt": (samples.LEAVE.encode(), "ready"),
        "政策 😀.txt": (samples.LEAVE_ZH.encode("gb18030"), "ready"),
        "leave.md": (f"# Leave\n\n{samples.LEAVE}".encode(), "ready"),
        "leave.html": (samples.page(), "ready"),
        "leave.pdf": (samples.pdf(), "ready"),
        "leave.docx": (samples.word_document(), "ready"),
        "leave.csv": (f"weeks,text\n12,{samples.LEAVE}\n".encode(), "ready"),
        "empty.txt": (b"", "ready"),
        "cat.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "unsupported"),
        "program.bin": (bytes(range(256)), "unsupported"),
        "secret.pdf": (samples.pdf(password="x"), "needs_password"),
        "broken.docx": (b"PK\x03\x04 and no more", "failed"),
    }
    items = {name: await desk.store.file(ana, f"/{name}", data) for name, (data, _) in expected.items()}
    ingester, index = desk.open()
    await ingester.drain()
    states = await desk.states()
    assert {name: states[item.id][0] for name, item in items.items()} == {n: s for n, (_, s) in expected.items()}
    english = {items[n].id for n in ("leave.txt", "leave.md", "leave.html", "leave.pdf", "leave.docx", "leave.csv")}
    assert set(await found(index, ana, "parents born adopted")) == english
    chinese = {items[n].id for n in ("政策 😀.txt", "leave.html", "leave.pdf", "leave.docx")}
    assert set(await found(index, ana, "带薪育儿假")) == chinese


async def test_who_waits_for_the_status_is_told_when_the_work_is_done(desk: Desk, ana: Actor) -> None:
    await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, _ = desk.open()
    status = await ingester.status(ana.user_id)
    assert status.unfinished
    async with anyio.create_task_group() as group:
        group.start_soon(ingester.drain)
        with anyio.fail_after(60):
            while status.unfinished:
                status = await ingester.status(ana.user_id, wait_seconds=60)
    assert status.counts == {"ready": 1}
    with anyio.fail_after(30):
        assert await ingester.status(ana.user_id, wait_seconds=60) == status


async def test_the_status_counts_and_names_what_is_the_matter(desk: Desk, ana: Actor) -> None:
    ben = await desk.store.person("ben@example.com")
    await desk.store.folder(ana, "/Reports")
    await desk.store.file(ana, "/Reports/leave.txt", samples.LEAVE)
    await desk.store.file(ben, "/other.txt", samples.LEAVE)
    secret = await desk.store.file(ana, "/Reports/secret.pdf", samples.pdf(password="x"))
    ingester, _ = desk.open()
    assert (await ingester.status(ana.user_id)).counts == {"pending": 2}
    await ingester.drain()
    status = await ingester.status(ana.user_id)
    assert status.counts == {"ready": 1, "needs_password": 1}
    (problem,) = status.problems
    assert problem["path"] == "/Reports/secret.pdf"
    assert (problem["file_id"], problem["state"]) == (secret.id, "needs_password")
    assert "password" in problem["reason"]


async def test_offsets_of_a_hit_are_those_of_the_file(desk: Desk, ana: Actor) -> None:
    text = f"﻿# 手册\r\n\r\n{samples.LEAVE_ZH}\r\n\r\n## Leave\r\n\r\n{samples.LEAVE}\r\n"
    item = await desk.store.file(ana, "/手册.md", text.encode())
    ingester, index = desk.open()
    await ingester.drain()
    for hit in await index.search("leave 育儿假", owner_ids=[ana.user_id], mode="hybrid"):
        read = await desk.store.documents.read_text(ana, item.id, start=hit.start, end=hit.end)
        assert read.text == hit.text


async def test_a_changed_file_is_found_by_its_new_content_only(desk: Desk, ana: Actor) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    await ingester.drain()
    await desk.store.documents.write_text(ana, item.id, "Nothing but noodles.")
    await ingester.drain()
    assert await found(index, ana, "parents born") == []
    (hit,) = await index.search("noodles", owner_ids=[ana.user_id], mode="text")
    assert hit.version == 2


async def test_a_file_in_the_trash_leaves_the_index_and_comes_back_with_it(desk: Desk, ana: Actor) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    await ingester.drain()
    await desk.store.files.trash(ana, item.id)
    await ingester.drain()
    assert await found(index, ana, "parents") == []
    assert (await ingester.status(ana.user_id)).counts == {}
    await desk.store.files.restore(ana, item.id)
    await ingester.drain()
    assert await found(index, ana, "parents") == [item.id]


@pytest.mark.parametrize("indexed_before", [True, False])
async def test_a_file_that_is_deleted_for_good_leaves_nothing_in_the_index(
    desk: Desk, ana: Actor, indexed_before: bool
) -> None:
    ingester, index = desk.open()
    item = await desk.store.file(ana, "/leave.md", "Parental leave")
    if indexed_before:
        await ingester.drain()
    await desk.store.files.trash(ana, item.id)
    await desk.store.files.empty_trash(ana)
    await ingester.drain()
    assert await found(index, ana, "parental") == []
    assert await index.table_names() == set()
    async with desk.store.database.read() as session:
        assert (await session.scalars(select(IndexEntryRow))).all() == []


async def test_a_file_that_changes_while_it_is_worked_on_stays_pending(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    replace = index.replace

    async def slow_replace(files: Sequence[IndexedFile]) -> None:
        monkeypatch.setattr(index, "replace", replace)
        assert (await desk.states())[item.id][0] == "indexing"
        await desk.store.documents.write_text(ana, item.id, "Nothing but noodles.")
        await replace(files)

    monkeypatch.setattr(index, "replace", slow_replace)
    await ingester.drain()
    assert index.replaced == [(item.id, 1), (item.id, 2)]
    assert await found(index, ana, "noodles") == [item.id]


async def test_a_kill_between_delete_and_add_is_repaired_by_the_next_run(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    await ingester.drain()
    await desk.store.documents.write_text(ana, item.id, f"{samples.LEAVE} More.")
    passages = index._tables  # pyright: ignore[reportPrivateUsage] - LanceDB's own class is hit in the midst
    table = type(await passages.current.writable(0))

    async def killed(table: Any, rows: Any) -> None:
        del table, rows
        raise Killed

    monkeypatch.setattr(table, "add", killed)
    with pytest.raises(Killed):
        await ingester.drain()
    monkeypatch.undo()
    assert await found(index, ana, "parents") == []
    assert (await desk.states())[item.id][0] == "indexing"
    successor, its_index = desk.open()
    await successor.drain()
    assert await found(its_index, ana, "parents") == [item.id]
    assert (await desk.states())[item.id][0] == "ready"


async def test_of_two_ingesters_one_works(desk: Desk, ana: Actor) -> None:
    for number in range(40):
        await desk.store.file(ana, f"/leave {number}.txt", samples.LEAVE)
    (one, its_index), (other, other_index) = desk.open(), desk.open()
    async with anyio.create_task_group() as group:
        group.start_soon(one.drain)
        group.start_soon(other.drain)
    done = [*its_index.replaced, *other_index.replaced]
    assert len(done) == len(set(done)) == 40
    hits = await its_index.search("parents", owner_ids=[ana.user_id], mode="text", limit=100)
    assert len(hits) == 40


async def test_an_ingester_waits_while_another_process_holds_the_lock(desk: Desk, ana: Actor) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    lock = FileLock(desk.lock_path)
    assert await lock.acquire()
    ingester, index = desk.open()
    with anyio.move_on_after(0.3) as waiting:
        await ingester.drain()
    assert waiting.cancelled_caught
    assert index.replaced == []
    await lock.release()
    await ingester.drain()
    assert index.replaced == [(item.id, 1)]


async def test_the_loop_works_when_it_is_woken(desk: Desk, ana: Actor) -> None:
    ingester, index = desk.open()
    async with anyio.create_task_group() as group:
        group.start_soon(ingester.run)
        item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
        ingester.wake()
        with anyio.fail_after(20):
            await ingester.drain()
        assert await found(index, ana, "parents") == [item.id]
        group.cancel_scope.cancel()
    lock = FileLock(desk.lock_path)
    assert await lock.acquire()
    await lock.release()


async def test_an_idle_loop_gives_freed_memory_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    released = anyio.Event()
    monkeypatch.setattr(ingester_module, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(ingester_module, "release_unused", lambda: anyio.from_thread.run_sync(released.set))
    ingester, _ = desk.open()
    async with anyio.create_task_group() as group:
        group.start_soon(ingester.run)
        with anyio.fail_after(60):
            await released.wait()
        group.cancel_scope.cancel()


async def test_the_loop_goes_on_after_an_error(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ingester, index = desk.open()
    failed = anyio.Event()

    async def failing() -> set[str]:
        monkeypatch.undo()
        failed.set()
        raise ArithmeticError

    monkeypatch.setattr(index, "table_names", failing)
    with caplog.at_level(logging.CRITICAL):
        async with anyio.create_task_group() as group:
            group.start_soon(ingester.run)
            with anyio.fail_after(20):
                await failed.wait()
                item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
                ingester.wake()
                await ingester.drain()
            assert await found(index, ana, "parents") == [item.id]
            group.cancel_scope.cancel()


async def test_work_that_was_cancelled_is_taken_up_again(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    replace = index.replace
    with anyio.CancelScope() as scope:

        async def cancelled_replace(files: Sequence[IndexedFile]) -> None:
            del files
            monkeypatch.setattr(index, "replace", replace)
            scope.cancel()
            await anyio.lowlevel.checkpoint()

        monkeypatch.setattr(index, "replace", cancelled_replace)
        await ingester.drain()
    assert (await desk.states())[item.id][0] == "indexing"
    await ingester.drain()
    assert await found(index, ana, "parents") == [item.id]


async def test_a_file_that_fails_is_tried_three_times_and_names_the_kind_of_error(
    desk: Desk, ana: Actor, caplog: pytest.LogCaptureFixture
) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    index.failing = ArithmeticError("secret /path")
    with caplog.at_level(logging.CRITICAL):
        await ingester.drain()
    assert index.failures == 3
    assert (await desk.states())[item.id] == ("failed", "It could not be indexed (ArithmeticError).")


async def test_a_failing_file_does_not_hold_up_the_others(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    items: list[Item] = [await desk.store.file(ana, f"/{name}.txt", samples.LEAVE) for name in ("good", "bad", "fine")]
    ingester, index = desk.open()
    replace = index.replace

    async def picky_replace(files: Sequence[IndexedFile]) -> None:
        if any(file.file_id == items[1].id for file in files):
            raise StorageFailureError("The disk is full.")
        await replace(files)

    monkeypatch.setattr(index, "replace", picky_replace)
    with caplog.at_level(logging.CRITICAL):
        await ingester.drain()
    states = await desk.states()
    assert [states[item.id][0] for item in items] == ["ready", "failed", "ready"]
    assert states[items[1].id][1] == "It could not be indexed (storage_failure)."
    monkeypatch.setattr(index, "replace", replace)
    successor, _ = desk.open()
    await successor.drain()
    assert (await desk.states())[items[1].id] == ("ready", "")


async def test_a_file_that_is_claimed_again_while_others_of_its_batch_are_stored_is_not_forgotten(
    desk: Desk, ana: Actor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, fine = [await desk.store.file(ana, f"/{name}.txt", samples.LEAVE) for name in ("bad", "fine")]
    ingester, index = desk.open()
    replace = index.replace
    stored_alone: list[str] = []

    async def picky_replace(files: Sequence[IndexedFile]) -> None:
        if any(file.file_id == bad.id for file in files):
            stored_alone.extend(file.file_id for file in files if len(files) == 1)
            raise StorageFailureError("The disk is full.")
        with anyio.move_on_after(5):
            while stored_alone == [bad.id] and (await desk.states())[bad.id][0] != "indexing":
                await anyio.lowlevel.checkpoint()
        await replace(files)

    monkeypatch.setattr(index, "replace", picky_replace)
    with caplog.at_level(logging.CRITICAL):
        await ingester.drain()
    states = await desk.states()
    assert (states[bad.id][0], states[fine.id][0]) == ("failed", "ready")


async def test_an_index_that_is_lost_is_made_again(desk: Desk, ana: Actor) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    await ingester.drain()
    await index.clear()
    successor, its_index = desk.open()
    await successor.drain()
    assert await found(its_index, ana, "parents") == [item.id]


async def test_an_index_that_is_broken_is_made_again(desk: Desk, ana: Actor, caplog: pytest.LogCaptureFixture) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    ingester, index = desk.open()
    await ingester.drain()
    index.close()
    for path in (desk.folder / "index").rglob("*.manifest"):
        path.write_bytes(b"garbage")
    successor, its_index = desk.open()
    with caplog.at_level(logging.CRITICAL):
        await successor.drain()
    assert await found(its_index, ana, "parents") == [item.id]


async def test_a_live_file_without_an_entry_is_indexed_all_the_same(desk: Desk, ana: Actor) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    async with desk.store.database.write() as session:
        await session.execute(delete(IndexEntryRow))
    ingester, index = desk.open()
    await ingester.drain()
    await ingester.drain()
    assert await found(index, ana, "parents") == [item.id]


async def test_a_rebuild_reads_everything_of_one_person_again(desk: Desk, ana: Actor) -> None:
    ben = await desk.store.person("ben@example.com")
    its, bens = await desk.store.file(ana, "/ana.txt", samples.LEAVE), await desk.store.file(ben, "/b", samples.LEAVE)
    ingester, index = desk.open()
    await ingester.drain()
    index.replaced.clear()
    await ingester.rebuild(ben.user_id)
    await ingester.drain()
    assert index.replaced == [(bens.id, 1)]
    await ingester.rebuild()
    await ingester.drain()
    assert sorted(index.replaced[1:]) == sorted([(its.id, 1), (bens.id, 1)])


async def test_files_left_marked_by_a_killed_process_are_taken_up(desk: Desk, ana: Actor) -> None:
    item = await desk.store.file(ana, "/leave.txt", samples.LEAVE)
    async with desk.store.database.write() as session:
        await session.execute(update(IndexEntryRow).values(state="indexing"))
    ingester, index = desk.open()
    await ingester.drain()
    assert await found(index, ana, "parents") == [item.id]


async def test_meaning_is_indexed_where_the_model_reads_the_language(tmp_path: Path) -> None:
    async with open_store(tmp_path / "store") as store:
        desk = Desk(store, tmp_path, LocalEmbedder())
        ana = await store.person("ana@example.com")
        english = await store.file(ana, "/a.txt", samples.LEAVE)
        await store.file(ana, "/b.txt", samples.LEAVE_ZH)
        ingester, index = desk.open()
        await ingester.drain()
        assert await found(index, ana, "time off for a new mother", "vector") == [english.id]
        index.close()


def test_importing_the_ingester_loads_none_of_the_heavy_libraries() -> None:
    program = """
import sys
import drive_server.knowledge.ingest.ingester, drive_server.knowledge.embedding.embedder
import drive_server.knowledge.readers.text_source
heavy = {"lancedb", "lance", "pyarrow", "onnxruntime", "tokenizers", "unstructured", "pypdfium2", "pandas", "docx"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
