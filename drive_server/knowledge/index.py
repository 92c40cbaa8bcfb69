"""The index: passages in LanceDB, found by their words, by their meaning, or by both.

Any number of processes may search; one at a time may write, which the caller has to see to (`ingest.py` holds a lock).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import anyio.to_thread

from drive_server.knowledge.embed import Embedder, Vectors
from drive_server.knowledge.passage_table import PassageTable
from drive_server.knowledge.retrieval import Found, find_similar, find_words, ranked
from drive_server.knowledge.rows import IndexedFile, id_filter, table_of

Mode = Literal["hybrid", "text", "vector"]

CANDIDATES = 100
"""How many passages each side proposes at least; the answer is ranked out of these."""


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A passage that was found. `score` compares within one answer; `start` and `end` are offsets in its text."""

    file_id: str
    version: int
    score: float
    text: str
    start: int
    end: int
    heading: str
    page: int | None


class KnowledgeIndex:
    """The passages of every file, at a LanceDB URI. Opened at the first use.

    Every method raises `StorageFailureError` if the table can't be read or written.
    """

    def __init__(self, url: str, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages = PassageTable(url, embedder.name, embedder.dimensions)

    async def search(
        self,
        query: str,
        *,
        owner_ids: Collection[str] = (),
        file_ids: Collection[str] = (),
        mode: Mode = "hybrid",
        limit: int = 10,
    ) -> list[IndexHit]:
        """Return the best passages of files that one of the owners has or that are named; none if neither is given.

        `text` finds passages with all words of the query or, if there are none, with any of them; `vector` those near
        it in meaning; `hybrid` both. Raises `ValueError` for a malformed id.
        """
        filters = [id_filter(column, ids) for column, ids in (("owner_id", owner_ids), ("file_id", file_ids)) if ids]
        if not filters or not query.strip():
            return []
        by_meaning = mode != "text" and self._embedder.reads(query)
        vector = await self._embedder.embed_query(query) if by_meaning else None
        async with self._passages.guarded():
            table = await self._passages.readable()
            found = await _find(table, query, vector, " OR ".join(filters), mode, limit) if table else Found()
        weight = self._embedder.weight if found.words and found.similarities else float(not found.words)
        return [_hit(row, score) for row, score in ranked(found, weight)[:limit]]

    async def replace(self, files: Sequence[IndexedFile]) -> None:
        """Put the passages of these files in the place of what the index has of them.

        Two commits: a process killed between them leaves the files without passages, which a second run repairs.
        """
        if not files:
            return
        rows = await anyio.to_thread.run_sync(table_of, files, self._embedder.dimensions)
        condition = id_filter("file_id", [file.file_id for file in files])
        async with self._passages.guarded():
            table = await self._passages.writable()
            await table.delete(condition)
            if rows.num_rows:
                await table.add(rows)
        self._passages.note_write(rows.num_rows, commits=2)

    async def remove(self, file_ids: Collection[str]) -> None:
        """Remove the passages of these files."""
        if not file_ids:
            return
        condition = id_filter("file_id", file_ids)
        async with self._passages.guarded():
            await (await self._passages.writable()).delete(condition)
        self._passages.note_write(0, commits=1)

    async def is_empty(self) -> bool:
        """Return whether the index has no passages at all: never written, lost, or of another model."""
        async with self._passages.guarded():
            table = await self._passages.readable()
            return table is None or await table.count_rows() == 0

    async def tend(self, *, idle: bool = False) -> None:
        """Do the upkeep that is due; with `idle`, also what is not urgent."""
        async with self._passages.guarded():
            await self._passages.tend(idle=idle)

    async def clear(self) -> None:
        """Remove everything. What a failing index needs before its files are indexed again."""
        async with self._passages.guarded():
            await self._passages.drop()

    def close(self) -> None:
        """Let go of the files; the next use opens them again."""
        self._passages.close()


async def _find(table: Any, query: str, vector: Vectors | None, where: str, mode: Mode, limit: int) -> Found:
    found = Found()
    size = max(limit, CANDIDATES)
    if vector is not None:
        await find_similar(found, table, vector, where, size)
    if mode == "text":
        await find_words(found, table, query, where, limit, every_word=True)
    if mode != "vector" and not found.words:
        await find_words(found, table, query, where, size, every_word=False, vector=vector)
    return found


def _hit(row: dict[str, Any], score: float) -> IndexHit:
    return IndexHit(
        file_id=row["file_id"],
        version=row["version"],
        score=score,
        text=row["text"],
        start=row["start"],
        end=row["end"],
        heading=row["heading"],
        page=row["page"],
    )
