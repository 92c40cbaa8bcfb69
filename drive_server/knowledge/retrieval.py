"""Questions to the table of passages, and one ranked answer out of what they find."""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, Literal

import numpy as np

from drive_server.knowledge.coverage import coverage
from drive_server.knowledge.embed import Vectors
from drive_server.knowledge.fusion import fuse, weight_of_meaning
from drive_server.knowledge.matching import exactly, match_of, shortened, spelled_words
from drive_server.knowledge.queries import Query
from drive_server.knowledge.rows import STORED

Mode = Literal["hybrid", "text", "words", "vector"]

CANDIDATES = 100
"""How many passages each side proposes at least; the answer is ranked out of these."""

STRICT_CANDIDATES = 1000
"""How many of a query with phrases or exclusions: most of them may not be admitted."""

MOST_CHECKED = 3
"""How many words of a query are looked up by themselves: it takes a question to the index each."""

READ_FOR_COVERAGE = 3
"""How many of the best passages by words are looked at for how much of the query they have."""

PROBES = 20
"""Partitions of the vector index that a query looks into."""

Key = tuple[str, int]
"""A passage: the file's id and the passage's ordinal."""


@dataclass(slots=True)
class Found:
    """Rows by passage, with their full-text scores and their cosines to the question, as far as each is known."""

    rows: dict[Key, dict[str, Any]] = field(default_factory=dict[Key, dict[str, Any]])
    words: dict[Key, float] = field(default_factory=dict[Key, float])
    similarities: dict[Key, float] = field(default_factory=dict[Key, float])

    def keep(self, admits: Callable[[str], bool]) -> None:
        """Forget the passages whose text is not admitted."""
        for key in [key for key, row in self.rows.items() if not admits(_text(row))]:
            del self.rows[key]
            self.words.pop(key, None)
            self.similarities.pop(key, None)


async def find(table: Any, query: Query, vector: Vectors | None, where: str, mode: Mode, limit: int) -> Found:
    """Return what the table has for a query, as far as it admits it.

    Words that no passage has get a second chance as slips of the pen, when the exact ones were not enough. Phrases
    that no passage has are only words, except to who asks for exact words.
    """
    found = Found()
    size = STRICT_CANDIDATES if query.is_strict else max(limit, CANDIDATES)
    misspelled: list[str] | None = None
    if vector is not None:
        await find_similar(found, table, vector, where, size)
    if mode == "text":
        every = max(limit, size) if query.is_strict else limit
        misspelled = await _find_every_word(found, table, query, where, every)
    # Any of one word is every one of them; Chinese is indexed as several.
    if mode != "vector" and not found.words and (mode != "text" or spelled_words(query) != [query.words]):
        await _find_any_word(found, table, query, where, size, vector, misspelled)
    if query.is_strict:
        found.keep(query.admission())
    if mode != "text" and query.phrases and not found.rows:
        return await find(table, query.without_phrases(), vector, where, mode, limit)
    return found


async def _find_every_word(found: Found, table: Any, query: Query, where: str, limit: int) -> list[str] | None:
    """Return the words that no passage has, if they were looked for."""
    await find_words(found, table, match_of(query, every_word=True), where, limit)
    if found.words:
        return None
    misspelled = await _unknown(found, table, query, where)
    if misspelled:
        await find_words(found, table, match_of(query, every_word=True, misspelled=misspelled), where, limit)
    return misspelled


async def _find_any_word(
    found: Found,
    table: Any,
    query: Query,
    where: str,
    limit: int,
    vector: Vectors | None,
    misspelled: list[str] | None,
) -> None:
    await find_words(found, table, match_of(query, every_word=False), where, limit, vector)
    if misspelled is None:
        misspelled = await _unknown(found, table, query, where)
    if misspelled:
        await find_words(found, table, match_of(query, every_word=False, misspelled=misspelled), where, limit, vector)


async def _unknown(found: Found, table: Any, query: Query, where: str) -> list[str]:
    """Return the words of a query that no passage has.

    The index is asked only about those that are not to be seen in what was found: a rare word brings its passages to
    the top, so it would be there.
    """
    seen = "\n".join(_text(found.rows[key]) for key in found.words).casefold()
    missing = [word for word in spelled_words(query) if shortened(word) not in seen]
    asked = sorted(missing, key=len, reverse=True)[:MOST_CHECKED]
    return [word for word in asked if not await _is_known(table, word, where)]


async def _is_known(table: Any, word: str, where: str) -> bool:
    answer = (
        await table.query()
        .nearest_to_text(exactly(word))
        .where(where)
        .limit(1)
        .select(["ordinal", "_score"])
        .to_arrow()
    )
    return answer.num_rows > 0


async def find_words(
    found: Found, table: Any, match: Any, where: str, limit: int, vector: Vectors | None = None
) -> None:
    """Add the passages that match, best first by BM25; with `vector`, also how near each is to it."""
    columns = [*STORED, "_score", *(["vector"] if vector is not None else [])]
    answer = await table.query().nearest_to_text(match).where(where).limit(limit).select(columns).to_arrow()
    keys = _add_rows(found, answer)
    found.words.update(zip(keys, answer["_score"].to_pylist(), strict=True))
    if vector is not None:
        found.similarities.update(_similarities(keys, answer["vector"].combine_chunks(), vector))


async def find_similar(found: Found, table: Any, vector: Vectors, where: str, limit: int) -> None:
    """Add the passages nearest to a vector."""
    question = table.query().nearest_to(vector).column("vector").distance_type("dot").nprobes(PROBES)
    answer = await question.where(where).limit(limit).select([*STORED, "_distance"]).to_arrow()
    keys = _add_rows(found, answer)
    distances = answer["_distance"].to_pylist()
    found.similarities.update({key: 1 - distance for key, distance in zip(keys, distances, strict=True)})


def ranked(found: Found, query: Query, most: float) -> list[tuple[dict[str, Any], float]]:
    """Return the rows with their fused scores, best first; ties in a fixed order.

    `most`, from 0 to 1, is how much of a score may be meaning.
    """
    scores = fuse(found.words, found.similarities, _weight(found, query, most))
    order = sorted(scores, key=lambda key: (-scores[key], key))
    return [(found.rows[key], scores[key]) for key in order]


def _weight(found: Found, query: Query, most: float) -> float:
    if not found.words or not found.similarities:
        return float(not found.words)
    best = nlargest(READ_FOR_COVERAGE, found.words, key=lambda key: found.words[key])
    share = coverage(query.words, [_text(found.rows[key]) for key in best])
    return weight_of_meaning(found.similarities.values(), share, most)


def _text(row: dict[str, Any]) -> str:
    """Return what is searched of a passage: under its headings."""
    return f"{row['heading']}\n{row['text']}"


def _add_rows(found: Found, answer: Any) -> list[Key]:
    rows: list[dict[str, Any]] = answer.select(list(STORED)).to_pylist()
    keys = [(row["file_id"], row["ordinal"]) for row in rows]
    found.rows.update(zip(keys, rows, strict=True))
    return keys


def _similarities(keys: list[Key], column: Any, vector: Vectors) -> dict[Key, float]:
    """Return the cosine of each passage that has a vector: as a list of floats they would take ten times as long."""
    values = np.asarray(column.values)[column.offset * len(vector) :][: len(keys) * len(vector)]
    cosines = values.reshape(len(keys), len(vector)) @ vector
    known = column.is_valid().to_pylist()
    return {key: float(cosine) for key, cosine, valid in zip(keys, cosines, known, strict=True) if valid}
