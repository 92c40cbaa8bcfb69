from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest

from drive_server.knowledge.embedding.embedder import LocalEmbedder, NoEmbedder
from drive_server.knowledge.index import maintenance as upkeep
from drive_server.knowledge.index import table as passage_table
from drive_server.knowledge.index.index import KnowledgeIndex
from tests.drive_server.knowledge.samples import LEAVE
from tests.drive_server.knowledge.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """An index whose upkeep is done in a process of its own, whatever its size."""
    monkeypatch.setattr(passage_table, "LARGE", 0)
    embedder = NoEmbedder()
    index = KnowledgeIndex(str(tmp_path / "index"), embedder)
    yield Shelf(index, embedder)
    index.close()


def process_of(shelf: Shelf) -> Any:
    return shelf.index._tables.current._process._process  # pyright: ignore[reportPrivateUsage] - what is killed, waited for


async def unindexed(shelf: Shelf) -> int:
    table = await shelf.index._tables.current.writable(0)  # pyright: ignore[reportPrivateUsage] - LanceDB's own figures
    await table.checkout_latest()
    return (await table.index_stats("words_idx")).num_unindexed_rows


async def test_a_large_table_is_tended_in_another_process_while_it_is_searched_and_written(shelf: Shelf) -> None:
    await shelf.put(1, LEAVE)
    await shelf.index.maintain(idle=True)
    process = process_of(shelf)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) >= 0
    await shelf.put(2, LEAVE)
    assert sorted(await shelf.found("parents")) == [1, 2]
    assert await anyio.to_thread.run_sync(process.wait) == 0
    assert await unindexed(shelf) <= 1
    assert sorted(await shelf.found("parents")) == [1, 2]


async def test_only_one_process_at_a_time_tends_a_table(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_table, "UNINDEXED_ROWS", 1)
    await shelf.put(1, LEAVE)
    await shelf.index.maintain()
    process = process_of(shelf)
    await shelf.put(2, LEAVE)
    await shelf.index.maintain()
    assert process_of(shelf) is process


async def test_what_a_killed_upkeep_left_undone_is_due_again(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_table, "UNINDEXED_ROWS", 1)
    monkeypatch.setattr(passage_table, "REST_FACTOR", 0)
    for number in range(1, 4):
        await shelf.put(number, LEAVE)
    await shelf.index.maintain()
    process = process_of(shelf)
    process.send_signal(signal.SIGKILL)
    await anyio.to_thread.run_sync(process.wait)
    assert await unindexed(shelf) == 3
    await shelf.index.maintain()
    assert await anyio.to_thread.run_sync(process_of(shelf).wait) == 0
    assert await unindexed(shelf) == 0
    assert sorted(await shelf.found("parents")) == [1, 2, 3]


async def test_an_upkeep_ends_with_the_index(shelf: Shelf) -> None:
    await shelf.put(1, LEAVE)
    await shelf.index.maintain(idle=True)
    process = process_of(shelf)
    shelf.index.close()
    assert process.returncode is not None
    assert await shelf.found("parents") == [1]


async def test_a_vector_index_in_too_many_segments_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "ROWS_FOR_VECTOR_INDEX", 2)
    monkeypatch.setattr(upkeep, "MAX_SEGMENTS", 2)
    embedder = LocalEmbedder()
    shelf = Shelf(KnowledgeIndex(str(tmp_path / "index"), embedder), embedder)
    segments: list[int] = []
    for number in range(1, 9):
        await shelf.put(number, f"{LEAVE} {number}")
        table = await shelf.index._tables.current.writable(0)  # pyright: ignore[reportPrivateUsage] - tended at each step
        await upkeep.maintain(table)
        segments += [index.num_segments for index in await table.list_indices() if index.columns == ["vector"]]
    assert len(segments) >= 6
    assert max(segments) <= 3
    assert sorted(await shelf.found("When may a parent stay at home?", mode="vector")) == list(range(1, 9))
    shelf.index.close()
