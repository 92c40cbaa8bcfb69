"""Evidence that a search found an answer, and not only the nearest of all passages. Pure.

Some passage is always the nearest, and some word of a question stands nearly everywhere. So a search by meaning
answers only if a passage has all words of the question, or is near enough (`is_near`). Words of the question that stand
close together in a passage make up for a lower cosine, most of all those that few of the best passages have. If none of
these has a word of the question, an answer has to be nearer: it is a name or a thing that is not there. The numbers
(`Nearness` of each model) are chosen and checked by `python -m benchmarks.search.absent`.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from drive_server.kernel.text.characters import CJK, fold_words
from drive_server.knowledge.embedding.embedder import Nearness
from drive_server.knowledge.index.matching import word_stem
from drive_server.knowledge.text.words import QUESTION_WORDS, identifiers

_COMMON_CJK = re.compile(
    "什么时候|什么|怎么样|怎么说|怎么办|怎么做|怎么|怎样|多少钱|多少|多久|多大|多长|多远|多高|多深|哪里|哪儿|哪个|哪些|哪天|如何|为什么|为何|请问|是否"
    "|[的了是在有和与或吗呢吧啊么哪谁几我你他她它们这那个些及其为被把对从到于以也就还要能可何否谓之]|(?<![首成古旧陪京国建迁定])都(?![市城柏])"
)
"""Chinese words of which a question consists; the longer ones first, so that `时` and `长` count elsewhere.

`都` counts in `首都` and its like, and not where it means "all".
"""
_WORD = re.compile(rf"[^\W_{CJK}]+|[{CJK}]+")
"""A word, or a run of Chinese, Japanese or Korean: `105人` is two."""
_CJK_START = re.compile(f"[{CJK}]")
_NUMBER = re.compile(r"(?=.*\d)\w{5,}")
"""A number that is no year, or letters and digits: a passage that has it is meant."""

SIMILAR = 0.8
SIMILARITIES = 10_000
"""How many pairs of words are remembered with their similarity: the passages of a search share most of their words."""
TEXTS = 500
"""How many passages are remembered with their words: searches find many of the same."""
MIN_SLIP = 5
MIN_STEM = 4
AGREEMENT, AGREED = 0.5, 0.3
TOGETHER = 140
"""The characters within which words stand close together: a sentence or two. Passages have up to ten times as many."""
MAX_WORDS = 3
"""How many words count one by one. More of them count by their rarity alone."""
ENOUGH_BY_WORDS = 0.5
"""The share of the words that is enough where nothing says how near the passages are in meaning."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The `words` of a question that a passage has, those that stand close together, and whether it has an id of it."""

    words: frozenset[str] = frozenset()
    together: frozenset[str] = frozenset()
    asked: Sequence[str] = ()
    has_identifier: bool = False

    @property
    def share(self) -> float:
        """The share of the question's words that the passage has, from 0 to 1."""
        return len(self.words) / len(self.asked) if self.asked else 0.0

    @property
    def is_answer(self) -> bool:
        """Return whether the words alone say that the question is about this passage."""
        return self.share == 1 or self.has_identifier


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a question that name its subject; of Chinese, Japanese and Korean the pairs of characters."""

    words: Sequence[str]
    identifiers: frozenset[str] = frozenset()
    slips: frozenset[str] = frozenset()

    def coverage(self, text: str) -> Coverage:
        """Return the coverage of these words by a text."""
        held = _words_of(text)
        places = {word: found for word in self.words if (found := self._places(held, word))}
        has_identifier = bool(self.identifiers) and not self.identifiers.isdisjoint(_identifiers(fold_words(text)))
        return Coverage(frozenset(places), _most_together(places), self.words, has_identifier)

    def _places(self, held: str, word: str) -> list[int]:
        """Return where a word stands in a text, in any of its forms."""
        if _CJK_START.match(word):
            return _all_of(word, held)
        if len(word) < MIN_STEM:
            return _all_of(f" {word} ", held) + _all_of(f" {word}s ", held)
        found = _all_of(f" {word_stem(word)}", held)
        if not found and word in self.slips and (meant := _most_similar(word, held)):
            found = [held.index(meant)]
        return found


def terms_of(question: str, slips: Collection[str] = ()) -> Terms:
    """Return the terms of a question; `slips` are those of its words that no passage has as they are written."""
    folded = fold_words(question)
    words = dict.fromkeys(term for found in _WORD.findall(folded) for term in _terms(found))
    near = frozenset(fold_words(word) for word in slips if len(word) >= MIN_SLIP)
    return Terms(tuple(words), frozenset(_identifiers(folded)), near)


@dataclass(frozen=True, slots=True)
class Rarity:
    """The rarity of each word of a question, and the share of the whole rarity in words that no passage has."""

    of: Mapping[str, float] = field(default_factory=dict[str, float])
    missing: float = 0.0

    def share(self, words: Iterable[str]) -> float:
        """Return the share of the question's rarity that these words carry; 1 if no word is rare."""
        return sum(self.of[word] for word in words) / sum(self.of.values()) if self.of else 1.0


