"""A LanceDB table of passages: made, opened, kept fast and small."""

from collections import Counter
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio

from drive_server.knowledge.index.lance import Lance
from drive_server.knowledge.index.maintenance import MaintenanceProcess, Upkeep, maintain
from drive_server.knowledge.index.matching import word_query
from drive_server.knowledge.index.rows import MODEL, PASSAGE, VECTOR, quoted, schema, vector_field

UNINDEXED_ROWS = 256
"""From so many unindexed rows on maintenance is urgent: each costs a search 35 microseconds of CPU."""

BUSY_ROWS = 512
"""The same while files come in: a run takes 0.6 to 1 s of CPU, in which the local model embeds 30 to 50 passages, and a
search beside it reads about so many rows at most (`python -m benchmarks.search.beside_import` counts them)."""

LARGE = 50_000
"""From so many rows on maintenance takes seconds, and a process of its own does it."""

COLUMNS: Final = frozenset({"file_id", "owner_id", "content", "digest", PASSAGE, "words"})
FILTERED: Final = ("file_id", "owner_id", "digest", MODEL)
"""The columns with an index for conditions."""
NOBODY: Final = "0" * 31 + "1"


@dataclass(frozen=True, slots=True)
class TableState:
    """Facts about a table that its files do not tell: one process has them from the one before it."""

    upkeep: Upkeep = field(default_factory=Upkeep)
    was_there: bool = False
    version: int = 0
    is_maintaining: bool = False
    """True while a process that this one started maintains the table."""


