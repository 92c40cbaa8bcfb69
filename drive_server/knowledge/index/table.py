"""A LanceDB table of passages: made, opened, kept fast and small."""

import math
from typing import Any

import anyio

from drive_server.knowledge.index.lance import Lance
from drive_server.knowledge.index.maintenance import KEPT_VERSIONS, Upkeep, tend
from drive_server.knowledge.index.rows import VECTOR, schema, vector_field

UNINDEXED_ROWS = 256
"""So many are tended to at once: each costs a search 25 microseconds."""

COMMITS = 60
BUSY_ROWS = 8_192
"""So many while files come in: tending costs as much as all rows together, so it waits for many new ones."""

IDLE_ROWS = 64
IDLE_SECONDS = 30.0
"""When there is time: so many unindexed rows, or so long since the last time, are worth what tending costs searches."""

LARGE = 50_000
"""From so many rows on the upkeep takes seconds, and is done in a process of its own."""

LEAST_REST = 10
"""How many times as long as a process took for it no other is started, unless so many times the rows wait."""


class PassageTable:
    """The table of one embedding model. Its methods raise what LanceDB raises."""

    def __init__(self, lance: Lance, name: str, model: str) -> None:
        self.name = name
        self.model = model
        self.dimensions = 0
        """Length of its vectors; 0 until it is opened, and as long as it has none."""

        self._lance = lance
        self._opening = anyio.Lock()
        self._tending = anyio.Lock()
        self._table: Any = None
        self._unindexed = 0
        self._commits = 0
        self._clean_at = math.inf
        self._tended_at = -math.inf
        self._took = 0.0
        self._upkeep = Upkeep(lance.url, name)

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

    async def replace(self, condition: str, rows: Any) -> None:
        """Put the rows of an Arrow table in the place of those under a condition. `writable` comes first."""
        if await self._table.count_rows(condition):
            await self.delete(condition)
        if rows.num_rows:
            await self._table.add(rows)
            self._unindexed += rows.num_rows
            self._commits += 1

    async def delete(self, condition: str) -> None:
        """Remove rows, after upkeep that goes on: it fails if what it puts together is deleted meanwhile."""
        async with self._tending:
            await self._table.delete(condition)
        self._commits += 1

    async def count(self) -> int:
        """Return the number of passages."""
        table = await self.readable()
        return await table.count_rows() if table is not None else 0

    async def tend(self, *, idle: bool, busy: bool = False) -> None:
        """Bring added rows into the indices and drop old versions, if enough came together or there is time.

        Until then every query reads the added rows one by one. Versions of the last minutes stay for those who read.
        `busy`: more rows come at once.
        """
        if self._table is None or self._upkeep.is_running:
            return
        await self._look_after_upkeep()
        enough = BUSY_ROWS if busy else UNINDEXED_ROWS
        if not (self._is_urgent(enough) or (idle and self._is_worth_it())):
            return
        # What was replaced just now is too young to go: once more when it no longer is.
        self._clean_at = anyio.current_time() + 1.1 * KEPT_VERSIONS.total_seconds() if self._commits else math.inf
        due, self._unindexed, self._commits = (self._unindexed, self._commits), 0, 0
        self._tended_at = anyio.current_time()
        try:
            async with self._tending:
                await self._tend()
        except BaseException:
            self._unindexed += due[0]
            self._commits += due[1]
            raise

    def forget(self) -> None:
        """Open it anew at the next use: another process may have dropped and remade it."""
        self._upkeep.end()
        self._table, self.dimensions = None, 0

    def close(self) -> None:
        """Let go of the files."""
        if self._table is not None:
            self._table.close()
        self.forget()

    async def _tend(self) -> None:
        if await self._table.count_rows() >= LARGE:
            self._upkeep.start()
        else:
            await tend(self._table)

    async def _look_after_upkeep(self) -> None:
        """Once after the process has ended: see how long it took, and what it left undone."""
        if self._upkeep.is_started:
            self._upkeep.end()
            self._took = anyio.current_time() - self._tended_at
            await self._table.checkout_latest()
            self._unindexed = await _unindexed_rows(self._table)

    def _is_urgent(self, enough: int) -> bool:
        has_rested = anyio.current_time() >= self._tended_at + LEAST_REST * self._took
        due = max(self._unindexed / enough, self._commits / COMMITS)
        return due >= (1 if has_rested else LEAST_REST)

    def _is_worth_it(self) -> bool:
        now = anyio.current_time()
        is_changed = self._commits > 0 or self._unindexed > 0
        is_due = self._unindexed >= IDLE_ROWS or now >= self._tended_at + max(IDLE_SECONDS, LEAST_REST * self._took)
        return (is_changed and is_due) or now >= self._clean_at

    async def _look_at_schema(self) -> None:
        found = await self._table.schema()
        self.model = (found.metadata or {}).get(b"model", b"").decode()
        self.dimensions = found.field(VECTOR).type.list_size if VECTOR in found.names else 0


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
