"""Score fusion: one ranking from full-text scores and vector similarities. Pure.

The distance of the best cosine above the field decides for each query how far vectors count, as a share of the range
above the field, which holds for any model's range of cosines. Words and vectors count equally where no passage stands
out. `TRUST` was chosen by leave-one-collection-out (`python -m benchmarks.search.fusion`) on cranfield, stackfaq and
ten collections made of man pages, docstrings, package descriptions and manuals: the mean nDCG@10 of those held out is
.756, with equal weights .752, by ranks (RRF) less. Agreement of the lists, rare terms, the spread of the full-text
scores and the length of the query, alone or together, add nothing to that on a collection that they were not chosen on.

Those collections ask in the words of summaries. A question in a person's own words shares few with a short answer,
and a vector says all of a short passage: there the similarities count more (`QUESTION`). And the best passage by words
may have few words of the question: full-text scores count as shares of the score of a passage with all of them, the
known bound of a score in place of the best one (Bruch et al., 2023), and less if no passage has some (`share_beside`).
nDCG@10 of words, of vectors, of ours and, until November 2026, of ours without that: stackfaq .760, .953, .954 (.948);
FAQs about COVID-19 .369, .652, .652 (.637); cranfield .384, .404, .437 (.438); XQuAD in English .965, .942, .971
(.973); articles of WikiQA .943, .993, .997 (.993); docstrings of sqlalchemy .603, .553, .625 (.635), of langchain_core
.663, .597, .674 (.683). The ramp, and `least` with the form of the bound, were chosen on halves of the questions.
Without the condition of a question docstrings lose .04, and without that of short passages cranfield loses .01.

Similarities of multilingual-e5-small spread less, and its vectors say as much of a passage as its words or more
(`CJK_TRUST`). Words, vectors, ours and, until November 2026, ours with `TRUST`: cmrc2018 .977, .968, .990 (.988);
questions and answers of popular science .894, .966, .967 (.944); queries and titles of web pages that share few words
(QBQTC) .783, .813, .817 (.807); XQuAD in Chinese .962, .948, .981 (.979). Both halves of each set of questions agree,
and so do trusts chosen without the collection among neighbours of this one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from statistics import fmean
from typing import Generic, TypeVar

Key = TypeVar("Key")

MIN_SIMILARITY = 0.25
FIELD = slice(10, 50)
"""The ranks whose mean cosine is the background level; the ranks before them may be answers."""
MIN_FIELD = 20


@dataclass(frozen=True, slots=True)
class Trust:
    """How a model's share in the scores grows with the spread of its similarities, from `least` to 1.

    It is the least up to the spread `low`, and all of the model's weight from the spread `high` on.
    """

    least: float
    low: float
    high: float

    def of(self, spread: float) -> float:
        """Return the trust in similarities of a spread."""
        rise = (spread - self.low) / (self.high - self.low)
        return self.least + (1 - self.least) * min(1.0, max(0.0, rise))


TRUST = Trust(least=2 / 3, low=0.1, high=0.65)
"""For the models of services and for Chinese questions to English passages."""

WESTERN_TRUST = Trust(least=0.55, low=0.1, high=0.65)
"""For the model of Western scripts: with its weight of 0.75, from 0.41 to three quarters of a passage's score.

That is so if the best passage by words has all words of the query, and more if not (`share_beside`).
"""

CJK_TRUST = Trust(least=0.9, low=0.1, high=0.4)
"""For the model of Chinese, Japanese and Korean: with its weight of 0.85, 0.77 to 0.85 of a passage's score."""


@dataclass(frozen=True, slots=True)
class QuestionTrust:
    """A model's share in the scores for a question that the nearest passages answer in few words.

    It is `share` up to a mean length of `short` characters, and that of any other query from `long` characters on.
    """

    share: float
    short: int
    long: int

    def of(self, usual: float, characters: float) -> float:
        """Return the share for nearest passages of a mean length; `usual` is that of any other query."""
        rise = min(1.0, max(0.0, (characters - self.short) / (self.long - self.short)))
        return max(usual, self.share - (self.share - usual) * rise)


QUESTION = QuestionTrust(share=0.9, short=500, long=650)
"""For the local model in Western scripts."""


def share_beside(share: float, covered: float) -> float:
    """Return a model's share if the best passage by words carries only a part, `covered`, of the query's rarity.

    Full-text scores then count as shares of the score of a passage with all words: the fewer of the words stand in any
    passage, the less the order of these scores says.
    """
    return share / (share + (1 - share) * covered)


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


def above_field(side: Side[Key]) -> Side[Key]:
    """Return a side whose similarities are shares of the range from its field to its best, to be fused with another's.

    Passages that are no nearer than all others of their language then leave the places to those that stand out.
    """
    field = field_of(side.similarities.values())
    best = max(side.similarities.values(), default=field)
    if best <= field:
        return side
    shares = {key: max(0.0, one - field) / (best - field) for key, one in side.similarities.items()}
    return Side(shares, side.weight)


def scaled(cosine: float, floor: float) -> float:
    """Return a cosine as a similarity: 0 at the model's floor, 1 for the same text."""
    return (cosine - floor) / (1 - floor)


def cosine_of(similarity: float, floor: float) -> float:
    """Return the cosine that `scaled` was given."""
    return similarity * (1 - floor) + floor


def spread_of(similarities: Collection[float]) -> float:
    """Return how far the best similarity stands above the field, from 0 to 1: as a share of the range above it."""
    best, field = max(similarities, default=0.0), field_of(similarities)
    return max(0.0, (best - field) / (1 - field)) if field < 1 else 0.0


def field_of(similarities: Collection[float]) -> float:
    """Return the background level of similarities, `MIN_SIMILARITY` of few."""
    others = nlargest(FIELD.stop, similarities)
    return fmean(others[FIELD]) if len(others) > MIN_FIELD else MIN_SIMILARITY
