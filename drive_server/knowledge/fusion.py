"""One order out of two: how well a passage fits by its words, and how near it is by its meaning. Pure."""

from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")

LEAST_SIMILARITY = 0.25


def fuse(words: Mapping[Key, float], similarities: Mapping[Key, float], weight: float) -> dict[Key, float]:
    """Return a score from 0 to 1 for each passage; each side counts as a share of its own best.

    `words` has full-text scores and lacks passages without any word of the query; `similarities` has cosines and may
    lack passages without a vector. `weight`, from 0 to 1, is how much of the score is the similarity. Shares of the
    best keep how much better one passage is than another, which ranks lose, and hold for few passages as for many.
    A passage without a word in common has to be somewhat similar to count at all.
    """
    best_words = max(words.values(), default=0.0) or 1.0
    best_similarity = max(similarities.values(), default=0.0) or 1.0
    return {
        key: (1 - weight) * words.get(key, 0.0) / best_words
        + weight * max(0.0, similarities.get(key, 0.0)) / max(best_similarity, LEAST_SIMILARITY)
        for key in {**words, **similarities}
        if key in words or similarities[key] >= LEAST_SIMILARITY
    }
