from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING

import anyio.to_thread
import pytest

from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.process_locks import FileLock

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item
    from tests.drive_server.store import Store

pytestmark = pytest.mark.story

FILES = 30
KILLS = 4
STEPS_OF_A_BATCH = 8
MODULE = "tests.drive_server.knowledge.indexing_process"


def start(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", MODULE, str(folder)], stdout=subprocess.PIPE, text=True)


def kill_at(process: subprocess.Popen[str], step: int) -> list[str]:
    """Kill the process after so many steps; return what it said."""
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        said.append(line.strip())
        if len(said) == step:
            process.kill()
            break
    process.wait()
    process.stdout.close()
    return said


async def write(store: Store, actor: Actor, count: int = FILES) -> list[Item]:
    texts = [f"Common words, 共同的 file {number}.\n\n" + f"unique{number} " * 150 for number in range(count)]
    return [await store.file(actor, f"/{number} 文件.txt", text * 2) for number, text in enumerate(texts)]


async def passages(index: KnowledgeIndex, actor: Actor, query: str) -> list[tuple[str, int, int]]:
    hits = await index.search(query, owner_ids=[actor.user_id], mode="text", limit=1000)
    return sorted((hit.file_id, hit.start, hit.version) for hit in hits)


async def test_after_kills_at_any_point_everything_is_found_once(tmp_path: Path, store: Store) -> None:
    ana = await store.person("ana@example.com")
    items = await write(store, ana)
    index = KnowledgeIndex(str(tmp_path / "index"), NoEmbedder())
    chance = random.Random(20)
    for kill in range(KILLS):
        step = chance.randint(1, 2 * STEPS_OF_A_BATCH)
        said = await anyio.to_thread.run_sync(kill_at, start(tmp_path), step)
        assert len(said) == step
        # Changes of what was indexed before the kill are to be repaired as well.
        await store.documents.write_text(ana, items[kill].id, f"unique{kill} changed")
    ingester = Ingester(store.database, TextSource(store.blobs), NoEmbedder(), index, FileLock(tmp_path / "index.lock"))
    await ingester.drain()
    assert (await ingester.status(ana.user_id)).counts == {"ready": FILES}
    found = await passages(index, ana, "common 共同的")
    assert {file_id for file_id, _, _ in found} == {item.id for item in items[KILLS:]}
    assert len(found) == len(set(found))
    counts: set[int] = set()
    for number, item in enumerate(items):
        places = await passages(index, ana, f"unique{number}")
        assert {file_id for file_id, _, _ in places} == {item.id}
        assert len(places) == len(set(places))
        counts.add(len(places) if number >= KILLS else 0)
    assert len(counts) == len({0, max(counts)}) == 2
    index.close()


async def test_two_processes_on_one_index_lose_nothing_and_double_nothing(tmp_path: Path, store: Store) -> None:
    ana = await store.person("ana@example.com")
    items = await write(store, ana, FILES // 2)
    processes = [start(tmp_path), start(tmp_path)]
    late = [await store.file(ana, f"/late {number}.txt", f"Common, late{number}.") for number in range(FILES // 2)]
    outputs = [await anyio.to_thread.run_sync(process.communicate) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert any("add done" in said for said, _ in outputs)
    index = KnowledgeIndex(str(tmp_path / "index"), NoEmbedder())
    ingester = Ingester(store.database, TextSource(store.blobs), NoEmbedder(), index, FileLock(tmp_path / "index.lock"))
    await ingester.drain()
    assert (await ingester.status(ana.user_id)).counts == {"ready": len(items) + len(late)}
    found = await passages(index, ana, "common")
    assert len(found) == len(set(found))
    assert {file_id for file_id, _, _ in found} == {item.id for item in (*items, *late)}
    index.close()
