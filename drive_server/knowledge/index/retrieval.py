"""Questions to the table of passages, and one ranked answer out of what they find.

Words and meaning are asked for at the same time. Neither answer has the passages themselves: to read one from the table
costs more than to find it, so only those are read that are looked at or shown.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import Any, Literal

import anyio
import numpy as np

from drive_server.knowledge.embedding.embedder import Embedder, Vectors
from drive_server.knowledge.index.fusion import fuse, has_literal, trust_in_meaning
from drive_server.knowledge.index.matching import exactly, match_of, shortened, spelled_words
from drive_server.knowledge.index.queries import Query
from drive_server.knowledge.index.rows import PASSAGE, VECTOR, Passage, unpacked

Mode = Literal["hybrid", "text", "words", "vector"]
Question = Callable[[], Awaitable[Vectors | None]]
"""Works out the vector of what is asked; None if it has none."""

CANDIDATES = 100
"""How many passages words alone, or meaning, propose at least; the answer is ranked out of these."""

WORD_CANDIDATES = 50
"""How many words propose at least beside meaning: the vector of each is read, which costs more than all the rest."""

SEEN = 50
"""How many of the best passages by words are looked at for words that none has."""

STRICT_CANDIDATES = 1000
"""How many of a query with phrases or exclusions: most of them may not be admitted."""

MOST_CHECKED = 3
"""How many words of a query are looked up by themselves: it takes a question to the index each."""

READ_FOR_NAMES = 3
"""How many of the best passages by words are looked at for what only words can find."""

PROBES = 20
"""Partitions of the vector index that a query looks into."""

ATTEMPTS = 3
"""How often a search is made whose table changes under it."""

ROW = "_rowid"


class RowsMovedError(RuntimeError):
    """Rows that were found just now are elsewhere, or gone: the table was written or tended between two questions."""


@dataclass(slots=True)
class Found:
    """Full-text scores and cosines to the question of rows, by their ids, and those of the passages that were read."""

    words: dict[int, float] = field(default_factory=dict[int, float])
    similarities: dict[int, float] = field(default_factory=dict[int, float])
    passages: dict[int, Passage] = field(default_factory=dict[int, Passage])

    def keep(self, admits: Callable[[str], bool]) -> None:
        """Forget the rows whose passages are not admitted; all have been read."""
        for row in [row for row, passage in self.passages.items() if not admits(passage.searched)]:
            self.words.pop(row, None)
            self.similarities.pop(row, None)

    @property
    def rows(self) -> set[int]:
        """The ids of all that was found."""
        return self.words.keys() | self.similarities.keys()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for. `question` is None where meaning is not asked for, or not known."""

    query: Query
    question: Question | None
    where: str
    mode: Mode
    limit: int


async def find(table: Any, wanted: Wanted, embedder: Embedder | None) -> list[tuple[Passage, float]]:
    """Return the best passages of a table with their scores, the best first.

    Words that no passage has get a second chance as slips of the pen, when the exact ones were not enough. Phrases that
    no passage has are only words, except to who asks for exact words. `embedder` is the one of the question, if there
    is a question. Raises what LanceDB raises, and `RowsMovedError`.
    """
    for _ in range(ATTEMPTS - 1):
        with suppress(RowsMovedError):
            return await _find(table, wanted, embedder)
    return await _find(table, wanted, embedder)


async def _find(table: Any, wanted: Wanted, embedder: Embedder | None) -> list[tuple[Passage, float]]:
    retrieval = Retrieval(table, wanted)
    await retrieval.look()
    if wanted.mode != "text" and wanted.query.phrases and not retrieval.found.rows:
        retrieval = Retrieval(table, replace(wanted, query=wanted.query.without_phrases()))
        await retrieval.look()
    return await retrieval.best(embedder)


