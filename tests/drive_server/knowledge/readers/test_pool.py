from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.from_thread
import pytest

from drive_server.knowledge import process as process_module
from drive_server.knowledge.process import Answer, ProcessCrashedError
from drive_server.knowledge.readers import pool as reader_pool
from drive_server.knowledge.readers.extract import extract, read_chunks
from drive_server.knowledge.readers.pool import ReaderPool, ReaderQueue
from drive_server.knowledge.readers.process import Reader, Work
from drive_server.knowledge.text.unreadable import unreadable
from drive_server.knowledge.text.words import indexed_words
from tests.drive_server.knowledge import samples
from tests.drive_server.knowledge.binary_workbook import xlsb_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from anyio.abc import TaskGroup


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReaderPool]:
    """A pool whose processes are its own, begun by its work."""
    monkeypatch.setattr(ReaderPool, "__init__", vars(ReaderPool.__init__)["__wrapped__"])
    monkeypatch.setattr(reader_pool, "_end_all", vars(vars(reader_pool)["_end_all"])["__wrapped__"])
    pool = ReaderPool()
    yield pool
    pool.close()


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "blob"
    path.write_bytes(samples.pdf())
    return path


async def test_a_document_comes_back_whole_and_its_process_is_kept(
    pool: ReaderPool, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extraction = await pool.extract(document, "leave.pdf", "")
    assert samples.LEAVE in extraction.text
    monkeypatch.setattr(reader_pool, "Reader", None)
    assert await pool.extract(document, "leave.pdf", "") == extraction


async def test_passages_come_back_with_the_words_that_they_are_searched_by(pool: ReaderPool, document: Path) -> None:
    passages = await pool.chunks(document, "leave.pdf", "")
    assert passages == read_chunks(document, "leave.pdf", "")
    assert [chunk.words for chunk in passages.chunks] == [indexed_words(chunk.search_text) for chunk in passages.chunks]
    assert "育儿" in passages.chunks[-1].words.split()


async def test_passages_of_a_damaged_file_fail_with_the_reason_of_its_text(pool: ReaderPool, tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(samples.pdf()[:200])
    passages, extraction = await pool.chunks(path, "a.pdf", ""), await pool.extract(path, "a.pdf", "")
    assert (passages.state, passages.reason, len(passages.chunks)) == ("failed", extraction.reason, 0)


async def test_a_kept_process_that_has_ended_is_replaced(pool: ReaderPool, document: Path) -> None:
    await pool.extract(document, "leave.pdf", "")
    (kept,) = pool._idle  # pyright: ignore[reportPrivateUsage] - the process is ended behind the pool's back
    kept.end()
    assert (await pool.extract(document, "leave.pdf", "")).state == "ready"


async def test_a_file_that_crashes_its_reader_fails_and_nothing_else(
    pool: ReaderPool, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "MODULE", "this")  # which prints some verses and ends
    extraction = await pool.extract(document, "leave.pdf", "")
    assert (extraction.state, extraction.text) == ("failed", "")
    monkeypatch.undo()
    assert (await pool.extract(document, "leave.pdf", "")).state == "ready"


async def test_other_work_that_takes_too_long_is_refused(pool: ReaderPool, document: Path) -> None:
    found = await pool.run(extract, unreadable, document, "leave.pdf", "", 0.0)
    assert (found.state, "longer than 0 seconds" in found.reason) == ("failed", True)


async def test_a_file_that_takes_too_long_fails(
    pool: ReaderPool, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_pool, "TIMEOUT_SECONDS", 0.0)
    extraction = await pool.extract(document, "leave.pdf", "")
    assert extraction.state == "failed"
    assert "longer than" in extraction.reason


async def test_who_stops_waiting_ends_the_process(
    pool: ReaderPool, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[EndlessReader] = []

    class EndlessReader(Reader):
        def run(self, work: Work[Answer], path: Path, name: str, media_type: str) -> Answer:
            readers.append(self)
            anyio.from_thread.run_sync(scope.cancel)
            return super().run(work, path, name, media_type)

    monkeypatch.setattr(reader_pool, "Reader", EndlessReader)
    with anyio.CancelScope() as scope:
        await pool.extract(document, "leave.pdf", "")
    assert scope.cancelled_caught
    with pytest.raises(ProcessCrashedError):
        Reader.run(readers[0], extract, document, "leave.pdf", "")


async def test_a_file_that_is_gone_is_an_error_and_the_next_one_is_read(
    pool: ReaderPool, document: Path, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        await pool.extract(tmp_path / "gone", "leave.pdf", "")
    assert (await pool.extract(document, "leave.pdf", "")).state == "ready"


async def test_several_files_at_once_each_get_their_own_text(pool: ReaderPool, tmp_path: Path) -> None:
    texts: dict[int, str] = {}

    async def read(number: int) -> None:
        path = tmp_path / str(number)
        path.write_text(f"text {number}")
        texts[number] = (await pool.extract(path, "a.txt", "")).text

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(read, number)
    assert texts == {number: f"text {number}" for number in range(10)}


async def test_a_file_that_needs_too_much_memory_fails_and_the_next_one_is_read(
    pool: ReaderPool, document: Path, tmp_path: Path
) -> None:
    """All the cells between these two would take 500 GB: of binary workbooks, calamine keeps blank cells, too."""
    path = tmp_path / "far"
    path.write_bytes(xlsb_of({(0, 0): 1, (1_048_575, 16_383): 2}))
    extraction = await pool.extract(path, "far.xlsb", "")
    assert extraction.state == "failed"
    assert extraction.reason
    assert (await pool.extract(document, "leave.pdf", "")).state == "ready"


class Reading:
    """Files that take places in a queue, and leave them when they are told to."""

    def __init__(self, group: TaskGroup) -> None:
        self.queue = ReaderQueue()
        self.begun: list[int] = []
        self._ends: dict[int, anyio.Event] = {}
        self._group = group

    async def come(self, *sizes: int, is_awaited: bool = False) -> list[int]:
        """Let files of these sizes come, one after the other; return those that have a place by now, or had one."""
        for size in sizes:
            self._ends[size] = anyio.Event()
            self._group.start_soon(self._read, size, is_awaited)
            await anyio.wait_all_tasks_blocked()
        return self.begun

    async def end(self, size: int) -> list[int]:
        self._ends[size].set()
        await anyio.wait_all_tasks_blocked()
        return self.begun

    async def _read(self, size: int, is_awaited: bool) -> None:
        async with self.queue.slot(size, is_awaited=is_awaited):
            self.begun.append(size)
            await self._ends[size].wait()


@pytest.fixture
async def reading() -> AsyncIterator[Reading]:
    async with anyio.create_task_group() as group:
        yield Reading(group)
        group.cancel_scope.cancel()


async def test_two_are_read_at_once_and_the_others_wait(reading: Reading) -> None:
    assert await reading.come(1, 2, 3, 4) == [1, 2]


async def test_one_place_takes_the_smallest_and_the_other_the_largest(reading: Reading) -> None:
    await reading.come(100, 200, 5, 3, 9, 1, 7)
    assert await reading.end(100) == [100, 200, 1]
    assert await reading.end(200) == [100, 200, 1, 9]
    assert await reading.end(1) == [100, 200, 1, 9, 3]
    assert await reading.end(9) == [100, 200, 1, 9, 3, 7]


async def test_who_waits_at_the_screen_comes_first_whichever_place_is_free(reading: Reading) -> None:
    await reading.come(100, 200, 5, 3)
    await reading.come(50, 60, is_awaited=True)
    assert await reading.end(200) == [100, 200, 50]
    assert await reading.end(100) == [100, 200, 50, 60]


async def test_who_stops_waiting_takes_no_place(reading: Reading) -> None:
    await reading.come(100, 200)
    with anyio.move_on_after(0):
        async with reading.queue.slot(1, is_awaited=False):
            reading.begun.append(1)
    assert await reading.come(2) == [100, 200]
    assert await reading.end(100) == [100, 200, 2]


async def test_a_place_is_free_again_after_an_error_and_after_a_cancellation(reading: Reading) -> None:
    for _ in range(4):
        with pytest.raises(RuntimeError):
            async with reading.queue.slot(1, is_awaited=False):
                raise RuntimeError
        with anyio.move_on_after(0):
            async with reading.queue.slot(1, is_awaited=False):
                await anyio.sleep_forever()
    assert await reading.come(1, 2) == [1, 2]


async def test_who_is_called_and_cancelled_at_once_passes_the_place_on(reading: Reading) -> None:
    await reading.come(100, 200)
    async with anyio.create_task_group() as group:

        async def wait() -> None:
            async with reading.queue.slot(1, is_awaited=True):
                raise AssertionError

        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        reading._ends[100].set()  # pyright: ignore[reportPrivateUsage] - in the same step as the cancellation
        group.cancel_scope.cancel()
    assert await reading.come(2) == [100, 200, 2]
