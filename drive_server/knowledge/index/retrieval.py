"""Retrieval from a table of passages: full-text and vector search, fused into one ranking."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import nlargest
from statistics import fmean
from typing import Any, Literal

import anyio
import numpy as np

from drive_server.kernel.text.characters import fold_words
from drive_server.knowledge.embedding.embedder import (
    CjkEmbedder,
    CrossingEmbedder,
    Embedder,
    LocalEmbedder,
    Nearness,
    Vectors,
)
from drive_server.knowledge.index.evidence import (
    ENOUGH_BY_WORDS,
    Coverage,
    Rarity,
    best_of,
    is_near,
    rarity_of,
    terms_of,
    with_agreement,
)
from drive_server.knowledge.index.fusion import (
    CJK_TRUST,
    QUESTION,
    TRUST,
    WESTERN_TRUST,
    Side,
    Trust,
    above_field,
    cosine_of,
    field_of,
    fuse,
    scaled,
    share_beside,
    spread_of,
)
from drive_server.knowledge.index.matching import correctable_words, match_query, word_query, word_stem
from drive_server.knowledge.index.queries import Query
from drive_server.knowledge.index.rows import MODEL, PASSAGE, VECTOR, Passage, column_to_vectors, deserialize

Mode = Literal["hybrid", "text", "words", "vector"]
QueryVector = Callable[[], Awaitable[Vectors | None]]
"""Returns the vector of the query, None if there is none."""

CANDIDATES = 100
"""The least number of candidates of a search by words alone, or by vectors."""

WORD_CANDIDATES = 50
"""The same of the words in a hybrid search: the vector of each is read, which costs more than all the rest."""

CHECKED_PASSAGES = 50
"""How many of the best passages by words are checked for the words of the query."""

STRICT_CANDIDATES = 1000
"""The candidates of a query with phrases or exclusions: most of them may be filtered out."""

COVERED_PASSAGES = 20
"""How many of the best passages by words, and of the nearest, are searched for words of a question."""

MEASURED_PASSAGES = 10
"""How many of the nearest passages are measured for how much words count in a question."""

COMPARED_PASSAGES = 5
"""How many passages in another language are compared by the other model too."""

MAX_CHECKED_WORDS = 3
"""The most words of a query that are looked up beyond the best passages: some take a query of the index each."""

PROBES = 20
"""Partitions of the vector index that a query reads."""

ATTEMPTS = 3
"""The attempts at a search whose table changes under it."""

ROW = "_rowid"


class RowsMovedError(RuntimeError):
    """Rows moved or vanished between two queries, because the table was written or maintained."""


@dataclass(slots=True)
class Candidates:
    """Full-text scores by row id, similarities by model and row id, and the passages as they are stored."""

    words: dict[int, float] = field(default_factory=dict[int, float])
    similarities: dict[str, dict[int, float]] = field(default_factory=dict[str, dict[int, float]])
    stored: dict[int, str] = field(default_factory=dict[int, str])
    _passages: dict[int, Passage] = field(default_factory=dict[int, Passage])

    def filter(self, admits: Callable[[str], bool]) -> None:
        """Drop the rows whose passages are not admitted."""
        for row in [row for row in self.stored if not admits(self.passage(row).search_text)]:
            for found in (self.words, *self.similarities.values()):
                found.pop(row, None)

    def add_passages(self, answer: Any) -> None:
        """Keep the passages of an answer's rows."""
        self.stored.update(zip(answer[ROW].to_pylist(), answer[PASSAGE].to_pylist(), strict=True))

    def passage(self, row: int) -> Passage:
        """Return the passage of a row that was found."""
        if row not in self._passages:
            self._passages[row] = deserialize(self.stored[row])
        return self._passages[row]

    def drop_words(self) -> None:
        """Drop the rows that only have words in common with the query."""
        near = {row for found in self.similarities.values() for row in found}
        self.words = {row: score for row, score in self.words.items() if row in near}

    @property
    def rows(self) -> set[int]:
        """The ids of all candidates."""
        return self.words.keys() | {row for found in self.similarities.values() for row in found}


