"""A process that indexes what is pending: `python -m tests.drive_server.knowledge.indexing_process FOLDER`.

It says each step on standard output, before it takes it and after, so that it can be killed at any of them.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from lancedb.table import AsyncTable

from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.ingest import pending
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.process_locks import FileLock
from tests.drive_server.store import open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FILES_AT_ONCE = 3


def say(step: str) -> None:
    sys.stdout.write(f"{step}\n")
    sys.stdout.flush()


def told(name: str, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(work)
    async def wrapped(*arguments: Any, **options: Any) -> Any:
        say(f"{name} begins")
        result = await work(*arguments, **options)
        say(f"{name} done")
        return result

    return wrapped


async def index(folder: Path) -> None:
    pending.MAX_FILES = FILES_AT_ONCE
    for owner, name in ((AsyncTable, "delete"), (AsyncTable, "add"), (AsyncTable, "optimize")):
        setattr(owner, name, told(name, getattr(owner, name)))
    for name in ("claim", "finish"):
        setattr(pending.PendingFiles, name, told(name, getattr(pending.PendingFiles, name)))
    async with open_store(folder / "store") as store:
        embedder = NoEmbedder()
        knowledge = KnowledgeIndex(str(folder / "index"), embedder)
        texts = TextSource(store.blobs)
        await Ingester(store.database, texts, embedder, knowledge, FileLock(folder / "index.lock")).drain()
        knowledge.close()


if __name__ == "__main__":
    anyio.run(index, Path(sys.argv[1]))
