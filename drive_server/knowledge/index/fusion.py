"""One order out of two: how well a passage fits by its words, and how near it is by its meaning. Pure.

Meaning counts for most where it says anything: on the collections of questions that it was chosen on, and on one (NPL)
that had no say, four parts of meaning and one of words are at least as good as the better one. It says nothing where
no passage stands out from the field, as after a name or a number, which only words can find; so how far the best stands
out decides for each query. That is a share of what is left above the field, and holds for any model's range of cosines.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from heapq import nlargest
from statistics import fmean
from typing import TypeVar

from drive_server.knowledge.text.characters import CJK, fold
from drive_server.knowledge.text.words import identifiers

Key = TypeVar("Key")

LEAST_SIMILARITY = 0.25
FIELD = slice(10, 50)
"""The places whose mean is what similarity counts for nothing; before them may be answers."""
LEAST_FIELD = 20
LEAST_TRUST = 0.05
SENSE = (0.1, 0.2)
"""How far above the field meaning begins to count, and from where on it counts in full."""
SENSE_OF_NAMES = (0.2, 0.35)
"""The same where a word of the query is only a string of letters to the model, and stands in a passage as it is."""


def fuse(words: Mapping[Key, float], similarities: Mapping[Key, float], weight: float) -> dict[Key, float]:
    """Return a score from 0 to 1 for each passage; each side counts as a share of its own best.

    `words` has full-text scores and lacks passages without any word of the query; `similarities` has cosines and lacks
    passages without a vector, as those in a language that the model does not read: these are judged by their words
    alone. `weight`, from 0 to 1, is how much of the score of others is the similarity. Shares of the best keep how much
    better one passage is than another, which ranks lose, and hold for few passages as for many. A passage without a
    word in common has to be somewhat similar to count at all.
    """
    best_words = max(words.values(), default=0.0) or 1.0
    best_similarity = max(LEAST_SIMILARITY, *similarities.values()) if similarities else LEAST_SIMILARITY
    scores: dict[Key, float] = {}
    for key in {**words, **similarities}:
        share = words.get(key, 0.0) / best_words
        if key not in similarities:
            scores[key] = share
        elif key in words or similarities[key] >= LEAST_SIMILARITY:
            scores[key] = (1 - weight) * share + weight * max(0.0, similarities[key]) / best_similarity
    return scores


def trust_in_meaning(similarities: Collection[float], *, is_literal: bool = False) -> float:
    """Return from the cosines that were found, from 0 to 1, how far the best stands above the field.

    `is_literal`: the query has words that the model can't know the meaning of, so more is asked of it.
    """
    best, *others = nlargest(FIELD.stop, similarities)
    field = fmean([best, *others][FIELD]) if len(others) >= LEAST_FIELD else LEAST_SIMILARITY
    above = (best - field) / (1 - field) if field < 1 else 0.0
    nothing, everything = SENSE_OF_NAMES if is_literal else SENSE
    return min(1.0, max(LEAST_TRUST, (above - nothing) / (everything - nothing)))


_WORD = re.compile(rf"[^\W{CJK}]+")


def has_literal(query: str, knows: Callable[[str], bool], passages: Iterable[str]) -> bool:
    """Return whether an identifier of the query, or a word that the model does not know, stands in a passage."""
    wanted = fold(query).casefold()
    named = set(identifiers(wanted))
    unknown = {word for word in _WORD.findall(wanted) if not knows(word)}
    if not named and not unknown:
        return False
    texts = [fold(passage).casefold() for passage in passages]
    return any(not named.isdisjoint(identifiers(text)) or not unknown.isdisjoint(_WORD.findall(text)) for text in texts)
