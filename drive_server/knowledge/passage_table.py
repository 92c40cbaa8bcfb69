"""A LanceDB table of passages: made, opened, kept fast and small."""

import math
from datetime import timedelta
from typing import Any

import anyio

from drive_server.knowledge.lance import Lance
from drive_server.knowledge.rows import VECTOR, schema, vector_field

UNINDEXED_ROWS = 256
COMMITS = 20
IDLE_ROWS = 64
IDLE_SECONDS = 30.0
"""When there is time: so many unindexed rows, or so long since the last time, are worth what tending costs searches."""

ROWS_FOR_VECTOR_INDEX = 30_000
GROWN = 4
"""How many times the rows that the vector index was made of before it is made anew: its partitions fit those."""

KEPT_VERSIONS = timedelta(minutes=10)


class PassageTable:
    """The table of one embedding model. Its methods raise what LanceDB raises."""

    def __init__(self, lance: Lance, name: str, model: str) -> None:
        self.name = name
        self.model = model
        self.dimensions = 0
        """Length of its vectors; 0 until it is opened, and as long as it has none."""

        self._lance = lance
        self._opening = anyio.Lock()
        self._table: Any = None
        self._unindexed = 0
        self._commits = 0
        self._clean_at = math.inf
        self._tended_at = -math.inf
        self._partitions_for = 0

    async def readable(self) -> Any | None:
        """Return LanceDB's table, None as long as nothing was ever written."""
        async with self._opening:
            if self._table is None and self.name in await self._lance.names():
                self._table = await self._lance.open(self.name)
                self._unindexed = await _unindexed_rows(self._table)
            if self._table is not None and not self.dimensions:
                await self._look_at_schema()
            return self._table

    async def writable(self, dimensions: int) -> Any:
        """Return LanceDB's table, made with its indices if need be, with a column for vectors of that length."""
        table = await self.readable()
        async with self._opening:
            if table is None:
                table = await self._lance.create(self.name, schema(self.model, dimensions))
                await _create_indices(table)
                self._table, self.dimensions = table, dimensions
            elif dimensions and not self.dimensions:
                await table.add_columns(vector_field(dimensions))
                self.dimensions = dimensions
        return table

    async def count(self) -> int:
        """Return the number of passages."""
        table = await self.readable()
        return await table.count_rows() if table is not None else 0

    def note_write(self, rows: int, commits: int) -> None:
        """Take note of rows that were added and of commits, which `tend` cleans up after."""
        self._unindexed += rows
        self._commits += commits

    async def tend(self, *, idle: bool) -> None:
        """Bring added rows into the indices and drop old versions, if enough came together or there is time.

        Until then every query reads the added rows one by one. Versions of the last minutes stay for those who read.
        """
        urgent = self._unindexed >= UNINDEXED_ROWS or self._commits >= COMMITS
        if self._table is None or not (urgent or (idle and self._is_worth_it())):
            return
        await self._create_vector_index()
        await self._table.optimize(cleanup_older_than=KEPT_VERSIONS)
        # What was replaced just now is too young to go: once more when it no longer is.
        self._clean_at = anyio.current_time() + 1.1 * KEPT_VERSIONS.total_seconds() if self._commits else math.inf
        self._unindexed = self._commits = 0
        self._tended_at = anyio.current_time()

    def forget(self) -> None:
        """Open it anew at the next use: another process may have dropped and remade it."""
        self._table, self.dimensions = None, 0

    def close(self) -> None:
        """Let go of the files."""
        if self._table is not None:
            self._table.close()
        self.forget()

    def _is_worth_it(self) -> bool:
        now = anyio.current_time()
        is_changed = self._commits > 0 or self._unindexed > 0
        is_due = self._unindexed >= IDLE_ROWS or now >= self._tended_at + IDLE_SECONDS
        return (is_changed and is_due) or now >= self._clean_at

    async def _look_at_schema(self) -> None:
        found = await self._table.schema()
        self.model = (found.metadata or {}).get(b"model", b"").decode()
        self.dimensions = found.field(VECTOR).type.list_size if VECTOR in found.names else 0

    async def _create_vector_index(self) -> None:
        """Add the vector index to a table that has grown to need one: below, looking at every vector is faster."""
        if not self.dimensions:
            return
        rows = await self._table.count_rows("vector IS NOT NULL")
        names = {index.columns[0] for index in await self._table.list_indices()}
        grown = rows >= GROWN * self._partitions_for > 0
        if VECTOR in names and not self._partitions_for:
            self._partitions_for = rows
        if rows < ROWS_FOR_VECTOR_INDEX or (VECTOR in names and not grown):
            return
        from lancedb.index import IvfFlat

        partitions = max(1, math.isqrt(rows) // 4)
        await self._table.create_index(VECTOR, config=IvfFlat(distance_type="dot", num_partitions=partitions))
        self._partitions_for = rows


async def _create_indices(table: Any) -> None:
    """Index the columns that are asked for; a full-text query on a column without an index is an error."""
    from lancedb.index import FTS, Bitmap, BTree

    words = FTS(base_tokenizer="simple", stem=True, remove_stop_words=True, with_position=False)
    await table.create_index("words", config=words)
    await table.create_index("file_id", config=BTree())
    await table.create_index("digest", config=BTree())
    await table.create_index("owner_id", config=Bitmap())


async def _unindexed_rows(table: Any) -> int:
    """Return how many rows an earlier process left out of the full-text index."""
    for index in await table.list_indices():
        if index.columns == ["words"]:
            stats = await table.index_stats(index.name)
            return stats.num_unindexed_rows if stats else 0
    return 0
