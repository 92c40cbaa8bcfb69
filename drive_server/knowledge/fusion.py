"""One order out of two: how well a passage fits by its words, and how near it is by its meaning. Pure.

Which side to believe is decided for each query by what both have found: words are sure of themselves when one passage
has all of them, as after a few key words; meaning is when its best stands out from the field, as after a question.
Both are shares, so they hold for any length of query and for any model's range of cosines.
"""

from collections.abc import Collection, Mapping
from heapq import nlargest
from statistics import fmean
from typing import TypeVar

Key = TypeVar("Key")

LEAST_SIMILARITY = 0.25
FIELD = slice(10, 50)
"""The places whose mean is what similarity counts for nothing; before them may be answers."""
LEAST_FIELD = 20
UNSURE, SURE = 0.2, 0.5
LEAST_TRUST = 0.02
STEEPNESS = 7
"""How fast the trust in words falls when some are missing: what is left may stand together by chance."""


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


def trust_in_meaning(similarities: Collection[float]) -> float:
    """Return from the cosines that were found, from 0 to 1, how far the best stands above the field."""
    best, *others = nlargest(FIELD.stop, similarities)
    field = fmean([best, *others][FIELD]) if len(others) >= LEAST_FIELD else LEAST_SIMILARITY
    above = (best - field) / (1 - field) if field < 1 else 0.0
    return min(1.0, max(LEAST_TRUST, (above - UNSURE) / (SURE - UNSURE)))


def trust_in_words(coverage: float) -> float:
    """Return, from 0 to 1, how sure words are when the best passages have that share of them."""
    return coverage**STEEPNESS


def weight_of_meaning(similarities: Collection[float], coverage: float, most: float) -> float:
    """Return the weight for `fuse`: `most`, the model's own, less so the surer the words and the vaguer the meaning."""
    meaning = trust_in_meaning(similarities)
    return most * meaning / (meaning + trust_in_words(coverage))