def rarity_of(coverages: Collection[Coverage]) -> Rarity:
    """Return how much each word of the question says: the less, the more of these passages have it.

    They are the best that the person may see, so that nobody learns of words that only others have.
    """
    counts = Counter(word for coverage in coverages for word in coverage.words)
    asked = {word for coverage in coverages for word in coverage.asked}
    rarity = {word: math.log1p((len(coverages) + 0.5) / (counts[word] + 0.5)) for word in asked}
    return Rarity(rarity, Rarity(rarity).share(asked - counts.keys()) if rarity else 0.0)


def is_near(cosine: float, coverage: Coverage, rarity: Rarity, nearness: Nearness) -> bool:
    """Return whether a passage of this cosine is an answer, with the words that it has close together."""
    rare = sum(rarity.of[word] for word in coverage.together)
    evidence = cosine + nearness.each_word * min(len(coverage.together), MAX_WORDS) + nearness.rare_words * rare
    if rare:
        evidence += nearness.words * rarity.share(coverage.together)
    return evidence >= nearness.alone + nearness.missing * rarity.missing


def with_agreement(cosine: float, other: float) -> float:
    """Return a cosine between languages, less if the model of the question's own language sees them farther apart."""
    return cosine + AGREEMENT * (other - AGREED)


def best_of(found: Iterable[Coverage]) -> Coverage:
    """Return the best coverage of several passages."""
    return max(found, key=lambda one: (one.is_answer, one.share), default=Coverage())


def _all_of(part: str, text: str) -> list[int]:
    """Return where a part begins in a text; the next one after the end of the last."""
    found: list[int] = []
    place = text.find(part)
    while place >= 0:
        found.append(place)
        place = text.find(part, place + len(part))
    return found


def _most_similar(word: str, held: str) -> str:
    """Return the word of a text that is most similar to one, empty if none is similar enough.

    It begins as the index looks for similar words: with the first letter or, if two are swapped, the second.
    """
    others = set(_similar_in_length(word).findall(held))
    best = max(others, key=lambda other: (_similarity(word, other), other), default="")
    return best if best and _similarity(word, best) >= SIMILAR else ""


@lru_cache(maxsize=SIMILARITIES)
def _similar_in_length(word: str) -> re.Pattern[str]:
    """Return the pattern of the words that may be similar to one."""
    shortest, longest = math.ceil(len(word) * SIMILAR / (2 - SIMILAR)), int(len(word) * (2 - SIMILAR) / SIMILAR)
    return re.compile(rf"(?<= )[{re.escape(word[:2])}]\S{{{shortest - 1},{longest - 1}}}(?= )")


@lru_cache(maxsize=TEXTS)
def _words_of(text: str) -> str:
    """Return the words of a text between single spaces; one with an apostrophe once more at the end, without it."""
    folded = fold_words(text)
    joined = folded.replace("'", "") if "'" in folded else ""
    return f" {' '.join(_WORD.findall(f'{folded} {joined}'))} "


@lru_cache(maxsize=SIMILARITIES)
def _similarity(word: str, other: str) -> float:
    """Return how similar two words are, from 0 to 1; 0 if they are not similar enough."""
    matcher = SequenceMatcher(None, other, word)
    is_possible = matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR
    return matcher.ratio() if is_possible else 0.0


def _most_together(places: Mapping[str, Sequence[int]]) -> frozenset[str]:
    """Return the most words that stand within `TOGETHER` characters; `places` has where each of them stands."""
    ordered = sorted((place, word) for word, found in places.items() for place in found)
    if not ordered or ordered[-1][0] - ordered[0][0] <= TOGETHER:
        return frozenset(places)
    most, first, counts = frozenset[str](), 0, dict[str, int]()
    for place, word in ordered:
        counts[word] = counts.get(word, 0) + 1
        while place - ordered[first][0] > TOGETHER:
            left = ordered[first][1]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            first += 1
        if len(counts) > len(most):
            most = frozenset(counts)
    return most


def _terms(found: str) -> list[str]:
    if not _CJK_START.match(found):
        return [] if found in QUESTION_WORDS or (len(found) == 1 and not found.isdigit()) else [found]
    parts = [part for part in _COMMON_CJK.split(found) if part]
    return [pair for part in parts for pair in (map("".join, pairwise(part)) if len(part) > 1 else [part])]


def _identifiers(folded: str) -> set[str]:
    numbers = (word for word in _WORD.findall(folded) if _NUMBER.fullmatch(word))
    return {*identifiers(folded), *numbers}
