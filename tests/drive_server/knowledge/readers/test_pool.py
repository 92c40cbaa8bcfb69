from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import anyio
import anyio.from_thread
import openpyxl
import pytest

from drive_server.knowledge.readers import pool as reader_pool
from drive_server.knowledge.readers import process as reader_module
from drive_server.knowledge.readers.extract import extract
from drive_server.knowledge.readers.passages import read_passages
from drive_server.knowledge.readers.pool import ReaderPool
from drive_server.knowledge.readers.process import Answer, Reader, ReaderCrashedError, Work
from drive_server.knowledge.text.words import indexed_words
from tests.drive_server.knowledge import samples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def pool() -> Iterator[ReaderPool]:
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
    passages = await pool.passages(document, "leave.pdf", "")
    assert passages == read_passages(document, "leave.pdf", "")
    assert [chunk.words for chunk in passages.chunks] == [indexed_words(chunk.searched) for chunk in passages.chunks]
    assert "育儿" in passages.chunks[-1].words.split()


async def test_passages_of_a_damaged_file_fail_with_the_reason_of_its_text(pool: ReaderPool, tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(samples.pdf()[:200])
    passages, extraction = await pool.passages(path, "a.pdf", ""), await pool.extract(path, "a.pdf", "")
    assert (passages.state, passages.reason, len(passages.chunks)) == ("failed", extraction.reason, 0)


async def test_a_kept_process_that_has_ended_is_replaced(pool: ReaderPool, document: Path) -> None:
    await pool.extract(document, "leave.pdf", "")
    (kept,) = pool._idle  # pyright: ignore[reportPrivateUsage] - the process is ended behind the pool's back
    kept.end()
    assert (await pool.extract(document, "leave.pdf", "")).state == "ready"


async def test_a_file_that_crashes_its_reader_fails_and_nothing_else(
    pool: ReaderPool, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "MODULE", "this")  # which prints some verses and ends
    extraction = await pool.extract(document, "leave.pdf", "")
    assert (extraction.state, extraction.text) == ("failed", "")
    monkeypatch.undo()
    assert (await pool.extract(document, "leave.pdf", "")).state == "ready"


async def test_a_file_that_takes_too_long_fails(
    pool: ReaderPool, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_pool, "LONGEST_SECONDS", 0.0)
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
    with pytest.raises(ReaderCrashedError):
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
    """All the cells between these two would take 500 GB."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("far")
    sheet["A1"] = "one"
    sheet["XFD1048576"] = "end"
    path = tmp_path / "far"
    book.save(path)
    extraction = await pool.extract(path, "far.xlsx", "")
    assert extraction.state == "failed"
    assert extraction.reason
    assert (await pool.extract(document, "leave.pdf", "")).state == "ready"


def test_an_idle_reader_ends_by_itself() -> None:
    program = f"import {reader_module.__name__} as reader; reader.IDLE_SECONDS = 0.01; reader.main()"
    done = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with done:
        assert done.wait(30) == -signal.SIGALRM
