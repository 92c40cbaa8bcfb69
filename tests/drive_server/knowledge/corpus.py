"""An index with a shorthand for adding files, and the files that tests add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drive_server.knowledge.chunk import chunk
from drive_server.knowledge.index.rows import IndexedFile
from drive_server.knowledge.text.elements import Part, join

if TYPE_CHECKING:
    from drive_server.knowledge.embedding.embedder import Embedder, Vectors
    from drive_server.knowledge.index.index import KnowledgeIndex

ANA, BEN = "a" * 32, "b" * 32
PORTS = "The server listens on port 8000 and writes its log to standard error."
SOUP = "The canteen serves soup on Mondays and noodles on Fridays."


def file_id(number: int) -> str:
    return f"{number:032x}"


@dataclass
class Corpus:
    """An index with a shorthand for putting files into it."""

    index: KnowledgeIndex
    embedder: Embedder

    async def put(self, number: int, *texts: str, owner: str = ANA, version: int = 1, title: str = "") -> str:
        heading = [Part("title", title, level=1)] if title else []
        chunks = chunk(join([*heading, *(Part("text", text) for text in texts)]))
        vectors: list[Vectors | None] = [
            await self.embedder.embed_query(one.search_text) if self.embedder.supports(one.search_text) else None
            for one in chunks
        ]
        await self.index.replace([IndexedFile(file_id(number), owner, version, f"content {number}", chunks, vectors)])
        return file_id(number)

    async def found(self, query: str, **options: Any) -> list[int]:
        wanted: dict[str, Any] = {"owner_ids": [ANA], **options}
        hits = await self.index.search(query, **wanted)
        return [int(hit.file_id, 16) for hit in hits]
