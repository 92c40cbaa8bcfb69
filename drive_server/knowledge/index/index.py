"""The index: passages in LanceDB, found by words, meaning or both. Only one process at a time may write."""

import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import anyio
import anyio.to_thread

from drive_server.kernel.errors import StorageFailureError
from drive_server.knowledge.embedding.embedder import CrossingEmbedder, Embedder, Vectors
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.index.health import DamagedIndexError, IndexHealth
from drive_server.knowledge.index.queries import Query, parse
from drive_server.knowledge.index.retrieval import Mode, ModelQuery, QueryVector, SearchRequest, find
from drive_server.knowledge.index.rows import (
    FILE_COLUMNS,
    MODEL,
    PASSAGE,
    VECTOR,
    IndexedFile,
    Passage,
    arrow_to_files,
    column_to_vectors,
    deserialize,
    id_filter,
    model_filter,
    rows_to_arrow,
    vectors_to_arrow,
)
from drive_server.knowledge.index.table import PassageTable, TableState
from drive_server.knowledge.index.tables import PassageTables

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""The time for which an index without vectors of the late model counts as such."""

SEARCH_SECONDS: Final = 60.0
"""The longest search; a longer one has met a thread of LanceDB that died with a lock."""

MAX_IDS = 500
"""The most ids or digests in one query."""


class IndexHit(NamedTuple):
    """A passage that was found. `score` compares within one answer; `start` and `end` are offsets in its text.

    A hundred of them cross from process to process in each search: as tuples they cost a tenth.
    """

    file_id: str
    version: int
    score: float
    text: str
    start: int
    end: int
    heading: str
    page: int | None
    place: str = ""


class KnowledgeIndex:
    """The passages of every file, at a LanceDB URI. Opened at the first use.

    Writes go to the table of `embedder`'s model. As long as a table of another model has more passages, that one
    answers searches, with its vectors too if `open_model` returns an embedder for the model's name. `late` is the model
    of passages that `embedder` does not support: their vectors come after their words, by `late_passages` and
    `add_vectors`. Every method raises `StorageFailureError` if a table can't be read or written.
    """

    def __init__(
        self,
        url: str,
        embedder: Embedder,
        open_model: Callable[[str], Embedder | None] = lambda _: None,
        late: Embedder | None = None,
        health: IndexHealth | None = None,
    ) -> None:
        self.health = health or IndexHealth()
        self.late = late
        self._crossing = CrossingEmbedder(late) if late is not None and embedder.name == CrossingEmbedder.name else None
        self._embedder = embedder
        self._open_model = open_model
        self._has_late_rows = False
        self._looked_at = -math.inf
        self._tables = PassageTables(url, embedder.name, self.health)

    @property
    def table_name(self) -> str:
        """The name of the table that is written to."""
        return self._tables.current.name

    @property
    def state(self) -> TableState:
        """The state of that table, for a process that goes on after this one."""
        return self._tables.current.state

    def resume(self, state: TableState) -> None:
        """Go on from the state that another process left. Call it before the first use."""
        self._tables.current.resume(state)

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
        """Return the best passages of files that one of the owners has or that are named; none if neither is given.

        `text` finds passages with all words of the query or, if there are none, with any of them; `words` those with
        any; `vector` those near it in meaning; `hybrid` the last two together. See `queries.py` for the syntax. With
        `answers_only`, none are returned if there is no evidence that one of them is an answer (`evidence.py`).
        Raises `ValueError` for a malformed id.
        """
        filters = [id_filter(column, ids) for column, ids in (("owner_id", owner_ids), ("file_id", file_ids)) if ids]
        wanted = parse(query)
        if not filters or not wanted.groups:
            return []
        where = " OR ".join(filters)
        try:
            return await self._search(wanted, where, mode, limit, answers_only=answers_only)
        except StorageFailureError:
            # Another process may have dropped the table that was open here; now it is opened again.
            return await self._search_again(wanted, where, mode, limit, answers_only=answers_only)

    async def replace(self, files: Sequence[IndexedFile]) -> None:
        """Replace the passages that the index has of these files."""
        if not files:
            return
        async with self._tables.translated_errors():
            serving = await self._tables.serving()
            if serving is not self._tables.current:
                await self._write(serving, await _changed(serving, files))
            await self._write(self._tables.current, files)

    async def remove(self, file_ids: Collection[str]) -> None:
        """Remove the passages of these files."""
        if not file_ids:
            return
        condition = id_filter("file_id", file_ids)
        async with self._tables.translated_errors():
            for table in await self._live_tables():
                if await table.readable() is not None:
                    await table.delete(condition)

    async def stored(self, file_ids: Collection[str]) -> dict[str, IndexedFile]:
        """Return the index's entries of these files; without vectors if only another model's table has it."""
        found: dict[str, IndexedFile] = {}
        async with self._tables.translated_errors():
            for table in await self._live_tables():
                missing = set(file_ids) - found.keys()
                models = self._models if table is self._tables.current and table.names_models else ()
                found |= await _files(table, missing, models)
        return {file_id: file for file_id, file in found.items() if file_id in file_ids}

    async def vectors(self, digests: Collection[str]) -> dict[str, Vectors]:
        """Return the vectors that the index has of embedded texts, by the digests of those.

        A table of another model has some too, if only one of two models has changed.
        """
        found: dict[str, Vectors] = {}
        async with self._tables.translated_errors():
            for table in await self._live_tables():
                opened = await table.readable()
                if opened is not None and table.dimensions and table.names_models:
                    found = await _vectors(opened, set(digests) - found.keys(), self._models) | found
        return found

    async def late_passages(self, limit: int) -> dict[str, str]:
        """Return up to so many texts without a vector that wait for the late model, by their digests."""
        table = await self._late_table()
        if table is None:
            return {}
        async with self._tables.translated_errors():
            asked = table.query().where(model_filter(""))
            rows = await asked.limit(limit).select(["digest", PASSAGE]).to_arrow()
        pairs = zip(rows["digest"].to_pylist(), rows[PASSAGE].to_pylist(), strict=True)
        return {digest: deserialize(stored).search_text for digest, stored in pairs}

    async def add_vectors(self, vectors: Mapping[str, Vectors], model: str) -> None:
        """Give the passages of these texts, by their digests, the vectors of a model."""
        async with self._tables.translated_errors():
            await self._tables.current.merge("digest", vectors_to_arrow(vectors, model))
        self._has_late_rows = True

    async def waiting_for_vectors(self, owner_id: str, file_ids: Collection[str] | None = None) -> int:
        """Return how many passages can be found by their words, and by their meaning only later.

        Those of a person, or of files if they are named.
        """
        if file_ids is None:
            return (await self.waiting_by_owner([owner_id])).get(owner_id, 0)
        table = await self._late_table()
        if table is None:
            return 0
        async with self._tables.translated_errors():
            filters = [id_filter("file_id", some) for some in _batches(file_ids)]
            counts = [int(await table.count_rows(f"{where} AND {model_filter('')}")) for where in filters]
        return sum(counts)

    async def waiting_by_owner(self, owner_ids: Collection[str]) -> dict[str, int]:
        """Return the number of such passages of each of these people who has some."""
        table = await self._late_table()
        if table is None:
            return {}
        found: Counter[str] = Counter()
        async with self._tables.translated_errors():
            for some in _batches(owner_ids):
                asked = table.query().where(f"{id_filter('owner_id', some)} AND {model_filter('')}")
                rows = await asked.select(["owner_id"]).to_arrow()
                found.update(rows["owner_id"].to_pylist())
        return dict(found)

    async def upgrade(self) -> None:
        """Bring a table of an earlier version to the newest columns and models; it serves all the time."""
        async with self._tables.translated_errors():
            await self._tables.upgrade(self._models if self.late is not None else ())

    async def table_names(self) -> set[str]:
        """Return the names of the tables that can be used and have passages."""
        async with self._tables.translated_errors():
            return await self._tables.names()

    async def promote(self) -> None:
        """Have the model's table answer searches from now on, and drop all others."""
        async with self._tables.translated_errors():
            await self._tables.promote()

    async def drop_unusable(self) -> None:
        """Remove tables in a format of another version of this program."""
        async with self._tables.translated_errors():
            await self._tables.drop_unusable()

    async def maintain(self, *, idle: bool = False, busy: bool = False) -> None:
        """Do the maintenance that is due: with `idle` also if not urgent, with `busy` later, as more files follow."""
        async with self._tables.translated_errors():
            for table in await self._live_tables():
                await table.maintain(idle=idle, busy=busy)

    async def inspect(self) -> Counter[str]:
        """Read something of all that is stored; return how many passages the model's table has of each file.

        Raises `DamagedIndexError` for an index that can't be read or is of another program.
        """
        async with self._tables.translated_errors(reports=False):
            return await self._tables.inspect()

    async def look(self) -> None:
        """Have the index inspected if files of it are gone."""
        async with self._tables.translated_errors():
            if await self._tables.current.has_gone_back():
                self.health.request("inspect")

    async def clear(self) -> None:
        """Set everything aside unread, so that the files of a damaged index can be indexed again."""
        async with self._tables.translated_errors():
            await self._tables.drop()

    def close(self) -> None:
        """Close the files; the next use opens them again."""
        self._tables.close()

    async def _search_again(
        self, query: Query, where: str, mode: Mode, limit: int, *, answers_only: bool
    ) -> list[IndexHit]:
        try:
            return await self._search(query, where, mode, limit, answers_only=answers_only)
        except DamagedIndexError as error:
            if isinstance(error.__cause__, TimeoutError):
                self.health.request("inspect")  # a busy machine is no damage: the inspection tells
            else:
                self.health.note_failure()
            raise

    async def _search(self, query: Query, where: str, mode: Mode, limit: int, *, answers_only: bool) -> list[IndexHit]:
        async with self._tables.translated_errors(SEARCH_SECONDS, reports=False):
            table = await self._tables.serving()
            opened = await table.readable()
            if opened is None:
                if table.was_there:
                    table.note_dropped()
                    self.health.request("inspect")
                return []
            questions = await self._questions(table, query.words) if mode in ("hybrid", "vector") else ()
            if mode == "vector" and not questions:
                return []
            found = await find(opened, SearchRequest(query, questions, where, mode, limit, answers_only))
        return [_hit(passage, score) for passage, score in found]

    async def _questions(self, table: PassageTable, query: str) -> tuple[ModelQuery, ...]:
        """Return the query for the model of its script, and for that of the other one, so that languages are crossed.

        The late model knows English questions too; a Chinese one crosses over to the vectors of English passages.
        """
        is_current = table is self._tables.current
        embedder = self._embedder if is_current else await self._model_named(table.model)
        models: list[tuple[Embedder, bool]] = []
        if embedder is not None and embedder.supports(query):
            models.append((embedder, False))
        elif is_current and self._crossing is not None:
            models.append((self._crossing, True))
        if self.late is not None and await self._has_late(table, self.late):
            models.append((self.late, not self.late.supports(query)))
        return tuple(
            ModelQuery(
                model,
                self._query_vector(model, query, table.dimensions),
                model_filter(model.name) if table.names_models else "",
                model.nearness(query),
                is_foreign=is_foreign,
                crossing=self._crossing if is_current and is_foreign and model is self.late else None,
            )
            for model, is_foreign in models
            if table.dimensions
        )

    def _query_vector(self, model: Embedder, query: str, dimensions: int) -> QueryVector:
        """Return a function that embeds the query, and returns None if the model can't be reached."""

        async def question() -> Vectors | None:
            try:
                vector = await self._embedded(model, query)
            except EmbedderUnavailableError as error:
                logger.warning("Searching by words only: %s", error)
                return None
            return vector if len(vector) == dimensions else None

        return question

    async def _model_named(self, name: str) -> Embedder | None:
        """Return the embedder of this name, None if it is no longer available."""
        return self._open_model(name)

    async def _embedded(self, model: Embedder, query: str) -> Vectors:
        """Return the vector of a query."""
        return await model.embed_query(query)

    async def _has_late(self, table: PassageTable, late: Embedder) -> bool:
        """Return whether a passage has a vector of the late model; without one, it need not be loaded."""
        now = anyio.current_time()
        if not self._has_late_rows and table.names_models and now >= self._looked_at + LOOK_SECONDS:
            opened = await table.readable()
            self._has_late_rows = opened is not None and bool(await opened.count_rows(model_filter(late.name)))
            self._looked_at = now
        return self._has_late_rows

    @property
    def _models(self) -> list[str]:
        return [model.name for model in (self._embedder, self.late) if model is not None]

    def _model_of(self, text: str) -> str:
        is_late = self.late is not None and not self._embedder.supports(text)
        return self.late.name if self.late is not None and is_late else self._embedder.name

    async def _late_table(self) -> Any | None:
        """Return LanceDB's table that is written to, None if no passages wait in it for the late model."""
        async with self._tables.translated_errors():
            table = self._tables.current
            opened = await table.readable() if self.late is not None else None
        return opened if table.names_models and table.dimensions else None

    async def _live_tables(self) -> list[PassageTable]:
        """Return the model's table and, if another one serves, that too."""
        serving = await self._tables.serving()
        current = self._tables.current
        return [current] if serving is current else [current, serving]

    async def _write(self, table: PassageTable, files: Sequence[IndexedFile]) -> None:
        if not files:
            return
        lengths = (len(vector) for file in files for vector in file.vectors if vector is not None)
        wanted = next(lengths, self._embedder.dimensions) if table is self._tables.current else 0
        await table.writable(wanted)
        rows = await anyio.to_thread.run_sync(rows_to_arrow, files, table.dimensions, self._model_of)
        await table.replace(id_filter("file_id", [file.file_id for file in files]), rows)