@dataclass(frozen=True, slots=True)
class ModelQuery:
    """A model that is asked, the query's vector by it, and the SQL condition on rows with its vectors, if any.

    `nearness` is the least that an answer needs, None if that is not known. `is_foreign`: the query is in another
    language than the model's passages, which count only if one of them is an answer; `crossing` compares them by the
    other model too.
    """

    embedder: Embedder
    vector: QueryVector
    where: str = ""
    nearness: Nearness | None = None
    is_foreign: bool = False
    crossing: CrossingEmbedder | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. There are no `models` in a search by words, or if none has a vector for the query."""

    query: Query
    models: Sequence[ModelQuery]
    where: str
    mode: Mode
    limit: int
    answers_only: bool = False


async def find(table: Any, request: SearchRequest) -> list[tuple[Passage, float]]:
    """Return the best passages of a table with their scores, the best first.

    If no passage has a word, similar words count as well. If no passage has the phrases, their words count, but not in
    mode `text`. Raises LanceDB's errors and `RowsMovedError`.
    """
    for _ in range(ATTEMPTS - 1):
        with suppress(RowsMovedError):
            return await _find(table, request)
    return await _find(table, request)


async def _find(table: Any, request: SearchRequest) -> list[tuple[Passage, float]]:
    retrieval = Retrieval(table, request)
    await retrieval.run()
    if request.mode != "text" and request.query.phrases and not retrieval.candidates.rows:
        retrieval = Retrieval(table, replace(request, query=request.query.without_phrases()))
        await retrieval.run()
    return await retrieval.best()


@dataclass(slots=True)
class Retrieval:
    """One search of one table."""

    table: Any
    request: SearchRequest
    candidates: Candidates = field(default_factory=Candidates)
    misspelled: list[str] = field(default_factory=list[str])
    vectors: dict[str, Vectors] = field(default_factory=dict[str, Vectors])
    _coverages: dict[int, Coverage] | None = None

    async def best(self) -> list[tuple[Passage, float]]:
        """Return the best candidates with their scores; ties in a fixed order."""
        is_judged = self.request.answers_only or any(model.is_foreign for model in self.request.models)
        if self.request.mode != "vector" and is_judged and not await self._is_answered() and self.request.answers_only:
            return []
        sides = [self.side(model.embedder) for model in self.request.models]
        if sum(bool(side.similarities) for side in sides) > 1:
            sides = [above_field(side) for side in sides]
        scores = fuse(self.candidates.words, sides)
        best = sorted(scores, key=lambda row: (-scores[row], row))[: self.request.limit]
        passages = self._passages(best)
        _require_one_state(passages)
        return [(passage, scores[row]) for row, passage in zip(best, passages, strict=True)]

    async def run(self) -> None:
        """Find candidates by words, vectors or both, and apply the query's phrases and exclusions."""
        size = STRICT_CANDIDATES if self.request.query.is_strict else max(self.request.limit, CANDIDATES)
        if not self.request.models:
            await self._find_by_words(size)
        elif self.request.mode == "vector":
            for model in self.request.models:
                await self._find_similar(model, await model.vector(), size)
        else:
            await self._find_both(size)
        if self.request.query.is_strict:
            self.candidates.filter(self.request.query.passage_filter())

    async def _find_both(self, size: int) -> None:
        """Search by words while the query is embedded and searched by its vectors."""
        vectors: dict[Embedder, Vectors] = {}

        async def find_similar(model: ModelQuery) -> None:
            vector = await model.vector()
            await self._find_similar(model, vector, size)
            if vector is not None:
                vectors[model.embedder] = self.vectors[model.embedder.name] = vector

        answers: list[Any] = []
        try:
            async with anyio.create_task_group() as group:
                for model in self.request.models:
                    group.start_soon(find_similar, model)
                words = size if self.request.query.is_strict else max(self.request.limit, WORD_CANDIDATES)
                answers += await self._find_by_words(words)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        for embedder, vector in vectors.items():
            for answer in answers:
                self._add_similarities(embedder, _cosines(answer, vector, embedder.name))

    async def _find_by_words(self, size: int) -> list[Any]:
        """Find passages with the words. Return the answers, with the rows' vectors in a hybrid search."""
        misspelled: list[str] | None = None
        if self.request.mode == "text":
            misspelled = await self._find_every_word(size if self.request.query.is_strict else self.request.limit)
            # Any of one word is every one of them; Chinese is indexed as several.
            if self.candidates.words or correctable_words(self.request.query) == [self.request.query.words]:
                return []
        answers = [await self._find_words(match_query(self.request.query, every_word=False), size)]
        if misspelled is None:
            misspelled = await self._missing_words()
        self.misspelled = misspelled
        if misspelled:
            answers.append(
                await self._find_words(match_query(self.request.query, every_word=False, misspelled=misspelled), size)
            )
        return answers

    async def _find_every_word(self, size: int) -> list[str] | None:
        """Return the words that no passage has; None if not checked."""
        await self._find_words(match_query(self.request.query, every_word=True), size)
        if self.candidates.words:
            return None
        misspelled = await self._missing_words()
        if misspelled:
            await self._find_words(match_query(self.request.query, every_word=True, misspelled=misspelled), size)
        return misspelled

    async def _find_words(self, match: Any, size: int) -> Any:
        """Add the passages that match, best first by BM25."""
        columns = [ROW, "_score", PASSAGE, *([VECTOR] if self.request.models else [])]
        columns += [MODEL] if any(model.where for model in self.request.models) else []
        asked = self.table.query().nearest_to_text(match).where(self.request.where).limit(size)
        answer = await asked.select(columns).to_arrow()
        self.candidates.words.update(zip(answer[ROW].to_pylist(), answer["_score"].to_pylist(), strict=True))
        self.candidates.add_passages(answer)
        return answer

    async def _find_similar(self, model: ModelQuery, vector: Vectors | None, size: int) -> None:
        """Add the passages nearest to a vector, of those with vectors of its model."""
        if vector is None:
            return
        asked = self.table.query().nearest_to(vector).column(VECTOR).distance_type("dot").nprobes(PROBES)
        where = f"({self.request.where}) AND {model.where}" if model.where else self.request.where
        answer = await asked.where(where).limit(size).select([ROW, "_distance", PASSAGE]).to_arrow()
        self.candidates.add_passages(answer)
        distances = answer["_distance"].to_pylist()
        rows = answer[ROW].to_pylist()
        self._add_similarities(model.embedder, {row: 1 - far for row, far in zip(rows, distances, strict=True)})

    def _add_similarities(self, embedder: Embedder, cosines: dict[int, float]) -> None:
        found = self.candidates.similarities.setdefault(embedder.name, {})
        found.update({row: scaled(cosine, embedder.floor) for row, cosine in cosines.items()})

    async def _missing_words(self) -> list[str]:
        """Return the words of the query that no passage has."""
        if not correctable_words(self.request.query):
            return []
        best = _best(CHECKED_PASSAGES, self.candidates.words)
        best_texts = fold_words("\n".join([passage.search_text for passage in self._passages(best)]))
        missing = [word for word in correctable_words(self.request.query) if word_stem(word) not in best_texts]
        asked = sorted(missing, key=len, reverse=True)[:MAX_CHECKED_WORDS]
        # Often no passage has any of them: then one query says so.
        if len(asked) > 1 and not await self._has_any(asked):
            return asked
        return [word for word in asked if not await self._has_any([word])]

    async def _has_any(self, words: list[str]) -> bool:
        """Return whether a passage has one of the words, in any of its forms."""
        asked = self.table.query().nearest_to_text(word_query(" ".join(words))).where(self.request.where)
        return len(await asked.limit(1).select([ROW, "_score"]).to_arrow()) > 0

    def _passages(self, rows: Iterable[int]) -> list[Passage]:
        """Return the passages of rows: each query has read those that it found, which costs less than another query."""
        return [self.candidates.passage(row) for row in rows]

    async def _is_answered(self) -> bool:
        """Return whether a passage is an answer by its words or meaning; drop the models that have none near."""
        coverages = self.coverages()
        covered = best_of(coverages.values())
        is_answered = covered.is_answer or bool(self.request.query.phrases and self.candidates.rows)
        asked = [model for model in self.request.models if self.candidates.similarities.get(model.embedder.name)]
        near = [model for model in asked if await self._is_near(model, coverages)]
        has_words = covered.share >= ENOUGH_BY_WORDS
        for model in asked:
            if model not in near and (model.is_foreign or (near and not has_words)):
                del self.candidates.similarities[model.embedder.name]
        if near and all(model.is_foreign for model in near) and not has_words:
            self.candidates.drop_words()
        if all(model.is_foreign for model in asked):
            is_answered = is_answered or has_words
        return is_answered or bool(near)

    def coverages(self) -> dict[int, Coverage]:
        """Return the coverage of the best passages by words, and of the nearest ones if words count for their model."""
        if self._coverages is None:
            self._coverages = self._look_through()
        return self._coverages

    def _look_through(self) -> dict[int, Coverage]:
        terms = terms_of(self.request.query.words, self.misspelled)
        models = [one.embedder.name for one in self.request.models if one.nearness and one.nearness.counts_words]
        sides = (self.candidates.words, *(self.candidates.similarities.get(name, {}) for name in models))
        rows = {row for side in sides for row in _best(COVERED_PASSAGES, side)}
        passages = zip(rows, self._passages(rows), strict=True)
        return {row: terms.coverage(passage.search_text) for row, passage in passages}

    async def _is_near(self, model: ModelQuery, coverages: Mapping[int, Coverage]) -> bool:
        """Return whether a passage is near enough for the words that it has."""
        if model.nearness is None:
            return True
        floor, found = model.embedder.floor, self.candidates.similarities[model.embedder.name]
        if not model.nearness.counts_words:
            level = cosine_of(field_of(found.values()), floor)
            cosine = cosine_of(max(found.values()), floor) - model.nearness.field * level
            if model.crossing is not None:
                cosine = with_agreement(cosine, await self._other_cosine(model, model.crossing))
            return is_near(cosine, Coverage(), Rarity(), model.nearness)
        rarity = rarity_of(coverages.values())
        return any(
            is_near(cosine_of(found[row], floor), covered, rarity, model.nearness)
            for row, covered in coverages.items()
            if row in found
        )

    async def _other_cosine(self, model: ModelQuery, crossing: CrossingEmbedder) -> float:
        """Return the best cosine of the nearest passages by the model of the question, 0 if that has no vector."""
        vector = self.vectors.get(crossing.name)
        found = self.candidates.similarities[model.embedder.name]
        nearest = _best(COMPARED_PASSAGES, found)
        if vector is None:
            return 0.0
        answer = await self.table.take_row_ids(nearest).select([VECTOR]).to_arrow()
        vectors = [one for one in column_to_vectors(answer[VECTOR]) if one is not None]
        return float((crossing.cross_passages(np.array(vectors)) @ vector).max()) if vectors else 0.0

    def side(self, embedder: Embedder) -> Side[int]:
        """Return the similarities of a model, and how far they count for this query."""
        found = self.candidates.similarities.get(embedder.name, {})
        if not found or (not self.candidates.words and len(self.request.models) == 1):
            return Side(found, 1.0)
        share = embedder.weight * _trust_in(embedder).of(spread_of(found.values()))
        if isinstance(embedder, LocalEmbedder):
            share = share_beside(self._share_of_question(share, found), self._covered_by_words())
        return Side(found, share)

    def _share_of_question(self, share: float, found: Mapping[int, float]) -> float:
        """Return a model's share, more if the query is a question that short passages are near to."""
        if not self.request.query.is_question:
            return share
        nearest = self._passages(_best(MEASURED_PASSAGES, found))
        return QUESTION.of(share, fmean(len(passage.search_text) for passage in nearest))

    def _covered_by_words(self) -> float:
        """Return how much of the query the best passage by words has, less if some of it is in no passage."""
        words = self.candidates.words
        coverages = self.coverages() if words else {}
        best = max((row for row in coverages if row in words), key=lambda row: (words[row], -row), default=None)
        if best is None:
            return 1.0
        rarity = rarity_of(coverages.values())
        return rarity.share(coverages[best].words) * (1 - rarity.missing)


