"""Questions to the table of passages, and one ranked answer out of what they find."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drive_server.knowledge.embed import Vectors
from drive_server.knowledge.fusion import fuse
from drive_server.knowledge.rows import STORED
from drive_server.knowledge.words import queried_words

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


async def find_words(
    found: Found, table: Any, query: str, where: str, limit: int, *, every_word: bool, vector: Vectors | None = None
) -> None:
    """Add the passages with the query's words, best first by BM25; with `vector`, also how near each is to it."""
    from lancedb.query import FullTextOperator, MatchQuery

    operator = FullTextOperator.AND if every_word else FullTextOperator.OR
    make: Any = MatchQuery  # its defaults are pydantic's, which a type checker takes for missing arguments
    match = make(queried_words(query), "words", operator=operator)
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


def ranked(found: Found, weight: float) -> list[tuple[dict[str, Any], float]]:
    """Return the rows with their fused scores, best first; ties in a fixed order."""
    scores = fuse(found.words, found.similarities, weight)
    order = sorted(scores, key=lambda key: (-scores[key], key))
    return [(found.rows[key], scores[key]) for key in order]


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
