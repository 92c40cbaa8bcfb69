from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest

from drive_server.knowledge.embedding.embedder import LocalEmbedder, NoEmbedder
from drive_server.knowledge.index import maintenance
from drive_server.knowledge.index import table as passage_table
from drive_server.knowledge.index.index import KnowledgeIndex
from tests.drive_server.knowledge.corpus import Corpus
from tests.drive_server.knowledge.samples import LEAVE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    """An index whose maintenance a process does of its own, whatever its size."""
    monkeypatch.setattr(passage_table, "LARGE", 0)
    embedder = NoEmbedder()
    index = KnowledgeIndex(str(tmp_path / "index"), embedder)
    yield Corpus(index, embedder)
    index.close()


def process_of(corpus: Corpus) -> Any:
    return corpus.index._tables.current._process._process  # pyright: ignore[reportPrivateUsage] - what is killed, waited for


async def unindexed(corpus: Corpus) -> int:
    table = await corpus.index._tables.current.writable(0)  # pyright: ignore[reportPrivateUsage] - LanceDB's own figures
    await table.checkout_latest()
    return (await table.index_stats("words_idx")).num_unindexed_rows


async def test_a_large_table_is_maintained_in_another_process_while_it_is_searched_and_written(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE)
    await corpus.index.maintain(idle=True)
    process = process_of(corpus)
    await corpus.put(2, LEAVE)
    assert sorted(await corpus.found("parents")) == [1, 2]
    await anyio.to_thread.run_sync(os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) > os.getpriority(os.PRIO_PROCESS, 0)
    assert process.wait() == 0
    assert await unindexed(corpus) <= 1
    assert sorted(await corpus.found("parents")) == [1, 2]


async def test_only_one_process_at_a_time_tends_a_table(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_table, "UNINDEXED_ROWS", 1)
    await corpus.put(1, LEAVE)
    await corpus.index.maintain()
    process = process_of(corpus)
    await corpus.put(2, LEAVE)
    await corpus.index.maintain()
    assert process_of(corpus) is process


@pytest.mark.story
async def test_work_that_a_killed_maintenance_left_is_due_again(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_table, "UNINDEXED_ROWS", 1)
    monkeypatch.setattr(maintenance, "REST_FACTOR", 0)
    for number in range(1, 4):
        await corpus.put(number, LEAVE)
    await corpus.index.maintain()
    process = process_of(corpus)
    process.send_signal(signal.SIGKILL)
    await anyio.to_thread.run_sync(process.wait)
    assert await unindexed(corpus) == 3
    await corpus.index.maintain()
    assert await anyio.to_thread.run_sync(process_of(corpus).wait) == 0
    assert await unindexed(corpus) == 0
    assert sorted(await corpus.found("parents")) == [1, 2, 3]


async def test_maintenance_ends_with_the_index(corpus: Corpus) -> None:
    await corpus.put(1, LEAVE)
    await corpus.index.maintain(idle=True)
    process = process_of(corpus)
    corpus.index.close()
    assert process.returncode is not None
    assert await corpus.found("parents") == [1]


async def test_a_vector_index_in_too_many_segments_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "ROWS_FOR_VECTOR_INDEX", 2)
    monkeypatch.setattr(maintenance, "MAX_SEGMENTS", 2)
    embedder = LocalEmbedder()
    corpus = Corpus(KnowledgeIndex(str(tmp_path / "index"), embedder), embedder)
    segments: list[int] = []
    for number in range(1, 9):
        await corpus.put(number, f"{LEAVE} {number}")
        table = await corpus.index._tables.current.writable(0)  # pyright: ignore[reportPrivateUsage] - maintained at each step
        await maintenance.maintain(table)
        segments += [index.num_segments for index in await table.list_indices() if index.columns == ["vector"]]
    assert len(segments) >= 6
    assert max(segments) <= 3
    assert sorted(await corpus.found("When may a parent stay at home?", mode="vector")) == list(range(1, 9))
    corpus.index.close()