def _trust_in(embedder: Embedder) -> Trust:
    """Return how the share of a model grows."""
    if isinstance(embedder, CjkEmbedder):
        return CJK_TRUST
    return WESTERN_TRUST if isinstance(embedder, LocalEmbedder) else TRUST


def _require_one_state(passages: Sequence[Passage]) -> None:
    """Raise `RowsMovedError` if one query found rows that another one no longer did, because they were replaced."""
    versions = {passage.file_id: passage.version for passage in passages}
    places = {(passage.file_id, passage.chunk.ordinal) for passage in passages}
    if len(places) < len(passages) or any(versions[passage.file_id] != passage.version for passage in passages):
        raise RowsMovedError


def _best(number: int, found: Mapping[int, float]) -> list[int]:
    """Return the rows with the best scores."""
    return nlargest(number, found, key=lambda row: found[row])


def _cosines(answer: Any, vector: Vectors, model: str) -> dict[int, float]:
    """Return the cosine of each row with a vector of a model: as a list of floats they would take ten times as long."""
    column = answer[VECTOR].combine_chunks()
    values = np.asarray(column.values)[column.offset * len(vector) :][: len(column) * len(vector)]
    cosines = values.reshape(len(column), len(vector)) @ vector
    is_valid: list[bool] = column.is_valid().to_pylist()
    if MODEL in answer.column_names:
        is_valid = [name == model for name in answer[MODEL].to_pylist()]
    rows: Collection[int] = answer[ROW].to_pylist()
    return {row: float(cosine) for row, cosine, valid in zip(rows, cosines, is_valid, strict=True) if valid}