@dataclass(slots=True)
class Retrieval:
    """One search of one table."""

    table: Any
    wanted: Wanted
    found: Found = field(default_factory=Found)

    async def best(self, embedder: Embedder | None) -> list[tuple[Passage, float]]:
        """Return the best of what was found, with their scores; ties in a fixed order."""
        scores = fuse(self.found.words, self.found.similarities, await self._weight(embedder))
        best = sorted(scores, key=lambda row: (-scores[row], row))[: self.wanted.limit]
        passages = await self._read(best)
        return [(passage, scores[row]) for row, passage in zip(best, passages, strict=True)]

    async def look(self) -> None:
        """Find by words, by meaning or by both, what the query admits."""
        size = STRICT_CANDIDATES if self.wanted.query.is_strict else max(self.wanted.limit, CANDIDATES)
        if self.wanted.question is None:
            await self._find_by_words(size)
        elif self.wanted.mode == "vector":
            await self._find_similar(await self.wanted.question(), size)
        else:
            await self._find_both(self.wanted.question, size)
        if self.wanted.query.is_strict:
            await self._read(self.found.rows)
            self.found.keep(self.wanted.query.admission())

    async def _find_both(self, question: Question, size: int) -> None:
        """Ask for words while the question's vector is worked out and asked for."""
        vectors: list[Vectors] = []

        async def find_similar() -> None:
            vector = await question()
            await self._find_similar(vector, size)
            vectors.extend([vector] if vector is not None else [])

        answers: list[Any] = []
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(find_similar)
                words = size if self.wanted.query.is_strict else max(self.wanted.limit, WORD_CANDIDATES)
                answers += await self._find_by_words(words)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        for vector, answer in ((vector, answer) for vector in vectors for answer in answers):
            self.found.similarities.update(_similarities(answer, vector))

    async def _find_by_words(self, size: int) -> list[Any]:
        """Find passages with the words; return the answers, which have the vectors of theirs if there is a question."""
        misspelled: list[str] | None = None
        if self.wanted.mode == "text":
            misspelled = await self._find_every_word(size if self.wanted.query.is_strict else self.wanted.limit)
            # Any of one word is every one of them; Chinese is indexed as several.
            if self.found.words or spelled_words(self.wanted.query) == [self.wanted.query.words]:
                return []
        answers = [await self._find_words(match_of(self.wanted.query, every_word=False), size)]
        if misspelled is None:
            misspelled = await self._unknown()
        if misspelled:
            answers.append(
                await self._find_words(match_of(self.wanted.query, every_word=False, misspelled=misspelled), size)
            )
        return answers

    async def _find_every_word(self, size: int) -> list[str] | None:
        """Return the words that no passage has, if they were looked for."""
        await self._find_words(match_of(self.wanted.query, every_word=True), size)
        if self.found.words:
            return None
        misspelled = await self._unknown()
        if misspelled:
            await self._find_words(match_of(self.wanted.query, every_word=True, misspelled=misspelled), size)
        return misspelled

    async def _find_words(self, match: Any, size: int) -> Any:
        """Add the passages that match, best first by BM25."""
        columns = [ROW, "_score", *([VECTOR] if self.wanted.question is not None else [])]
        asked = self.table.query().nearest_to_text(match).where(self.wanted.where).limit(size)
        answer = await asked.select(columns).to_arrow()
        self.found.words.update(zip(answer[ROW].to_pylist(), answer["_score"].to_pylist(), strict=True))
        return answer

    async def _find_similar(self, vector: Vectors | None, size: int) -> None:
        """Add the passages nearest to a vector."""
        if vector is None:
            return
        asked = self.table.query().nearest_to(vector).column(VECTOR).distance_type("dot").nprobes(PROBES)
        answer = await asked.where(self.wanted.where).limit(size).select([ROW, "_distance"]).to_arrow()
        distances = answer["_distance"].to_pylist()
        rows = answer[ROW].to_pylist()
        self.found.similarities.update({row: 1 - distance for row, distance in zip(rows, distances, strict=True)})

    async def _unknown(self) -> list[str]:
        """Return the words of the query that no passage has.

        The index is asked only about those that are not to be seen in what was found: a rare word brings its passages
        to the top, so it would be there.
        """
        if not spelled_words(self.wanted.query):
            return []
        best = nlargest(SEEN, self.found.words, key=lambda row: self.found.words[row])
        seen = "\n".join([passage.searched for passage in await self._read(best)]).casefold()
        missing = [word for word in spelled_words(self.wanted.query) if shortened(word) not in seen]
        asked = sorted(missing, key=len, reverse=True)[:MOST_CHECKED]
        return [word for word in asked if not await self._is_known(word)]

    async def _is_known(self, word: str) -> bool:
        """Return whether a passage has the word: one in the index or else, which takes longer, one that is not yet."""

        def asked() -> Any:
            return (
                self.table.query()
                .nearest_to_text(exactly(word))
                .where(self.wanted.where)
                .limit(1)
                .select([ROW, "_score"])
            )

        return len(await asked().fast_search().to_arrow()) > 0 or len(await asked().to_arrow()) > 0

    async def _read(self, rows: Iterable[int]) -> list[Passage]:
        """Return the passages of rows, each of which is read once."""
        wanted = list(rows)
        missing = [row for row in wanted if row not in self.found.passages]
        if missing:
            answer = await self.table.take_row_ids(missing).with_row_id().select([PASSAGE]).to_arrow()
            pairs = zip(answer[ROW].to_pylist(), answer[PASSAGE].to_pylist(), strict=True)
            self.found.passages.update({row: unpacked(stored) for row, stored in pairs})
        try:
            return [self.found.passages[row] for row in wanted]
        except KeyError as error:
            raise RowsMovedError from error

    async def _weight(self, embedder: Embedder | None) -> float:
        words = self.found.words
        if not words or not self.found.similarities or embedder is None:
            return float(not words)
        best = nlargest(READ_FOR_NAMES, words, key=lambda row: words[row])
        texts = [passage.searched for passage in await self._read(best)]
        is_literal = has_literal(self.wanted.query.words, embedder.knows, texts)
        return embedder.weight * trust_in_meaning(self.found.similarities.values(), is_literal=is_literal)


def _similarities(answer: Any, vector: Vectors) -> dict[int, float]:
    """Return the cosine of each row that has a vector: as a list of floats they would take ten times as long."""
    column = answer[VECTOR].combine_chunks()
    values = np.asarray(column.values)[column.offset * len(vector) :][: len(column) * len(vector)]
    cosines = values.reshape(len(column), len(vector)) @ vector
    known: list[bool] = column.is_valid().to_pylist()
    rows: Collection[int] = answer[ROW].to_pylist()
    return {row: float(cosine) for row, cosine, valid in zip(rows, cosines, known, strict=True) if valid}
