"""The interface of an index of passages, in this process or in another one, and the function that opens it there."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from drive_server.knowledge.embedding.embedder import Embedder, Vectors
from drive_server.knowledge.index.health import IndexHealth
from drive_server.knowledge.index.index import IndexHit
from drive_server.knowledge.index.retrieval import Mode
from drive_server.knowledge.index.rows import IndexedFile
from drive_server.knowledge.index.table import TableState

Method = Literal[
    "search",
    "replace",
    "stored",
    "vectors",
    "late_passages",
    "add_vectors",
    "waiting_for_vectors",
    "waiting_by_owner",
    "upgrade",
    "table_names",
    "promote",
    "drop_unusable",
    "maintain",
    "inspect",
    "look",
    "clear",
]
"""The methods of `KnowledgeIndex` that the service calls."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The index to work on, the level of its log, and the state that the process before left."""

    url: str
    embedder: Embedder
    late: Embedder | None
    log_level: int
    state: TableState


class PassageIndex(Protocol):
    """The methods of `KnowledgeIndex`, described there, that services and the ingester call."""

    health: IndexHealth
    late: Embedder | None

    @property
    def table_name(self) -> str:
        """The name of the table that is written to."""
        ...

    async def search(
        self,
        query: str,
        *,
        owner_ids: Collection[str] = (),
        file_ids: Collection[str] = (),
        mode: Mode = "hybrid",
        limit: int = 10,
        answers_only: bool = False,
    ) -> list[IndexHit]:
        """Return the best passages of files that one of the owners has or that are named."""
        ...

    async def replace(self, files: Sequence[IndexedFile]) -> None:
        """Replace the passages that the index has of these files."""
        ...

    async def stored(self, file_ids: Collection[str]) -> dict[str, IndexedFile]:
        """Return the passages that the index has of these files."""
        ...

    async def vectors(self, digests: Collection[str]) -> dict[str, Vectors]:
        """Return the vectors that the index has of texts, by their digests."""
        ...

    async def late_passages(self, limit: int) -> dict[str, str]:
        """Return up to so many texts that wait for the late model, by their digests."""
        ...

    async def add_vectors(self, vectors: Mapping[str, Vectors], model: str) -> None:
        """Give the passages of these texts, by their digests, the vectors of a model."""
        ...

    async def waiting_for_vectors(self, owner_id: str, file_ids: Collection[str] | None = None) -> int:
        """Return how many passages of a person, or of files, wait for the late model."""
        ...

    async def waiting_by_owner(self, owner_ids: Collection[str]) -> dict[str, int]:
        """Return the number of such passages of each of these people who has some."""
        ...

    async def upgrade(self) -> None:
        """Bring a table of an earlier version to the newest columns and models."""
        ...

    async def table_names(self) -> set[str]:
        """Return the names of the tables that can be used and have passages."""
        ...

    async def promote(self) -> None:
        """Have the model's table answer searches from now on."""
        ...

    async def drop_unusable(self) -> None:
        """Remove tables in a format of another version of this program."""
        ...

    async def maintain(self, *, idle: bool = False, busy: bool = False) -> None:
        """Do the maintenance that is due."""
        ...

    async def inspect(self) -> Counter[str]:
        """Read something of all that is stored; return how many passages there are of each file."""
        ...

    async def look(self) -> None:
        """Have the index inspected if files of it are gone."""
        ...

    async def clear(self) -> None:
        """Set everything aside unread."""
        ...