class PassageTable:
    """The table of one embedding model. Its methods raise LanceDB's errors."""

    def __init__(self, lance: Lance, name: str, model: str) -> None:
        self.name = name
        self.model = model
        self._expected = model
        self.dimensions = 0
        """The length of its vectors; 0 before it is opened, and while it has none."""

        self.names_models = False
        """True if its rows name the models of their vectors; in older tables all are of `model`."""

        self.was_there = False
        """True if it was opened or made, and not dropped by this process: if it is gone, somebody else removed it."""

        self._version = 0
        self._lance = lance
        self._opening = anyio.Lock()
        self._maintaining = anyio.Lock()
        self._table: Any = None
        self._upkeep = Upkeep()
        self._process = MaintenanceProcess(lance.url, name)

    @property
    def state(self) -> TableState:
        """The state, for a process that goes on after this one."""
        return TableState(replace(self._upkeep), self.was_there, self._version, self._process.is_running)

    def resume(self, state: TableState) -> None:
        """Go on from the state that another process left."""
        self._upkeep = replace(state.upkeep)
        self.was_there, self._version = state.was_there, state.version

    async def readable(self) -> Any | None:
        """Return LanceDB's table, None as long as nothing was ever written."""
        async with self._opening:
            table = self._table  # `forget` may come at any time, and the caller goes on with this table
            if table is None and self.name in await self._lance.names():
                table = self._table = await self._lance.open(self.name)
                self._upkeep.unindexed = await _unindexed_rows(table)
                self.was_there = True
            if table is not None and not (self.dimensions and self.names_models):
                await self._read_schema(table)
            return table

    async def _reopen(self) -> None:
        """Open it again, if it is still there; searches under way go on with the one that they have."""
        async with self._opening:
            if self._table is None or self.name not in await self._lance.names():
                self.forget()
                return
            self._process.end()
            table = await self._lance.open(self.name)
            self._upkeep.unindexed = await _unindexed_rows(table)
            await self._read_schema(table)
            self._table = table

    async def upgrade(self) -> None:
        """Have the rows of an older table name the model of their vectors. Only the writer may call it."""
        table = await self.readable()
        async with self._opening:
            if table is None or self.names_models:
                return
            # Of SQL's conditions, LanceDB has none in a column's expression.
            named = f"repeat({quoted(self.model)}, CAST({VECTOR} IS NOT NULL AS BIGINT))" if self.dimensions else "''"
            await table.add_columns({MODEL: named})
            await _create_model_index(table)
            self.names_models = True

    async def retire_vectors(self, models: Collection[str]) -> None:
        """Have the rows with vectors of models other than these wait for new ones. Only the writer may call it."""
        table = await self.readable()
        if table is None or not self.dimensions:
            return
        others = f"{MODEL} NOT IN ({', '.join(map(quoted, ('', *models)))})"
        if await table.count_rows(others):
            async with self._maintaining:
                await table.update({MODEL: ""}, where=others)
            self._upkeep.add(0)

    async def writable(self, dimensions: int) -> Any:
        """Return LanceDB's table, made with its indices if need be, with a column for vectors of that length."""
        await self.upgrade()
        table = await self.readable()
        async with self._opening:
            if table is None:
                table = await self._lance.create(self.name, schema(self.model, dimensions))
                await _create_indices(table)
                self._table, self.dimensions, self.names_models = table, dimensions, True
                self.was_there = True
            elif dimensions and not self.dimensions:
                await table.add_columns(vector_field(dimensions))
                self.dimensions = dimensions
        return table

    async def replace(self, condition: str, rows: Any) -> None:
        """Replace the rows under a condition by those of an Arrow table. Call `writable` first."""
        if await self._table.count_rows(condition):
            await self.delete(condition)
        if rows.num_rows:
            await self._table.add(rows)
            self._upkeep.add(rows.num_rows)

    async def merge(self, column: str, rows: Any) -> None:
        """Set the other columns of an Arrow table in the rows that have the same value in `column`, all at once."""
        async with self._maintaining:
            await self._table.merge_insert(column).when_matched_update_all().execute(rows)
        self._upkeep.add(rows.num_rows)

    async def delete(self, condition: str) -> None:
        """Delete rows, after running maintenance: that fails if its rows are deleted meanwhile."""
        async with self._maintaining:
            await self._table.delete(condition)
        self._upkeep.add(0)

    async def inspect(self) -> Counter[str]:
        """Read from every file of the table and of its indices; return how many passages each file has.

        Raises LanceDB's errors, and `ValueError` for a table that is not of this program.
        """
        await self._reopen()
        table = await self.readable()
        if table is None:
            return Counter()
        self._require_own(set((await table.schema()).names))
        asked = table.query().select(["file_id"])
        found: Counter[str] = Counter()
        async for batch in await asked.to_batches():
            found.update(batch["file_id"].to_pylist())
        async for question in self._questions(table):
            await question.limit(1).select(["file_id"]).to_arrow()
        await table.delete("false")  # it changes nothing, but commits
        self._version = await table.version()
        return found

    async def has_gone_back(self) -> bool:
        """Return whether the table is gone, or older than it was: somebody else removed files of it."""
        table = await self.readable()
        if table is None:
            return self.was_there
        before, self._version = self._version, await table.version()
        return self._version < before

    async def count(self) -> int:
        """Return the number of passages."""
        table = await self.readable()
        return await table.count_rows() if table is not None else 0

    async def maintain(self, *, idle: bool, busy: bool = False) -> None:
        """Index added rows and drop old versions, if there are enough of them or there is time (`idle`).

        Until then every query reads the added rows one by one. Versions of the last minutes stay for their readers.
        `busy`: more rows follow at once.
        """
        if await self.readable() is None or self._process.is_running:
            return
        await self._collect_result()
        now = anyio.current_time()
        is_urgent = self._upkeep.is_urgent(BUSY_ROWS if busy else UNINDEXED_ROWS, now)
        if not (is_urgent or (idle and now >= self._upkeep.idle_at)):
            return
        due = self._upkeep.begin(now)
        try:
            async with self._maintaining:
                await self._maintain()
        except BaseException:
            self._upkeep.undo(due)
            raise

    def note_dropped(self) -> None:
        """Note that this process removed the table."""
        self.forget()
        self.was_there, self._version = False, 0

    def forget(self) -> None:
        """Open it again at the next use: another process may have dropped and recreated it."""
        self._process.end()
        self._table, self.dimensions, self.names_models = None, 0, False

    def close(self) -> None:
        """Close the files."""
        if self._table is not None:
            self._table.close()
        self.forget()

    async def _maintain(self) -> None:
        if await self._table.count_rows() >= LARGE:
            self._process.start()
        else:
            await maintain(self._table)

    async def _collect_result(self) -> None:
        """Note how long an ended process took, and how many rows it left unindexed; once."""
        if self._process.is_started:
            self._process.end()
            self._upkeep.duration = anyio.current_time() - self._upkeep.maintained_at
            await self._table.checkout_latest()
            self._upkeep.unindexed = await _unindexed_rows(self._table)

    def _require_own(self, columns: set[str]) -> None:
        if not columns >= COLUMNS or (self._expected and self.model != self._expected):
            raise ValueError("the table is not of this program, or of another model")

    async def _questions(self, table: Any) -> AsyncIterator[Any]:
        """Yield a question for each index, and for the vectors, that no other part of the table answers."""
        indexed = {column for index in await table.list_indices() for column in index.columns}
        if "words" not in indexed:
            raise ValueError("the index of words is missing")
        yield table.query().nearest_to_text(word_query("any"))
        for column in indexed.intersection(FILTERED):
            yield table.query().where(f"{column} = {quoted(NOBODY)}")
        if self.dimensions:
            direction = [1.0] + [0.0] * (self.dimensions - 1)
            yield table.query().nearest_to(direction).column(VECTOR).distance_type("dot")

    async def _read_schema(self, table: Any) -> None:
        found = await table.schema()
        self.model = (found.metadata or {}).get(b"model", b"").decode()
        self.dimensions = found.field(VECTOR).type.list_size if VECTOR in found.names else 0
        self.names_models = MODEL in found.names


async def _create_indices(table: Any) -> None:
    """Index the columns that queries use; a full-text query on a column without an index is an error."""
    from lancedb.index import FTS, Bitmap, BTree

    words = FTS(base_tokenizer="simple", stem=True, remove_stop_words=True, with_position=False)
    await table.create_index("words", config=words)
    await table.create_index("file_id", config=BTree())
    await table.create_index("digest", config=BTree())
    await table.create_index("owner_id", config=Bitmap())
    await _create_model_index(table)


async def _create_model_index(table: Any) -> None:
    from lancedb.index import Bitmap

    await table.create_index(MODEL, config=Bitmap())


async def _unindexed_rows(table: Any) -> int:
    """Return how many rows are not in the full-text index yet."""
    for index in await table.list_indices():
        if index.columns == ["words"]:
            stats = await table.index_stats(index.name)
            return stats.num_unindexed_rows if stats else 0
    return 0
