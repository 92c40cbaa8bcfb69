"""Score fusion: one ranking from full-text scores and vector similarities. Pure.

On the collections that the weights were chosen on, and on one held out (NPL), four parts of similarity and one of words
are at least as good as the better of the two. Similarity is useless where no passage stands out, as after a name or a
number, which only words can find. So the distance of the best cosine above the field decides for each query, as a share
of the range above the field, which holds for any model's range of cosines.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from statistics import fmean
from typing import Generic, TypeVar

from drive_server.knowledge.text.characters import CJK, fold
from drive_server.knowledge.text.words import identifiers

Key = TypeVar("Key")

MIN_SIMILARITY = 0.25
FIELD = slice(10, 50)
"""The ranks whose mean cosine is the background level; the ranks before them may be answers."""
MIN_FIELD = 20
MIN_CONFIDENCE = 0.05
CONFIDENCE_RANGE = (0.1, 0.2)
"""The distance above the field from which similarity counts, and from which it counts in full."""
CONFIDENCE_RANGE_OF_NAMES = (0.2, 0.35)
"""The same if a passage has a word of the query that the model does not know."""


@dataclass(frozen=True, slots=True)
class Side(Generic[Key]):
    """The similarities that one model found. `weight`, from 0 to 1, is their share in the scores of its passages."""

    similarities: Mapping[Key, float]
    weight: float


def fuse(words: Mapping[Key, float], sides: Sequence[Side[Key]]) -> dict[Key, float]:
    """Return a score from 0 to 1 for each passage; words and each model's similarities count as shares of their best.

    `words` has full-text scores. A passage without a vector, as in a language that no model supports, is scored by its
    words alone. Each passage has a vector of one model at most, and those of two models are never compared. Shares of
    the best preserve the distances between passages, which ranks lose. A passage without a word in common needs
    `MIN_SIMILARITY`.
    """
    best_words = max(words.values(), default=0.0) or 1.0
    scores = {key: score / best_words for key, score in words.items()}
    for side in sides:
        best = max(MIN_SIMILARITY, *side.similarities.values()) if side.similarities else MIN_SIMILARITY
        for key, similarity in side.similarities.items():
            if key in words or similarity >= MIN_SIMILARITY:
                share = (1 - side.weight) * scores.get(key, 0.0)
                scores[key] = share + side.weight * max(0.0, similarity) / best
    return scores


def scaled(cosine: float, floor: float) -> float:
    """Return a cosine as a similarity: 0 at the model's floor, 1 for the same text."""
    return (cosine - floor) / (1 - floor)


def vector_confidence(similarities: Collection[float], *, is_literal: bool = False) -> float:
    """Return, from 0 to 1, how far the best cosine stands above the field.

    `is_literal`: a passage has a word of the query that the model does not know, so the best must stand out further.
    """
    best, *others = nlargest(FIELD.stop, similarities)
    field = fmean([best, *others][FIELD]) if len(others) >= MIN_FIELD else MIN_SIMILARITY
    above = (best - field) / (1 - field) if field < 1 else 0.0
    nothing, everything = CONFIDENCE_RANGE_OF_NAMES if is_literal else CONFIDENCE_RANGE
    return min(1.0, max(MIN_CONFIDENCE, (above - nothing) / (everything - nothing)))


_WORD = re.compile(rf"[^\W{CJK}]+")


def has_exact_match(query: str, knows: Callable[[str], bool], passages: Iterable[str]) -> bool:
    """Return whether a passage has an identifier of the query, or a word that the model does not know."""
    wanted = fold(query).casefold()
    named = set(identifiers(wanted))
    unknown = {word for word in _WORD.findall(wanted) if not knows(word)}
    if not named and not unknown:
        return False
    texts = [fold(passage).casefold() for passage in passages]
    return any(not named.isdisjoint(identifiers(text)) or not unknown.isdisjoint(_WORD.findall(text)) for text in texts)