async def _vectors(table: Any, digests: Collection[str], models: Collection[str]) -> dict[str, Vectors]:
    """Return the vectors that LanceDB's table has by these models."""
    ours, found = " OR ".join(map(model_filter, models)), dict[str, Vectors]()
    for some in _batches(digests):
        where = f"digest IN ({', '.join(map(repr, some))}) AND ({ours})"
        rows = await table.query().where(where).select(["digest", VECTOR]).to_arrow()
        pairs = zip(rows["digest"].to_pylist(), column_to_vectors(rows[VECTOR]), strict=True)
        found |= {digest: vector for digest, vector in pairs if vector is not None}
    return found


async def _files(table: PassageTable, file_ids: Collection[str], models: Collection[str]) -> dict[str, IndexedFile]:
    """Return a table's entries of files, with the vectors of these models."""
    opened = await table.readable()
    found: dict[str, IndexedFile] = {}
    if opened is None:
        return found
    shown = [*FILE_COLUMNS, *([VECTOR, MODEL] if models and table.dimensions else [])]
    for some in _batches(file_ids):
        rows = await opened.query().where(id_filter("file_id", some)).select(shown).to_arrow()
        found |= await anyio.to_thread.run_sync(arrow_to_files, rows, models)
    return found


async def _changed(table: PassageTable, files: Sequence[IndexedFile]) -> list[IndexedFile]:
    """Return the files that differ from the table's, without vectors: the table is of another model."""
    had = await _files(table, [file.file_id for file in files], ())
    changed = [file for file in files if _state_of(file) != _state_of(had.get(file.file_id))]
    return [replace(file, vectors=[None] * len(file.chunks)) for file in changed]


def _state_of(file: IndexedFile | None) -> tuple[str, int, str] | None:
    return (file.owner_id, file.version, file.content) if file and file.chunks else None


def _batches(names: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(names)
    for start in range(0, len(ordered), MAX_IDS):
        yield ordered[start : start + MAX_IDS]


def _hit(passage: Passage, score: float) -> IndexHit:
    chunk = passage.chunk
    return IndexHit(
        file_id=passage.file_id,
        version=passage.version,
        score=score,
        text=chunk.text,
        start=chunk.start,
        end=chunk.end,
        heading=chunk.heading,
        page=chunk.page,
        place=chunk.place,
    )
