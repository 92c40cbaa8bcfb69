"""The index in a process of its own: it answers as the index does, ends when it is idle, and may die at any moment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import numpy as np
import pytest

from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.telemetry.faults import kind_of
from drive_server.kernel.telemetry.fields import begin_log_fields
from drive_server.kernel.telemetry.formats import TextFormat, fields_of
from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index.health import DamagedIndexError
from drive_server.knowledge.index_process import proxy
from drive_server.knowledge.index_process.calls import OtherProcessError
from drive_server.knowledge.index_process.proxy import IndexProcess
from tests.drive_server.knowledge.corpus import ANA, PORTS, SOUP, Corpus, file_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from drive_server.knowledge.embedding.embedder import Embedder, Vectors
    from drive_server.knowledge.index.index import KnowledgeIndex
    from drive_server.knowledge.index_process.child import Child

PARENT = """
import sys, anyio
from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index_process.proxy import IndexProcess
from tests.drive_server.knowledge.corpus import SOUP, Corpus

async def main():
    await Corpus(IndexProcess(sys.argv[1], NoEmbedder()), NoEmbedder()).put(1, SOUP)
    print("ready", flush=True)
    await anyio.sleep_forever()

anyio.run(main)
"""


class GatedEmbedder(NoEmbedder):
    """A model whose questions wait at a gate; the process of the index has a copy, and asks the one that is here."""

    name = "gated"
    dimensions = 2
    weight = 0.5

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.is_away = False
        self.open_gate()

    def open_gate(self) -> None:
        self.gate: anyio.Event | None = None
        self.reached: anyio.Event | None = None

    def close_gate(self) -> None:
        self.gate, self.reached = anyio.Event(), anyio.Event()

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def supports(self, text: str) -> bool:
        del text
        return True

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.array([[1, 0]] * len(texts), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        if self.is_away:
            raise EmbedderUnavailableError("The model is away.")
        if self.gate is not None and self.reached is not None:
            self.reached.set()
            try:
                await self.gate.wait()
            except BaseException:
                self.cancelled.append(text)
                raise
        return np.array([1, 0], np.float32)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[IndexProcess]:
    index = IndexProcess(str(tmp_path / "index"), GatedEmbedder())
    yield index
    await index.end()


@pytest.fixture
async def corpus(index: IndexProcess) -> Corpus:
    corpus = corpus_of(index, index._embedder)  # pyright: ignore[reportPrivateUsage] - its gate is opened here
    await corpus.put(1, PORTS)
    return corpus


def corpus_of(index: IndexProcess, embedder: Embedder) -> Corpus:
    return Corpus(cast("KnowledgeIndex", index), embedder)  # it has all the methods that this calls


def gated(corpus: Corpus) -> GatedEmbedder:
    assert isinstance(corpus.embedder, GatedEmbedder)
    return corpus.embedder


def child_of(index: IndexProcess) -> Child:
    task = index._starting  # pyright: ignore[reportPrivateUsage] - the process is what is killed
    assert task is not None
    return task.result()


def is_running(index: IndexProcess) -> bool:
    return index._is_running  # pyright: ignore[reportPrivateUsage] - whether there is a process is what is tested


async def let_go(index: IndexProcess) -> None:
    """Have the process end as an idle one does."""
    child = child_of(index)
    index._ends_at = 0  # pyright: ignore[reportPrivateUsage] - the time is up
    index._end_if_idle()  # pyright: ignore[reportPrivateUsage] - the timer
    with anyio.fail_after(30):
        await child.ended()
        for task in list(index._ending):  # pyright: ignore[reportPrivateUsage] - what is done after it
            await task


async def test_questions_about_an_index_without_anything_start_no_process(index: IndexProcess) -> None:
    corpus = corpus_of(index, NoEmbedder())
    assert await corpus.found("ports") == []
    assert await index.inspect() == {}
    assert (await index.stored([file_id(1)]), await index.vectors(["a"])) == ({}, {})
    assert (await index.table_names(), await index.waiting_by_owner([ANA])) == (set(), {})
    for change in (index.upgrade, index.promote, index.drop_unusable, index.clear, index.look):
        await change()
    await index.maintain(idle=True)
    assert not is_running(index)


async def test_passages_are_stored_and_found_by_words_and_meaning(corpus: Corpus) -> None:
    await corpus.put(2, SOUP)
    assert await corpus.found("canteen soup", mode="text") == [2]
    assert gated(corpus).asked[-1] != "canteen soup"
    assert set(await corpus.found("canteen soup")) == {1, 2}
    assert gated(corpus).asked[-1] == "canteen soup"
    found = await corpus.index.stored([file_id(1)])
    assert found[file_id(1)].chunks[0].text == PORTS
    assert await corpus.index.inspect() == {file_id(1): 1, file_id(2): 1}


async def test_a_malformed_id_is_the_same_error_as_without_a_process(corpus: Corpus) -> None:
    with pytest.raises(ValueError, match="not an id"):
        await corpus.found("ports", owner_ids=["x"])


async def test_a_search_waits_for_no_other_search_and_for_no_write(corpus: Corpus) -> None:
    embedder = gated(corpus)
    embedder.close_gate()
    found: list[int] = []

    async def search() -> None:
        found.extend(await corpus.found("the port", mode="vector"))

    async with anyio.create_task_group() as group:
        group.start_soon(search)
        assert embedder.reached is not None
        await embedder.reached.wait()
        gate, embedder.gate = embedder.gate, None
        await corpus.put(2, SOUP)
        assert await corpus.found("soup", mode="text") == [2]
        assert not found
        assert gate is not None
        gate.set()
    assert 1 in found


async def test_a_search_whose_process_dies_is_done_once_again_in_another_one(corpus: Corpus) -> None:
    embedder = gated(corpus)
    embedder.close_gate()
    found: list[int] = []

    async def search() -> None:
        found.extend(await corpus.found("the port"))

    assert isinstance(corpus.index, IndexProcess)
    first = child_of(corpus.index).process_id
    async with anyio.create_task_group() as group:
        group.start_soon(search)
        assert embedder.reached is not None
        await embedder.reached.wait()
        embedder.open_gate()
        os.kill(first, signal.SIGKILL)
    assert found == [1]
    assert child_of(corpus.index).process_id != first
    assert embedder.cancelled == ["the port"]


async def test_a_process_that_dies_in_each_search_counts_as_damage_and_has_the_index_inspected(
    corpus: Corpus, index: IndexProcess
) -> None:
    embedder = gated(corpus)
    real = embedder.embed_query

    async def kill(text: str) -> Vectors:
        os.kill(child_of(index).process_id, signal.SIGKILL)
        return await real(text)

    embedder.embed_query = kill
    with pytest.raises(DamagedIndexError):
        await corpus.found("the port", mode="vector")
    assert index.health.requested == "inspect"


async def test_a_write_whose_process_dies_fails_and_the_next_one_has_another_process(
    corpus: Corpus, index: IndexProcess
) -> None:
    process_id = child_of(index).process_id
    os.kill(process_id, signal.SIGSTOP)
    async with anyio.create_task_group() as group:
        group.start_soon(fails, corpus)
        await anyio.lowlevel.checkpoint()
        os.kill(process_id, signal.SIGKILL)
    await corpus.put(2, SOUP)
    assert await corpus.found("soup", mode="text") == [2]


async def fails(corpus: Corpus) -> None:
    with pytest.raises(StorageFailureError) as failure:
        await corpus.put(2, SOUP)
    assert not isinstance(failure.value, DamagedIndexError)


async def test_a_cancelled_search_ends_in_the_process_too(corpus: Corpus) -> None:
    embedder = gated(corpus)
    embedder.close_gate()
    async with anyio.create_task_group() as group:
        group.start_soon(corpus.found, "the port")
        assert embedder.reached is not None
        await embedder.reached.wait()
        group.cancel_scope.cancel()
    assert embedder.cancelled == ["the port"]
    embedder.open_gate()
    assert await corpus.found("the port") == [1]


@pytest.mark.parametrize(("level", "words"), [("INFO", "EmbedderUnavailableError"), ("DEBUG", "The model is away.")])
async def test_the_log_of_the_process_is_ours_with_the_words_of_errors_on_debug_alone(
    index: IndexProcess, caplog: pytest.LogCaptureFixture, level: str, words: str
) -> None:
    caplog.set_level(level, "drive_server")
    corpus = corpus_of(index, index._embedder)  # pyright: ignore[reportPrivateUsage] - it is away later
    await corpus.put(1, PORTS)
    gated(corpus).is_away = True
    begin_log_fields(request="17")
    assert await corpus.found("port") == [1]
    (record,) = [record for record in caplog.records if record.name == "drive_server.knowledge.index.index"]
    assert record.getMessage() == f"Searching by words only: {words}"
    assert fields_of(record)["request"] == "17"


async def test_the_log_has_the_way_to_an_error_of_the_process(
    corpus: Corpus, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    await corpus.put(2, SOUP)
    for file in (tmp_path / "index").rglob("*.manifest"):
        file.write_bytes(b"x")
    with pytest.raises(DamagedIndexError) as caught:
        await corpus.index.inspect()
    (record,) = [one for one in caplog.records if "search index failed" in one.getMessage()]
    assert record.exc_info
    assert isinstance(record.exc_info[1], OtherProcessError)
    written = TextFormat().format(record)
    assert "tables.py" in written
    assert str(tmp_path) not in written.replace(str(Path(__file__).parents[4]), "")
    assert "tables.py" in kind_of(cast("Exception", caught.value.__cause__))


async def test_an_idle_process_ends_and_the_next_search_starts_another_one(
    corpus: Corpus, index: IndexProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = child_of(index)
    monkeypatch.setattr(proxy, "IDLE_SECONDS", {"search": 0.0})
    monkeypatch.setattr(proxy, "WORK_IDLE_SECONDS", 0.0)
    index._ends_at = 0  # pyright: ignore[reportPrivateUsage] - the writing is long ago
    index._end_if_idle()  # pyright: ignore[reportPrivateUsage] - the timer
    with anyio.fail_after(30):
        assert await first.ended() == 0
    assert not is_running(index)
    assert await corpus.found("port", mode="text") == [1]
    again = child_of(index)
    assert again.process_id != first.process_id
    with anyio.fail_after(30):
        assert await again.ended() == 0


@pytest.mark.usefixtures("corpus")
async def test_an_index_at_rest_starts_no_process_for_looks_and_maintenance(index: IndexProcess) -> None:
    await index.maintain(idle=True)
    await let_go(index)
    await index.look()
    await index.maintain(idle=True)
    await index.maintain(busy=True)
    assert not is_running(index)
    assert not index.health.requested


@pytest.mark.usefixtures("corpus")
async def test_maintenance_that_is_due_later_is_done_by_another_process(index: IndexProcess) -> None:
    await index.maintain(idle=True)
    await let_go(index)
    upkeep = index._state.upkeep  # pyright: ignore[reportPrivateUsage] - what is handed over
    assert upkeep.clean_at > anyio.current_time()
    upkeep.clean_at = anyio.current_time()
    await index.maintain(idle=True)
    assert index._state.upkeep.clean_at > anyio.current_time() + 1000  # pyright: ignore[reportPrivateUsage] - done


@pytest.mark.usefixtures("corpus")
async def test_files_that_are_gone_while_no_process_runs_are_noticed(index: IndexProcess, tmp_path: Path) -> None:
    await let_go(index)
    shutil.rmtree(tmp_path / "index")
    await index.look()
    assert index.health.requested == "inspect"


async def test_a_search_notices_that_the_index_went_away_while_no_process_ran(
    corpus: Corpus, index: IndexProcess, tmp_path: Path
) -> None:
    await let_go(index)
    shutil.rmtree(tmp_path / "index")
    assert await corpus.found("port") == []
    assert index.health.requested == "inspect"


async def test_a_process_that_does_not_answer_is_killed(
    corpus: Corpus, index: IndexProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = child_of(index)
    os.kill(stuck.process_id, signal.SIGSTOP)
    monkeypatch.setattr(proxy, "MAX_SECONDS", {"search": 0.0})
    monkeypatch.setattr(proxy, "MARGIN_SECONDS", 0.1)
    with pytest.raises(DamagedIndexError):
        await corpus.found("port")
    assert await stuck.ended() == -signal.SIGKILL
    assert index.health.requested == "inspect"
    monkeypatch.undo()
    assert await corpus.found("port", mode="text") == [1]


async def test_an_index_that_was_closed_starts_no_process(index: IndexProcess) -> None:
    await index.end()
    with pytest.raises(StorageFailureError):
        await corpus_of(index, NoEmbedder()).put(1, SOUP)


def test_the_process_ends_with_a_service_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "index")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout
        assert parent.stderr
        assert parent.stdout.readline() == b"ready\n"
        parent.kill()
        parent.stderr.read()  # both processes have it: it ends with the last of them
